//! Checks an Arrow IPC file completely. Decodes every record batch, and collects all problems. The format has no checksums.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::problem::{DatasetCheck, Problem};

use super::blocks::range_of;
use super::read::Batches;
use crate::guard::guarded;
use crate::shown::fit;
use crate::table::Head;

/// Checks a file.
///
/// # Errors
/// Only `Io` and `Cancelled`.
pub(super) fn check(batches: &Batches, head: &Head, context: &Context) -> Result<DatasetCheck> {
    // The dictionaries were decoded when the file was opened.
    let parts = batches.dictionaries.len() as u64;
    let mut report =
        DatasetCheck { entries: head.entries(), parts, decoded: parts, ..DatasetCheck::default() };
    let size = head.source.size();
    let mut units = Vec::new();
    for block in &batches.dictionaries {
        let range = range_of(block, size)?;
        report.bytes = report.bytes.saturating_add(range.end - range.start);
    }
    for (index, block) in batches.blocks.iter().enumerate() {
        let range = range_of(block, size)?;
        report.parts += 1;
        report.bytes = report.bytes.saturating_add(range.end - range.start);
        units.push((vec![range], index));
    }
    let (done, total) = (AtomicU64::new(0), units.len() as u64);
    let work = |_: &mut (), index: usize, bytes: Result<&mut [Bytes]>| {
        let bytes = bytes?.first_mut().map(std::mem::take).unwrap_or_default();
        let problems = check_batch(batches, head, index, bytes)?;
        context.report(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        Ok((index, problems))
    };
    let mut found = on_all_threads(&head.source, units, context, || (), work)?;
    found.sort_by_key(|(index, _)| *index);
    for (_, problems) in found {
        report.decoded += u64::from(problems.is_empty());
        report.problems.extend(problems);
    }
    for item in &head.columns.items {
        if let Err(reason) = &item.field {
            report.unreadable.push(format!("{}: {reason}", item.name));
        }
    }
    Ok(report)
}

/// Decodes a batch, and brings all columns into the types that they have as a dataset.
fn check_batch(batches: &Batches, head: &Head, index: usize, bytes: Bytes) -> Result<Vec<Problem>> {
    let mut problems = Vec::new();
    let mut problem = |error: Error| match error.kind().ends_check() {
        true => Err(error),
        false => {
            let offset = u64::try_from(batches.blocks[index].offset()).ok();
            problems.push(Problem::from(&error.at(|place| {
                place.cluster = Some(index as u64);
                place.offset = offset;
            })));
            Ok(())
        }
    };
    let batch = match guarded(|| batches.batch(index, bytes)) {
        Ok(batch) => batch,
        Err(error) => {
            problem(error)?;
            return Ok(problems);
        }
    };
    let rows = head.clusters.get(index).map_or(0, |rows| rows.end - rows.start);
    if batch.num_rows() as u64 != rows {
        problem(Error::out_of_spec("a record batch has other entries than its head says"))?;
    }
    for (item, array) in head.columns.items.iter().zip(batch.columns()) {
        let Ok(field) = &item.field else { continue };
        guarded(|| fit(array, field).map(drop)).or_else(&mut problem)?;
    }
    Ok(problems)
}
