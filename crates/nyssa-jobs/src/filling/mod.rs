//! RNTuples and TTrees that callers fill: from one thread, or from several by fill contexts.

mod options;
mod table;
mod tree;
mod tree_options;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::ArrayRef;
use nyssa_rntuple::write::{self as rntuple, Order, TableWriter};
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::{self as ttree, TreeReport, TreeWriter};

pub use options::FillOptions;
pub use table::Table;
pub use tree::Tree;
pub use tree_options::TreeFillOptions;

/// A fill context of an RNTuple or of a TTree.
pub trait Fill: Send {
    /// Appends rows.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit the schema; the error of earlier rows.
    fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()>;
    /// Ends the cluster.
    ///
    /// # Errors
    /// The error of earlier rows.
    fn flush(&mut self) -> Result<()>;
    /// Returns the time that the context waited for others.
    fn stalled(&self) -> Duration;
    /// Commits what is left.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    fn finish(self: Box<Self>) -> Result<()>;
    /// Discards the entries that are in no cluster yet, and returns their number.
    ///
    /// # Errors
    /// `InvalidArgument` after an error.
    fn discard(self: Box<Self>) -> Result<u64>;
}

macro_rules! fill {
    ($($type:ty),*) => {$(
        impl Fill for $type {
            fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
                self.extend(arrays)
            }

            fn flush(&mut self) -> Result<()> {
                self.flush()
            }

            fn stalled(&self) -> Duration {
                self.stalled()
            }

            fn finish(self: Box<Self>) -> Result<()> {
                (*self).finish()
            }

            fn discard(self: Box<Self>) -> Result<u64> {
                (*self).discard()
            }
        }
    )*};
}

fill!(nyssa_rntuple::write::FillContext, nyssa_ttree::write::FillContext);

/// A fill context, which its file shares. It is `None` after the context is finished.
pub type Slot = Arc<Mutex<Option<Box<dyn Fill>>>>;

/// A writer that takes the entries of calls of `extend`, or lets fill contexts give them.
pub trait Writer: Sized {
    /// The writer from many threads.
    type Parallel: Parallel<Written = Self::Written>;
    /// The value that the caller needs after all entries are written.
    type Written;
    /// The kind of the written object, for messages.
    const OBJECT: &'static str;

    /// Returns the number of entries.
    fn entries(&self) -> u64;
    /// Returns the time that calls waited for other threads.
    fn stalled(&self) -> Duration;
    /// Lets fill contexts give the entries from now on.
    ///
    /// # Errors
    /// `InvalidArgument` for unbuffered writing in a fixed order; `LimitExceeded` when there is not enough memory; the error
    /// of earlier rows.
    fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel>;
    /// Writes the remaining entries.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    fn end(self) -> Result<Self::Written>;
}

/// A writer whose entries come from fill contexts.
pub trait Parallel {
    /// The value that the caller needs after all entries are written.
    type Written;

    /// Returns the number of entries.
    fn entries(&self) -> u64;
    /// Makes a fill context.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than the options allow; the error of earlier rows.
    fn context(&self) -> Result<Box<dyn Fill>>;
    /// Ends the writing. All contexts are finished.
    ///
    /// # Errors
    /// `InvalidArgument` for entries that a context has not committed; an error if the sink cannot be written.
    fn end(self) -> Result<Self::Written>;
}

/// Implements both traits for the writers of a format, whose writing this method ends.
macro_rules! writers {
    ($writer:ty, $parallel:ty, $written:ty, $object:literal, $end:ident) => {
        impl Writer for $writer {
            type Parallel = $parallel;
            type Written = $written;
            const OBJECT: &'static str = $object;

            fn entries(&self) -> u64 {
                self.entries()
            }

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

            fn entries(&self) -> u64 {
                self.entries()
            }

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
    ///
    /// # Errors
    /// `InvalidArgument` once there are fill contexts, and after an error.
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

    /// Returns the number of entries.
    ///
    /// # Errors
    /// `InvalidArgument` after an error.
    pub fn entries(&self) -> Result<u64> {
        match self {
            Self::One(writer) => Ok(writer.entries()),
            Self::Parallel(writer, _) => Ok(writer.entries()),
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
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than the options allow, and after an error.
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

    /// Ends all contexts without their entries, because the file is given up: later calls of them are errors. Waits for calls
    /// in other threads.
    pub fn give_up(&self) {
        if let Self::Parallel(_, slots) = self {
            for slot in slots {
                drop(slot.lock().unwrap_or_else(PoisonError::into_inner).take());
            }
        }
    }

    /// Writes the remaining entries of all contexts.
    ///
    /// # Errors
    /// The first error of the contexts; the reason of an earlier error.
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
