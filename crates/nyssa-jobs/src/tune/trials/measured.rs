//! Stores the measurements of a trial.

use nyssa_rntuple::schema::Schema;

use crate::convert::Skipped;
use crate::heuristics::tune;

/// The size of a column in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StoredColumn {
    /// The number of pages.
    pub pages: u64,
    /// The number of elements.
    pub elements: u64,
    /// The bytes of the pages before compression.
    pub uncompressed: u64,
    /// The bytes of the pages on storage, with checksums. Equal pages are stored once.
    pub stored: u64,
}

impl StoredColumn {
    /// Returns whether the byte planes of a page have separate blocks, on average.
    pub(super) fn has_planes(&self) -> bool {
        self.elements >= tune::PLANE_ELEMENTS.saturating_mul(self.pages)
    }
}

/// The times of a trial, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Times {
    /// The wall-clock time to write.
    pub write: f64,
    /// The CPU time to write.
    pub cpu: f64,
    /// The time to read.
    pub read: f64,
}

/// The memory for writing one of the ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct JobMemory {
    /// The maximum resident bytes, in addition to the resident bytes before.
    pub bytes: u64,
    /// The entries of this range, and the number of clusters that they became.
    pub entries: u64,
    pub clusters: u64,
}

/// The difference of full pages from the expectation from small pages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    /// The bytes for an entry of all fields beyond the expectation. Mostly they are less than 0.
    pub bytes: f64,
    /// The time for an entry in full pages divided by the time in small pages. `None` if the time of the codec does
    /// not grow.
    pub time: Option<f64>,
}

/// The measurements of a trial of some ranges of entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// The entries of each range, which was written to a separate file.
    pub entries: Vec<u64>,
    /// The bytes of all these files.
    pub file_bytes: u64,
    /// The columns, with their sizes in all files.
    pub columns: Vec<StoredColumn>,
    /// The entries and the bytes of the pages of comparable parts of the sample: ranges, or halves of them.
    pub parts: Vec<(u64, u64)>,
    pub clusters: u64,
    /// The branches that the trial left out, and the reasons.
    pub skipped: Vec<Skipped>,
    pub times: Times,
    /// The entries and the files whose writing was timed: files without samples, if there are any.
    pub timed: (u64, u64),
    /// Whether the time to write includes the time to take samples.
    pub has_chosen: bool,
    /// The difference of full pages from the pages of the sample, if it was measured.
    pub growth: Option<Growth>,
    /// The bytes that were read back.
    pub read_bytes: u64,
    /// The memory for the range that took most memory. `None` if the system does not report it.
    pub job_memory: Option<JobMemory>,
    /// The largest memory of a writer in bytes.
    pub writer_memory: u64,
    /// The largest number of bytes, before compression, of a column in a cluster.
    pub largest_column: u64,
    /// The fields and columns that were written.
    pub schema: Option<Schema>,
}

impl Measured {
    pub(super) fn total_entries(&self) -> u64 {
        self.entries.iter().sum()
    }

    /// Returns the time of one more cluster, from a trial of the same options and entries in halves. `fixed` is the
    /// time of a file without entries, which is not included.
    pub(super) fn cost_of_cluster(&self, halves: &Self, fixed: &Times) -> Times {
        let rate = |times: f64, (entries, _): (u64, u64)| times / (entries as f64).max(1.0);
        let files = |(entries, files): (u64, u64)| files as f64 / (entries as f64).max(1.0);
        let cost = |few: f64, many: f64, here: (u64, u64), there: (u64, u64), fixed: f64| {
            let more = files(there) - files(here);
            let cost = (rate(many, there) - rate(few, here)) / more - fixed;
            if more > 0.0 { cost.max(0.0) } else { 0.0 }
        };
        let all = |item: &Self| (item.total_entries(), item.entries.len() as u64);
        let (few, many) = (self.times, halves.times);
        let (here, there) = (self.timed, halves.timed);
        Times {
            write: cost(few.write, many.write, here, there, fixed.write),
            cpu: cost(few.cpu, many.cpu, here, there, fixed.cpu),
            read: cost(few.read, many.read, all(self), all(halves), fixed.read),
        }
    }

    /// Takes the better measurements of another trial of the same options, with the entries in halves: times without
    /// samples, and more comparable parts.
    pub(super) fn learn(&mut self, other: &Self) {
        if self.has_chosen && !other.has_chosen {
            (self.timed, self.has_chosen) = (other.timed, false);
            (self.times.write, self.times.cpu) = (other.times.write, other.times.cpu);
        }
        if self.parts.len() < 2 {
            self.parts.clone_from(&other.parts);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_cluster_takes_time() {
        // With 100 entries in 2 files, an entry takes 1 s, a file 3 s, and a cluster 5 s. Samples were taken from 20
        // entries.
        let times = |entries: f64, files: f64| entries + files * (3.0 + 5.0);
        let of = |files: u64, timed: (u64, u64), read: f64| Measured {
            entries: vec![100 / files; files as usize],
            timed,
            times: Times {
                write: times(timed.0 as f64, timed.1 as f64),
                cpu: times(timed.0 as f64, timed.1 as f64),
                read,
            },
            ..Measured::default()
        };
        let (few, many) = (of(2, (80, 1), 20.0), of(4, (100, 4), 30.0));
        let fixed = Times { write: 3.0, cpu: 0.0, read: 3.0 };
        let cost = few.cost_of_cluster(&many, &fixed);
        assert!((cost.write - 5.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.cpu - 8.0).abs() < 1e-9, "{cost:?}");
        assert!((cost.read - 2.0).abs() < 1e-9, "{cost:?}");
        // Without more files nothing is known, and no cost is negative.
        assert_eq!(few.cost_of_cluster(&few, &fixed), Times::default());
        assert_eq!(of(2, (100, 2), 50.0).cost_of_cluster(&many, &fixed).read, 0.0);
    }
}
