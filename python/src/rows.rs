//! Takes the entries of an RNTuple or a TTree that is being written.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nyssa_rntuple::write::{self as rntuple, Order, TableWriter};
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::{self as ttree, TreeReport, TreeWriter};

use crate::fill::{Fill, Slot};

/// A writer that takes the entries of calls of `extend`, or lets fill contexts give them.
pub trait Writer: Sized {
    /// The writer from many threads.
    type Parallel: Parallel<Written = Self::Written>;
    /// The value that the caller needs after all entries are written.
    type Written;
    /// The kind of the written object, for messages.
    const OBJECT: &'static str;

    /// Returns the time that calls waited for other threads.
    fn stalled(&self) -> Duration;
    /// Lets fill contexts give the entries from now on.
    fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel>;
    /// Writes the remaining entries.
    fn end(self) -> Result<Self::Written>;
}

/// A writer whose entries come from fill contexts.
pub trait Parallel {
    /// The value that the caller needs after all entries are written.
    type Written;

    /// Makes a fill context.
    fn context(&self) -> Result<Box<dyn Fill>>;
    /// Ends the writing. All contexts are finished.
    fn end(self) -> Result<Self::Written>;
}

/// Implements both traits for the writers of a format, whose writing this method ends.
macro_rules! writers {
    ($writer:ty, $parallel:ty, $written:ty, $object:literal, $end:ident) => {
        impl Writer for $writer {
            type Parallel = $parallel;
            type Written = $written;
            const OBJECT: &'static str = $object;

            fn stalled(&self) -> Duration {
                self.stalled()
            }

            fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel> {
                self.into_parallel(order, context)
            }

            fn end(self) -> Result<Self::Written> {
                self.$end()
            }
        }

        impl Parallel for $parallel {
            type Written = $written;

            fn context(&self) -> Result<Box<dyn Fill>> {
                Ok(Box::new(self.context()?))
            }

            fn end(self) -> Result<Self::Written> {
                self.$end()
            }
        }
    };
}

writers!(TableWriter, rntuple::ParallelWriter, rntuple::Writer, "RNTuple", into_writer);
writers!(TreeWriter, ttree::ParallelWriter, TreeReport, "TTree", finish);

/// The callers that give the entries: one or several.
pub enum Rows<W: Writer> {
    /// The entries come from calls of `extend`.
    One(Box<W>),
    /// The entries come from fill contexts. Those that are finished are in the list, too.
    Parallel(Box<W::Parallel>, Vec<Slot>),
    /// An earlier error has ended the writing.
    Failed(Error),
}

impl<W: Writer> Rows<W> {
    /// Returns the rows of a new RNTuple or TTree, which come from `extend` at first.
    pub fn new(writer: W) -> Self {
        Self::One(Box::new(writer))
    }

    /// Returns the writer for what fill contexts do not do.
    pub fn writer(&mut self) -> Result<&mut W> {
        match self {
            Self::One(writer) => Ok(writer),
            Self::Parallel(..) => Err(Error::invalid_argument(format!(
                "this {} is filled by its fill contexts from now on: whatever else belongs to \
                 it has to come before the first of them",
                W::OBJECT
            ))),
            Self::Failed(error) => Err(error.later(W::OBJECT)),
        }
    }

    /// Returns the time that calls of `extend` waited for other threads.
    pub fn stalled(&self) -> Duration {
        match self {
            Self::One(writer) => writer.stalled(),
            Self::Parallel(..) | Self::Failed(_) => Duration::ZERO,
        }
    }

    /// Returns the writer of fill contexts, if there are any.
    pub fn parallel(&self) -> Option<&W::Parallel> {
        match self {
            Self::Parallel(writer, _) => Some(writer),
            Self::One(_) | Self::Failed(_) => None,
        }
    }

    /// Makes a fill context. Its entries follow those that were given to `extend`.
    pub fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        let unfinished = Self::Failed(Error::invalid_argument("a call did not return"));
        *self = match std::mem::replace(self, unfinished) {
            Self::One(writer) => match writer.into_parallel(order, context) {
                Ok(writer) => Self::Parallel(Box::new(writer), Vec::new()),
                Err(error) => Self::Failed(error),
            },
            Self::Failed(error) => Self::Failed(error.later(W::OBJECT)),
            parallel @ Self::Parallel(..) => parallel,
        };
        let (writer, slots) = match self {
            Self::Parallel(writer, slots) => (writer, slots),
            Self::Failed(error) => return Err(error.clone()),
            Self::One(_) => return Err(Error::invalid_argument("there are no fill contexts")),
        };
        let slot = Slot::new(Mutex::new(Some(writer.context()?)));
        slots.push(Arc::clone(&slot));
        Ok(slot)
    }

    /// Writes the remaining entries of all contexts.
    pub fn end(self) -> Result<W::Written> {
        match self {
            Self::One(writer) => writer.end(),
            Self::Parallel(writer, slots) => {
                for slot in slots {
                    let context = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                    context.map_or(Ok(()), Fill::finish)?;
                }
                writer.end()
            }
            Self::Failed(error) => Err(error.later(W::OBJECT)),
        }
    }
}
