//! RNTuples and TTrees that callers fill: from one thread, or from several by fill contexts.

mod options;
mod table;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arrow_array::ArrayRef;
use nyssa_rntuple::write::{self as rntuple, Order, TableWriter};
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::{self as ttree, TreeReport, TreeWriter};

pub use options::FillOptions;
pub use table::Table;

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
    /// What is left when all entries are written.
    type Written;
    /// The name of what is written, in messages.
    const OBJECT: &'static str;

    /// Returns the time that calls waited for other threads.
    fn stalled(&self) -> Duration;
    /// Lets fill contexts give the entries from now on.
    ///
    /// # Errors
    /// `InvalidArgument` for unbuffered writing in a fixed order; `LimitExceeded` when there is not enough memory; the error
    /// of earlier rows.
    fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel>;
    /// Writes what is left.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    fn end(self) -> Result<Self::Written>;
}

/// A writer whose entries come from fill contexts.
pub trait Parallel {
    /// What is left when all entries are written.
    type Written;

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

impl Writer for TableWriter {
    type Parallel = rntuple::ParallelWriter;
    type Written = rntuple::Writer;
    const OBJECT: &'static str = "RNTuple";

    fn stalled(&self) -> Duration {
        self.stalled()
    }

    fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel> {
        self.into_parallel(order, context)
    }

    fn end(self) -> Result<Self::Written> {
        self.into_writer()
    }
}

impl Parallel for rntuple::ParallelWriter {
    type Written = rntuple::Writer;

    fn context(&self) -> Result<Box<dyn Fill>> {
        Ok(Box::new(self.context()?))
    }

    fn end(self) -> Result<Self::Written> {
        self.into_writer()
    }
}

impl Writer for TreeWriter {
    type Parallel = ttree::ParallelWriter;
    type Written = TreeReport;
    const OBJECT: &'static str = "TTree";

    fn stalled(&self) -> Duration {
        self.stalled()
    }

    fn into_parallel(self, order: Order, context: &Context) -> Result<Self::Parallel> {
        self.into_parallel(order, context)
    }

    fn end(self) -> Result<Self::Written> {
        self.finish()
    }
}

impl Parallel for ttree::ParallelWriter {
    type Written = TreeReport;

    fn context(&self) -> Result<Box<dyn Fill>> {
        Ok(Box::new(self.context()?))
    }

    fn end(self) -> Result<Self::Written> {
        self.finish()
    }
}

/// The callers that give the entries: one or several.
pub enum Rows<W: Writer> {
    /// The entries come from calls of `extend`.
    One(Box<W>),
    /// The entries come from fill contexts. Those that are finished are in the list, too.
    Parallel(Box<W::Parallel>, Vec<Slot>),
    /// An earlier error has ended the writing.
    Failed,
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
            Self::Failed => Err(failed::<W>()),
        }
    }

    /// Returns the time that calls of `extend` waited for other threads.
    pub fn stalled(&self) -> Duration {
        match self {
            Self::One(writer) => writer.stalled(),
            Self::Parallel(..) | Self::Failed => Duration::ZERO,
        }
    }

    /// Returns the writer of fill contexts, if there are any.
    pub fn parallel(&self) -> Option<&W::Parallel> {
        match self {
            Self::Parallel(writer, _) => Some(writer),
            Self::One(_) | Self::Failed => None,
        }
    }

    /// Makes a fill context. Its entries follow those that were given to `extend`.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than the options allow, and after an error.
    pub fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        *self = match std::mem::replace(self, Self::Failed) {
            Self::One(writer) => {
                Self::Parallel(Box::new(writer.into_parallel(order, context)?), Vec::new())
            }
            other => other,
        };
        let Self::Parallel(writer, slots) = self else { return Err(failed::<W>()) };
        let slot = Slot::new(Mutex::new(Some(writer.context()?)));
        slots.push(Arc::clone(&slot));
        Ok(slot)
    }

    /// Writes what is left of all contexts.
    ///
    /// # Errors
    /// The first error of the contexts; `InvalidArgument` after an earlier error.
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
            Self::Failed => Err(failed::<W>()),
        }
    }
}

fn failed<W: Writer>() -> Error {
    Error::invalid_argument(format!("an earlier error ended the writing of this {}", W::OBJECT))
}
