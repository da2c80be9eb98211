//! Takes the entries of an RNTuple that is being written.

use std::sync::{Arc, Mutex, PoisonError};

use nyssa::rntuple::write::{FillContext, Order, ParallelWriter, TableWriter, Writer};
use nyssa::{Context, Error, Result};

use crate::fill::Slot;

/// The callers that give the entries: one or several.
pub enum Rows {
    /// The entries come from calls of `extend`.
    Table(Box<TableWriter>),
    /// The entries come from fill contexts. Those that are finished are in the list, too.
    Parallel(Box<ParallelWriter>, Vec<Slot>),
    /// An earlier error has ended the writing.
    Failed,
}

impl Rows {
    /// Returns the rows of a new RNTuple, which come from `extend` at first.
    pub fn new(table: TableWriter) -> Self {
        Self::Table(Box::new(table))
    }

    /// Returns the writer for what fill contexts do not do.
    pub fn table(&mut self) -> Result<&mut TableWriter> {
        match self {
            Self::Table(table) => Ok(table),
            Self::Parallel(..) => Err(Error::invalid_argument(
                "this RNTuple is filled by its fill contexts from now on: whatever else belongs to \
                 it has to come before the first of them",
            )),
            Self::Failed => Err(failed()),
        }
    }

    /// Makes a fill context. Its entries follow those that were given to `extend`.
    pub fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        *self = match std::mem::replace(self, Self::Failed) {
            Self::Table(table) => {
                Self::Parallel(Box::new(table.into_parallel(order, context)?), Vec::new())
            }
            other => other,
        };
        let Self::Parallel(writer, slots) = self else { return Err(failed()) };
        let slot = Slot::new(Mutex::new(Some(writer.context()?)));
        slots.push(Arc::clone(&slot));
        Ok(slot)
    }

    /// Writes what is left of all contexts, and returns the writer, which is to be finished.
    pub fn into_writer(self) -> Result<Writer> {
        match self {
            Self::Table(table) => table.into_writer(),
            Self::Parallel(writer, slots) => {
                for slot in slots {
                    let context = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                    context.map_or(Ok(()), FillContext::finish)?;
                }
                writer.into_writer()
            }
            Self::Failed => Err(failed()),
        }
    }
}

fn failed() -> Error {
    Error::invalid_argument("an earlier error ended the writing of this RNTuple")
}
