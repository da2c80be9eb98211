//! Takes rows, and lets other threads make clusters of them ([`Background`]).
//!
//! `extend` checks and copies the rows. All else, from the choice of codecs to the commit of clusters, is done by a
//! [`Worker`], in the order of the rows. So the clusters do not depend on the threads.
//!
//! Rows that wait use the memory that open and sealed pages leave. A complete cluster does not wait: the worker commits it
//! before it takes more rows. Rows for which there is no room are not copied: `extend` then waits for the worker.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::{Array, ArrayRef};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::fill::{Background, Line, Room, Worker};

use super::cluster_builder::{ClusterBuilder, row_fields};
use super::cluster_target::ClusterTarget;
use crate::schema::{FieldId, Schema};
use crate::seal::{Rows, SealSettings, shred};

/// The rows of one caller.
pub(super) struct Filler<T: ClusterTarget + 'static> {
    rows: RowShredder,
    background: Background<Building<T>>,
    context: Context,
    /// The number of entries so far.
    entries: u64,
}

impl<T: ClusterTarget + 'static> Filler<T> {
    /// Starts after `entries` entries. Threads of `context` work in the order of `line`, or the caller without a line.
    pub(super) fn new(
        rows: RowShredder,
        (builder, entries): (ClusterBuilder, u64),
        target: T,
        context: &Context,
        line: Option<&Arc<Line>>,
    ) -> Self {
        let (limit, least) = builder.memory();
        let (building, room) = (Building { builder, target }, Room { limit, least });
        let background = Background::new(building, context, line, room);
        Self { rows, background, context: context.clone(), entries }
    }

    /// Returns the fields of the rows.
    pub(super) fn rows(&self) -> &RowShredder {
        &self.rows
    }

    /// Returns the number of entries so far.
    pub(super) fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the time that the caller waited for other threads.
    pub(super) fn stalled(&self) -> Duration {
        self.background.stalled()
    }

    /// Returns whether an error ended the work.
    pub(super) fn is_broken(&self) -> bool {
        self.background.is_broken()
    }

    /// Checks that no error ended the work.
    ///
    /// # Errors
    /// The error of earlier rows. After the first time it says that the RNTuple cannot be completed.
    pub(super) fn check(&self) -> Result<()> {
        self.background.check()
    }

    /// Appends rows: one array of the same length for each field, in order.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls; then no row of this call is appended. Any
    /// other error ends the work; it may come from earlier rows.
    pub(super) fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.background.check()?;
        self.context.check().map_err(|error| self.background.fail(error))?;
        // All arrays are checked before any row is taken, so that an error leaves no incomplete row.
        let mut rows = self.rows.shred(arrays)?;
        let count = rows.count();
        if count == 0 {
            return Ok(());
        }
        // The rows are in memory again when they are in pages.
        let bytes = 2 * rows.bytes();
        if self.background.has_room(bytes) {
            rows.own();
            self.background.submit(Work::Rows(rows), bytes)?;
        } else {
            self.background.submit(Work::Rows(rows), 0)?;
            self.background.drain()?;
        }
        self.entries += count as u64;
        Ok(())
    }

    /// Ends the open cluster.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn flush(&mut self) -> Result<()> {
        self.background.submit(Work::End, 0)
    }

    /// Goes on with rows of a larger schema, for which `make` makes the builder. The open cluster ends.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn follow(&mut self, rows: RowShredder, builder: ClusterBuilder) -> Result<()> {
        self.background.submit(Work::Follow(Box::new(builder)), 0)?;
        self.rows = rows;
        Ok(())
    }

    /// Runs `access` on builder and target when all rows are done.
    ///
    /// # Errors
    /// The error of earlier rows, and of `access`.
    pub(super) fn with<R>(
        &mut self,
        access: impl FnOnce(&mut ClusterBuilder, &mut T) -> Result<R>,
    ) -> Result<R> {
        self.background.with(|building| access(&mut building.builder, &mut building.target))
    }

    /// Runs `access` on builder and target when all rows are done or have failed.
    pub(super) fn at_rest<R>(
        &self,
        access: impl FnOnce(&ClusterBuilder, &mut T) -> R,
    ) -> Option<R> {
        self.background.at_rest(|building| access(&building.builder, &mut building.target))
    }

    /// Ends the open cluster, and returns the target when all rows are done.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub(super) fn finish(mut self) -> Result<T> {
        self.flush()?;
        Ok(self.background.finish()?.target)
    }
}

/// The part that works in the background.
struct Building<T> {
    builder: ClusterBuilder,
    target: T,
}

/// A piece of its work.
enum Work {
    /// Rows to append.
    Rows(Rows),
    /// The end of a cluster.
    End,
    /// The builder for the rows to come, of a larger schema.
    Follow(Box<ClusterBuilder>),
}

impl<T: ClusterTarget + 'static> Worker for Building<T> {
    type Work = Work;

    const OBJECT: &'static str = "RNTuple";

    fn run(&mut self, work: Work) -> Result<()> {
        match work {
            Work::Rows(rows) => self.builder.append(&rows, &mut self.target),
            Work::End => self.builder.flush(&mut self.target),
            Work::Follow(next) => {
                self.builder.flush(&mut self.target)?;
                self.builder = next.following(&self.builder);
                Ok(())
            }
        }
    }

    fn failed(&mut self, error: &Error) {
        self.target.failed(error);
    }

    fn held(&self) -> u64 {
        self.builder.held()
    }
}

/// Converts rows to the elements of the columns of a schema.
pub(super) struct RowShredder {
    schema: Arc<Schema>,
    settings: SealSettings,
    fields: Vec<FieldId>,
}

impl RowShredder {
    /// Prepares for rows of the top-level fields of `schema` that are not projected.
    pub(super) fn new(schema: &Arc<Schema>, settings: &SealSettings) -> Self {
        let (schema, settings) = (Arc::clone(schema), settings.clone());
        Self { fields: row_fields(&schema), schema, settings }
    }

    /// Returns the schema.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the number of arrays of a row.
    pub(super) fn fields(&self) -> usize {
        self.fields.len()
    }

    /// Converts rows: one array of the same length for each field, in order. The elements borrow the arrays.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema or have nulls.
    fn shred(&self, arrays: &[ArrayRef]) -> Result<Rows> {
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
                .in_field(&self.schema.path(field));
            }
        }
        let fields = arrays.iter().zip(&self.fields);
        let shreds =
            fields.map(|(array, &field)| shred(&self.schema, field, array, &self.settings));
        Ok(Rows::new(rows, shreds.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect()))
    }
}
