//! Checks a Parquet file completely. Reads every page, compares the checksums that there are, decodes all values, and
//! collects all problems.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::problem::{DatasetCheck, Problem};

use super::chunks::{Chunks, leaves, positive};
use super::pages::pages;
use super::read::RowGroups;
use crate::guard::guarded;
use crate::table::Head;

/// The largest number of bytes of a column in a row group that are fetched whole, or less where memory is limited.
const WHOLE: u64 = 64 << 20;

/// What was found in a column of a row group.
#[derive(Default)]
struct Found {
    pages: u64,
    checksummed: u64,
    decoded: u64,
    problems: Vec<Problem>,
    /// Why nyssa cannot decode the column.
    unsupported: Option<String>,
}

/// Checks a file.
///
/// # Errors
/// Only `Io` and `Cancelled`.
pub(super) fn check(groups: &RowGroups, head: &Head, context: &Context) -> Result<DatasetCheck> {
    let metadata = groups.metadata.metadata();
    let mut report = DatasetCheck { entries: head.entries(), ..DatasetCheck::default() };
    let stated = metadata.file_metadata().num_rows();
    if positive(stated) != report.entries {
        let message =
            format!("the file states {stated} entries, and its row groups have {}", report.entries);
        report.problems.push(Problem::from(&Error::out_of_spec(message)));
    }
    let mut units = Vec::new();
    for group in 0..head.clusters.len() {
        for column in 0..head.columns.items.len() {
            let ranges = groups.ranges(group, column);
            let bytes = ranges.iter().map(|range| range.end - range.start);
            let bytes = bytes.fold(0, u64::saturating_add);
            report.bytes = report.bytes.saturating_add(bytes);
            let fetched = if bytes > context.fetch_bytes(WHOLE) { Vec::new() } else { ranges };
            let starts: Vec<u64> = fetched.iter().map(|range| range.start).collect();
            units.push((fetched, (units.len(), group, column, starts, bytes)));
        }
    }
    let (done, total) = (AtomicU64::new(0), report.bytes);
    type Unit = (usize, usize, usize, Vec<u64>, u64);
    let work = |_: &mut (), unit: Unit, bytes: Result<&mut [Bytes]>| {
        let (number, group, column, starts, size) = unit;
        let bytes = bytes?.iter_mut().map(std::mem::take);
        let fetched = starts.into_iter().zip(bytes).collect();
        let found = check_column(groups, head, (group, column), fetched, context)?;
        let before = done.fetch_add(size, Ordering::Relaxed);
        context.report(before.saturating_add(size), total);
        Ok((number, column, found))
    };
    let mut all = on_all_threads(&head.source, units, context, || (), work)?;
    all.sort_by_key(|(number, ..)| *number);
    let mut reasons: Vec<Option<String>> = vec![None; head.columns.items.len()];
    for (_, column, found) in all {
        report.parts += found.pages;
        report.checksummed += found.checksummed;
        report.decoded += found.decoded;
        report.problems.extend(found.problems);
        if let (Some(reason), Some(known)) = (found.unsupported, reasons.get_mut(column)) {
            known.get_or_insert(reason);
        }
    }
    for (item, unsupported) in head.columns.items.iter().zip(reasons) {
        let reason = item.field.as_ref().err().cloned().or(unsupported);
        report.unreadable.extend(reason.map(|reason| format!("{}: {reason}", item.name)));
    }
    Ok(report)
}

/// Checks a column of a row group.
fn check_column(
    groups: &RowGroups,
    head: &Head,
    (group, column): (usize, usize),
    fetched: Vec<(u64, Bytes)>,
    context: &Context,
) -> Result<Found> {
    let mut found = Found::default();
    let metadata = groups.metadata.metadata();
    let chunks = Chunks::new(&head.source, fetched.clone());
    for leaf in leaves(metadata, column) {
        let chunk = metadata.row_group(group).column(leaf);
        let path = chunk.column_path().string();
        let (mut page, mut problems) = (0u64, Vec::new());
        let mut place = |error: Error, page: u64| {
            let error = error.at(|place| {
                place.field = Some(path.clone());
                place.cluster = Some(group as u64);
                place.page = Some(page);
            });
            problems.push(Problem::from(&error));
        };
        let looked = pages(chunk, &chunks, |offset, header| {
            context.check()?;
            found.pages += 1;
            page += 1;
            let Some(stated) = header.checksum else { return Ok(()) };
            found.checksummed += 1;
            let start = offset.saturating_add(header.length as u64);
            let bytes = chunks.bytes(start..start.saturating_add(header.stored))?;
            let own = crc32fast::hash(&bytes);
            if own != stated {
                let message =
                    format!("a page has the checksum {own:08x}, and its header says {stated:08x}");
                place(Error::checksum(message).at(|place| place.offset = Some(offset)), page - 1);
            }
            Ok(())
        });
        match looked {
            Err(error) if error.kind().ends_check() => return Err(error),
            Err(error) => place(error, page),
            Ok(()) => {}
        }
        found.problems.extend(problems);
    }
    let item = &head.columns.items[column];
    let Ok(field) = &item.field else { return Ok(found) };
    if !found.problems.is_empty() {
        return Ok(found);
    }
    let decode = || groups.decode_all(head, (group, column), field, fetched, context);
    match guarded(decode).in_field(&item.name) {
        Ok(()) => found.decoded = found.pages,
        Err(error) if error.kind().ends_check() => return Err(error),
        Err(error) if error.kind() == Kind::Unsupported => {
            found.unsupported = Some(error.message().to_owned());
        }
        Err(error) => {
            let error = error.at(|place| place.cluster = Some(group as u64));
            found.problems.push(Problem::from(&error));
        }
    }
    Ok(found)
}
