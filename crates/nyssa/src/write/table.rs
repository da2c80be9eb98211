//! Tables in, an RNTuple out: buffers rows up to the cluster size, seals pages on many threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use rayon::prelude::*;

use super::column_data::ColumnData;
use super::seal::ColumnPlan;
use super::shred::{Shred, shred};
use super::{Options, Report, Scratch, SealSettings, SharedFile, Writer};
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::page::SealedPage;
use crate::schema::{ColumnId, FieldId, Schema};

/// Share of the memory budget that buffered rows may take; the rest is for growing buffers, encoded
/// pages and compressors.
const BUFFER_SHARE: u64 = 3;
/// Compression that is assumed before the first cluster has shown it.
const ASSUMED_RATIO: u64 = 2;
/// Uncompressed bytes that are sealed between two writes, for each thread.
const WAVE_BYTES_PER_THREAD: u64 = 16 << 20;

/// Writes rows of Arrow arrays as one RNTuple.
pub struct TableWriter {
    writer: Writer,
    settings: SealSettings,
    context: Context,
    fields: Vec<FieldId>,
    /// Elements of the rows not written yet, by column.
    buffer: Vec<ColumnData>,
    buffered_entries: u64,
    buffered_bytes: u64,
    scratches: Mutex<Vec<Scratch>>,
    options: Options,
}

impl TableWriter {
    /// Begins the RNTuple `path` in `file` for rows of `arrow`.
    ///
    /// # Errors
    /// As [`Schema::from_arrow`] and [`Writer::attach`].
    pub fn create(
        file: &SharedFile,
        path: &str,
        arrow: &ArrowSchema,
        options: Options,
        context: &Context,
    ) -> Result<Self> {
        let schema = Schema::from_arrow(arrow, options.compression)?;
        Self::with_schema(file, path, schema, options, context)
    }

    /// Begins the RNTuple `path` in `file` with a schema of one's own.
    ///
    /// # Errors
    /// As [`Writer::attach`].
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        schema: Schema,
        options: Options,
        context: &Context,
    ) -> Result<Self> {
        Ok(Self::over(Writer::attach(file, path, schema, options.clone())?, options, context))
    }

    /// Begins with a writer that has no clusters yet.
    pub(super) fn over(writer: Writer, options: Options, context: &Context) -> Self {
        let schema = writer.schema();
        let settings = SealSettings::new(schema, &options);
        let fields = schema
            .top_level()
            .filter(|(_, field)| field.source.is_none())
            .map(|(id, _)| id)
            .collect();
        let buffer = schema.columns.iter().map(|_| ColumnData::default()).collect();
        Self {
            writer,
            settings,
            context: context.clone(),
            fields,
            buffer,
            buffered_entries: 0,
            buffered_bytes: 0,
            scratches: Mutex::default(),
            options,
        }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        self.writer.schema()
    }

    /// Entries given so far.
    pub fn entries(&self) -> u64 {
        self.writer.report().entries + self.buffered_entries
    }

    /// Appends rows: one array for each top-level field that is not projected, in order, all of one
    /// length. What is not written yet is copied: the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls; nothing of this call
    /// is written then. Whatever the sink says, and `Cancelled`.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        let rows = self.check(arrays)?;
        // Everything is looked at before anything is kept, so that an error leaves no half row.
        let (all, bytes) = self.shred(arrays, 0..rows)?;
        let row_bytes = bytes / (rows as u64).max(1);
        let mut whole = Some((all, bytes));
        let mut start = 0;
        while start < rows {
            let (shreds, bytes, end) = match whole.take() {
                Some((shreds, bytes)) if self.buffered_bytes + bytes <= self.target() => {
                    (shreds, bytes, rows)
                }
                Some(_) | None => self.cut(arrays, start..rows, row_bytes)?,
            };
            if end == start {
                self.flush()?;
                continue;
            }
            for Shred { column, elements } in shreds {
                self.buffer[column.0 as usize].push(elements)?;
            }
            self.buffered_entries += (end - start) as u64;
            self.buffered_bytes += bytes;
            start = end;
            if self.buffered_bytes >= self.target() {
                self.flush()?;
            }
        }
        self.buffer.iter_mut().for_each(ColumnData::own);
        Ok(())
    }

    /// Appends the rows of a batch; columns in the order of the schema.
    ///
    /// # Errors
    /// As [`TableWriter::extend`].
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Writes what is buffered as a cluster of its own. Only for callers that want cluster
    /// boundaries at certain entries; otherwise they follow from the options.
    ///
    /// # Errors
    /// Whatever the sink says, and `Cancelled`.
    pub fn flush(&mut self) -> Result<()> {
        if self.buffered_entries == 0 {
            return Ok(());
        }
        self.writer.begin_cluster(self.buffered_entries)?;
        let columns = std::mem::take(&mut self.buffer);
        self.buffer = columns.iter().map(|_| ColumnData::default()).collect();
        self.buffered_entries = 0;
        self.buffered_bytes = 0;
        self.seal_and_put(columns)?;
        self.writer.commit_cluster()
    }

    /// Writes what is left and completes the RNTuple; the file is finished on its own.
    ///
    /// # Errors
    /// As [`TableWriter::flush`] and [`Writer::finish`].
    pub fn finish(mut self) -> Result<Report> {
        self.flush()?;
        self.writer.finish()
    }

    /// The writer of clusters, for what is not about rows.
    pub fn writer_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Writes what is left; what has to be finished.
    pub(super) fn into_writer(mut self) -> Result<Writer> {
        self.flush()?;
        Ok(self.writer)
    }

    fn check(&self, arrays: &[ArrayRef]) -> Result<usize> {
        if arrays.len() != self.fields.len() {
            return Err(Error::invalid_argument(format!(
                "{} arrays for {} fields",
                arrays.len(),
                self.fields.len()
            )));
        }
        let rows = arrays.first().map_or(0, |array| array.len());
        for (array, &field) in arrays.iter().zip(&self.fields) {
            if array.len() != rows {
                return Err(Error::invalid_argument(format!(
                    "{} rows where the first field has {rows}",
                    array.len()
                )))
                .in_field(&self.schema().path(field));
            }
        }
        Ok(rows)
    }

    /// Elements of some rows and their packed size in bytes.
    fn shred(&self, arrays: &[ArrayRef], rows: Range<usize>) -> Result<(Vec<Shred>, u64)> {
        let schema = self.writer.schema();
        let mut all = Vec::with_capacity(self.buffer.len());
        for (array, &field) in arrays.iter().zip(&self.fields) {
            all.append(&mut shred(schema, field, &array.slice(rows.start, rows.len()))?);
        }
        let bits = all
            .iter()
            .map(|shred| shred.elements.len() as u64 * u64::from(schema.column(shred.column).bits))
            .sum::<u64>();
        Ok((all, bits / 8))
    }

    /// As many of `rows` as fit into the cluster: their elements, size and end. None when the
    /// buffer is full, at least one when it is empty.
    /// `row_bytes` is what a row takes on average.
    fn cut(
        &self,
        arrays: &[ArrayRef],
        rows: Range<usize>,
        row_bytes: u64,
    ) -> Result<(Vec<Shred>, u64, usize)> {
        let room = self.target().saturating_sub(self.buffered_bytes);
        // The first try is a little too long, so that each cluster looks at its own rows only.
        let likely = room / row_bytes.max(1);
        let first = usize::try_from(likely.saturating_add(likely / 4 + 1)).unwrap_or(usize::MAX);
        let mut count = rows.len().min(first);
        // Every turn leaves out at least a quarter of the rows.
        loop {
            let (shreds, bytes) = self.shred(arrays, rows.start..rows.start + count)?;
            if bytes <= room || (count == 1 && self.buffered_entries == 0) {
                return Ok((shreds, bytes, rows.start + count));
            }
            if count == 1 {
                return Ok((Vec::new(), 0, rows.start));
            }
            let proportional = u128::from(room) * count as u128 / u128::from(bytes.max(1));
            let proportional = usize::try_from(proportional).unwrap_or(count);
            count = proportional.min(count - count.div_ceil(4)).max(1);
        }
    }

    /// Uncompressed bytes at which a cluster is written.
    fn target(&self) -> u64 {
        let report = self.writer.report();
        let zipped = self.options.approx_zipped_cluster;
        let by_ratio = match report.compressed_bytes {
            _ if self.options.compression.setting() == 0 => zipped,
            0 => zipped.saturating_mul(ASSUMED_RATIO),
            stored => {
                let size = u128::from(zipped) * u128::from(report.uncompressed_bytes);
                u64::try_from(size / u128::from(stored)).unwrap_or(u64::MAX)
            }
        };
        by_ratio
            .min(self.options.max_unzipped_cluster)
            .min(self.options.memory / BUFFER_SHARE)
            .max(1)
    }

    /// Seals all pages, a wave at a time on all threads, and stores each column when it is complete.
    fn seal_and_put(&mut self, columns: Vec<ColumnData>) -> Result<()> {
        let schema = self.writer.schema().clone();
        let ids = (0u32..).map(ColumnId);
        let plans = ids
            .zip(&columns)
            .map(|(id, data)| {
                let plan = ColumnPlan::new(&schema, id, &self.settings)?;
                plan.check(data)?;
                Ok(plan)
            })
            .collect::<Result<Vec<_>>>()?;
        let wave = WAVE_BYTES_PER_THREAD.saturating_mul(self.context.threads() as u64);
        let mut columns = columns.into_iter().map(Some).collect::<Vec<_>>();
        let mut pages = plans.iter().map(|_| Vec::new()).collect::<Vec<Vec<SealedPage>>>();
        let mut tasks: Vec<(usize, Range<usize>)> = Vec::new();
        let mut size = 0;
        let mut stored = 0;
        for index in 0..=plans.len() {
            let ranges = plans
                .get(index)
                .zip(columns.get(index).and_then(Option::as_ref))
                .map(|(plan, data)| plan.pages(data.len()).collect::<Vec<_>>());
            let bits = schema.columns.get(index).map_or(0, |column| u64::from(column.bits));
            for range in ranges.into_iter().flatten() {
                size += range.len() as u64 * bits / 8;
                tasks.push((index, range));
                if size >= wave {
                    self.seal_wave(&plans, &columns, &mut tasks, &mut pages)?;
                    size = 0;
                }
            }
            // All columns before the first one with a page still to be sealed are complete.
            if index == plans.len() {
                self.seal_wave(&plans, &columns, &mut tasks, &mut pages)?;
            }
            let complete = tasks.first().map_or(index, |(first, _)| *first);
            while stored < complete {
                if let Some(data) = columns[stored].take() {
                    let pages = std::mem::take(&mut pages[stored]);
                    self.writer.put(plans[stored].finish(&data, pages))?;
                }
                stored += 1;
            }
        }
        Ok(())
    }

    fn seal_wave(
        &self,
        plans: &[ColumnPlan<'_>],
        columns: &[Option<ColumnData>],
        tasks: &mut Vec<(usize, Range<usize>)>,
        pages: &mut [Vec<SealedPage>],
    ) -> Result<()> {
        let tasks = std::mem::take(tasks);
        let sealed = self.context.pool().install(|| {
            tasks
                .par_iter()
                .with_max_len(1)
                .map(|(index, range)| match &columns[*index] {
                    Some(data) => {
                        self.context.check()?;
                        let mut scratch = self.take_scratch();
                        let page = plans[*index].seal(data, range.clone(), &mut scratch);
                        self.scratches().push(scratch);
                        page
                    }
                    None => Err(Error::invalid_argument("a column was stored too early")),
                })
                .collect::<Result<Vec<_>>>()
        })?;
        for ((index, _), page) in tasks.into_iter().zip(sealed) {
            pages[index].push(page);
        }
        Ok(())
    }

    fn take_scratch(&self) -> Scratch {
        self.scratches().pop().unwrap_or_default()
    }

    fn scratches(&self) -> std::sync::MutexGuard<'_, Vec<Scratch>> {
        self.scratches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
