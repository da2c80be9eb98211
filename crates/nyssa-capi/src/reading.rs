//! Reading.

use std::ffi::c_char;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use nyssa_data::dataset::steps::{Batches, MakeBatch, StepSize};
use nyssa_data::dataset::{AnyDataset, fields, select_columns};
use nyssa_data::view::Query;
use nyssa_jobs::open::stored_aliases;
use nyssa_observe::IoStats;
use nyssa_root::arrow::{export_batch, export_schema};
use nyssa_root::guard::to_usize;
use nyssa_root::{Context, Error, Result};

use crate::arrow::{batch_out, schema_out};
use crate::call;
use crate::classes::Classes;
use crate::context::{context_of, nyssa_context};
use crate::dataset::{Open, nyssa_dataset};
use crate::error::{nyssa_error, nyssa_status};
use crate::handle;
use crate::options::Given;
use crate::stream::stream_out;
use crate::texts::{items, json, text_or_none, texts};

/// Returns a schema, and makes batches, as the caller of `open` wants them.
type Form = (fn(&Schema) -> Schema, MakeBatch);

impl Open {
    fn form(&self) -> Form {
        match self.raw {
            true => (Schema::clone, plain_batch),
            false => (export_schema, export_batch),
        }
    }

    /// Returns the columns that the caller chooses, or all columns. Expressions become columns.
    ///
    /// # Errors
    /// `InvalidArgument` for an expression that does not parse; `NotFound` for names in it that are unknown.
    fn choose(&self, names: &[&str]) -> Result<Chosen> {
        let dataset = &self.dataset;
        if names.is_empty() {
            let names = dataset.columns().iter().map(|column| column.name.clone()).collect();
            return Ok(Chosen { dataset: Arc::clone(dataset), names });
        }
        let (mut chosen, mut expressions) = (Vec::with_capacity(names.len()), Vec::new());
        for &name in names {
            let own = || vec![name.to_owned()];
            if dataset.find_column(name).is_some() {
                chosen.extend(own());
                continue;
            }
            // Most expressions are no globs, or globs that match nothing.
            let matching = select_columns(&**dataset, &own()).unwrap_or_default();
            match matching.is_empty() {
                true => expressions.extend(own()),
                false => chosen.extend(matching.iter().map(|column| column.name.clone())),
            }
            if matching.is_empty() {
                chosen.extend(own());
            }
        }
        if expressions.is_empty() {
            return Ok(Chosen { dataset: Arc::clone(dataset), names: chosen });
        }
        let stored = || stored_aliases(&**dataset);
        let query = Query::new(&**dataset, &expressions, None, Vec::new(), stored)?;
        let all = 0..dataset.num_entries();
        // Without a cut, nothing is read.
        let computed = query.apply(Arc::clone(dataset), all, &Context::kept(Some(1))?)?;
        Ok(Chosen { dataset: computed.dataset, names: chosen })
    }

    /// Reads columns by `read`, and returns them with the schema that describes them.
    fn read(
        &self,
        names: &[&str],
        rows: u64,
        read: impl FnOnce(&AnyDataset, &[&str]) -> Result<Vec<ArrayRef>>,
    ) -> Result<(Schema, RecordBatch)> {
        let Chosen { dataset, names } = self.choose(names)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let classes = Classes::of(&*dataset, &names);
        let schema = Schema::new(fields(dataset.as_ref(), &names)?);
        let arrays = read(&dataset, &names)?;
        let (show, make) = self.form();
        let shown = Arc::new(show(&schema));
        let batch = make(&schema, &arrays, to_usize(rows, "a number of entries")?, &shown)?;
        Ok((classes.describe(&shown), batch))
    }
}

/// The columns that a caller chooses, with the dataset that has them.
struct Chosen {
    dataset: AnyDataset,
    names: Vec<String>,
}

/// Makes a batch whose strings are bytes.
fn plain_batch(
    _: &Schema,
    arrays: &[ArrayRef],
    rows: usize,
    schema: &SchemaRef,
) -> Result<RecordBatch> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays.to_vec(), &options)
        .map_err(crate::arrow::invalid)
}

/// Writes a batch to the places of the caller.
///
/// # Safety
/// `schema` is null or a place for a schema, and `array` a place for an array.
unsafe fn give_batch(
    (described, batch): &(Schema, RecordBatch),
    schema: *mut FFI_ArrowSchema,
    array: *mut FFI_ArrowArray,
) -> Result<()> {
    let (described, data) = (schema_out(described)?, batch_out(batch)?);
    // SAFETY: the caller promises it.
    unsafe {
        call::put(array, data);
        call::put(schema, described);
    }
    Ok(())
}

/// Gives the Arrow schema of `count` columns, or of all if `count` is 0: a struct whose children are the columns. A column is
/// a name, a path such as `jets.pt`, a glob such as `Muon_*`, which stands for all columns that it matches, or an expression
/// such as `Muon_pt * 2`, which may use the aliases of a TTree. The metadata `nyssa:type` of a field is its C++ type where the
/// Arrow type does not say it; `nyssa:class` and `nyssa:version` are the class of its objects and the version in the file.
///
/// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` with the place where an expression is wrong; `NYSSA_UNSUPPORTED` for a column that cannot be read.
///
/// # Safety
/// `columns` has `count` texts. `schema` is null, or a place for a schema, which belongs to the caller; `error` is null, or
/// a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_schema(
    dataset: *const nyssa_dataset,
    columns: *const *const c_char,
    count: usize,
    schema: *mut FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let describe = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let Chosen { dataset, names } =
            open.choose(&unsafe { texts(columns, count, "the list of columns") }?)?;
        let (show, _) = open.form();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let shown = show(&Schema::new(fields(dataset.as_ref(), &names)?));
        schema_out(&Classes::of(&*dataset, &names).describe(&shown))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, schema, describe) }
}

/// Reads `count` columns, as `nyssa_dataset_schema` takes them, or all if `count` is 0, of the entries from `start` up to
/// `stop`, which is not included. The array is a struct whose children are the columns. Its buffers are those into which the
/// file was decoded; they live until the array is released.
///
/// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` for a range beyond the entries, and for
/// strings that are not UTF-8; `NYSSA_UNSUPPORTED`; `NYSSA_CHECKSUM`, `NYSSA_IO` and `NYSSA_OUT_OF_SPECIFICATION` with the
/// place in the file; `NYSSA_CANCELLED`.
///
/// # Safety
/// `columns` has `count` texts. `array` is null, or a place for an array; `schema` is null, or a place for its schema. Both
/// belong to the caller then. `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_read(
    dataset: *const nyssa_dataset,
    columns: *const *const c_char,
    count: usize,
    start: u64,
    stop: u64,
    context: *const nyssa_context,
    schema: *mut FFI_ArrowSchema,
    array: *mut FFI_ArrowArray,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let read = || {
        let open = handle::get::<Open>(dataset)?;
        call::not_null(array, "the place of the array")?;
        // SAFETY: the caller promises it.
        let names = unsafe { texts(columns, count, "the list of columns") }?;
        let context = context_of(context)?;
        let rows = stop.saturating_sub(start);
        let batch =
            open.read(&names, rows, |dataset, names| dataset.read(names, start..stop, &context))?;
        // SAFETY: the array is not null, and the caller promises the rest.
        unsafe { give_batch(&batch, schema, array) }
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, read) }
}

/// Reads columns as `nyssa_dataset_read` does, for `indices_count` entries in any order, which can be repeated. Only the
/// pages that hold them are read.
///
/// Errors: the errors of `nyssa_dataset_read`.
///
/// # Safety
/// `columns` has `count` texts, and `indices` has `indices_count` numbers. `array` is null, or a place for an array; `schema`
/// is null, or a place for its schema. Both belong to the caller then. `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_take(
    dataset: *const nyssa_dataset,
    columns: *const *const c_char,
    count: usize,
    indices: *const u64,
    indices_count: usize,
    context: *const nyssa_context,
    schema: *mut FFI_ArrowSchema,
    array: *mut FFI_ArrowArray,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let take = || {
        let open = handle::get::<Open>(dataset)?;
        call::not_null(array, "the place of the array")?;
        // SAFETY: the caller promises it.
        let names = unsafe { texts(columns, count, "the list of columns") }?;
        // SAFETY: as above.
        let indices = unsafe { items(indices, indices_count, "the list of indices") }?;
        let context = context_of(context)?;
        let rows = indices.len() as u64;
        let batch =
            open.read(&names, rows, |dataset, names| dataset.take(names, indices, &context))?;
        // SAFETY: the array is not null, and the caller promises the rest.
        unsafe { give_batch(&batch, schema, array) }
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, take) }
}

/// Reads columns as `nyssa_dataset_read` does, in batches. Threads read the next batch while the caller works on the one
/// before. The dataset may be closed meanwhile.
///
/// Options: `entries` (of a batch) or `memory` (of the batches and what reads them, such as `100MB`); without them, a batch
/// is a cluster.
/// Errors: the errors of `nyssa_dataset_schema`; `NYSSA_INVALID_ARGUMENT` for options. `nyssa_stream_error` gives the errors
/// of the stream.
///
/// # Safety
/// `columns` has `count` texts; `options` is null, or a text. `stream` is null, or a place for a stream, which belongs to
/// the caller: one thread at a time may use it. `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_stream(
    dataset: *const nyssa_dataset,
    columns: *const *const c_char,
    count: usize,
    start: u64,
    stop: u64,
    options: *const c_char,
    context: *const nyssa_context,
    stream: *mut FFI_ArrowArrayStream,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let begin = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let Chosen { dataset, names } =
            open.choose(&unsafe { texts(columns, count, "the list of columns") }?)?;
        // SAFETY: as above.
        let options = unsafe { text_or_none(options, "the text of the options") }?;
        let size = step_size(Given::parse(options)?.of()?)?;
        let context: Context = context_of(context)?;
        let classes = Classes::of(&*dataset, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let batches = Batches::new(&dataset, names, start..stop, size, open.form(), context)?;
        Ok(stream_out(batches, classes))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, stream, begin) }
}

/// The options of a stream.
#[derive(clap::Args)]
struct StreamArguments {
    /// The number of entries of a batch.
    #[arg(long)]
    entries: Option<u64>,
    /// The memory of the batches.
    #[arg(long, value_parser = nyssa_io::parse_size, conflicts_with = "entries")]
    memory: Option<u64>,
}

fn step_size(arguments: StreamArguments) -> Result<StepSize> {
    match (arguments.entries, arguments.memory) {
        (Some(0), _) => Err(Error::invalid_argument("entries=0: a batch has at least one entry")),
        (Some(entries), _) => Ok(StepSize::Entries(entries)),
        (None, Some(memory)) => Ok(StepSize::Memory(memory)),
        (None, None) => Ok(StepSize::Cluster),
    }
}

/// Gives as JSON what was opened and read: for a dataset, or, if it is null, by the process. Times are in seconds, sizes in
/// bytes.
///
/// # Safety
/// `json` and `error` are null, or places for pointers. The text at `json` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_io_stats(
    dataset: *const nyssa_dataset,
    json: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let count = || {
        if dataset.is_null() {
            return self::json(&IoStats::of_process().counts());
        }
        let options = handle::get::<Open>(dataset)?.dataset.open_options();
        let counts = options.iter().map(|options| options.stats.counts());
        self::json(&counts.reduce(|all, other| all.plus(&other)).unwrap_or_default())
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, json, count) }
}
