//! RNTuples and TTrees that are filled.

use std::ffi::c_char;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use arrow_array::ArrayRef;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_schema::Schema as ArrowSchema;
use nyssa_jobs::filling::Slot;
use nyssa_rntuple::schema::SchemaBuilder;
use nyssa_rntuple::write::{Order, RNTupleWriteOptions};
use nyssa_root::{Context, Error, Result};

use crate::arrow::{Given as Column, columns_in, schema_in, schema_or_none, schema_out, take};
use crate::call;
use crate::definitions::Defined;
use crate::error::{nyssa_error, nyssa_status};
use crate::filled::{Filled, FilledTree, Rows, no_rows, tree_schema, with_classes};
use crate::handle::{self, Handled};
use crate::texts::{self, items, json, text, text_or_none};

/// An RNTuple or a TTree of a writer, which is filled from one thread at a time, or by fill contexts. It is of no use after
/// its writer is committed or closed.
pub struct nyssa_table {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_table`.
pub(crate) struct OpenTable {
    filled: Mutex<Option<Filled>>,
    /// The rows that are filled. Fill contexts use it without the lock of the table.
    rows: RwLock<Arc<Rows>>,
    /// The options of attribute sets.
    options: RNTupleWriteOptions,
    order: Order,
    context: Context,
}

impl Handled for Arc<OpenTable> {
    const WHAT: &'static str = "table";
    type Opaque = nyssa_table;
}

impl OpenTable {
    pub(crate) fn new(
        filled: Filled,
        options: RNTupleWriteOptions,
        order: Order,
        context: Context,
    ) -> Arc<Self> {
        let rows = RwLock::new(Arc::new(Rows::of(&filled)));
        Arc::new(Self { filled: Mutex::new(Some(filled)), rows, options, order, context })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Option<Filled>> {
        self.filled.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Filled) -> Result<T>) -> Result<T> {
        work(self.lock().as_mut().ok_or_else(ended)?)
    }

    /// Returns the place of a new fill context.
    pub(crate) fn fill_context(&self) -> Result<Slot> {
        self.with(|filled| filled.context(self.order, &self.context))
    }

    pub(crate) fn rows(&self) -> Arc<Rows> {
        Arc::clone(&self.rows.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns rows of the caller in the order of the table. Fields after the first `needed` ones may be left out.
    ///
    /// # Safety
    /// `array` has the buffers that `schema` says, or, if this is null, the buffers of an array of the rows.
    pub(crate) unsafe fn rows_in(
        &self,
        array: FFI_ArrowArray,
        schema: *const FFI_ArrowSchema,
        needed: usize,
    ) -> Result<Vec<ArrayRef>> {
        let rows = self.rows();
        if schema.is_null() {
            // SAFETY: the caller promises it.
            let columns = unsafe { columns_in(array, schema, rows.fields()?) }?;
            if columns.len() < needed.min(rows.count) {
                return Err(Error::invalid_argument(format!(
                    "the array has {} columns, but the rows have {}",
                    columns.len(),
                    rows.count
                )));
            }
            return Ok(arrays(columns));
        }
        // SAFETY: as above.
        rows.in_order(&unsafe { columns_in(array, schema, &[]) }?, needed)
    }
}

fn ended() -> Error {
    Error::invalid_argument("the table is committed, or its writer is closed: begin another")
}

fn arrays(columns: Vec<Column>) -> Vec<ArrayRef> {
    columns.into_iter().map(|(_, array)| array).collect()
}

/// Adds the fields of a schema and of definitions.
///
/// # Safety
/// `schema` is null, or a schema.
pub(crate) unsafe fn add_fields(
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

/// Gives the Arrow schema of the rows of a table: what `nyssa_table_fill` takes without a schema.
///
/// Errors: `NYSSA_UNSUPPORTED` for a field of an RNTuple of `nyssa_writer_append` that has no Arrow type.
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
        schema_out(&ArrowSchema::new(rows.fields()?.to_vec()))
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
        let rows = unsafe { table.rows_in(array, schema, usize::MAX) }?;
        table.with(|filled| filled.extend(&rows))
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Ends the open cluster of a table that has no fill contexts.
///
/// Errors: the errors of filling.
///
/// # Safety
/// `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_flush(
    table: *const nyssa_table,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let flush = || handle::get::<Arc<OpenTable>>(table)?.with(Filled::flush);
    // SAFETY: the caller promises it.
    unsafe { call::run(error, flush) }
}

/// Adds fields, as `nyssa_writer_table` takes them. Earlier entries have zeros and empty collections there, or, for a table
/// of `nyssa_writer_append` without new entries, the values of `array` (one for each entry), if it is not null. It is as the
/// schema says, or, without a schema, as the definitions say, and is released by nyssa. Fill contexts see the fields from
/// their first rows on that have them; rows before may leave them out. A TTree that has entries needs their values, and takes no fields once it has fill
/// contexts.
///
/// Errors: the errors of `nyssa_writer_table` and of filling; `NYSSA_INVALID_ARGUMENT` for another number of values than
/// entries.
///
/// # Safety
/// `schema` is null, or a schema, which stays with the caller; `definitions` is null, or a text; `array` is null, or an array
/// of the Arrow C data interface with the buffers that the schema or the definitions say. `error` is null, or a place for a
/// pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_table_add_fields(
    table: *const nyssa_table,
    schema: *const FFI_ArrowSchema,
    definitions: *const c_char,
    array: *mut FFI_ArrowArray,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let extend = || {
        // SAFETY: the caller promises it.
        let array = (!array.is_null()).then(|| unsafe { take(array) }).transpose()?;
        let open = handle::get::<Arc<OpenTable>>(table)?;
        // SAFETY: as above.
        let defined =
            Defined::parse(unsafe { text_or_none(definitions, "the text of the definitions") }?)?;
        open.with(|filled| {
            let values = match array {
                Some(array) => {
                    let known = filled.fields_of(&defined)?;
                    // SAFETY: as above.
                    Some(arrays(unsafe { columns_in(array, schema, &known) }?))
                }
                None => None,
            };
            // SAFETY: as above.
            unsafe { add(filled, schema, &defined, values.as_deref()) }?;
            let rows = Arc::new(Rows::of(filled));
            *open.rows.write().unwrap_or_else(PoisonError::into_inner) = rows;
            Ok(())
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, extend) }
}

/// Adds the fields of a schema and of definitions to what is filled.
///
/// # Safety
/// `schema` is null, or a schema.
unsafe fn add(
    filled: &mut Filled,
    schema: *const FFI_ArrowSchema,
    defined: &Defined,
    values: Option<&[ArrayRef]>,
) -> Result<()> {
    match filled {
        Filled::NTuple(table) => {
            let add = |builder: &mut SchemaBuilder| {
                builder.describe(&defined.streamer_infos);
                // SAFETY: the caller promises it.
                unsafe { add_fields(builder, schema, defined) }
            };
            table.add_fields(add, values)
        }
        Filled::Tree(filled) => {
            let FilledTree { tree, options, update, .. } = filled.as_mut();
            // SAFETY: as above.
            let schema = tree_schema(&unsafe { schema_or_none(schema) }?, defined)?;
            let options = with_classes(options, &defined.classes);
            let none = no_rows(&schema);
            tree.add_branches(update.as_deref(), &schema, values.unwrap_or(&none), &options)
        }
    }
}

/// Begins an attribute set of an RNTuple, before it has fill contexts. Its rows have the fields of an Arrow schema.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` for a name or a schema that cannot be written, and for a TTree.
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
        open.with(|filled| {
            let table = filled.ntuple("attribute sets")?;
            table.new_set(set, &ArrowSchema::new(fields), options, &open.context)
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, begin) }
}

/// Appends `count` attributes: ranges of entries by their first entries and numbers of entries, and a row for each.
///
/// Errors: `NYSSA_NOT_FOUND` for a set that is not begun; the errors of filling.
///
/// # Safety
/// `set` is a text; `starts` and `lengths` have `count` numbers. `array` is an array of the Arrow C data interface with the
/// buffers that `schema` says, and has the columns of the set in their order. The schema stays with the caller. `error` is
/// null, or a place for a pointer.
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
        let starts = unsafe { items(starts, count, "the list of first entries") }?;
        // SAFETY: as above.
        let lengths = unsafe { items(lengths, count, "the list of numbers of entries") }?;
        open.with(|filled| {
            let table = filled.ntuple("attribute sets")?;
            table.set(set)?.extend(starts.to_vec().into(), lengths.to_vec().into(), &rows)
        })
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Gives the number of entries of a table, and the time in seconds in which `nyssa_table_fill` waited for other threads.
/// It is 0 once there are fill contexts, which tell their own time.
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
        let (number, time) = table.with(Filled::stats)?;
        // SAFETY: the caller promises it.
        unsafe {
            call::put(entries, number);
            call::put(stalled, time);
        }
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, stats) }
}

/// Commits a table: writes its remaining entries, its attribute sets and its fill contexts. The handle is of no use
/// then. The report is an object of JSON: `entries`, `clusters`, `uncompressed_bytes`, `compressed_bytes`, and `pages` and
/// `shared_pages` of an RNTuple or `baskets` of a TTree, with `notes` on parts of an existing TTree that are left out.
///
/// Errors: the errors of filling; `NYSSA_INVALID_ARGUMENT` when an attribute has a range that is not in the RNTuple.
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
        let filled = open.lock().take().ok_or_else(ended)?;
        json(&filled.finish()?)
    };
    // SAFETY: the caller promises it.
    unsafe { texts::report(error, report, commit) }
}
