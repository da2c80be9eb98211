//! Says how the values of an Arrow IPC file are stored, by the heads of its record batches.

use nyssa_root::error::Result;
use nyssa_root::fetch::read_all;

use super::blocks::{damaged, head_of, message};
use super::buffers::of_columns;
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
        for (leaf, column) in columns.into_iter().enumerate() {
            let places = column.places.iter().map(|&(at, length)| {
                let start = range.end.saturating_add(at);
                match start.checked_add(length) {
                    Some(end) if end <= size => Ok(start..end),
                    _ => Err(damaged("a buffer is not within the file")),
                }
            });
            let places = places.collect::<Result<Vec<_>>>()?;
            let bytes = places.iter().map(|place| place.end - place.start);
            let bytes = bytes.fold(0, u64::saturating_add);
            let mut uncompressed = bytes;
            if codec != "none" {
                let is_sized =
                    |place: &&std::ops::Range<u64>| place.end - place.start >= SIZE_BYTES;
                let sizes = places.iter().filter(is_sized);
                let sizes: Vec<_> =
                    sizes.map(|place| place.start..place.start + SIZE_BYTES).collect();
                uncompressed = 0;
                let lengths = places.iter().filter(is_sized).map(|place| place.end - place.start);
                for (stated, length) in read_all(&head.source, &sizes)?.iter().zip(lengths) {
                    let stated = <[u8; 8]>::try_from(&stated[..]).map_or(0, i64::from_le_bytes);
                    // A buffer that does not become smaller is stored as it is, and states -1.
                    let own = u64::try_from(stated).unwrap_or(length - SIZE_BYTES);
                    uncompressed = uncompressed.saturating_add(own);
                }
            }
            pages.push(StoredPage {
                leaf,
                cluster,
                offset: places.first().map_or(range.end, |place| place.start),
                bytes,
                uncompressed,
                values: rows,
                encoding: "",
                codec,
            });
        }
    }
    Ok(Layout { leaves, pages })
}
