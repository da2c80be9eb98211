//! Decides where the clusters of the output end.

use nyssa_data::dataset::Dataset;
use nyssa_data::view::Selected;

use super::sizes::Sizes;
use crate::heuristics::rewrite;
use crate::job::cutting::{Amounts, Cutter, Span};

/// Returns the cutter that divides the entries into clusters of `cluster_size` bytes on storage, in which no field
/// takes too much memory. `ratios` contains the stored bytes of each field for one decoded byte.
pub(super) fn cutter(
    selected: &Selected<&dyn Dataset>,
    sizes: &Sizes,
    ratios: &[f64],
    (cluster_size, memory): (u64, u64),
) -> Cutter {
    let spans = selected.clusters().into_iter().map(|cluster| {
        let mut amounts = Amounts::default();
        for part in selected.parts(&cluster) {
            let length = (part.entries.end - part.entries.start).max(1);
            let share = part.taken() as f64 / length as f64;
            for (&bytes, ratio) in sizes.decoded(&part.entries).iter().zip(ratios) {
                let bytes = share * bytes as f64;
                amounts.stored += ratio * bytes;
                amounts.decoded += bytes;
                amounts.largest = amounts.largest.max(bytes);
            }
        }
        Span { end: cluster.end, amounts, is_cluster: true }
    });
    let spans: Vec<_> = spans.collect();
    Cutter::new(0, spans, cluster_size, memory / rewrite::FIELD_DIVISOR)
}
