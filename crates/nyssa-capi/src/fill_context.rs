//! Fill contexts: each thread fills a part of the entries of a table.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use nyssa_jobs::filling::{Fill, Slot};
use nyssa_root::{Error, Result};

use crate::arrow::take;
use crate::call;
use crate::error::{nyssa_error, nyssa_status};
use crate::handle::{self, Handled};
use crate::table::{OpenTable, nyssa_table};

/// A part of the entries of a table, which one thread fills. Each thread has its own. It is of no use after its table is
/// committed, or its writer is committed or closed.
pub struct nyssa_fill_context {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_fill_context`.
struct Filling {
    slot: Slot,
    table: Arc<OpenTable>,
    /// The number of fields that its rows need. Later fields may be left out until rows have them.
    needed: AtomicUsize,
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
        let needed = AtomicUsize::new(table.rows().count);
        let slot = table.fill_context()?;
        Ok(handle::open(Filling { slot, table, needed }))
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
        None => Err(Error::invalid_argument(
            "the fill context is committed, or its table is, or its writer is closed: make another by \
             nyssa_table_fill_context",
        )),
    }
}

/// Appends entries, as `nyssa_table_fill` does. Each thread has a fill context of its own.
///
/// Errors: the errors of `nyssa_table_fill`. After another error than `NYSSA_INVALID_ARGUMENT` all contexts of the table fail.
///
/// # Safety
/// `array` is an array of the Arrow C data interface with the buffers that its schema says; `schema` is null, or that
/// schema, which stays with the caller. `error` is null, or a place for a pointer.
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
        let Filling { table, needed, .. } = &*handle::get::<Filling>(context)?;
        // SAFETY: as above.
        let rows = unsafe { table.rows_in(array, schema, needed.load(Ordering::Relaxed)) }?;
        filling(context, |slot| slot.as_mut().map_or(Ok(()), |fill| fill.extend(&rows)))?;
        needed.fetch_max(rows.len(), Ordering::Relaxed);
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, fill) }
}

/// Ends the open cluster of a fill context.
///
/// Errors: the errors of filling.
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

/// Commits the remaining entries of a fill context and ends it. A table commits its open fill contexts, too.
///
/// Errors: the errors of filling.
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
        unsafe { call::put(discarded, number) };
        Ok(())
    };
    // SAFETY: the caller promises it.
    unsafe { call::run(error, discard) }
}
