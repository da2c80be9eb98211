//! Where the clusters of the output end.

use std::ops::Range;

use super::options::Options;
use super::sizes::Sizes;
use crate::dataset::{Dataset, Selected};

/// Stored bytes for each decoded byte where nothing is known yet.
const ASSUMED_RATIO: f64 = 0.5;
/// Decoded bytes of a cluster at most, for each zipped byte asked for; ROOT's rule.
const MAX_EXPANSION: f64 = 10.0;
/// Share of the memory budget that one field may take in one cluster: one is read while another is
/// sealed.
const FIELD_SHARE: u64 = 4;
/// Part of a cluster by which it may be smaller or larger, where that lets it end with one of the
/// input or with the last entry.
const SLACK: f64 = 0.25;

/// The selected entries of one cluster of the input.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Selected entry at which it ends.
    end: u64,
    /// Decoded bytes of this and all spans before it.
    bytes: f64,
    /// Part of its bytes that belongs to its largest field.
    largest: f64,
}

/// Cuts the selected entries into clusters, one after the other.
pub(super) struct Clusters {
    spans: Vec<Span>,
    total: u64,
    cluster_bytes: f64,
    /// Decoded bytes of one field in one cluster at most.
    field_bytes: f64,
    /// Expected from the input, before anything is written.
    ratio: f64,
    next: u64,
}

impl Clusters {
    /// Clusters of about the zipped size, none with a field that takes too much of the memory.
    pub fn new(selected: &Selected<'_>, sizes: &Sizes, options: &Options) -> Self {
        let (mut bytes, mut stored, mut spans) = (0.0, 0.0, Vec::new());
        for cluster in selected.clusters() {
            let (mut all, mut largest) = (0.0, 0.0f64);
            for part in selected.parts(&cluster) {
                let length = (part.entries.end - part.entries.start).max(1);
                let share = part.taken() as f64 / length as f64;
                let fields = sizes.decoded(&part.entries);
                all += share * fields.iter().map(|&bytes| bytes as f64).sum::<f64>();
                let most = fields.iter().copied().max().unwrap_or(0);
                largest = largest.max(share * most as f64);
                stored += share * sizes.stored(&part.entries) as f64;
            }
            bytes += all;
            spans.push(Span { end: cluster.end, bytes, largest: largest / all.max(1.0) });
        }
        let ratio = match stored / bytes.max(1.0) {
            _ if options.compression.setting() == 0 => 1.0,
            // An input without compression tells nothing.
            ratio if ratio > 0.9 => ASSUMED_RATIO,
            ratio => ratio,
        };
        Self {
            spans,
            total: selected.num_entries(),
            cluster_bytes: options.cluster_bytes as f64,
            field_bytes: (options.memory_budget / FIELD_SHARE).max(1) as f64,
            ratio,
            next: 0,
        }
    }

    /// The next cluster, when `ratio` stored bytes are expected for each decoded byte; `None` when all
    /// entries are in one.
    pub fn next(&mut self, ratio: Option<f64>) -> Option<Range<u64>> {
        let start = self.next;
        if start >= self.total {
            return None;
        }
        let ratio = ratio.unwrap_or(self.ratio).max(1e-6);
        let size = (self.cluster_bytes / ratio).min(self.cluster_bytes * MAX_EXPANSION);
        self.next = self.end(start, size).clamp(start + 1, self.total);
        Some(start..self.next)
    }

    /// The end of a cluster from `start` with about `size` decoded bytes.
    fn end(&self, start: u64, mut size: f64) -> u64 {
        let begin = self.bytes_before(start);
        let first = self.spans.partition_point(|span| span.end <= start);
        let mut near: Option<(f64, u64)> = None;
        for span in &self.spans[first..] {
            size = size.min(self.field_bytes / span.largest.max(1e-9));
            let bytes = span.bytes - begin;
            let distance = match span.end == self.total {
                // What is left must not become a cluster of its own.
                true if bytes <= size * (1.0 + SLACK) => 0.0,
                _ => (bytes - size).abs(),
            };
            if distance <= near.map_or(size * SLACK, |(nearest, _)| nearest) {
                near = Some((distance, span.end));
            }
            if bytes > size {
                break;
            }
        }
        near.map_or_else(|| self.entry_after(begin + size), |(_, end)| end)
    }

    /// Decoded bytes before a selected entry.
    fn bytes_before(&self, entry: u64) -> f64 {
        let index = self.spans.partition_point(|span| span.end <= entry);
        let (from, before) = self.start(index);
        let Some(span) = self.spans.get(index) else { return before };
        let part = (entry - from) as f64 / (span.end - from).max(1) as f64;
        before + part * (span.bytes - before)
    }

    /// The selected entry before which there are about `bytes` decoded bytes.
    fn entry_after(&self, bytes: f64) -> u64 {
        let index = self.spans.partition_point(|span| span.bytes <= bytes);
        let (from, before) = self.start(index);
        let Some(span) = self.spans.get(index) else { return self.total };
        let part = (bytes - before) / (span.bytes - before).max(1.0);
        from + ((span.end - from) as f64 * part) as u64
    }

    /// First entry of a span, and the bytes before it.
    fn start(&self, index: usize) -> (u64, f64) {
        let before = index.checked_sub(1).and_then(|index| self.spans.get(index));
        before.map_or((0, 0.0), |span| (span.end, span.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spans of (entries, bytes, part of the largest field).
    fn cut(spans: &[(u64, f64, f64)], cluster_bytes: u64, budget: u64) -> Vec<Range<u64>> {
        let (mut end, mut bytes) = (0, 0.0);
        let spans = spans.iter().map(|&(entries, more, largest)| {
            (end, bytes) = (end + entries, bytes + more);
            Span { end, bytes, largest }
        });
        let spans = spans.collect::<Vec<_>>();
        let mut clusters = Clusters {
            total: spans.last().map_or(0, |span| span.end),
            spans,
            cluster_bytes: cluster_bytes as f64,
            field_bytes: (budget / FIELD_SHARE) as f64,
            ratio: 1.0,
            next: 0,
        };
        std::iter::from_fn(|| clusters.next(None)).collect()
    }

    #[test]
    fn small_clusters_are_joined_and_large_ones_cut() {
        let small = [(10, 100.0, 0.1); 8];
        assert_eq!(cut(&small, 400, 1 << 40), [0..40, 40..80]);
        assert_eq!(cut(&[(100, 1000.0, 0.1)], 250, 1 << 40), [0..25, 25..50, 50..75, 75..100]);
    }

    #[test]
    fn they_end_where_those_of_the_input_do() {
        // 400 bytes would be 2.8 clusters: three are near enough, and what is left is one.
        assert_eq!(cut(&[(10, 143.0, 0.1); 5], 400, 1 << 40), [0..30, 30..50]);
        // A small rest belongs to the last cluster.
        assert_eq!(
            cut(&[(40, 400.0, 0.1), (5, 50.0, 0.1)], 400, 1 << 40),
            [Range { start: 0, end: 45 }]
        );
    }

    #[test]
    fn no_field_takes_all_memory() {
        // One field has half of the bytes and may have a quarter of 400.
        assert_eq!(cut(&[(10, 1000.0, 0.5)], 1000, 400), [0..2, 2..4, 4..6, 6..8, 8..10]);
    }

    #[test]
    fn nothing_gives_no_cluster() {
        assert!(cut(&[], 1000, 400).is_empty());
    }
}
