//! Reading.

use std::ffi::c_char;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{Schema, SchemaRef};
use nyssa_data::dataset::steps::{Batches, MakeBatch, StepSize};
use nyssa_data::dataset::{AnyDataset, Format, fields};
use nyssa_data::view::{Chain, ChainOptions, Query};
use nyssa_jobs::open::{datasets, format_of, link, open_path_with, split_path};
use nyssa_observe::IoStats;
use nyssa_rntuple::read::Reader;
use nyssa_root::arrow::{export_batch, export_schema};
use nyssa_root::guard::to_usize;
use nyssa_root::rootfile::RootFile;
use nyssa_root::{Context, Error, Result};
use serde_json::json;

use crate::arrow::{Stream, batch_out, schema_out};
use crate::call;
use crate::context::{context_of, nyssa_context};
use crate::error::{nyssa_error, nyssa_status};
use crate::handle::{self, Handled};
use crate::options::{Given, OpenArguments};
use crate::texts::{items, json, text, text_or_none, texts};

/// An open RNTuple or TTree. Several threads may read it at the same time. It is closed by `nyssa_close`; what was read
/// stays.
pub struct nyssa_dataset {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_dataset`.
struct Open {
    dataset: AnyDataset,
    /// Whether strings are bytes.
    raw: bool,
}

impl Handled for Open {
    const WHAT: &'static str = "dataset";
    type Opaque = nyssa_dataset;
}

/// Returns a schema, and makes batches, as the caller of `open` wants them.
type Form = (fn(&Schema) -> Schema, MakeBatch);

impl Open {
    fn form(&self) -> Form {
        match self.raw {
            true => (Schema::clone, plain_batch),
            false => (export_schema, export_batch),
        }
    }

    /// Returns the columns of these names, or all columns.
    fn names(&self, names: &[&str]) -> Vec<String> {
        match names.is_empty() {
            true => self.dataset.columns().iter().map(|column| column.name.clone()).collect(),
            false => names.iter().map(|&name| name.to_owned()).collect(),
        }
    }

    /// Reads columns by `read`, and returns them with their schema.
    fn read(
        &self,
        names: &[&str],
        rows: u64,
        read: impl FnOnce(&[&str]) -> Result<Vec<ArrayRef>>,
    ) -> Result<RecordBatch> {
        let names = self.names(names);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let schema = Schema::new(fields(self.dataset.as_ref(), &names)?);
        let arrays = read(&names)?;
        let (show, make) = self.form();
        let shown = Arc::new(show(&schema));
        make(&schema, &arrays, to_usize(rows, "a number of entries")?, &shown)
    }
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
    batch: &RecordBatch,
    schema: *mut FFI_ArrowSchema,
    array: *mut FFI_ArrowArray,
) -> Result<()> {
    let (described, data) = (schema_out(&batch.schema())?, batch_out(batch)?);
    // SAFETY: the caller promises it.
    unsafe {
        call::put(array, data);
        call::put(schema, described);
    }
    Ok(())
}

/// Lists the RNTuples and TTrees of a file as JSON: an array of objects with `name` and `format`.
///
/// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: the options of `nyssa_open`.
/// Errors: `NYSSA_NOT_FOUND`, `NYSSA_IO`, and `NYSSA_OUT_OF_SPECIFICATION` for a file that is no ROOT file.
///
/// # Safety
/// `url` and `options` are texts (`options` may be null); `json` and `error` are null, or places for pointers. The text at
/// `json` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_list(
    url: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    json: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let list = || {
        // SAFETY: the caller promises it.
        let (url, options) =
            unsafe { (text(url, "the URL")?, text_or_none(options, "the options")?) };
        let context = context_of(context)?;
        let (options, _) = Given::parse(options)?.of::<OpenArguments>()?.options(&context)?;
        let file = RootFile::open(nyssa_io::open_with(&*split_path(url).0, &options)?)?;
        let listed: Vec<_> = datasets(&file)?
            .iter()
            .map(|key| json!({ "name": key.path, "format": format_of(key).map(format_name) }))
            .collect();
        self::json(&listed)
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, json, list) }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::TTree => "TTree",
        Format::RNTuple => "RNTuple",
    }
}

/// Opens the dataset at `file.root:dir/Events`, or the only dataset of a file.
///
/// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: `strings` (`utf8`: strings are Arrow's
/// large_utf8 and text that is not UTF-8 is an error; `bytes`: they are large_binary), `cache` (a folder, or `none`),
/// `cache_size`, `cache_as`, `cache_max_age`, `allow_other_files`.
/// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` if the object is no dataset, or if no object
/// is named and the file has several datasets; `NYSSA_UNSUPPORTED`, `NYSSA_OUT_OF_SPECIFICATION` and `NYSSA_CHECKSUM` for
/// what cannot be read; `NYSSA_IO`.
///
/// # Safety
/// `url` and `options` are texts (`options` may be null); `dataset` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_open(
    url: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    dataset: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let open = || {
        // SAFETY: the caller promises it.
        let (url, options) =
            unsafe { (text(url, "the URL")?, text_or_none(options, "the options")?) };
        let context = context_of(context)?;
        let (options, raw) = Given::parse(options)?.of::<OpenArguments>()?.options(&context)?;
        Ok(handle::open(Open { dataset: open_path_with(url, &options)?, raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, dataset, open) }
}

/// Opens `count` datasets as one, one after the other. All have the columns of the first. RNTuples and TTrees can be mixed.
///
/// Options and errors: the options and the errors of `nyssa_open`, and `NYSSA_INVALID_ARGUMENT` for columns that differ.
///
/// # Safety
/// `urls` has `count` texts; `options` is null or a text; `dataset` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_chain(
    urls: *const *const c_char,
    count: usize,
    options: *const c_char,
    context: *const nyssa_context,
    dataset: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let chain = || {
        // SAFETY: the caller promises it.
        let urls = unsafe { texts(urls, count, "the URLs") }?;
        // SAFETY: as above.
        let options = unsafe { text_or_none(options, "the options") }?;
        let context = context_of(context)?;
        let (options, raw) = Given::parse(options)?.of::<OpenArguments>()?.options(&context)?;
        let links = urls.into_iter().map(|url| link(url, &options)).collect();
        let chain = Chain::new(links, &ChainOptions::default(), &context)?;
        Ok(handle::open(Open { dataset: Arc::new(chain), raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, dataset, chain) }
}

/// Makes the dataset of the entries that pass a cut, such as `nMuon >= 2 && any(Muon_pt > 20)`. The columns of the cut are
/// read at once. The old dataset stays open, and may be closed.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` with the place where the cut is wrong; `NYSSA_NOT_FOUND` for a column that is missing;
/// the errors of `nyssa_dataset_read`.
///
/// # Safety
/// `cut` is a text; `selected` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_select(
    dataset: *const nyssa_dataset,
    cut: *const c_char,
    context: *const nyssa_context,
    selected: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let select = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let cut = unsafe { text(cut, "the cut") }?;
        let dataset = Arc::clone(&open.dataset);
        let query = Query::new(&*dataset, &[], Some(cut), Vec::new(), || Ok(Vec::new()))?;
        let entries = 0..dataset.num_entries();
        let dataset = query.apply(dataset, entries, &context_of(context)?)?.dataset;
        Ok(handle::open(Open { dataset, raw: open.raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, selected, select) }
}

/// Opens an attribute set of an RNTuple as a dataset, with the columns `_rangeStart`, `_rangeLen` and `_userData`.
///
/// Errors: `NYSSA_NOT_FOUND` if the dataset has no such set.
///
/// # Safety
/// `name` is a text; `attributes` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_attribute_set(
    dataset: *const nyssa_dataset,
    name: *const c_char,
    attributes: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let find = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let name = unsafe { text(name, "the name") }?;
        let Some(reader) = Reader::shown_by(&*open.dataset) else {
            let message = format!("{} has no attribute set {name:?}", open.dataset.name());
            return Err(Error::not_found(message));
        };
        let dataset = Arc::new(reader.open_attribute_set(name)?);
        Ok(handle::open(Open { dataset, raw: open.raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, attributes, find) }
}

/// Gives the number of entries of a dataset.
///
/// # Safety
/// `entries` is null, or a place for a number; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_entries(
    dataset: *const nyssa_dataset,
    entries: *mut u64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let count = || Ok(handle::get::<Open>(dataset)?.dataset.num_entries());
    // SAFETY: the caller promises it.
    unsafe { call::give(error, entries, count) }
}

/// Describes a dataset as JSON: `name`, `format`, `file`, `entries`, `description`, `clusters` (pairs of the first entry
/// and the end), `attribute_sets` (names), and `columns`: `name`, `type` (of C++), `title`, `arrow` (the Arrow type, or
/// null) and `reason` (why it cannot be read, or null).
///
/// # Safety
/// `json` and `error` are null, or places for pointers. The text at `json` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_describe(
    dataset: *const nyssa_dataset,
    json: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let describe = || {
        let open = handle::get::<Open>(dataset)?;
        let dataset = &open.dataset;
        let columns = dataset.columns().iter().map(|column| {
            let arrow = column.field.as_ref().ok().map(|field| field.data_type().to_string());
            json!({
                "name": column.name,
                "type": column.type_name,
                "title": dataset.title(&column.name),
                "arrow": arrow,
                "reason": column.field.as_ref().err(),
            })
        });
        let sets = Reader::shown_by(&**dataset).map(Reader::attribute_links).unwrap_or_default();
        let clusters = dataset.clusters().into_iter().map(|range| (range.start, range.end));
        self::json(&json!({
            "name": dataset.name(),
            "format": format_name(dataset.format()),
            "file": dataset.file(),
            "entries": dataset.num_entries(),
            "description": dataset.description(),
            "clusters": clusters.collect::<Vec<_>>(),
            "attribute_sets": sets.iter().map(|set| &set.name).collect::<Vec<_>>(),
            "columns": columns.collect::<Vec<_>>(),
        }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, json, describe) }
}

/// Gives the Arrow schema of `count` columns, or of all if `count` is 0: a struct whose children are the columns. The
/// metadata `nyssa:type` of a field is its C++ type where the Arrow type does not say it.
///
/// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_UNSUPPORTED` for a column that cannot be read.
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
        let names = open.names(&unsafe { texts(columns, count, "the columns") }?);
        let (show, _) = open.form();
        schema_out(&show(&Schema::new(fields(open.dataset.as_ref(), &names)?)))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, schema, describe) }
}

/// Reads `count` columns, or all if `count` is 0, of the entries from `start` up to `stop`, which is not included. A column
/// is a name or a path such as `jets.pt`. The array is a struct whose children are the columns. Its buffers are those into
/// which the file was decoded; they live until the array is released.
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
        let names = unsafe { texts(columns, count, "the columns") }?;
        let context = context_of(context)?;
        let rows = stop.saturating_sub(start);
        let batch =
            open.read(&names, rows, |names| open.dataset.read(names, start..stop, &context))?;
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
        let names = unsafe { texts(columns, count, "the columns") }?;
        // SAFETY: as above.
        let indices = unsafe { items(indices, indices_count, "the indices") }?;
        let context = context_of(context)?;
        let rows = indices.len() as u64;
        let batch = open.read(&names, rows, |names| open.dataset.take(names, indices, &context))?;
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
/// Errors: the errors of `nyssa_dataset_schema`; the stream has the errors of reading, as texts.
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
        let names = open.names(&unsafe { texts(columns, count, "the columns") }?);
        // SAFETY: as above.
        let options = unsafe { text_or_none(options, "the options") }?;
        let size = step_size(Given::parse(options)?.of()?);
        let context: Context = context_of(context)?;
        let batches = Batches::new(&open.dataset, names, start..stop, size, open.form(), context)?;
        Ok(FFI_ArrowArrayStream::new(Box::new(Stream(batches))))
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

fn step_size(arguments: StreamArguments) -> StepSize {
    match (arguments.entries, arguments.memory) {
        (Some(entries), _) => StepSize::Entries(entries),
        (None, Some(memory)) => StepSize::Memory(memory),
        (None, None) => StepSize::Cluster,
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
