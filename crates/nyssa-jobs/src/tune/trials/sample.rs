//! Chooses the entries that trials write.

use crate::heuristics::tune;
use std::ops::Range;

/// The dataset from which samples are taken.
#[derive(Clone, Debug)]
pub(super) struct Population {
    /// The entries of each cluster, in order.
    pub clusters: Vec<Range<u64>>,
    pub entries: u64,
    /// The bytes of the pages or baskets on storage.
    pub bytes: u64,
    /// The number of columns that hold data.
    pub columns: u64,
}

impl Population {
    /// Returns the number of entries with about this number of stored bytes.
    pub(super) fn entries_of(&self, bytes: f64) -> u64 {
        let share = bytes / (self.bytes as f64).max(1.0);
        ((self.entries as f64 * share).ceil() as u64).clamp(1.min(self.entries), self.entries)
    }

    /// Returns the stored bytes of this number of entries.
    pub(super) fn bytes_of(&self, entries: u64) -> f64 {
        self.bytes as f64 * entries as f64 / (self.entries as f64).max(1.0)
    }

    /// Returns the stored bytes of a place.
    pub(super) fn place_bytes(&self) -> u64 {
        let [least, most] = tune::PLACE_BYTES;
        self.columns.saturating_mul(tune::COLUMN_BYTES).clamp(least, most)
    }

    /// Returns about `wanted` entries, in ranges that are spread evenly over the dataset. If clusters are not larger
    /// than a range, it consists of whole clusters. If nearly all entries are wanted, there is one range with all
    /// entries.
    pub(super) fn spread(&self, wanted: u64) -> Vec<Range<u64>> {
        if wanted.saturating_mul(4) >= self.entries.saturating_mul(3) {
            return std::iter::once(0..self.entries).collect();
        }
        let places = (self.bytes_of(wanted) as u64 / self.place_bytes()).clamp(1, tune::PLACES);
        let length = (wanted / places).max(1);
        let mut ranges: Vec<Range<u64>> = Vec::new();
        for place in 0..places {
            let middle = self.entries as f64 * (place as f64 + 0.5) / places as f64;
            let start = (middle as u64).saturating_sub(length / 2).min(self.entries - length);
            let range = self.whole_clusters(start..start + length);
            let begin = ranges.last().map_or(0, |last| last.end);
            if range.end > begin {
                ranges.push(range.start.max(begin)..range.end);
            }
        }
        ranges
    }

    /// Returns the whole clusters that are nearest to a range, or the range itself if its cluster is larger.
    fn whole_clusters(&self, range: Range<u64>) -> Range<u64> {
        let first = self.clusters.partition_point(|cluster| cluster.end <= range.start);
        let Some(cluster) = self.clusters.get(first) else { return range };
        let length = range.end - range.start;
        if cluster.end - cluster.start > length {
            return range;
        }
        let rest =
            self.clusters[first..].iter().take_while(|item| item.end <= cluster.start + length);
        cluster.start..rest.last().map_or(cluster.end, |last| last.end)
    }
}

/// Returns the halves of each range that can be halved.
pub(super) fn halves(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let cut = |range: &Range<u64>| {
        let middle = range.start + (range.end - range.start) / 2;
        [range.start..middle, middle..range.end]
    };
    ranges.iter().flat_map(cut).filter(|range| !range.is_empty()).collect()
}

/// Returns the number of entries of ranges.
pub(super) fn count(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn population(cluster: u64, entries: u64, bytes: u64) -> Population {
        let starts = (0..entries).step_by(cluster as usize);
        let clusters = starts.map(|start| start..(start + cluster).min(entries)).collect();
        Population { clusters, entries, bytes, columns: 6 }
    }

    #[test]
    fn whole_clusters_at_places_of_the_whole_dataset() {
        let all = population(10, 1000, 100 << 20);
        let ranges = all.spread(80);
        assert_eq!(ranges.len(), 8);
        assert!(ranges.iter().all(|range| range.start % 10 == 0 && range.end % 10 == 0));
        assert_eq!(count(&ranges), 80);
        assert!(ranges[0].start < 125 && ranges[7].start >= 875);
    }

    #[test]
    fn parts_of_clusters_that_are_too_large() {
        let all = population(1000, 1000, 10 << 20);
        let ranges = all.spread(300);
        assert_eq!(ranges, [116..216, 450..550, 783..883]);
    }

    #[test]
    fn nearly_all_is_all() {
        let range_to = |entries: u64| std::iter::once(0..entries).collect::<Vec<_>>();
        assert_eq!(population(10, 100, 1 << 30).spread(80), range_to(100));
        assert_eq!(population(10, 0, 0).spread(0), range_to(0));
        assert_eq!(population(10, 100, 1 << 20).entries_of(1e9), 100);
        assert_eq!(halves(&[0..3, 5..6]), [0..1, 1..3, 5..6]);
    }
}
