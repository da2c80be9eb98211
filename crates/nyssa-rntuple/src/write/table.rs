//! Writes tables as an RNTuple. Pages are sealed on many threads.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::fill::{Line, Order};

use super::cluster_builder::ClusterBuilder;
use super::filler::{Filler, RowShredder};
use super::{Existing, ParallelWriter, RNTupleWriteOptions, SharedFile, WriteReport, Writer};
use crate::choose::set_requested_types;
use crate::schema::{Schema, SchemaBuilder};

/// A writer of rows of Arrow arrays as one RNTuple. Threads of its context encode, compress and write, so that
/// [`TableWriter::extend`] goes on at once; with one thread, the caller does.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # use std::sync::Arc;
/// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # let folder = tempfile::tempdir().unwrap();
/// # let context = nyssa::Context::new(None)?;
/// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
/// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// # let file = nyssa::create(folder.path().join("out.root"), false)?;
/// # let options = nyssa::RNTupleWriteOptions::default();
/// let mut table = file.table("Events", &schema, options, &context)?;
/// table.extend(&[numbers])?;
/// assert_eq!(table.finish()?.entries, 3);
/// file.finish()?;
/// # Ok(())
/// # }
/// ```
pub struct TableWriter {
    filler: Filler<Writer>,
    options: Arc<RNTupleWriteOptions>,
    context: Context,
}

impl TableWriter {
    /// Starts the RNTuple `path` in `file` for rows of `arrow`.
    ///
    /// # Errors
    /// `Unsupported` for Arrow types that have no C++ type; `InvalidArgument` for options, names or a schema that
    /// cannot be written, and when the file already has that path; `LimitExceeded` when there is not enough memory.
    pub fn create(
        file: &SharedFile,
        path: &str,
        arrow: &ArrowSchema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let schema = Schema::from_arrow(arrow, options.compression)?;
        Self::with_schema(file, path, schema, options, context)
    }

    /// Starts the RNTuple `path` in `file` with the given schema.
    ///
    /// # Errors
    /// `InvalidArgument` for options, names or a schema that cannot be written, and when the file already has that
    /// path; `LimitExceeded` when there is not enough memory for this number of columns.
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        mut schema: Schema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        set_requested_types(&mut schema, &options.fields, options.compression, 0)?;
        let writer = Writer::attach(file, path, schema, options.clone())?;
        Self::over(writer, options, context, Some(file.line()))
    }

    /// Makes the writer that adds to an existing RNTuple. Rows have its top-level fields in order, without projected
    /// fields.
    ///
    /// # Errors
    /// `InvalidArgument` for options; `Unsupported` for columns of unknown types; `LimitExceeded` when there is not
    /// enough memory for this number of columns.
    pub fn resume(
        file: &SharedFile,
        existing: &Existing<'_>,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let writer = Writer::resume(file, existing, options.clone())?;
        Self::over(writer, options, context, Some(file.line()))
    }

    /// Makes the writer from a writer that has no clusters yet. Threads work in the order of `line`, or the caller without
    /// a line.
    pub(super) fn over(
        writer: Writer,
        options: RNTupleWriteOptions,
        context: &Context,
        line: Option<&Arc<Line>>,
    ) -> Result<Self> {
        let options = Arc::new(options);
        let builder = cluster_builder(&writer, &options, context);
        let (rows, builder) = builder.inspect_err(|_| {
            let (file, path) = writer.place();
            file.forget(path);
        })?;
        let entries = writer.report().entries;
        let builder = (builder.starting_at(entries), entries);
        let filler = Filler::new(rows, builder, writer, context, line);
        Ok(Self { filler, options, context: context.clone() })
    }

    /// Extends the schema. Later rows have all old and new fields, in the order of the schema. Buffered rows
    /// are written first.
    ///
    /// # Errors
    /// `InvalidArgument` when a written field or column has changed, for new members of fields other than top-level
    /// untyped records, and for a schema that cannot be written; `Cancelled`; an error if the sink cannot be written.
    pub fn extend_schema<T>(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<T>,
    ) -> Result<T> {
        self.flush()?;
        let (options, context) = (Arc::clone(&self.options), self.context.clone());
        let (value, (rows, builder)) = self.filler.with(|_, writer| {
            let value = writer.extend_for_rows(extend, |_, _| Ok(()))?;
            Ok((value, cluster_builder(writer, &options, &context)?))
        })?;
        self.filler.follow(rows, builder)?;
        Ok(value)
    }

    /// Adds the fields that `extend` adds to the schema of an existing RNTuple, with `arrays` as their values in all of its
    /// entries, one array for each field in order. Later rows have all old and new fields. Old pages stay as they are, and
    /// the page lists of the old clusters are written again.
    ///
    /// # Errors
    /// `InvalidArgument` for an RNTuple that was not in the file before or that got new entries, for arrays that do not fit,
    /// and for a schema that cannot be written; `Cancelled`; an error if the sink cannot be written. After an error the
    /// RNTuple is unchanged.
    pub fn fill_fields(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<()>,
        arrays: &[ArrayRef],
    ) -> Result<()> {
        self.flush()?;
        let (options, context) = (Arc::clone(&self.options), self.context.clone());
        let (rows, builder) = self.filler.with(|_, writer| {
            let first = writer.schema().columns.len();
            let extend = |builder: &mut SchemaBuilder| {
                extend(builder)?;
                let schema = builder.schema_mut();
                set_requested_types(schema, &options.fields, options.compression, first)
            };
            writer.fill_fields(extend, arrays, &context)?;
            cluster_builder(writer, &options, &context)
        })?;
        self.filler.follow(rows, builder)
    }

    /// Returns the schema of the rows.
    pub fn schema(&self) -> &Schema {
        self.filler.rows().schema()
    }

    /// Returns the number of entries, including the entries of an existing RNTuple.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// # use std::sync::Arc;
    /// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use nyssa::arrow_schema::{DataType, Field, Schema};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let context = nyssa::Context::new(None)?;
    /// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    /// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// # let file = nyssa::create(folder.path().join("out.root"), false)?;
    /// # let options = nyssa::RNTupleWriteOptions::default();
    /// let mut table = file.table("Events", &schema, options, &context)?;
    /// table.extend(&[numbers])?;
    /// assert_eq!(table.entries(), 3);
    /// # Ok(())
    /// # }
    /// ```
    pub fn entries(&self) -> u64 {
        self.filler.entries()
    }

    /// Appends rows: one array of the same length for each top-level field that is not projected, in order.
    /// Rows that are not written yet are copied, so the arrays may change after the call. Other threads encode, compress
    /// and write them. The call waits if they have no memory for more rows.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls; then no row of this call is written.
    /// `Cancelled`; an error if the sink cannot be written, which may come from earlier rows.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.filler.extend(arrays)
    }

    /// Appends the rows of a batch. Its columns are in the order of the schema.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// # use std::sync::Arc;
    /// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use nyssa::arrow_schema::{DataType, Field, Schema};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let context = nyssa::Context::new(None)?;
    /// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    /// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// # let file = nyssa::create(folder.path().join("out.root"), false)?;
    /// # let options = nyssa::RNTupleWriteOptions::default();
    /// let mut table = file.table("Events", &schema, options, &context)?;
    /// table.extend_batch(&RecordBatch::try_new(schema, vec![numbers]).unwrap())?;
    /// assert_eq!(table.entries(), 3);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls; then no row of this call is written.
    /// `Cancelled`; an error if the sink cannot be written.
    pub fn extend_batch(&mut self, batch: &RecordBatch) -> Result<()> {
        self.extend(batch.columns())
    }

    /// Ends the open cluster. Other threads write it. It is only needed for cluster boundaries at certain entries; without it
    /// the options determine them.
    ///
    /// ```
    /// # fn main() -> nyssa::Result<()> {
    /// # use std::sync::Arc;
    /// # use nyssa::arrow_array::{ArrayRef, Int64Array, RecordBatch};
    /// # use nyssa::arrow_schema::{DataType, Field, Schema};
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let context = nyssa::Context::new(None)?;
    /// # let schema = Arc::new(Schema::new(vec![Field::new("n", DataType::Int64, false)]));
    /// # let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    /// # let file = nyssa::create(folder.path().join("out.root"), false)?;
    /// # let options = nyssa::RNTupleWriteOptions::default();
    /// let mut table = file.table("Events", &schema, options, &context)?;
    /// table.extend(&[numbers])?;
    /// table.flush()?;
    /// assert_eq!(table.finish()?.clusters, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub fn flush(&mut self) -> Result<()> {
        self.filler.flush()
    }

    /// Returns the time that calls waited until other threads had compressed and written enough rows.
    pub fn stalled(&self) -> Duration {
        self.filler.stalled()
    }

    /// Writes the open cluster and continues with many threads, each with its own context.
    ///
    /// # Errors
    /// `InvalidArgument` for unbuffered writing in a fixed order; `LimitExceeded` when there is not enough memory;
    /// `Cancelled`; an error if the sink cannot be written.
    pub fn into_parallel(self, order: Order, context: &Context) -> Result<ParallelWriter> {
        ParallelWriter::over(self.into_writer()?, order, context)
    }

    /// Writes the open cluster and completes the RNTuple. The file must be finished separately.
    ///
    /// # Errors
    /// `InvalidArgument` when an attribute has a range that is not in the RNTuple; `Cancelled`; an error if the sink
    /// cannot be written.
    pub fn finish(self) -> Result<WriteReport> {
        self.into_writer()?.finish()
    }

    /// Returns the number of clusters that ended early because memory was short, when all rows are in pages.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub fn short_clusters(&mut self) -> Result<u64> {
        self.filler.with(|builder, _| Ok(builder.short()))
    }

    /// Runs `access` on the writer of clusters, when no other thread uses it.
    ///
    /// # Errors
    /// The error of earlier rows, and of `access`.
    pub fn with_writer<T>(&mut self, access: impl FnOnce(&mut Writer) -> Result<T>) -> Result<T> {
        self.filler.with(|_, writer| access(writer))
    }

    /// Writes the open cluster and returns the writer, which must be finished.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub fn into_writer(self) -> Result<Writer> {
        self.filler.finish()
    }
}

/// Makes the parts that take the rows of a writer, with all the memory.
fn cluster_builder(
    writer: &Writer,
    options: &Arc<RNTupleWriteOptions>,
    context: &Context,
) -> Result<(RowShredder, ClusterBuilder)> {
    let schema = Arc::new(writer.schema().clone());
    let settings = writer.seal_settings(options);
    let rows = RowShredder::new(&schema, &settings);
    let builder = ClusterBuilder::new(schema, settings, Arc::clone(options), 1, context, true)?;
    Ok((rows, builder))
}
