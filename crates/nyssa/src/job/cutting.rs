//! Where clusters end, for jobs that know what is to come: by what entries are expected to take on
//! storage, corrected by what clusters really took.

use std::ops::Range;

/// Decoded bytes of a cluster at most, for each stored byte asked for; ROOT's rule.
const MAX_EXPANSION: f64 = 10.0;
/// Part of a cluster by which it may be smaller or larger, where that lets it end with one of the input,
const SLACK: f64 = 0.03;
/// or with the last entry.
const LAST_SLACK: f64 = 0.25;
/// What a cluster tells of those to come is worth so much less with each cluster after it.
const FORGET: f64 = 0.5;

/// What some entries take, bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Amounts {
    /// On storage, as far as is known beforehand.
    pub stored: f64,
    /// Decoded.
    pub decoded: f64,
    /// Decoded, of the field that takes the most.
    pub largest: f64,
}

/// The beginning of a note about some clusters.
pub(crate) fn clusters_are(count: u64) -> String {
    match count {
        1 => "1 cluster is".to_owned(),
        count => format!("{count} clusters are"),
    }
}

/// Entries that are taken to be alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Entry at which they end; they begin where those before end.
    pub end: u64,
    /// What they take.
    pub amounts: Amounts,
    /// Whether a cluster of the input ends with them.
    pub is_cluster: bool,
}

/// Cuts entries into clusters, one after the other.
pub(crate) struct Cutter {
    /// First entry.
    start: u64,
    /// Ends of the spans, and whether clusters of the input end there.
    ends: Vec<(u64, bool)>,
    /// What all entries up to each of these ends take: stored, decoded, largest.
    sums: [Vec<f64>; 3],
    /// The same for a cluster at most.
    limits: [f64; 3],
    next: u64,
    /// Stored bytes of earlier clusters: expected, and real.
    known: (f64, f64),
    /// Clusters that ended before they were full: for the memory, and for their decoded size.
    short: (u64, u64),
}

impl Cutter {
    /// Clusters of `cluster_bytes` on storage over entries from `start`, none with a field that takes more
    /// than `largest` decoded bytes.
    pub fn new(
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

    /// Says what a cluster took on storage.
    pub fn took(&mut self, cluster: &Range<u64>, bytes: u64) {
        let expected = self.before(0, cluster.end) - self.before(0, cluster.start);
        self.known.0 = self.known.0 * FORGET + expected;
        self.known.1 = self.known.1 * FORGET + bytes as f64;
    }

    /// The next cluster; `None` when all entries are in one.
    pub fn next(&mut self) -> Option<Range<u64>> {
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

    /// What is worth knowing of clusters that are smaller than asked for. `memory` is the budget.
    pub fn notes(&self, memory: u64) -> Vec<String> {
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

    /// The end of a cluster that would end at `end`: with the last entry, or with a cluster of the input,
    /// when one of these is near.
    fn near(&self, start: u64, end: u64) -> u64 {
        let length = (end - start) as f64;
        let total = self.ends.last().map_or(end, |(end, _)| *end);
        // What is left must not become a small cluster of its own.
        if (total - start) as f64 <= length * (1.0 + LAST_SLACK) {
            return total;
        }
        let slack = (length * SLACK) as u64;
        let first = self.ends.partition_point(|(other, _)| *other < end - slack.min(end));
        let around = self.ends[first..].iter().take_while(|(other, _)| *other <= end + slack);
        let natural = around.filter(|(other, is_cluster)| *is_cluster && *other > start);
        natural.map(|(other, _)| *other).min_by_key(|other| other.abs_diff(end)).unwrap_or(end)
    }

    /// What the entries before `entry` take.
    fn before(&self, kind: usize, entry: u64) -> f64 {
        let index = self.ends.partition_point(|(end, _)| *end <= entry);
        let (from, before) = self.begin(kind, index);
        let (Some((end, _)), Some(sum)) = (self.ends.get(index), self.sums[kind].get(index)) else {
            return before;
        };
        let part = entry.saturating_sub(from) as f64 / (end - from).max(1) as f64;
        before + part * (sum - before)
    }

    /// The entry before which entries take `bytes`.
    fn after(&self, kind: usize, bytes: f64) -> u64 {
        let index = self.sums[kind].partition_point(|sum| *sum <= bytes);
        let (from, before) = self.begin(kind, index);
        let (Some((end, _)), Some(sum)) = (self.ends.get(index), self.sums[kind].get(index)) else {
            return from;
        };
        let part = (bytes - before) / (sum - before).max(1e-9);
        from + ((end - from) as f64 * part) as u64
    }

    /// First entry of a span, and what those before it take.
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

    /// Spans of (entries, bytes, part of the largest field).
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
        // 45 are too many.
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
        // One cluster before counts half of the last one.
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
