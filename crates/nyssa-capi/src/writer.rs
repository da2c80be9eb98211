//! Files that are written.

use std::ffi::c_char;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ffi::FFI_ArrowSchema;
use nyssa_data::dataset::Format;
use nyssa_jobs::convert::To;
use nyssa_jobs::filling::{FillOptions, Table, Tree, TreeFillOptions};
use nyssa_jobs::job::check_root_name;
use nyssa_jobs::open::format_of;
use nyssa_jobs::update::Update;
use nyssa_rntuple::schema::SchemaBuilder;
use nyssa_rntuple::write::{Order, RNTupleWriteOptions, SharedFile};
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Context, Error, Result};

use crate::arrow::schema_or_none;
use crate::call;
use crate::context::{context_of, nyssa_context};
use crate::definitions::Defined;
use crate::error::{nyssa_error, nyssa_status};
use crate::filled::{Filled, FilledTree, tree_schema, with_classes};
use crate::handle::{self, Handled};
use crate::options::Given;
use crate::table::{OpenTable, add_fields, nyssa_table};
use crate::texts::{text, text_or_none};

/// A file that is being written. It appears when it is committed. Several threads may use it at the same time.
pub struct nyssa_writer {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_writer`. It is `None` after the commit.
struct Writer(Mutex<Option<OpenWriter>>);

struct OpenWriter {
    file: SharedFile,
    update: Option<Arc<Update>>,
    options: RNTupleWriteOptions,
    order: Order,
    context: Context,
    tables: Vec<Arc<OpenTable>>,
}

impl Drop for OpenWriter {
    fn drop(&mut self) {
        // The handles of tables and fill contexts may stay, and must not keep the file.
        for table in &self.tables {
            let filled = table.lock().take();
            filled.inspect(Filled::give_up);
        }
    }
}

impl Handled for Writer {
    const WHAT: &'static str = "writer";
    type Opaque = nyssa_writer;
}

impl Writer {
    fn with<T>(&self, work: impl FnOnce(&mut OpenWriter) -> Result<T>) -> Result<T> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        work(state.as_mut().ok_or_else(ended)?)
    }
}

fn ended() -> Error {
    Error::invalid_argument("the writer is committed: change the file by nyssa_update")
}

/// The options of a writer or a table.
#[derive(clap::Args)]
struct WriteArguments {
    #[command(flatten)]
    fill: FillOptions,
    /// The description of the RNTuple.
    #[arg(long, default_value = "")]
    description: String,
}

impl WriteArguments {
    fn options(self) -> Result<(RNTupleWriteOptions, Order)> {
        let order = self.fill.order();
        let options = self.fill.write_options(Vec::new())?;
        let options = RNTupleWriteOptions { description: self.description, ..options };
        options.validate()?;
        Ok((options, order))
    }
}

impl OpenWriter {
    /// Returns the options of an RNTuple, which are the options of the writer if it has none of its own.
    fn table_options(&self, given: Given) -> Result<(RNTupleWriteOptions, Order)> {
        match given.is_empty() {
            true => Ok((self.options.clone(), self.order)),
            false => given.of::<WriteArguments>()?.options(),
        }
    }

    /// Gives a new table to the caller.
    fn open(
        &mut self,
        filled: Filled,
        options: RNTupleWriteOptions,
        order: Order,
    ) -> *mut nyssa_table {
        let table = OpenTable::new(filled, options, order, self.context.clone());
        self.tables.push(Arc::clone(&table));
        handle::open(table)
    }

    /// Starts an RNTuple.
    ///
    /// # Safety
    /// `schema` is null, or a schema.
    unsafe fn new_ntuple(
        &mut self,
        path: &str,
        schema: *const FFI_ArrowSchema,
        defined: Defined,
        given: Given,
    ) -> Result<*mut nyssa_table> {
        let (mut options, order) = self.table_options(given)?;
        let mut builder = SchemaBuilder::new(options.compression);
        // SAFETY: the caller promises it.
        unsafe { add_fields(&mut builder, schema, &defined) }?;
        options.streamer_infos = defined.streamer_infos;
        let (schema, classes) = (builder.finish(), &defined.classes);
        let table =
            Table::create(&self.file, path, schema, classes, options.clone(), &self.context)?;
        Ok(self.open(Filled::NTuple(table), options, order))
    }

    /// Starts a TTree.
    ///
    /// # Safety
    /// `schema` is null, or a schema.
    unsafe fn new_tree(
        &mut self,
        path: &str,
        schema: *const FFI_ArrowSchema,
        defined: &Defined,
        given: Given,
    ) -> Result<*mut nyssa_table> {
        let given: TreeFillOptions = given.of()?;
        let order = given.fill_order.unwrap_or(self.order);
        let options = with_classes(&given.write_options(&self.options)?, &defined.classes);
        // SAFETY: the caller promises it.
        let schema = tree_schema(&unsafe { schema_or_none(schema) }?, defined)?;
        let tree = Tree::create(&self.file, path, &schema, options.clone(), &self.context)?;
        let (update, notes) = (self.update.clone(), Vec::new());
        let filled = FilledTree { tree, options, update, notes };
        Ok(self.open(Filled::Tree(Box::new(filled)), self.options.clone(), order))
    }

    /// Goes on with a table of the file.
    fn append(&mut self, path: &str, given: Given) -> Result<*mut nyssa_table> {
        let new =
            || Error::invalid_argument("the file is new: only a writer of nyssa_update can append");
        let update = Arc::clone(self.update.as_ref().ok_or_else(new)?);
        let (filled, options, order) = match format_of(&update.old().find(path)?) {
            Some(Format::TTree) => {
                let given: TreeFillOptions = given.of()?;
                let order = given.fill_order.unwrap_or(self.order);
                let options = given.write_options(&self.options)?;
                let (writer, notes) = update.append_tree(path, options.clone(), &self.context)?;
                let tree = Tree::over(path, writer);
                let filled = FilledTree { tree, options, update: Some(update), notes };
                (Filled::Tree(Box::new(filled)), self.options.clone(), order)
            }
            _ => {
                let (options, order) = self.table_options(given)?;
                let writer = update.append(path, options.clone(), &self.context)?;
                (Filled::NTuple(Table::over(path, writer)), options, order)
            }
        };
        Ok(self.open(filled, options, order))
    }
}

/// Returns the options that the caller gives for a table.
///
/// # Safety
/// `options` is null, or a text.
unsafe fn given_options(options: *const c_char) -> Result<Given> {
    // SAFETY: the caller promises it.
    Given::parse(unsafe { text_or_none(options, "the text of the options") }?)
}

/// Opens a file for writing by `open`, which gets the options of the file and whether a file is replaced.
fn writer(
    given: &str,
    context: *const nyssa_context,
    open: impl FnOnce(FileOptions, bool) -> Result<(SharedFile, Option<Arc<Update>>)>,
) -> Result<*mut nyssa_writer> {
    let mut given = Given::parse(given)?;
    let force = given.take_flag("force")?;
    let (options, order) = given.of::<WriteArguments>()?.options()?;
    let context = context_of(context)?.quiet();
    // With one thread, everything is done one after the other.
    let write_behind = context.threads() > 1;
    let compression = options.compression;
    let (file, update) =
        open(FileOptions { compression, write_behind, ..FileOptions::default() }, force)?;
    let state = OpenWriter { file, update, options, order, context, tables: Vec::new() };
    Ok(handle::open(Writer(Mutex::new(Some(state)))))
}

/// Starts a new file at a path or URL. It appears under its name when `nyssa_writer_commit` returns.
///
/// Options: `force` (replace an existing file then), and the defaults of its tables: `compression`, `effort`, `encoding`,
/// `profile`, `field_options`, `cluster_size`, `max_unzipped_cluster_size`, `page_size`, `initial_page_size`,
/// `page_buffer_budget`, `buffered`, `checksums`, `same_page_merging`, `memory`, `fill_contexts`, `fill_order`,
/// `description`. Sizes are in bytes, or have a unit: `50MB`.
/// Errors: `NYSSA_ALREADY_EXISTS` without `force`; `NYSSA_UNSUPPORTED` for the scheme of a URL; `NYSSA_INVALID_ARGUMENT` for
/// options; `NYSSA_IO`.
///
/// # Safety
/// `url` and `options` are texts (`options` may be null); `out` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_create(
    url: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    out: *mut *mut nyssa_writer,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let create = || {
        // SAFETY: the caller promises it.
        let (url, options) =
            unsafe { (text(url, "the URL")?, text_or_none(options, "the text of the options")?) };
        writer(options, context, |file, force| {
            check_root_name(url.as_ref())?;
            let sink = nyssa_io::create(url, force)?;
            Ok((SharedFile::new(RootFileWriter::create(sink, file)?), None))
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, out, create) }
}

/// Opens a local file to add RNTuples, TTrees and entries to it. Other programs see the old file until the writer is committed; a
/// crash leaves the old file.
///
/// Options: the options of `nyssa_create`, without `force`.
/// Errors: `NYSSA_IO` when the file cannot be written, or when another program writes to it; the errors of a damaged file.
///
/// # Safety
/// `path` and `options` are texts (`options` may be null); `out` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_update(
    path: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    out: *mut *mut nyssa_writer,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let update = || {
        // SAFETY: the caller promises it.
        let (path, options) =
            unsafe { (text(path, "the path")?, text_or_none(options, "the text of the options")?) };
        writer(options, context, |file, _| {
            let update = Update::open(path.as_ref(), file)?;
            Ok((update.file().clone(), Some(Arc::new(update))))
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, out, update) }
}

/// Starts an RNTuple, or with the option `format=ttree` a TTree, at a path in the file. Its fields come from an Arrow schema,
/// from `definitions`, or from both.
///
/// `definitions` is an object of JSON. `fields` has names and C++ types in order: `{"pt": "std::vector<float>", "jet":
/// "Jet"}`. `classes` has the classes that the types use: `{"Jet": {":bases": ["Base"], ":version": 2, "pt": "float"},
/// "Color": {":enum": "short"}, "Hits": {":items": "Hit"}, "Track": {":streamed": "file.root"}}`; a file has the streamer
/// infos of classes whose objects are bytes. A field of the schema is of a class if its metadata `nyssa:type` names it.
/// Options of an RNTuple: the options of `nyssa_create` without `force`; without options, the options of the writer. Options
/// of a TTree: `title`, `basket_size` (bytes), `auto_flush` (entries, or a size such as `30MB`), `optimize_baskets`,
/// `branch_options`, `counters=GLOB:NAME`, `leaf_lists=GLOB`, `vectors=GLOB`, `split_level`, `aliases=NAME=FORMULA`,
/// `user_info=NAME=TEXT`, which can be repeated or be arrays in JSON, and `compression`, `effort`, `fill_contexts` and
/// `fill_order`, which are otherwise the options of the writer.
/// Errors: `NYSSA_INVALID_ARGUMENT` for names, types or options, and when the file has that path; `NYSSA_UNSUPPORTED` with
/// the field that the format cannot store; `NYSSA_LIMIT_EXCEEDED` if the memory is too small for the columns.
///
/// # Safety
/// `path`, `definitions` and `options` are texts (the last two may be null). `schema` is null, or a schema, which stays with
/// the caller. `table` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_writer_table(
    writer: *const nyssa_writer,
    path: *const c_char,
    schema: *const FFI_ArrowSchema,
    definitions: *const c_char,
    options: *const c_char,
    table: *mut *mut nyssa_table,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let create = || {
        let writer = handle::get::<Writer>(writer)?;
        // SAFETY: the caller promises it.
        let path = unsafe { text(path, "the path") }?;
        // SAFETY: as above.
        let defined =
            Defined::parse(unsafe { text_or_none(definitions, "the text of the definitions") }?)?;
        // SAFETY: as above.
        let mut given = unsafe { given_options(options) }?;
        let format = given.take("format")?.map_or(Ok(To::RNTuple), |format| format.parse())?;
        writer.with(|state| match format {
            // SAFETY: as above.
            To::RNTuple => unsafe { state.new_ntuple(path, schema, defined, given) },
            // SAFETY: as above.
            To::TTree => unsafe { state.new_tree(path, schema, &defined, given) },
            To::Parquet | To::Arrow => Err(Error::invalid_argument(
                "a file of ROOT has RNTuples and TTrees: take one of them",
            )),
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, table, create) }
}

/// Goes on with the RNTuple or the TTree at a path of an existing file, in its encodings. Options: the options of
/// `nyssa_writer_table`. An index of a TTree (`TTree::BuildIndex`) is left out of the new file, as
/// `notes` of the report of `nyssa_table_commit` say.
///
/// Errors: `NYSSA_NOT_FOUND`; `NYSSA_INVALID_ARGUMENT` if the writer is not of `nyssa_update`; `NYSSA_UNSUPPORTED` for
/// columns of unknown types, and for a TTree to which no baskets can be added. After an error, the table can be appended
/// again.
///
/// # Safety
/// `path` and `options` are texts (`options` may be null); `table` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_writer_append(
    writer: *const nyssa_writer,
    path: *const c_char,
    options: *const c_char,
    table: *mut *mut nyssa_table,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let append = || {
        let writer = handle::get::<Writer>(writer)?;
        // SAFETY: the caller promises it.
        let path = unsafe { text(path, "the path") }?;
        // SAFETY: as above.
        let given = unsafe { given_options(options) }?;
        writer.with(|state| state.append(path, given))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, table, append) }
}

/// Commits all tables that are not committed, and completes the file, which then appears under its name. Gives its size in
/// bytes, if `bytes` is not null.
///
/// Errors: the errors of filling; `NYSSA_ALREADY_EXISTS`; `NYSSA_IO`. After an error there is no file, or the old one.
///
/// # Safety
/// `bytes` is null, or a place for a number; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_writer_commit(
    writer: *const nyssa_writer,
    bytes: *mut u64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let commit = || {
        let writer = handle::get::<Writer>(writer)?;
        let state = writer.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let state = state.ok_or_else(ended)?;
        for table in &state.tables {
            let table = table.lock().take();
            table.map_or(Ok(()), |filled| filled.finish().map(drop))?;
        }
        let size = state.file.finish()?;
        // SAFETY: the caller promises it.
        unsafe { call::put(bytes, size) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, commit) }
}
