//! Writing.

use std::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use arrow_array::ArrayRef;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_schema::{FieldRef, Schema as ArrowSchema};
use nyssa_jobs::filling::{Fill, FillOptions, Slot, Table};
use nyssa_jobs::update::Update;
use nyssa_rntuple::read::item;
use nyssa_rntuple::schema::{Schema, SchemaBuilder};
use nyssa_rntuple::write::{self, Order, RNTupleWriteOptions, SharedFile};
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::{Context, Error, Result};

use crate::arrow::{Given as Column, columns_in, schema_in, schema_out, take};
use crate::call;
use crate::context::{context_of, nyssa_context};
use crate::definitions::Defined;
use crate::error::{nyssa_error, nyssa_status};
use crate::handle::{self, Handled};
use crate::options::Given;
use crate::texts::{self, items, json, text, text_or_none};

/// A file that is being written. It appears when it is committed. Several threads may use it at the same time.
pub struct nyssa_writer {
    _opaque: [u8; 0],
}

/// An RNTuple of a writer, which is filled from one thread at a time, or by fill contexts. It is of no use after its writer
/// is committed or closed.
pub struct nyssa_table {
    _opaque: [u8; 0],
}

/// A part of the entries of a table, which one thread fills. Each thread has its own.
pub struct nyssa_fill_context {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_writer`. It is `None` after the commit.
struct Writer(Mutex<Option<State>>);

struct State {
    file: SharedFile,
    update: Option<Update>,
    options: RNTupleWriteOptions,
    order: Order,
    context: Context,
    tables: Vec<Arc<OpenTable>>,
}

impl Drop for State {
    fn drop(&mut self) {
        // The handles of tables may stay, and must not keep the file.
        for table in &self.tables {
            drop(table.lock().take());
        }
    }
}

/// What is behind a `nyssa_table`.
struct OpenTable {
    table: Mutex<Option<Table>>,
    /// The rows that are filled. Fill contexts use it without the lock of the table.
    rows: RwLock<Arc<Rows>>,
    options: RNTupleWriteOptions,
    order: Order,
    context: Context,
}

/// The schema of rows, and their fields as Arrow.
struct Rows {
    name: String,
    schema: Schema,
    fields: Vec<FieldRef>,
}

/// What is behind a `nyssa_fill_context`.
struct Filling {
    slot: Slot,
    table: Arc<OpenTable>,
}

impl Handled for Writer {
    const WHAT: &'static str = "writer";
    type Opaque = nyssa_writer;
}

impl Handled for Arc<OpenTable> {
    const WHAT: &'static str = "table";
    type Opaque = nyssa_table;
}

impl Handled for Filling {
    const WHAT: &'static str = "fill context";
    type Opaque = nyssa_fill_context;
}

impl Drop for Filling {
    fn drop(&mut self) {
        drop(self.slot.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

impl Writer {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = || Error::invalid_argument("the writer is committed");
        work(state.as_mut().ok_or_else(ended)?)
    }
}

impl Rows {
    fn of(table: &Table) -> Result<Self> {
        let schema = table.schema().clone();
        let own = schema.top_level().filter(|(_, field)| field.source.is_none());
        let field = |id| item(&schema, &[id], None).field.map(Arc::new).map_err(Error::unsupported);
        let fields = own.map(|(id, _)| field(id)).collect::<Result<_>>()?;
        Ok(Self { name: table.name().to_owned(), schema, fields })
    }
}

impl OpenTable {
    fn new(
        table: Table,
        options: RNTupleWriteOptions,
        order: Order,
        context: Context,
    ) -> Result<Arc<Self>> {
        let rows = RwLock::new(Arc::new(Rows::of(&table)?));
        Ok(Arc::new(Self { table: Mutex::new(Some(table)), rows, options, order, context }))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Table>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Table) -> Result<T>) -> Result<T> {
        work(self.lock().as_mut().ok_or_else(ended)?)
    }

    fn rows(&self) -> Arc<Rows> {
        Arc::clone(&self.rows.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns rows of the caller in the order of the RNTuple.
    ///
    /// # Safety
    /// As for [`columns_in`].
    unsafe fn rows_in(
        &self,
        array: FFI_ArrowArray,
        schema: *const FFI_ArrowSchema,
    ) -> Result<Vec<ArrayRef>> {
        let rows = self.rows();
        // SAFETY: the caller promises it.
        let columns = unsafe { columns_in(array, schema, &rows.fields) }?;
        match schema.is_null() {
            true => Ok(arrays(columns)),
            false => write::rows(&rows.schema, &rows.name, &columns),
        }
    }
}

fn ended() -> Error {
    Error::invalid_argument("the table is committed, or its writer is closed")
}

fn arrays(columns: Vec<Column>) -> Vec<ArrayRef> {
    columns.into_iter().map(|(_, array)| array).collect()
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

/// Returns the options of a table, which are those of its writer if it has none of its own.
///
/// # Safety
/// `given` is null, or a text.
unsafe fn table_options(
    state: &State,
    given: *const c_char,
) -> Result<(RNTupleWriteOptions, Order)> {
    if given.is_null() {
        return Ok((state.options.clone(), state.order));
    }
    // SAFETY: the caller promises it.
    let given = unsafe { text(given, "the options") }?;
    Given::parse(given)?.of::<WriteArguments>()?.options()
}

/// Opens a file for writing by `open`, which gets the options of the file and whether a file is replaced.
fn writer(
    given: &str,
    context: *const nyssa_context,
    open: impl FnOnce(FileOptions, bool) -> Result<(SharedFile, Option<Update>)>,
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
    let state = State { file, update, options, order, context, tables: Vec::new() };
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
            unsafe { (text(url, "the URL")?, text_or_none(options, "the options")?) };
        writer(options, context, |file, force| {
            let sink = nyssa_io::create(url, force)?;
            Ok((SharedFile::new(RootFileWriter::create(sink, file)?), None))
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, out, create) }
}

/// Opens a local file to add RNTuples and entries to it. Other programs see the old file until the writer is committed; a
/// crash leaves the old file.
///
/// Options: those of `nyssa_create`, without `force`.
/// Errors: `NYSSA_IO` when the file cannot be written, or when another program writes to it; the errors of a damaged file.
///
/// # Safety
/// As for `nyssa_create`.
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
            unsafe { (text(path, "the path")?, text_or_none(options, "the options")?) };
        writer(options, context, |file, _| {
            let update = Update::open(path.as_ref(), file)?;
            Ok((update.file().clone(), Some(update)))
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, out, update) }
}

/// Starts the RNTuple at a path in the file. Its fields are those of an Arrow schema, those of `definitions`, or both.
///
/// `definitions` is an object of JSON. `fields` has names and C++ types in order: `{"pt": "std::vector<float>", "jet":
/// "Jet"}`. `classes` has the classes that the types use: `{"Jet": {":bases": ["Base"], ":version": 2, "pt": "float"},
/// "Color": {":enum": "short"}, "Hits": {":items": "Hit"}, "Track": {":streamed": "file.root"}}`; a file has the streamer
/// infos of classes whose objects are bytes. A field of the schema is of a class if its metadata `nyssa:type` names it.
/// Options: those of `nyssa_create` without `force`; null means those of the writer.
/// Errors: `NYSSA_INVALID_ARGUMENT` for names, types or options, and when the file has that path; `NYSSA_UNSUPPORTED` with
/// the field that RNTuple cannot store; `NYSSA_LIMIT_EXCEEDED` if the memory is too small for the columns.
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
        let defined = Defined::parse(unsafe { text_or_none(definitions, "the definitions") }?)?;
        writer.with(|state| {
            // SAFETY: as above.
            let (mut options, order) = unsafe { table_options(state, options) }?;
            let mut builder = SchemaBuilder::new(options.compression);
            // SAFETY: as above.
            unsafe { add_fields(&mut builder, schema, &defined) }?;
            options.streamer_infos = defined.streamer_infos;
            let (file, context) = (&state.file, state.context.clone());
            let (schema, classes) = (builder.finish(), &defined.classes);
            let table = Table::create(file, path, schema, classes, options.clone(), &context)?;
            let table = OpenTable::new(table, options, order, context)?;
            state.tables.push(Arc::clone(&table));
            Ok(handle::open(table))
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, table, create) }
}

/// Adds the fields of a schema and of definitions.
///
/// # Safety
/// `schema` is null, or a schema.
unsafe fn add_fields(
    builder: &mut SchemaBuilder,
    schema: *const FFI_ArrowSchema,
    defined: &Defined,
) -> Result<()> {
    if !schema.is_null() {
        // SAFETY: the caller promises it.
        builder.arrow_fields(&unsafe { schema_in(schema) }?, &defined.classes)?;
    }
    defined.add_fields(builder)
}

/// Goes on with the RNTuple at a path of an existing file, in its encodings. Options: as for `nyssa_writer_table`.
///
/// Errors: `NYSSA_NOT_FOUND`; `NYSSA_INVALID_ARGUMENT` if the writer is not of `nyssa_update`; `NYSSA_UNSUPPORTED` for
/// columns of unknown types.
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
        writer.with(|state| {
            // SAFETY: as above.
            let (options, order) = unsafe { table_options(state, options) }?;
            let new = || Error::invalid_argument("the file is new: only an update can append");
            let update = state.update.as_ref().ok_or_else(new)?;
            let context = state.context.clone();
            let table = Table::over(path, update.append(path, options.clone(), &context)?);
            let table = OpenTable::new(table, options, order, context)?;
            state.tables.push(Arc::clone(&table));
            Ok(handle::open(table))
        })
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
        let state = state.ok_or_else(|| Error::invalid_argument("the writer is committed"))?;
        for table in &state.tables {
            let table = table.lock().take();
            table.map_or(Ok(()), |table| table.finish().map(drop))?;
        }
        let size = state.file.finish()?;
        if !bytes.is_null() {
            // SAFETY: it is not null, so the caller promises that a number has place there.
            unsafe { bytes.write(size) };
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, commit) }
}

/// Gives the Arrow schema of the rows of a table: what `nyssa_table_fill` takes without a schema.
///
/// # Safety
/// `schema` is null, or a place for a schema, which belongs to the caller; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_schema(
    table: *const nyssa_table,
    schema: *mut FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let describe = || {
        let rows = handle::get::<Arc<OpenTable>>(table)?.rows();
        schema_out(&ArrowSchema::new(rows.fields.clone()))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, schema, describe) }
}

/// Appends entries: a struct array whose children are the fields. With its schema, fields are found by name, and types that
/// hold the same values are taken, too (32-bit offsets, utf8). Without, the array is as `nyssa_table_schema` says. The array
/// is released by nyssa, even after an error. Other threads encode, compress and write the entries; the call waits if they
/// have no memory for more.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` for an array that does not fit, of which no entry is written then, and once the table
/// has fill contexts; `NYSSA_CANCELLED`; `NYSSA_IO`, which may come from earlier entries.
///
/// # Safety
/// `array` is an array of the Arrow C data interface with the buffers that its schema says; `schema` is null, or that
/// schema, which stays with the caller. `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_fill(
    table: *const nyssa_table,
    array: *mut FFI_ArrowArray,
    schema: *const FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let fill = || {
        // SAFETY: the caller promises it.
        let array = unsafe { take(array) }?;
        let table = handle::get::<Arc<OpenTable>>(table)?;
        // SAFETY: as above.
        let rows = unsafe { table.rows_in(array, schema) }?;
        table.with(|table| table.rows.writer()?.extend(&rows))
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Ends the open cluster of a table that has no fill contexts.
///
/// Errors: those of filling.
///
/// # Safety
/// `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_flush(
    table: *const nyssa_table,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let flush = || handle::get::<Arc<OpenTable>>(table)?.with(|table| table.rows.writer()?.flush());
    // SAFETY: the caller promises it.
    unsafe { call::run(error, flush) }
}

/// Adds fields, as `nyssa_writer_table` takes them. Earlier entries have zeros and empty collections there, or, for a table
/// of `nyssa_writer_append` without new entries, the values of `array` (one for each entry), if it is not null. It is as the
/// schema says, or, without a schema, as the definitions say, and is released by nyssa. Fill contexts see the fields from
/// their first rows on that have them.
///
/// Errors: those of `nyssa_writer_table` and of filling.
///
/// # Safety
/// `schema` and `definitions` are as for `nyssa_writer_table`, and `array` is null or as for `nyssa_table_fill`; `error` is
/// null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_add_fields(
    table: *const nyssa_table,
    schema: *const FFI_ArrowSchema,
    definitions: *const c_char,
    array: *mut FFI_ArrowArray,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let add = || {
        // SAFETY: the caller promises it.
        let array = (!array.is_null()).then(|| unsafe { take(array) }).transpose()?;
        let open = handle::get::<Arc<OpenTable>>(table)?;
        // SAFETY: as above.
        let defined = Defined::parse(unsafe { text_or_none(definitions, "the definitions") }?)?;
        let values = match array {
            Some(array) => {
                // SAFETY: as above.
                let columns = unsafe { columns_in(array, schema, &defined.arrow_fields()?) };
                Some(arrays(columns?))
            }
            None => None,
        };
        open.with(|table| {
            // SAFETY: as above.
            let add =
                |builder: &mut SchemaBuilder| unsafe { add_fields(builder, schema, &defined) };
            table.add_fields(add, values.as_deref())?;
            *open.rows.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(Rows::of(table)?);
            Ok(())
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, add) }
}

/// Begins an attribute set of a table, before it has fill contexts. Its rows have the fields of an Arrow schema.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` for a name or a schema that cannot be written.
///
/// # Safety
/// `set` is a text; `schema` is a schema, which stays with the caller; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_attribute_set(
    table: *const nyssa_table,
    set: *const c_char,
    schema: *const FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let begin = || {
        let open = handle::get::<Arc<OpenTable>>(table)?;
        // SAFETY: the caller promises it.
        let (set, fields) = unsafe { (text(set, "the name of the set")?, schema_in(schema)?) };
        let options = RNTupleWriteOptions { description: String::new(), ..open.options.clone() };
        open.with(|table| table.new_set(set, &ArrowSchema::new(fields), options, &open.context))
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, begin) }
}

/// Appends `count` attributes: ranges of entries by their first entries and numbers of entries, and a row for each.
///
/// Errors: `NYSSA_NOT_FOUND` for a set that is not begun; those of filling.
///
/// # Safety
/// `starts` and `lengths` have `count` numbers; `array` and `schema` are as for `nyssa_table_fill`, with the columns of the
/// set in their order; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_fill_attributes(
    table: *const nyssa_table,
    set: *const c_char,
    starts: *const u64,
    lengths: *const u64,
    count: usize,
    array: *mut FFI_ArrowArray,
    schema: *const FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let fill = || {
        // SAFETY: the caller promises it.
        let array = unsafe { take(array) }?;
        let open = handle::get::<Arc<OpenTable>>(table)?;
        call::not_null(schema, "the schema")?;
        // SAFETY: as above.
        let rows = arrays(unsafe { columns_in(array, schema, &[]) }?);
        // SAFETY: as above.
        let set = unsafe { text(set, "the name of the set") }?;
        // SAFETY: as above.
        let starts = unsafe { items(starts, count, "the first entries") }?;
        // SAFETY: as above.
        let lengths = unsafe { items(lengths, count, "the numbers of entries") }?;
        open.with(|table| {
            table.set(set)?.extend(starts.to_vec().into(), lengths.to_vec().into(), &rows)
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Gives the number of entries of a table, and the time in seconds in which calls waited for other threads; those of fill
/// contexts that are open are not in it.
///
/// # Safety
/// `entries` and `stalled` are null, or places for numbers; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_stats(
    table: *const nyssa_table,
    entries: *mut u64,
    stalled: *mut f64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let stats = || {
        let table = handle::get::<Arc<OpenTable>>(table)?;
        let (number, time) = table.with(|table| {
            let number = match table.rows.parallel() {
                Some(parallel) => parallel.entries(),
                None => table.rows.writer()?.entries(),
            };
            Ok((number, table.rows.stalled()))
        })?;
        // SAFETY: the caller promises it.
        unsafe { write_stats(entries, stalled, number, time.as_secs_f64()) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, stats) }
}

/// Writes statistics where the caller wants them.
///
/// # Safety
/// `entries` and `stalled` are null, or places for numbers.
unsafe fn write_stats(entries: *mut u64, stalled: *mut f64, number: u64, time: f64) {
    if !entries.is_null() {
        // SAFETY: the caller promises it.
        unsafe { entries.write(number) };
    }
    if !stalled.is_null() {
        // SAFETY: the caller promises it.
        unsafe { stalled.write(time) };
    }
}

/// Commits a table: writes what is left of its entries, its attribute sets and its fill contexts. The handle is of no use
/// then. The report is an object of JSON: `entries`, `clusters`, `pages`, `shared_pages`, `uncompressed_bytes`,
/// `compressed_bytes`.
///
/// Errors: those of filling; `NYSSA_INVALID_ARGUMENT` when an attribute has a range that is not in the RNTuple.
///
/// # Safety
/// `report` and `error` are null, or places for pointers; without a place there is no report. The text at `report` belongs to
/// the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_commit(
    table: *const nyssa_table,
    report: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let commit = || {
        let open = handle::get::<Arc<OpenTable>>(table)?;
        let table = open.lock().take().ok_or_else(ended)?;
        json(&table.finish()?)
    };
    // SAFETY: the caller promises it.
    unsafe { texts::report(error, report, commit) }
}

/// Makes a fill context of a table. From then on, fill contexts give its entries, and nothing else does. There are at most
/// so many at a time as the option `fill_contexts` says; the default is the number of threads.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` for more contexts, and after an error.
///
/// # Safety
/// `context` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_fill_context(
    table: *const nyssa_table,
    context: *mut *mut nyssa_fill_context,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let make = || {
        let table = Arc::clone(&*handle::get::<Arc<OpenTable>>(table)?);
        let slot = table.with(|open| open.rows.context(table.order, &table.context))?;
        Ok(handle::open(Filling { slot, table }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, context, make) }
}

/// Runs `work` on an open fill context.
fn filling<T>(
    context: *const nyssa_fill_context,
    work: impl FnOnce(&mut Option<Box<dyn Fill>>) -> Result<T>,
) -> Result<T> {
    let filling = handle::get::<Filling>(context)?;
    let mut slot = filling.slot.lock().unwrap_or_else(PoisonError::into_inner);
    match *slot {
        Some(_) => work(&mut slot),
        None => Err(Error::invalid_argument("the fill context is committed, or its table is")),
    }
}

/// Appends entries, as `nyssa_table_fill` does. Each thread has a fill context of its own.
///
/// Errors: those of `nyssa_table_fill`. After another error than `NYSSA_INVALID_ARGUMENT` all contexts of the table fail.
///
/// # Safety
/// As for `nyssa_table_fill`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_fill_context_fill(
    context: *const nyssa_fill_context,
    array: *mut FFI_ArrowArray,
    schema: *const FFI_ArrowSchema,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let fill = || {
        // SAFETY: the caller promises it.
        let array = unsafe { take(array) }?;
        let table = &handle::get::<Filling>(context)?.table;
        // SAFETY: as above.
        let rows = unsafe { table.rows_in(array, schema) }?;
        filling(context, |slot| slot.as_mut().map_or(Ok(()), |fill| fill.extend(&rows)))
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Ends the open cluster of a fill context.
///
/// Errors: those of filling.
///
/// # Safety
/// `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_fill_context_flush(
    context: *const nyssa_fill_context,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let flush = || filling(context, |slot| slot.as_mut().map_or(Ok(()), |fill| fill.flush()));
    // SAFETY: the caller promises it.
    unsafe { call::run(error, flush) }
}

/// Gives the time in seconds in which calls of a fill context waited for other threads.
///
/// # Safety
/// `stalled` is null, or a place for a number; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_fill_context_stats(
    context: *const nyssa_fill_context,
    stalled: *mut f64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let time = || {
        filling(context, |slot| Ok(slot.as_ref().map_or(0.0, |fill| fill.stalled().as_secs_f64())))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, stalled, time) }
}

/// Commits what is left of a fill context and ends it. A table commits those that are left, too.
///
/// Errors: those of filling.
///
/// # Safety
/// `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_fill_context_commit(
    context: *const nyssa_fill_context,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let commit = || filling(context, |slot| slot.take().map_or(Ok(()), Fill::finish));
    // SAFETY: the caller promises it.
    unsafe { call::run(error, commit) }
}

/// Ends a fill context and discards its entries that are in no cluster. Gives their number, if `discarded` is not null.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` after an error.
///
/// # Safety
/// `discarded` is null, or a place for a number; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_fill_context_discard(
    context: *const nyssa_fill_context,
    discarded: *mut u64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let discard = || {
        let number = filling(context, |slot| slot.take().map_or(Ok(0), Fill::discard))?;
        // SAFETY: the caller promises it.
        unsafe { write_stats(discarded, std::ptr::null_mut(), number, 0.0) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, discard) }
}
