//! Finds the record batches of an Arrow IPC file by its footer, and the record batches of a stream by its messages.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::reader::FileDecoder;
use arrow_ipc::{Block, Message, MetadataVersion, root_as_footer, root_as_message};
use arrow_schema::{Schema, SchemaRef};
use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::{read_all, read_one};

use crate::format::{ARROW, CONTINUATION};
use crate::guard::{LARGEST_RATIO, of_arrow};

/// The parts of a file or stream.
pub(super) struct Blocks {
    pub(super) schema: SchemaRef,
    pub(super) version: MetadataVersion,
    pub(super) dictionaries: Vec<Block>,
    /// The record batches, each with the number of its entries.
    pub(super) batches: Vec<(Block, u64)>,
}

impl Blocks {
    /// Reads the metadata of a source.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged file; `Io`.
    pub(super) fn find(source: &Arc<dyn Source>) -> Result<Self> {
        let first = read_one(source, 0..source.size().min(8))?;
        let blocks = match first.starts_with(ARROW) {
            true => Self::of_file(source)?,
            false => Self::of_stream(source)?,
        };
        let all = blocks.dictionaries.iter().chain(blocks.batches.iter().map(|(block, _)| block));
        all.map(|block| range_of(block, source.size())).try_for_each(|range| range.map(drop))?;
        Ok(blocks)
    }

    fn of_file(source: &Arc<dyn Source>) -> Result<Self> {
        let size = source.size();
        let end = size.checked_sub(10).ok_or_else(|| damaged("it ends before its footer"))?;
        let tail = read_one(source, end..size)?;
        if !tail.ends_with(ARROW) {
            return Err(damaged("it has no footer: it may not have been closed"));
        }
        let length = number(&tail, 0)?;
        let start = end.checked_sub(u64::from(length)).ok_or_else(|| damaged("its footer"))?;
        let footer = read_one(source, start..end)?;
        let footer = root_as_footer(&footer).map_err(|error| damaged(&error.to_string()))?;
        let schema = footer.schema().ok_or_else(|| damaged("its footer has no schema"))?;
        let schema = try_fb_to_schema(schema).map_err(of_arrow)?;
        let own = |blocks: Option<flatbuffers_vector::Blocks<'_>>| -> Vec<Block> {
            blocks.map(|blocks| blocks.iter().copied().collect()).unwrap_or_default()
        };
        let batches = own(footer.recordBatches());
        let heads = batches.iter().map(|block| head_of(block, size)).collect::<Result<Vec<_>>>()?;
        let counts = read_all(source, &heads)?;
        let counts =
            counts.iter().map(|bytes| rows(&message(bytes)?)).collect::<Result<Vec<_>>>()?;
        let metadata = footer.custom_metadata().into_iter().flatten();
        let pairs =
            metadata.filter_map(|pair| Some((pair.key()?.to_owned(), pair.value()?.to_owned())));
        let mut all = schema.metadata().clone();
        all.extend(pairs);
        Ok(Self {
            schema: Arc::new(schema.with_metadata(all)),
            version: footer.version(),
            dictionaries: own(footer.dictionaries()),
            batches: batches.into_iter().zip(counts).collect(),
        })
    }

    /// Reads the heads of all messages, one after the other.
    fn of_stream(source: &Arc<dyn Source>) -> Result<Self> {
        let size = source.size();
        let (mut at, mut schema) = (0u64, None);
        let (mut dictionaries, mut batches) = (Vec::new(), Vec::new());
        while at + 8 <= size {
            let start = read_one(source, at..at + 8)?;
            let length = u64::from(number(&start, 4)?);
            if !start.starts_with(&CONTINUATION) {
                return Err(damaged("a message of a stream has no mark"));
            }
            // A message of length 0 is the end.
            if length == 0 {
                break;
            }
            let body = at.saturating_add(8).saturating_add(length);
            if body > size {
                return Err(damaged("a message ends after the stream: it may be incomplete"));
            }
            let head = read_one(source, at..body)?;
            let head = message(&head)?;
            let bytes =
                u64::try_from(head.bodyLength()).map_err(|_| damaged("a negative length"))?;
            let block = || block(at, 8 + length, bytes);
            if let Some(stated) = head.header_as_schema() {
                schema = Some((try_fb_to_schema(stated).map_err(of_arrow)?, head.version()));
            } else if head.header_as_dictionary_batch().is_some() {
                if !batches.is_empty() {
                    return Err(Error::unsupported(
                        "the dictionaries of the stream change: write an .arrow file of it",
                    ));
                }
                dictionaries.push(block()?);
            } else {
                batches.push((block()?, rows(&head)?));
            }
            at = body.checked_add(bytes).ok_or_else(|| damaged("a length"))?;
        }
        let (schema, version): (Schema, _) = schema.ok_or_else(|| damaged("it has no schema"))?;
        Ok(Self { schema: Arc::new(schema), version, dictionaries, batches })
    }

    /// Returns a decoder with the dictionaries.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged dictionary; `Io`.
    pub(super) fn decoder(&self, source: &Arc<dyn Source>) -> Result<FileDecoder> {
        let mut decoder = FileDecoder::new(Arc::clone(&self.schema), self.version);
        let ranges = self.dictionaries.iter().map(|block| range_of(block, source.size()));
        let bytes = read_all(source, &ranges.collect::<Result<Vec<_>>>()?)?;
        for (block, bytes) in self.dictionaries.iter().zip(bytes) {
            check_claims(block, &bytes)?;
            decoder.read_dictionary(block, &Buffer::from(bytes)).map_err(of_arrow)?;
        }
        Ok(decoder)
    }
}

/// Names the type of a list of blocks.
mod flatbuffers_vector {
    pub(super) type Blocks<'a> = flatbuffers::Vector<'a, arrow_ipc::Block>;
}

pub(super) fn damaged(what: &str) -> Error {
    Error::out_of_spec(format!("the Arrow file is damaged: {what}"))
}

fn number(bytes: &[u8], at: usize) -> Result<u32> {
    let bytes = bytes.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    bytes.map(u32::from_le_bytes).ok_or_else(|| damaged("it ends too early"))
}

fn block(at: u64, head: u64, body: u64) -> Result<Block> {
    let wrong = |_| damaged("a message is too large");
    let (at, body) = (i64::try_from(at).map_err(wrong)?, i64::try_from(body).map_err(wrong)?);
    Ok(Block::new(at, i32::try_from(head).map_err(wrong)?, body))
}

/// Returns the bytes of the head of a block.
pub(super) fn head_of(block: &Block, size: u64) -> Result<Range<u64>> {
    let wrong = |_| damaged("a block has a negative place or length");
    let start = u64::try_from(block.offset()).map_err(wrong)?;
    let length = u64::try_from(block.metaDataLength()).map_err(wrong)?;
    let end = start.checked_add(length).filter(|&end| end <= size && length >= 8);
    end.map(|end| start..end).ok_or_else(|| damaged("a block is not within the file"))
}

/// Returns the bytes of a block.
pub(super) fn range_of(block: &Block, size: u64) -> Result<Range<u64>> {
    let head = head_of(block, size)?;
    let length = u64::try_from(block.bodyLength()).unwrap_or(u64::MAX);
    let end = head.end.checked_add(length).filter(|&end| end <= size);
    end.map(|end| head.start..end).ok_or_else(|| damaged("a block is not within the file"))
}

/// Reads the head of a message.
pub(super) fn message(bytes: &[u8]) -> Result<Message<'_>> {
    let bytes = match bytes.starts_with(&CONTINUATION) {
        true => bytes.get(8..),
        false => bytes.get(4..),
    };
    let bytes = bytes.ok_or_else(|| damaged("a message is too short"))?;
    root_as_message(bytes).map_err(|error| damaged(&error.to_string()))
}

fn rows(message: &Message<'_>) -> Result<u64> {
    let batch = message.header_as_record_batch();
    let batch =
        batch.ok_or_else(|| damaged("a message is neither schema, dictionary nor batch"))?;
    u64::try_from(batch.length()).map_err(|_| damaged("a negative number of rows"))
}

/// Refuses a block that claims more bytes after decompression than its stored bytes can make.
///
/// # Errors
/// `OutOfSpecification`.
pub(super) fn check_claims(block: &Block, bytes: &Bytes) -> Result<()> {
    let head = usize::try_from(block.metaDataLength()).unwrap_or(0);
    let message = message(bytes)?;
    let batch = message.header_as_record_batch();
    let batch = batch.or_else(|| message.header_as_dictionary_batch()?.data());
    let Some(batch) = batch.filter(|batch| batch.compression().is_some()) else { return Ok(()) };
    for buffer in batch.buffers().into_iter().flatten() {
        let wrong = |_| damaged("a buffer has a negative place");
        let at = usize::try_from(buffer.offset()).map_err(wrong)?;
        let stored = u64::try_from(buffer.length()).map_err(wrong)?;
        let place = head.checked_add(at).and_then(|at| Some(at..at.checked_add(8)?));
        let Some(claim) = place.and_then(|place| bytes.get(place)).filter(|_| stored >= 8) else {
            continue;
        };
        let claim = <[u8; 8]>::try_from(claim).map_or(0, i64::from_le_bytes);
        // -1 means that the buffer is stored as it is.
        if u64::try_from(claim).is_ok_and(|claim| claim / LARGEST_RATIO > stored) {
            return Err(damaged("a buffer claims more bytes than it can have"));
        }
    }
    Ok(())
}
