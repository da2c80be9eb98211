//! Reads steps as record batches.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{FieldRef, Schema, SchemaRef};

use super::{Finish, InputPart, StepSize, Steps};
use crate::dataset::{AnyDataset, check_entries, fields};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::guard::to_usize;

/// A function that makes a batch of the third schema of arrays of the first, which have so many rows.
pub type MakeBatch = fn(&Schema, &[ArrayRef], usize, &SchemaRef) -> Result<RecordBatch>;

/// The batches of a range of entries. One is read while the consumer works on the one before.
pub struct Batches {
    steps: Steps<RecordBatch>,
    schema: SchemaRef,
    context: Context,
}

impl Batches {
    /// Makes the batches of the columns `names`. Nothing is read yet. `show` returns the schema of the batches, and `make`
    /// makes them.
    ///
    /// # Errors
    /// `NotFound` and `Unsupported` for columns; `InvalidArgument` for a range beyond the entries.
    pub fn new(
        dataset: &AnyDataset,
        names: Vec<String>,
        entries: Range<u64>,
        size: StepSize,
        (show, make): (fn(&Schema) -> Schema, MakeBatch),
        context: Context,
    ) -> Result<Self> {
        check_entries(&entries, dataset.num_entries())?;
        let schema = Schema::new(fields(dataset.as_ref(), &names)?);
        let shown = Arc::new(show(&schema));
        let parts = InputPart::new(dataset, entries).alone();
        let exported = Arc::clone(&shown);
        let finish: Finish<RecordBatch> =
            Arc::new(move |_: &[FieldRef], arrays: Vec<ArrayRef>, rows: u64, _: &Context| {
                let rows = to_usize(rows, "a number of entries")?;
                make(&schema, &arrays, rows, &exported).map(|batch| (batch, 0))
            });
        let steps = Steps::new(parts, names, false, size, finish, Arc::default());
        Ok(Self { steps, schema: shown, context })
    }

    /// Returns the schema of the batches.
    pub fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Returns the next batch, and begins to read the one after it. Returns `None` after the last one and after an error.
    ///
    /// # Errors
    /// `Cancelled`; an error if the file cannot be read.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        let step = self.steps.next(&self.context)?;
        if step.is_some() {
            self.steps.prepare(&self.context)?;
        }
        Ok(step.map(|step| step.data))
    }
}
