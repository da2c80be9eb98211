//! How an RNTuple that is being written takes its entries.

use std::sync::{Arc, Mutex, PoisonError};

use nyssa::rntuple::write::{FillContext, Order, ParallelWriter, TableWriter, Writer};
use nyssa::{Context, Error, Result};

use crate::fill::Slot;

/// From one caller or from many.
pub enum Rows {
    /// By `extend`.
    Table(Box<TableWriter>),
    /// By fill contexts, finished ones included.
    Parallel(Box<ParallelWriter>, Vec<Slot>),
    /// Not any more, after an error.
    Failed,
}

impl Rows {
    /// Begins with `extend`.
    pub fn new(table: TableWriter) -> Self {
        Self::Table(Box::new(table))
    }

    /// The writer for what is not done by fill contexts.
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

    /// A new fill context, whose entries follow those given to `extend`.
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

    /// Writes what is left, of all contexts; the writer, to be finished.
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
