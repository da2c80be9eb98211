//! Opens a Parquet file, and decodes the columns of its row groups. A read that goes on where an earlier one has ended, as
//! steps do, goes on with the same decoder.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef};
use arrow_schema::Field;
use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::Context;
use nyssa_root::arrow::Cutter;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::CompressionCodec;
use parquet::file::metadata::ParquetMetaData;

use super::chunks::{Chunks, leaves, positive, range};
use super::footer::footer;
use super::nulls::narrowed;
use super::pages::pages;
use crate::columns::Columns;
use crate::guard::{LARGEST_RATIO, guarded, of_arrow, of_parquet};
use crate::metadata::About;
use crate::shown::fit;
use crate::table::{Head, Table, joined};

/// The largest number of stored bytes of columns in row groups that a read fetches whole, or less where memory is limited.
/// The others are read in pieces while they are decoded.
const WHOLE: u64 = 256 << 20;
/// The largest number of entries that are decoded at once, so that steps need little more memory than their entries.
const BATCH: usize = 16 << 10;
/// The number of entries that are decoded at once where steps are small.
const SMALL_BATCH: usize = 64;
/// The largest number of bytes of entries that are decoded at once, by the mean of their row group. The library needs
/// batches of less than 2 GiB.
const BATCH_BYTES: u64 = 64 << 20;

/// The row groups of a file.
pub(crate) struct RowGroups {
    pub(super) metadata: ArrowReaderMetadata,
    /// The decoders that have not come to the end of their row group, by row group and column.
    decoders: Mutex<HashMap<(usize, usize), Decoder>>,
}

/// A decoder of one column in one row group.
struct Decoder {
    batches: ParquetRecordBatchReader,
    chunks: Chunks,
    /// The entries that were decoded and not taken yet, and the number of entries that were taken.
    rest: Option<(ArrayRef, usize)>,
    /// The next entry of the row group.
    next: usize,
}

/// The entries of one column in one row group.
pub(super) struct Piece {
    pub(super) group: usize,
    pub(super) column: usize,
    pub(super) field: Field,
    /// The entries within the row group.
    rows: Range<usize>,
    /// A decoder that has come to the first of them.
    decoder: Option<Decoder>,
    /// The first byte of each range that is fetched.
    starts: Vec<u64>,
}

/// Opens the file.
///
/// # Errors
/// `OutOfSpecification` for a damaged file; `Io`.
pub(crate) fn open(source: &Arc<dyn Source>) -> Result<Table<RowGroups>> {
    guarded(|| {
        let chunks = Chunks::new(source, vec![footer(source)?]);
        let load = |options| ArrowReaderMetadata::load(&chunks, options);
        let metadata = load(ArrowReaderOptions::new()).or_else(|error| {
            // The Arrow types in the metadata may be damaged, or newer than the library.
            load(ArrowReaderOptions::new().with_skip_arrow_metadata(true)).map_err(|_| error)
        });
        let metadata = metadata.map_err(|error| chunks.cause(|| of_parquet(error)))?;
        let inner = metadata.metadata();
        let head = Head {
            clusters: groups(inner, source.size())?,
            columns: Columns::new(metadata.schema(), |index, field| {
                check_codec(inner, index)?;
                Ok(narrowed(inner, index, field))
            }),
            about: About::new(source, metadata.schema().metadata()),
            source: Arc::clone(source),
        };
        Ok(Table { head, values: RowGroups { metadata, decoders: Mutex::default() } })
    })
}

impl RowGroups {
    /// Decodes all entries of a column in a row group, and keeps none of them. `fetched` are bytes of the file, each with
    /// their first byte.
    ///
    /// # Errors
    /// As for reading.
    pub(super) fn decode_all(
        &self,
        head: &Head,
        (group, column): (usize, usize),
        field: &Field,
        fetched: Vec<(u64, Bytes)>,
        context: &Context,
    ) -> Result<()> {
        let Range { start, end } = head.clusters[group];
        let rows = 0..to_usize(end - start, "entry")?;
        let field = field.clone();
        let starts = fetched.iter().map(|(start, _)| *start).collect();
        let piece = Piece { group, column, field, rows, decoder: None, starts };
        let mut decoder = self.decoder(head, &piece, fetched)?;
        while decoder.next < piece.rows.end {
            context.check()?;
            let count = self.batch(&piece).min(piece.rows.end - decoder.next);
            decoder.take(count, &piece.field)?;
        }
        Ok(())
    }

    /// Returns the byte ranges of the chunks of a column in a row group.
    pub(super) fn ranges(&self, group: usize, column: usize) -> Vec<Range<u64>> {
        let metadata = self.metadata.metadata();
        let group = metadata.row_group(group);
        leaves(metadata, column).map(|leaf| range(group.column(leaf).byte_range())).collect()
    }

    /// Divides entries into pieces: each column in each row group, with the bytes that it needs.
    pub(super) fn pieces(
        &self,
        head: &Head,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<Unit>> {
        let (mut pieces, mut whole_bytes) = (Vec::new(), context.fetch_bytes(WHOLE));
        let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        for (group, rows) in head.parts(entries) {
            let rows = to_usize(rows.start, "entry")?..to_usize(rows.end, "entry")?;
            for (column, field) in columns {
                let decoder = decoders.remove(&(group, *column));
                let decoder = decoder.filter(|decoder| decoder.next == rows.start);
                let mut ranges = self.ranges(group, *column);
                let bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
                if decoder.is_some() || bytes > whole_bytes {
                    ranges.clear();
                } else {
                    whole_bytes -= bytes;
                }
                let starts = ranges.iter().map(|range| range.start).collect();
                let (column, field, rows) = (*column, field.clone(), rows.clone());
                pieces.push((ranges, Piece { group, column, field, rows, decoder, starts }));
            }
        }
        // What was read before another place is not needed any more.
        decoders.retain(|(group, _), _| head.clusters[*group].end > entries.start);
        Ok(pieces)
    }

    /// Decodes a piece.
    pub(super) fn decode(
        &self,
        head: &Head,
        mut piece: Piece,
        bytes: &mut [Bytes],
    ) -> Result<ArrayRef> {
        let mut decoder = match piece.decoder.take() {
            Some(decoder) => decoder,
            None => {
                let bytes = bytes.iter_mut().map(std::mem::take);
                self.decoder(head, &piece, piece.starts.iter().copied().zip(bytes).collect())?
            }
        };
        let array = decoder.take(piece.rows.len(), &piece.field)?;
        let Range { start, end } = head.clusters[piece.group];
        if (decoder.next as u64) < end - start {
            let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
            decoders.insert((piece.group, piece.column), decoder);
        }
        Ok(array)
    }

    /// Refuses pages that claim more bytes after decompression than their stored bytes can make. Pages that do not fit
    /// their column are left to the decoder.
    fn check_claims(&self, piece: &Piece, chunks: &Chunks) -> Result<()> {
        let metadata = self.metadata.metadata();
        for leaf in leaves(metadata, piece.column) {
            let mut claim = None;
            let _ =
                pages(metadata.row_group(piece.group).column(leaf), chunks, |offset, header| {
                    if header.uncompressed / LARGEST_RATIO > header.stored {
                        claim.get_or_insert(offset);
                    }
                    Ok(())
                });
            if let Some(offset) = claim {
                let error = Error::out_of_spec("a page claims more bytes than it can have");
                return Err(error.at(|place| place.offset = Some(offset)));
            }
        }
        Ok(())
    }

    /// Returns the number of entries that are decoded at once.
    fn batch(&self, piece: &Piece) -> usize {
        let metadata = self.metadata.metadata();
        let group = metadata.row_group(piece.group);
        let bytes = leaves(metadata, piece.column).map(|leaf| {
            let chunk = group.column(leaf);
            let values = chunk.unencoded_byte_array_data_bytes().unwrap_or(0);
            positive(chunk.uncompressed_size().max(values))
        });
        let each = (bytes.max().unwrap_or(0) / positive(group.num_rows()).max(1)).max(1);
        let most = usize::try_from(BATCH_BYTES / each).unwrap_or(BATCH).clamp(1, BATCH);
        piece.rows.len().clamp(SMALL_BATCH, BATCH).min(most)
    }

    fn decoder(&self, head: &Head, piece: &Piece, fetched: Vec<(u64, Bytes)>) -> Result<Decoder> {
        let chunks = Chunks::new(&head.source, fetched);
        if !piece.starts.is_empty() {
            self.check_claims(piece, &chunks)?;
        }
        let known = chunks.clone();
        let schema = self.metadata.parquet_schema();
        let batches =
            ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .with_row_groups(vec![piece.group])
                .with_projection(ProjectionMask::roots(schema, [piece.column]))
                .with_offset(piece.rows.start)
                .with_batch_size(self.batch(piece))
                .build()
                .map_err(|error| known.cause(|| of_parquet(error)))?;
        Ok(Decoder { batches, chunks: known, rest: None, next: piece.rows.start })
    }
}

/// The ranges of a piece, and the piece.
pub(super) type Unit = (Vec<Range<u64>>, Piece);

impl Decoder {
    /// Returns the next `count` entries in the type of `field`.
    fn take(&mut self, count: usize, field: &Field) -> Result<ArrayRef> {
        let mut parts: Vec<ArrayRef> = Vec::new();
        let mut left = count;
        while left > 0 {
            let (array, taken) = match self.rest.take() {
                Some(rest) => rest,
                None => {
                    let batch = self.batches.next().ok_or_else(too_short)?;
                    let batch = batch.map_err(|error| self.chunks.cause(|| of_arrow(error)))?;
                    let column = batch.columns().first().ok_or_else(too_short)?;
                    (fit(column, field)?, 0)
                }
            };
            let here = left.min(array.len() - taken);
            if here == 0 && array.is_empty() {
                return Err(too_short());
            }
            parts.push(Cutter::default().cut(&array, taken, here)?);
            left -= here;
            if taken + here < array.len() {
                self.rest = Some((array, taken + here));
            }
        }
        self.next += count;
        joined(&parts, field)
    }
}

/// Returns the reason why the values of a column cannot be decompressed.
fn check_codec(metadata: &ParquetMetaData, column: usize) -> std::result::Result<(), String> {
    let mut codecs = metadata.row_groups().iter().flat_map(|group| {
        leaves(metadata, column)
            .filter_map(|leaf| group.columns().get(leaf))
            .map(|chunk| chunk.compression_codec())
    });
    match codecs.find(|codec| matches!(codec, CompressionCodec::BROTLI | CompressionCodec::LZO)) {
        Some(CompressionCodec::BROTLI) => Err(no_codec("brotli")),
        Some(_) => Err(no_codec("lzo")),
        None => Ok(()),
    }
}

fn no_codec(name: &str) -> String {
    format!("it is compressed by {name}, which nyssa does not read: write the table with zstd")
}

fn too_short() -> Error {
    Error::out_of_spec("a row group has fewer entries than the metadata say")
}

/// Returns the entries of the row groups.
fn groups(metadata: &ParquetMetaData, size: u64) -> Result<Vec<Range<u64>>> {
    let damaged = |what: &str| Error::out_of_spec(format!("the Parquet file is damaged: {what}"));
    let rows = metadata.row_groups().iter().map(|group| {
        let rows =
            u64::try_from(group.num_rows()).map_err(|_| damaged("a negative number of rows"))?;
        match group.columns().iter().any(|column| range(column.byte_range()).end > size) {
            true => Err(damaged("a column ends after the file")),
            false => Ok(rows),
        }
    });
    Head::clusters(rows, || damaged("more than 2^64 rows"))
}
