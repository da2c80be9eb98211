//! Tables in, an RNTuple out, pages sealed on many threads.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema as ArrowSchema;

use super::cluster_builder::ClusterBuilder;
use super::{Existing, Options, Order, ParallelWriter, Report, SharedFile, Writer, choose_columns};
use crate::Context;
use crate::error::Result;
use crate::rntuple::schema::{Schema, SchemaBuilder};

/// Writes rows of Arrow arrays as one RNTuple.
pub struct TableWriter {
    writer: Writer,
    cluster_builder: ClusterBuilder,
    context: Context,
}

impl TableWriter {
    /// Begins the RNTuple `path` in `file` for rows of `arrow`.
    ///
    /// # Errors
    /// As [`Schema::from_arrow`] and [`TableWriter::with_schema`].
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
    /// As [`Writer::attach`]; `LimitExceeded` when the memory is too little for so many columns.
    pub fn with_schema(
        file: &SharedFile,
        path: &str,
        mut schema: Schema,
        options: Options,
        context: &Context,
    ) -> Result<Self> {
        choose_columns(&mut schema, &options.fields, options.compression, 0)?;
        Self::over(Writer::attach(file, path, schema, options.clone())?, options, context)
    }

    /// Goes on with an RNTuple; rows have its top-level fields in order, without projected ones. See
    /// [`Writer::resume`].
    ///
    /// # Errors
    /// As [`Writer::resume`]; `LimitExceeded` when the memory is too little for so many columns.
    pub fn resume(
        file: &SharedFile,
        existing: &Existing<'_>,
        options: Options,
        context: &Context,
    ) -> Result<Self> {
        Self::over(Writer::resume(file, existing, options.clone())?, options, context)
    }

    /// Begins with a writer that has no clusters yet.
    pub(super) fn over(writer: Writer, options: Options, context: &Context) -> Result<Self> {
        let cluster_builder = cluster_builder(&writer, Arc::new(options), context)?;
        let cluster_builder = cluster_builder.starting_at(writer.report().entries);
        Ok(Self { writer, cluster_builder, context: context.clone() })
    }

    /// Extends the schema: rows that come after this have all fields, old and new, in the order of the
    /// schema. What is buffered is written first.
    ///
    /// # Errors
    /// As [`Writer::extend_schema`] and [`TableWriter::flush`].
    pub fn extend_schema<T>(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<T>,
    ) -> Result<T> {
        self.flush()?;
        let options = self.cluster_builder.options();
        let first = self.schema().columns.len();
        let value = self.writer.extend_schema(|builder| {
            let value = extend(builder)?;
            let schema = builder.schema_mut();
            choose_columns(schema, &options.fields, options.compression, first)?;
            Ok(value)
        })?;
        let next = cluster_builder(&self.writer, self.cluster_builder.options(), &self.context)?;
        self.cluster_builder = next.following(&self.cluster_builder);
        Ok(value)
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        self.writer.schema()
    }

    /// Entries given so far, with those that were there before.
    pub fn entries(&self) -> u64 {
        self.cluster_builder.entries()
    }

    /// Appends rows: one array for each top-level field that is not projected, in order, all of one
    /// length. What is not written yet is copied: the arrays may change after the call.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls; nothing of this call
    /// is written then. Whatever the sink says, and `Cancelled`.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.cluster_builder.extend(arrays, &mut self.writer)
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
        self.cluster_builder.flush(&mut self.writer)
    }

    /// Writes what is left and goes on with many threads, each with a context of its own.
    ///
    /// # Errors
    /// As [`TableWriter::flush`] and [`ParallelWriter::with_schema`].
    pub fn into_parallel(mut self, order: Order, context: &Context) -> Result<ParallelWriter> {
        self.flush()?;
        ParallelWriter::over(self.writer, order, context)
    }

    /// Writes what is left and completes the RNTuple; the file is finished on its own.
    ///
    /// # Errors
    /// As [`TableWriter::flush`] and [`Writer::finish`].
    pub fn finish(mut self) -> Result<Report> {
        self.flush()?;
        self.writer.finish()
    }

    /// Clusters that ended before they were full, for want of memory.
    pub fn short_clusters(&self) -> u64 {
        self.cluster_builder.short()
    }

    /// The writer of clusters, for what is not about rows.
    pub fn writer_mut(&mut self) -> &mut Writer {
        &mut self.writer
    }

    /// Writes what is left; the writer, to be finished.
    ///
    /// # Errors
    /// As [`TableWriter::flush`].
    pub fn into_writer(mut self) -> Result<Writer> {
        self.flush()?;
        Ok(self.writer)
    }
}

/// A builder for the rows of a writer's schema that has all the memory.
fn cluster_builder(
    writer: &Writer,
    options: Arc<Options>,
    context: &Context,
) -> Result<ClusterBuilder> {
    let schema = Arc::new(writer.schema().clone());
    let settings = writer.seal_settings(&options);
    ClusterBuilder::new(schema, settings, options, 1, context, true)
}
