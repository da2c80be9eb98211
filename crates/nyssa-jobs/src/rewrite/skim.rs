//! Selects the entries that are written.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use nyssa_data::cut::Cut;
use nyssa_data::dataset::Dataset;
use nyssa_data::view::SelectedRange;
use nyssa_rntuple::read::Reader;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;
use rayon::prelude::*;

use super::options::EntryCut;
use super::sizes::Sizes;
use crate::heuristics::rewrite;

/// Returns which of `entries` are taken, cluster by cluster. Only the fields of the cut are read.
///
/// # Errors
/// `Cancelled`; an error if the cut does not fit the fields or they cannot be read.
pub(super) fn pieces(
    reader: &Reader,
    entries: &Range<u64>,
    cut: &EntryCut,
    memory: u64,
    context: &Context,
) -> Result<Vec<SelectedRange>> {
    match cut {
        EntryCut::Mask(mask) => masked(reader, entries, mask),
        EntryCut::Expression(cut) => {
            cut.check(reader.columns())?;
            let chunks = chunks(reader, cut, entries, memory / rewrite::CHUNK_DIVISOR)?;
            evaluate(reader, cut, &chunks, context)
        }
    }
}

/// Returns the part of a mask for each cluster.
fn masked(
    reader: &Reader,
    entries: &Range<u64>,
    mask: &BooleanBuffer,
) -> Result<Vec<SelectedRange>> {
    let count = entries.end - entries.start;
    if mask.len() as u64 != count {
        return Err(Error::invalid_argument(format!(
            "a mask of {} bits does not go with {count} entries",
            mask.len()
        )));
    }
    let piece = |range: Range<u64>| {
        let start = to_usize(range.start - entries.start, "mask")?;
        let length = to_usize(range.end - range.start, "mask")?;
        Ok(SelectedRange { entries: range, mask: Some(mask.slice(start, length)) })
    };
    clusters(reader, entries).map(piece).collect()
}

/// Returns the clusters within `entries`.
fn clusters(reader: &Reader, entries: &Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let (start, end) = (entries.start, entries.end);
    let within = move |cluster: Range<u64>| cluster.start.max(start)..cluster.end.min(end);
    reader.clusters().into_iter().map(within).filter(|cluster| !cluster.is_empty())
}

/// Returns the clusters. A cluster whose fields take more than `most` bytes is divided.
fn chunks(reader: &Reader, cut: &Cut, entries: &Range<u64>, most: u64) -> Result<Vec<Range<u64>>> {
    let field = |name: &String| {
        let id = reader.schema().find(name);
        id.ok_or_else(|| Error::not_found(format!("there is no field {name:?}")))
    };
    let fields = cut.fields().iter().map(field).collect::<Result<Vec<_>>>()?;
    let sizes = Sizes::new(reader, &fields)?;
    let mut chunks = Vec::new();
    for cluster in clusters(reader, entries) {
        let bytes: u64 = sizes.decoded(&cluster).iter().sum();
        let count = cluster.end - cluster.start;
        let step = count.div_ceil(bytes.div_ceil(most.max(1)).clamp(1, count));
        let starts = (cluster.start..cluster.end).step_by(usize::try_from(step).unwrap_or(1));
        chunks.extend(starts.map(|start| start..cluster.end.min(start + step)));
    }
    Ok(chunks)
}

fn evaluate(
    reader: &Reader,
    cut: &Cut,
    chunks: &[Range<u64>],
    context: &Context,
) -> Result<Vec<SelectedRange>> {
    let names = cut.fields().iter().map(String::as_str).collect::<Vec<_>>();
    let quiet = context.quiet();
    let read = |chunk: &Range<u64>| reader.read(&names, chunk.clone(), &quiet);
    let mut pieces = Vec::with_capacity(chunks.len());
    let mut arrays = chunks.first().map(read).transpose()?.unwrap_or_default();
    for (index, chunk) in chunks.iter().enumerate() {
        context.check()?;
        let (mask, next) = context.pool().install(|| {
            rayon::join(
                || mask(cut, &arrays, chunk),
                || chunks.get(index + 1).map(read).transpose(),
            )
        });
        let mask = mask.in_file(reader.file()).in_object(reader.name())?;
        pieces.push(SelectedRange { entries: chunk.clone(), mask: Some(mask) });
        arrays = next?.unwrap_or_default();
    }
    Ok(pieces)
}

/// Returns the mask of a chunk. All threads evaluate slices of it.
fn mask(cut: &Cut, arrays: &[ArrayRef], chunk: &Range<u64>) -> Result<BooleanBuffer> {
    let length = to_usize(chunk.end - chunk.start, "mask")?;
    let slice = |start: usize| {
        let count = rewrite::SLICE_ENTRIES.min(length - start);
        let slices = arrays.iter().map(|array| array.slice(start, count)).collect::<Vec<_>>();
        cut.mask(&slices, count)
    };
    let starts = (0..length).step_by(rewrite::SLICE_ENTRIES).collect::<Vec<_>>();
    let masks = starts.into_par_iter().map(slice).collect::<Result<Vec<_>>>()?;
    let mut all = BooleanBufferBuilder::new(length);
    masks.iter().for_each(|mask| all.append_buffer(mask));
    Ok(all.finish())
}
