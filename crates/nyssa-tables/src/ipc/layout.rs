//! Says how the values of an Arrow IPC file are stored, by the heads of its record batches.

use std::ops::Range;
use std::sync::Arc;

use nyssa_io::Source;
use nyssa_root::error::Result;
use nyssa_root::fetch::read_all;

use super::blocks::{damaged, head_of, message};
use super::buffers::{ColumnBuffers, of_columns};
use super::read::Batches;
use crate::layout::{Layout, Leaf, StoredPage};
use crate::table::Head;

/// The bytes at the start of a compressed buffer that state its size before compression.
const SIZE_BYTES: u64 = 8;

/// Says how the values are stored. Reads the heads of record batches, and the sizes of compressed buffers.
///
/// # Errors
/// `OutOfSpecification` for damaged heads; `Io`.
pub(super) fn layout(batches: &Batches, head: &Head) -> Result<Layout> {
    let size = head.source.size();
    let fields = batches.schema.fields();
    let leaf = |(column, field): (usize, &arrow_schema::FieldRef)| Leaf {
        path: field.name().clone(),
        column,
        stored_type: field.data_type().to_string(),
        bits: u16::try_from(field.data_type().primitive_width().unwrap_or(0) * 8).unwrap_or(0),
    };
    let leaves = fields.iter().enumerate().map(leaf).collect();
    let heads = batches.blocks.iter().map(|block| head_of(block, size));
    let heads = heads.collect::<Result<Vec<_>>>()?;
    let mut pages = Vec::new();
    for (cluster, (range, bytes)) in heads.iter().zip(read_all(&head.source, &heads)?).enumerate() {
        let message = message(&bytes)?;
        let batch = message.header_as_record_batch();
        let batch = batch.ok_or_else(|| damaged("a block is no record batch"))?;
        let types = fields.iter().map(|field| field.data_type());
        let columns = of_columns(&batch, batches.version, types)?;
        let codec = match batch.compression() {
            None => "none",
            Some(compression) if compression.codec() == arrow_ipc::CompressionType::ZSTD => "zstd",
            Some(_) => "lz4",
        };
        let rows = head.clusters.get(cluster).map_or(0, |rows| rows.end - rows.start);
        let columns = columns.iter().map(|column| places(column, range.end, size));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let stored =
            |places: &Vec<Range<u64>>| places.iter().map(length).fold(0, u64::saturating_add);
        let stored: Vec<u64> = columns.iter().map(stored).collect();
        let plain = match codec {
            "none" => stored.clone(),
            _ => sizes_before_compression(&head.source, &columns)?,
        };
        for (leaf, places) in columns.iter().enumerate() {
            pages.push(StoredPage {
                leaf,
                cluster,
                offset: places.first().map_or(range.end, |place| place.start),
                bytes: stored[leaf],
                uncompressed: plain[leaf],
                values: rows,
                encoding: "",
                codec,
            });
        }
    }
    Ok(Layout { leaves, pages })
}

/// Returns the bytes of the buffers of a column. `body` is the first byte of the body of the message.
fn places(column: &ColumnBuffers, body: u64, size: u64) -> Result<Vec<Range<u64>>> {
    let place = |&(at, length): &(u64, u64)| {
        let start = body.saturating_add(at);
        match start.checked_add(length) {
            Some(end) if end <= size => Ok(start..end),
            _ => Err(damaged("a buffer is not within the file")),
        }
    };
    column.places.iter().map(place).collect()
}

fn length(place: &Range<u64>) -> u64 {
    place.end - place.start
}

/// Returns the bytes before compression that the buffers of each column state.
fn sizes_before_compression(
    source: &Arc<dyn Source>,
    columns: &[Vec<Range<u64>>],
) -> Result<Vec<u64>> {
    let own = |(column, places): (usize, &Vec<Range<u64>>)| {
        let sized = places.iter().filter(|place| length(place) >= SIZE_BYTES);
        sized.map(|place| (column, place.clone())).collect::<Vec<_>>()
    };
    let sized: Vec<_> = columns.iter().enumerate().flat_map(own).collect();
    let heads = sized.iter().map(|(_, place)| place.start..place.start + SIZE_BYTES);
    let heads = read_all(source, &heads.collect::<Vec<_>>())?;
    let mut sizes = vec![0u64; columns.len()];
    for ((column, place), stated) in sized.iter().zip(heads) {
        let stated = <[u8; 8]>::try_from(&stated[..]).map_or(0, i64::from_le_bytes);
        // A buffer that does not become smaller is stored as it is, and states -1.
        let plain = u64::try_from(stated).unwrap_or(length(place) - SIZE_BYTES);
        sizes[*column] = sizes[*column].saturating_add(plain);
    }
    Ok(sizes)
}
