//! Estimates the time to read the whole dataset from the time of a sample.
//!
//! The time of an entry still decreases if clusters become ten times as large: columns with many elements in a page
//! cost less for each element, and all threads have work. So the default options are also measured with a cluster as
//! large as in the whole dataset. Other options are compared with them on the sample.

use super::measured::Measured;

/// The reading time of the default options.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    /// The entries of each file of the sample, and the seconds to read all of them.
    sample: (Vec<u64>, f64),
    /// The seconds to open a file, of one more cluster, and of an entry.
    open: f64,
    cluster: f64,
    entry: f64,
}

impl Reading {
    /// Returns the times from a trial of a sample and a trial of a large cluster, both with the default options. A
    /// file without entries takes `open` seconds.
    pub(super) fn of(sample: &Measured, large: &Measured, open: f64) -> Self {
        let cluster_of = |item: &Measured| {
            let clusters = item.clusters.max(1) as f64;
            let seconds = item.times.read - open * item.entries.len() as f64;
            (item.total_entries() as f64 / clusters, seconds / clusters)
        };
        let ((few, short), (many, long)) = (cluster_of(sample), cluster_of(large));
        // No cluster and no entry takes less than 0 seconds.
        let entry = ((long - short) / (many - few)).clamp(0.0, (long / many).max(0.0));
        let entry = if entry.is_finite() { entry } else { 0.0 };
        let cluster = (long - entry * many).max(0.0);
        Self { sample: (sample.entries.clone(), sample.times.read), open, cluster, entry }
    }

    /// Returns the seconds to read this number of entries and clusters with the options of a trial. Returns `None`
    /// unless this is a trial of the sample, with one cluster in each file.
    pub(super) fn expect(&self, trial: &Measured, (entries, clusters): (u64, u64)) -> Option<f64> {
        let (sample, seconds) = &self.sample;
        let alike = trial.entries == *sample && trial.clusters == sample.len() as u64;
        let all = self.open + clusters as f64 * self.cluster + entries as f64 * self.entry;
        alike.then_some(all * trial.times.read / seconds.max(1e-9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::trials::measured::Times;

    fn trial(entries: Vec<u64>, clusters: u64, read: f64) -> Measured {
        let times = Times { read, ..Times::default() };
        Measured { entries, clusters, times, ..Measured::default() }
    }

    #[test]
    fn other_options_are_compared_on_the_sample() {
        // A file takes 1 s, a cluster 2 s, an entry 0.01 s.
        let sample = trial(vec![100, 100], 2, 2.0 + 4.0 + 2.0);
        let large = trial(vec![1000], 1, 1.0 + 2.0 + 10.0);
        let reading = Reading::of(&sample, &large, 1.0);
        let all = 1.0 + 3.0 * 2.0 + 3000.0 * 0.01;
        let expected = |trial: &Measured| reading.expect(trial, (3000, 3));
        assert!((expected(&sample).unwrap() - all).abs() < 1e-9, "{reading:?}");
        let slow = trial(vec![100, 100], 2, 16.0);
        assert!((expected(&slow).unwrap() - 2.0 * all).abs() < 1e-9);
        assert_eq!(expected(&trial(vec![200], 1, 8.0)), None);
        assert_eq!(expected(&trial(vec![100, 100], 4, 8.0)), None);
    }

    #[test]
    fn no_time_is_negative() {
        let large = trial(vec![1000], 1, 11.0);
        // A sample that took longer than the large cluster, and a sample of its size.
        for sample in [trial(vec![100], 1, 20.0), trial(vec![1000], 1, 11.0)] {
            let Reading { cluster, entry, .. } = Reading::of(&sample, &large, 1.0);
            assert!(cluster >= 0.0 && entry >= 0.0);
            assert!((cluster + 1000.0 * entry - 10.0).abs() < 1e-9, "{cluster} {entry}");
        }
    }
}
