//! Reads a Parquet file as a dataset, whose clusters are the row groups. The columns of the row groups that hold the
//! requested entries are fetched and decoded on all threads. A read that goes on where an earlier one has ended, as steps
//! do, goes on with the same decoder.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::Field;
use arrow_select::concat::concat;
use bytes::Bytes;
use nyssa_data::dataset::{Arrays, ColumnBytes, ColumnInfo, Dataset, Format, check_entries};
use nyssa_io::{OpenOptions, Source};
use nyssa_root::Context;
use nyssa_root::arrow::Cutter;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fetch::on_all_threads;
use nyssa_root::guard::to_usize;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::file::metadata::ParquetMetaData;

use super::chunks::Chunks;
use super::nulls::narrowed;
use crate::columns::Columns;
use crate::guard::{guarded, of_arrow, of_parquet};
use crate::metadata::About;
use crate::shown::fit;

/// The largest number of stored bytes of columns in row groups that a read fetches whole, or less where memory is limited.
/// The others are read in pieces while they are decoded.
const WHOLE: u64 = 256 << 20;
/// The largest number of entries that are decoded at once, so that steps need little more memory than their entries.
const BATCH: usize = 16 << 10;
/// The number of entries that are decoded at once where steps are small.
const SMALL_BATCH: usize = 64;

/// An open Parquet file.
pub(crate) struct Reader {
    source: Arc<dyn Source>,
    metadata: ArrowReaderMetadata,
    columns: Columns,
    about: About,
    /// The entries of each row group.
    groups: Vec<Range<u64>>,
    /// The decoders that have not come to the end of their row group, by row group and column.
    decoders: Mutex<HashMap<(usize, usize), Decoder>>,
}

/// A decoder of one column in one row group.
struct Decoder {
    batches: ParquetRecordBatchReader,
    /// The entries that were decoded and not taken yet, and the number of those that were taken.
    rest: Option<(ArrayRef, usize)>,
    /// The next entry of the row group.
    next: usize,
}

/// The entries of one column in one row group.
struct Piece {
    group: usize,
    column: usize,
    field: Field,
    /// The entries within the row group.
    rows: Range<usize>,
    /// A decoder that has come to the first of them.
    decoder: Option<Decoder>,
    /// The first byte of each range that is fetched.
    starts: Vec<u64>,
}

impl Reader {
    /// Opens the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for a damaged file; `Unsupported` for columns of one name; `Io`.
    pub(crate) fn open(source: &Arc<dyn Source>) -> Result<Self> {
        guarded(|| Self::new(source))
    }

    fn new(source: &Arc<dyn Source>) -> Result<Self> {
        let chunks = Chunks::new(source, Vec::new());
        let load = |options| ArrowReaderMetadata::load(&chunks, options);
        let metadata = load(ArrowReaderOptions::new()).or_else(|error| {
            // The Arrow types in the metadata may be damaged, or newer than the library.
            load(ArrowReaderOptions::new().with_skip_arrow_metadata(true)).map_err(|_| error)
        });
        let metadata = metadata.map_err(of_parquet)?;
        let inner = Arc::clone(metadata.metadata());
        let groups = groups(&inner, source.size())?;
        let narrow = |index: usize, field: &Field| narrowed(&inner, index, field);
        let columns = Columns::new(metadata.schema(), narrow)?;
        let about = About::new(source, metadata.schema().metadata());
        let (source, decoders) = (Arc::clone(source), Mutex::default());
        Ok(Self { source, metadata, columns, about, groups, decoders })
    }

    /// Returns the byte ranges of the chunks of a column in a row group.
    fn ranges(&self, group: usize, column: usize) -> Vec<Range<u64>> {
        let metadata = self.metadata.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let leaves =
            (0..schema.num_columns()).filter(|&it| schema.get_column_root_idx(it) == column);
        let group = metadata.row_group(group);
        leaves.map(|leaf| range(group.column(leaf).byte_range())).collect()
    }

    /// Divides entries into pieces: each column in each row group, with the bytes that it needs.
    fn pieces(
        &self,
        columns: &[(usize, Field)],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<Unit>> {
        let (mut pieces, mut whole_bytes) = (Vec::new(), context.fetch_bytes(WHOLE));
        let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
        for (group, whole) in self.groups.iter().enumerate() {
            let (from, to) = (entries.start.max(whole.start), entries.end.min(whole.end));
            if from >= to {
                continue;
            }
            let rows = to_usize(from - whole.start, "entry")?..to_usize(to - whole.start, "entry")?;
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
        decoders.retain(|(group, _), _| self.groups[*group].end > entries.start);
        Ok(pieces)
    }

    /// Decodes a piece.
    fn decode(&self, mut piece: Piece, bytes: &mut [Bytes]) -> Result<ArrayRef> {
        let mut decoder = match piece.decoder.take() {
            Some(decoder) => decoder,
            None => {
                let bytes = bytes.iter_mut().map(std::mem::take);
                self.decoder(&piece, piece.starts.iter().copied().zip(bytes).collect())?
            }
        };
        let array = decoder.take(piece.rows.len(), &piece.field)?;
        let Range { start, end } = self.groups[piece.group];
        if (decoder.next as u64) < end - start {
            let mut decoders = self.decoders.lock().unwrap_or_else(PoisonError::into_inner);
            decoders.insert((piece.group, piece.column), decoder);
        }
        Ok(array)
    }

    fn decoder(&self, piece: &Piece, fetched: Vec<(u64, Bytes)>) -> Result<Decoder> {
        let chunks = Chunks::new(&self.source, fetched);
        let schema = self.metadata.parquet_schema();
        let batches =
            ParquetRecordBatchReaderBuilder::new_with_metadata(chunks, self.metadata.clone())
                .with_row_groups(vec![piece.group])
                .with_projection(ProjectionMask::roots(schema, [piece.column]))
                .with_offset(piece.rows.start)
                .with_batch_size(piece.rows.len().clamp(SMALL_BATCH, BATCH))
                .build()
                .map_err(of_parquet)?;
        Ok(Decoder { batches, rest: None, next: piece.rows.start })
    }
}

/// The ranges of a piece, and the piece.
type Unit = (Vec<Range<u64>>, Piece);

impl Decoder {
    /// Returns the next `count` entries in the type of `field`.
    fn take(&mut self, count: usize, field: &Field) -> Result<ArrayRef> {
        let mut parts: Vec<ArrayRef> = Vec::new();
        let mut left = count;
        while left > 0 {
            let (array, taken) = match self.rest.take() {
                Some(rest) => rest,
                None => {
                    let batch = self.batches.next().ok_or_else(too_short)?.map_err(of_arrow)?;
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

fn too_short() -> Error {
    Error::out_of_spec("a row group has fewer entries than the metadata say")
}

/// Joins arrays of the type of `field`.
pub(crate) fn joined(parts: &[ArrayRef], field: &Field) -> Result<ArrayRef> {
    match parts {
        [] => Ok(new_empty_array(field.data_type())),
        [only] => Ok(Arc::clone(only)),
        _ => concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())
            .map_err(|error| Error::limit("the entries do not fit one array").with_source(error)),
    }
}

/// Returns the entries of the row groups.
fn groups(metadata: &ParquetMetaData, size: u64) -> Result<Vec<Range<u64>>> {
    let damaged = |what: &str| Error::out_of_spec(format!("the Parquet file is damaged: {what}"));
    let mut groups = Vec::with_capacity(metadata.num_row_groups());
    let mut end = 0u64;
    for group in metadata.row_groups() {
        let start = end;
        let rows =
            u64::try_from(group.num_rows()).map_err(|_| damaged("a negative number of rows"))?;
        end = end.checked_add(rows).ok_or_else(|| damaged("more than 2^64 rows"))?;
        groups.push(start..end);
        if group.columns().iter().any(|column| range(column.byte_range()).end > size) {
            return Err(damaged("a column ends after the file"));
        }
    }
    Ok(groups)
}

fn range((start, length): (u64, u64)) -> Range<u64> {
    start..start.saturating_add(length)
}

impl Dataset for Reader {
    fn format(&self) -> Format {
        Format::Parquet
    }

    fn name(&self) -> &str {
        &self.about.object
    }

    fn file(&self) -> &str {
        self.source.name()
    }

    fn location(&self) -> &Path {
        self.source.location()
    }

    fn num_entries(&self) -> u64 {
        self.groups.last().map_or(0, |group| group.end)
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns.items
    }

    fn title(&self, column: &str) -> String {
        self.columns.title(column)
    }

    fn description(&self) -> String {
        self.about.description.clone()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        let Some(column) = self.columns.items.iter().position(|item| item.name == column) else {
            return Ok(None);
        };
        let metadata = self.metadata.metadata();
        let schema = metadata.file_metadata().schema_descr();
        let mut bytes = ColumnBytes::default();
        let own = |leaf: &usize| schema.get_column_root_idx(*leaf) == column;
        for leaf in (0..schema.num_columns()).filter(own) {
            for group in metadata.row_groups() {
                let chunk = group.column(leaf);
                bytes.compressed += u64::try_from(chunk.compressed_size()).unwrap_or(0);
                bytes.uncompressed += u64::try_from(chunk.uncompressed_size()).unwrap_or(0);
            }
        }
        Ok(Some(bytes))
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self, _entries: &Range<u64>) -> Result<()> {
        Ok(self.source.check_open()?)
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        self.source.options().cloned().into_iter().collect()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        self.groups.iter().filter(|group| !group.is_empty()).cloned().collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        self.source.check_open()?;
        let requested = self.columns.find(names).in_file(self.file())?;
        let mut distinct = requested.clone();
        distinct.sort_by_key(|(index, _)| *index);
        distinct.dedup_by_key(|(index, _)| *index);
        let pieces = self.pieces(&distinct, &entries, context)?;
        let work = |_: &mut (), piece: Piece, bytes: Result<&mut [Bytes]>| {
            let bytes = bytes?;
            let (name, group, column) = (piece.field.name().clone(), piece.group, piece.column);
            let array = guarded(|| self.decode(piece, bytes)).in_field(&name)?;
            Ok((group, column, array))
        };
        let arrays = on_all_threads(&self.source, pieces, context, || (), work);
        let mut arrays = arrays.in_file(self.file()).in_object(self.name())?;
        arrays.sort_by_key(|(group, ..)| *group);
        let column = |(index, field): &(usize, Field)| {
            let own = arrays.iter().filter(|(_, column, _)| column == index);
            joined(&own.map(|(.., array)| ArrayRef::clone(array)).collect::<Vec<_>>(), field)
        };
        requested.iter().map(column).collect()
    }
}
