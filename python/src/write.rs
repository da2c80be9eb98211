//! A file being written.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa::rootfile::writer::{Options as FileOptions, RootFileWriter};
use nyssa::write::{FillContext, Options, Order, ParallelWriter, SharedFile, TableWriter};
use nyssa::{Context, Error, Result};
use nyssa_io::LocalSink;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::Array;
use crate::door::{self, Door};
use crate::errors;
use crate::fill::{self, Slot};
use crate::options::{get, parse, write_options};

/// A ROOT file that takes RNTuples until it is closed.
#[pyclass(frozen, module = "nyssa._core")]
pub struct Writer {
    state: Arc<Mutex<Option<State>>>,
    cancel: Arc<AtomicBool>,
}

struct State {
    file: SharedFile,
    options: Options,
    context: Context,
    order: Order,
    tables: Vec<(String, Rows)>,
}

/// How an RNTuple takes its entries.
enum Rows {
    /// By `extend`.
    Table(Box<TableWriter>),
    /// By fill contexts, finished ones included.
    Parallel(ParallelWriter, Vec<Slot>),
    /// Not any more, after an error.
    Failed,
}

impl Rows {
    fn table(&mut self) -> Result<&mut TableWriter> {
        match self {
            Self::Table(table) => Ok(table),
            Self::Parallel(..) => Err(Error::invalid_argument(
                "this RNTuple is filled by its fill contexts from now on",
            )),
            Self::Failed => Err(closed()),
        }
    }

    /// A new fill context, after what was given to `extend`.
    fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        let mut rows = match std::mem::replace(self, Self::Failed) {
            Self::Table(table) => Self::Parallel(table.into_parallel(order, context)?, Vec::new()),
            other => other,
        };
        let slot = match &mut rows {
            Self::Parallel(writer, slots) => writer.context().map(|context| {
                let slot = Slot::new(Mutex::new(Some(context)));
                slots.push(Arc::clone(&slot));
                slot
            }),
            _ => Err(closed()),
        };
        *self = rows;
        slot
    }

    fn finish(self) -> Result<()> {
        match self {
            Self::Table(table) => table.finish()?,
            Self::Parallel(writer, slots) => {
                for slot in slots {
                    let context = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                    context.map_or(Ok(()), FillContext::finish)?;
                }
                writer.finish()?
            }
            Self::Failed => return Err(closed()),
        };
        Ok(())
    }
}

#[pymethods]
impl Writer {
    /// Creates the file at `path`; it appears there when it is closed.
    #[new]
    fn new(
        py: Python<'_>,
        path: String,
        options: &Bound<'_, PyDict>,
        force: bool,
    ) -> PyResult<Self> {
        let raise = |error: Error| errors::to_python(py, &error);
        let threads = get(options, "threads")?;
        let order = parse(options, "fill_order")?.unwrap_or_default();
        let options = write_options(options)?;
        let cancel = Arc::new(AtomicBool::new(false));
        let context = door::context(threads).map_err(raise)?.with_cancel(Arc::clone(&cancel));
        let state = Door::new(threads).run(py, move |_| {
            options.validate()?;
            let sink = LocalSink::create(&path, force)?;
            let compression = options.compression;
            let file_options = FileOptions { compression, ..FileOptions::default() };
            let file = SharedFile::new(RootFileWriter::create(Box::new(sink), file_options)?);
            Ok(State { file, options, context, order, tables: Vec::new() })
        })?;
        Ok(Self { state: Arc::new(Mutex::new(Some(state))), cancel })
    }

    /// Begins the RNTuple `name` with the types of `columns`, whose entries are not written.
    fn table(
        &self,
        py: Python<'_>,
        name: String,
        columns: Vec<PyRef<'_, Array>>,
        description: String,
    ) -> PyResult<()> {
        let fields: Vec<_> = columns.iter().map(|column| column.field()).collect();
        self.run(py, move |state| {
            let options = Options { description, ..state.options.clone() };
            let schema = Schema::new(fields);
            let table = TableWriter::create(&state.file, &name, &schema, options, &state.context)?;
            state.tables.push((name, Rows::Table(Box::new(table))));
            Ok(())
        })
    }

    /// Appends entries to the RNTuple `name`: its columns in their order.
    fn extend(&self, py: Python<'_>, name: String, columns: Vec<PyRef<'_, Array>>) -> PyResult<()> {
        let arrays: Vec<ArrayRef> = columns.iter().map(|column| column.array()).collect();
        self.run(py, move |state| {
            let table = state.tables.iter_mut().find(|(table, _)| *table == name);
            let (_, table) = table
                .ok_or_else(|| Error::not_found(format!("no RNTuple {name:?} is being written")))?;
            table.table()?.extend(&arrays)
        })
    }

    /// A new fill context of the RNTuple `name`.
    fn fill_context(&self, py: Python<'_>, name: String) -> PyResult<fill::FillContext> {
        let slot = self.run(py, move |state| {
            let table = state.tables.iter_mut().find(|(table, _)| *table == name);
            let (_, table) = table
                .ok_or_else(|| Error::not_found(format!("no RNTuple {name:?} is being written")))?;
            table.context(state.order, &state.context)
        })?;
        Ok(fill::FillContext::new(slot, Arc::clone(&self.cancel)))
    }

    /// Writes what is left and lets the file appear.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let slot = Arc::clone(&self.state);
        Door::new(None).cancel(Arc::clone(&self.cancel)).run(py, move |_| {
            let state = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some(State { file, tables, .. }) = state else { return Err(closed()) };
            for (_, table) in tables {
                table.finish()?;
            }
            file.finish()?;
            Ok(())
        })
    }

    /// Leaves no file.
    fn abort(&self, py: Python<'_>) {
        py.detach(|| drop(self.state.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}

impl Writer {
    fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        job: impl FnOnce(&mut State) -> Result<T> + Send + 'static,
    ) -> PyResult<T> {
        let slot = Arc::clone(&self.state);
        Door::new(None).cancel(Arc::clone(&self.cancel)).run(py, move |_| {
            let mut state = slot.lock().unwrap_or_else(PoisonError::into_inner);
            state.as_mut().ok_or_else(closed).and_then(job)
        })
    }
}

fn closed() -> Error {
    Error::invalid_argument("the file is closed")
}
