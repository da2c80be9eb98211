//! Decides where clusters end, for jobs that know all their input beforehand. The expected stored size of the entries
//! decides, corrected by the real sizes of earlier clusters.

use crate::heuristics::job;
use std::ops::Range;

/// The largest ratio of the decoded bytes of a cluster to the requested stored bytes. This is ROOT's rule.
const MAX_EXPANSION: f64 = 10.0;

/// The sizes of some entries, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amounts {
    /// The expected size on storage.
    pub stored: f64,
    /// The decoded size.
    pub decoded: f64,
    /// The decoded size of the largest field.
    pub largest: f64,
}

/// Returns the beginning of a note about some clusters.
pub(crate) fn clusters_are(count: u64) -> String {
    match count {
        1 => "1 cluster is".to_owned(),
        count => format!("{count} clusters are"),
    }
}

/// Consecutive entries that are assumed to have equal sizes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// The entry at which the span ends. It begins at the end of the previous span.
    pub end: u64,
    /// The sizes of the entries.
    pub amounts: Amounts,
    /// Whether a cluster of the input ends with this span.
    pub is_cluster: bool,
}

/// Divides entries into clusters, one after the other.
pub(crate) struct Cutter {
    /// The first entry.
    start: u64,
    /// The end of each span, and whether a cluster of the input ends there.
    ends: Vec<(u64, bool)>,
    /// The sizes of all entries before the end of each span: stored, decoded, largest field.
    sums: [Vec<f64>; 3],
    /// The limits of the three sizes for one cluster.
    limits: [f64; 3],
    next: u64,
    /// The stored bytes of earlier clusters: expected, and real.
    known: (f64, f64),
    /// The number of clusters that ended early because of the memory, and because of their decoded size.
    short: (u64, u64),
}

impl Cutter {
    /// Makes the cutter for the entries from `start` on. The clusters will have `cluster_bytes` stored bytes, and no
    /// field of a cluster will have more than `largest` decoded bytes.
    pub(crate) fn new(
        start: u64,
        spans: impl IntoIterator<Item = Span>,
        cluster_bytes: u64,
        largest: u64,
    ) -> Self {
        let (mut ends, mut sums) = (Vec::new(), [const { Vec::new() }; 3]);
        let mut total = [0.0; 3];
        for Span { end, amounts, is_cluster } in spans {
            let Amounts { stored, decoded, largest } = amounts;
            ends.push((end, is_cluster));
            for ((total, sum), more) in
                total.iter_mut().zip(&mut sums).zip([stored, decoded, largest])
            {
                *total += more;
                sum.push(*total);
            }
        }
        let bytes = cluster_bytes as f64;
        let limits = [bytes, bytes * MAX_EXPANSION, largest.max(1) as f64];
        Self { start, ends, sums, limits, next: start, known: (0.0, 0.0), short: (0, 0) }
    }

    /// Adds the real number of stored bytes of a cluster.
    pub(crate) fn took(&mut self, cluster: &Range<u64>, bytes: u64) {
        let expected = self.before(0, cluster.end) - self.before(0, cluster.start);
        self.known.0 = self.known.0 * job::FORGET + expected;
        self.known.1 = self.known.1 * job::FORGET + bytes as f64;
    }

    /// Returns the next cluster, or `None` if all entries are in a cluster.
    pub(crate) fn next(&mut self) -> Option<Range<u64>> {
        let (start, total) = (self.next, self.ends.last()?.0);
        if start >= total {
            return None;
        }
        let (expected, real) = self.known;
        let correction = if expected > 0.0 { real / expected } else { 1.0 };
        let limits = [self.limits[0] / correction.max(1e-6), self.limits[1], self.limits[2]];
        let ends = [0, 1, 2].map(|kind| self.after(kind, self.before(kind, start) + limits[kind]));
        let end = ends[0].min(ends[1]).min(ends[2]).max(start + 1);
        self.next = self.near(start, end).clamp(start + 1, total);
        if self.next < total && ends[0] > end {
            let counter = if ends[2] <= end { &mut self.short.0 } else { &mut self.short.1 };
            *counter += 1;
        }
        Some(start..self.next)
    }

    /// Returns notes on clusters that are smaller than requested. `memory` is the budget in bytes.
    pub(crate) fn notes(&self, memory: u64) -> Vec<String> {
        let mut notes = Vec::new();
        if self.short.0 > 0 {
            notes.push(format!(
                "{} smaller than {:.0} bytes on storage: a memory of {memory} bytes allows {:.0} bytes \
                 of one field in a cluster",
                clusters_are(self.short.0),
                self.limits[0],
                self.limits[2]
            ));
        }
        if self.short.1 > 0 {
            notes.push(format!(
                "{} smaller than {:.0} bytes on storage: before compression a cluster has at most {:.0} \
                 bytes, as in ROOT",
                clusters_are(self.short.1),
                self.limits[0],
                self.limits[1]
            ));
        }
        notes
    }

    /// Returns the end of a cluster that would end at `end`. If the last entry or the end of a cluster of the
    /// input is near, the cluster ends there.
    fn near(&self, start: u64, end: u64) -> u64 {
        let length = (end - start) as f64;
        let total = self.ends.last().map_or(end, |(end, _)| *end);
        // The remaining entries must not become a separate small cluster.
        if (total - start) as f64 <= length * (1.0 + job::LAST_SLACK) {
            return total;
        }
        let slack = (length * job::SLACK) as u64;
        let first = self.ends.partition_point(|(other, _)| *other < end - slack.min(end));
        let around = self.ends[first..].iter().take_while(|(other, _)| *other <= end + slack);
        let natural = around.filter(|(other, is_cluster)| *is_cluster && *other > start);
        natural.map(|(other, _)| *other).min_by_key(|other| other.abs_diff(end)).unwrap_or(end)
    }

    /// Returns the size of the entries before `entry`.
    fn before(&self, kind: usize, entry: u64) -> f64 {
        let index = self.ends.partition_point(|(end, _)| *end <= entry);
        let (from, before) = self.begin(kind, index);
        let (Some((end, _)), Some(sum)) = (self.ends.get(index), self.sums[kind].get(index)) else {
            return before;
        };
        let part = entry.saturating_sub(from) as f64 / (end - from).max(1) as f64;
        before + part * (sum - before)
    }

    /// Returns the first entry before which the entries have `bytes`.
    fn after(&self, kind: usize, bytes: f64) -> u64 {
        let index = self.sums[kind].partition_point(|sum| *sum <= bytes);
        let (from, before) = self.begin(kind, index);
        let (Some((end, _)), Some(sum)) = (self.ends.get(index), self.sums[kind].get(index)) else {
            return from;
        };
        let part = (bytes - before) / (sum - before).max(1e-9);
        from + ((end - from) as f64 * part) as u64
    }

    /// Returns the first entry of a span, and the size of the entries before it.
    fn begin(&self, kind: usize, index: usize) -> (u64, f64) {
        let last = index.checked_sub(1);
        let end = last.and_then(|last| self.ends.get(last)).map_or(self.start, |(end, _)| *end);
        let sum = last.and_then(|last| self.sums[kind].get(last));
        (end, sum.copied().unwrap_or(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the spans of (entries, bytes, part of the largest field).
    fn cutter(spans: &[(u64, f64, f64)], cluster_bytes: u64, largest: u64) -> Cutter {
        let mut end = 0;
        let spans = spans.iter().map(|&(entries, bytes, part)| {
            end += entries;
            let amounts = Amounts { stored: bytes, decoded: bytes, largest: bytes * part };
            Span { end, amounts, is_cluster: true }
        });
        Cutter::new(0, spans.collect::<Vec<_>>(), cluster_bytes, largest)
    }

    fn cut(spans: &[(u64, f64, f64)], cluster_bytes: u64, largest: u64) -> Vec<Range<u64>> {
        let mut cutter = cutter(spans, cluster_bytes, largest);
        std::iter::from_fn(|| cutter.next()).collect()
    }

    #[test]
    fn small_clusters_are_joined_and_large_ones_cut() {
        let small = [(10, 100.0, 0.1); 8];
        assert_eq!(cut(&small, 400, 1 << 40), [0..40, 40..80]);
        assert_eq!(cut(&[(100, 1000.0, 0.1)], 250, 1 << 40), [0..25, 25..50, 50..75, 75..100]);
    }

    #[test]
    fn they_end_where_those_of_the_input_do() {
        // 410 bytes would be 41 entries: 40 is near enough.
        assert_eq!(cut(&[(40, 400.0, 0.1); 3], 410, 1 << 40), [0..40, 40..80, 80..120]);
        // 45 entries are too many.
        assert_eq!(cut(&[(45, 450.0, 0.1); 2], 400, 1 << 40), [0..40, 40..90]);
        // A small rest belongs to the last cluster.
        let rest = cut(&[(40, 400.0, 0.1), (5, 50.0, 0.1)], 400, 1 << 40);
        assert_eq!(rest, [Range { start: 0, end: 45 }]);
    }

    #[test]
    fn what_clusters_took_corrects_what_is_expected() {
        let mut cutter = cutter(&[(1000, 1000.0, 0.1)], 100, 1 << 40);
        assert_eq!(cutter.next(), Some(0..100));
        cutter.took(&(0..100), 50);
        assert_eq!(cutter.next(), Some(100..300));
        // The previous cluster counts half as much as the last cluster.
        cutter.took(&(100..300), 250);
        assert_eq!(cutter.next(), Some(300..390));
        assert_eq!(cutter.notes(1), Vec::<String>::new());
    }

    #[test]
    fn no_field_takes_all_memory() {
        // One field has half of the bytes and may have 100.
        let mut cutter = cutter(&[(10, 1000.0, 0.5)], 1000, 100);
        let clusters: Vec<_> = std::iter::from_fn(|| cutter.next()).collect();
        assert_eq!(clusters, [0..2, 2..4, 4..6, 6..8, 8..10]);
        assert_eq!(
            cutter.notes(400),
            [
                "4 clusters are smaller than 1000 bytes on storage: a memory of 400 bytes allows 100 \
              bytes of one field in a cluster"
            ]
        );
    }

    #[test]
    fn decoded_bytes_are_bounded_as_in_root() {
        let spans = [Span {
            end: 100,
            amounts: Amounts { stored: 100.0, decoded: 10_000.0, largest: 1.0 },
            is_cluster: true,
        }];
        let mut cutter = Cutter::new(0, spans, 50, 1 << 40);
        assert_eq!(cutter.next(), Some(0..5));
        assert!(
            cutter.notes(1)[0].starts_with("1 cluster is smaller than 50 bytes on storage: before")
        );
    }

    #[test]
    fn nothing_gives_no_cluster() {
        assert!(cut(&[], 1000, 400).is_empty());
        assert_eq!(cut(&[(7, 0.0, 0.0)], 1000, 400), [Range { start: 0, end: 7 }]);
    }
}
