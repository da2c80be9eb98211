//! Reads all entries of many columns in batches that fit a memory limit.

use std::ops::Range;

use nyssa_root::Context;
use nyssa_root::error::Result;

use super::Dataset;

use crate::heuristics::dataset;

/// A column that is read in batches.
pub trait Measured {
    /// Returns the bytes of memory that an entry takes, estimated from earlier batches.
    fn bytes_per_entry(&self) -> f64;
}

/// Calls `read` with columns and entries until everything is read. The first call has a few entries of all columns.
/// Then `read` gets one cluster after the other, each in batches of columns that take about `budget` bytes.
///
/// # Errors
/// `Cancelled`; an error if `read` fails.
pub fn each<T: Measured>(
    dataset: &dyn Dataset,
    columns: &mut [T],
    entries: Range<u64>,
    budget: u64,
    context: &Context,
    read: impl Fn(&mut [T], Range<u64>) -> Result<()>,
) -> Result<()> {
    if columns.is_empty() || entries.is_empty() {
        return Ok(());
    }
    let probe =
        entries.start..entries.end.min(entries.start.saturating_add(dataset::PROBE_ENTRIES));
    let total = (entries.end - entries.start).saturating_mul(columns.len() as u64);
    let mut done = (probe.end - probe.start).saturating_mul(columns.len() as u64);
    read(columns, probe.clone())?;
    for cluster in dataset.clusters() {
        let cluster = cluster.start.max(probe.end)..cluster.end.min(entries.end);
        let mut rest = &mut columns[..];
        while !cluster.is_empty() && !rest.is_empty() {
            let (count, step) = batch(rest, cluster.end - cluster.start, budget.max(1));
            let (batch, others) = rest.split_at_mut(count);
            rest = others;
            let mut start = cluster.start;
            while start < cluster.end {
                context.check()?;
                let range = start..cluster.end.min(start.saturating_add(step));
                start = range.end;
                done += (range.end - range.start) * count as u64;
                read(batch, range)?;
                context.report(done, total);
            }
        }
    }
    Ok(())
}

/// Returns the number of columns, and of entries at a time, that fit the budget.
fn batch<T: Measured>(columns: &[T], entries: u64, budget: u64) -> (usize, u64) {
    let mut bytes = 0.0;
    let fits = columns.iter().take_while(|column| {
        bytes += column.bytes_per_entry() * entries as f64;
        bytes <= budget as f64
    });
    match fits.count() {
        0 => {
            let per_entry = columns.first().map_or(0.0, T::bytes_per_entry).max(1e-9);
            (1, ((budget as f64 / per_entry) as u64).max(1))
        }
        count => (count, entries),
    }
}
