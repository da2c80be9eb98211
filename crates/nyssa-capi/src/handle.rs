//! The handles that C holds. A handle is a number that looks like a pointer and never is followed, so that a handle that
//! is closed, of another type or made up is an error, and nothing worse.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use nyssa_root::{Error, Result};

/// What C opens and closes.
pub(crate) trait Handled: Any + Send + Sync {
    /// The word for the type in messages.
    const WHAT: &'static str;
    /// The type that C knows.
    type Opaque;
}

/// An open object.
struct Open {
    object: Arc<dyn Any + Send + Sync>,
    /// The word for its type in messages.
    what: &'static str,
    /// The process that opened it, whose threads and unfinished files forks do not have.
    process: u32,
}

#[derive(Default)]
struct Table {
    open: HashMap<usize, Open>,
    last: usize,
}

static OPEN: LazyLock<RwLock<Table>> = LazyLock::new(RwLock::default);

/// Gives an object to C.
pub(crate) fn open<T: Handled>(object: T) -> *mut T::Opaque {
    let mut table = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    table.last += 1;
    let number = table.last;
    let process = std::process::id();
    table.open.insert(number, Open { object: Arc::new(object), what: T::WHAT, process });
    std::ptr::without_provenance_mut(number)
}

/// Returns the object of a handle.
///
/// # Errors
/// `InvalidArgument` for null, and for a handle that is closed, of another type or of another process.
pub(crate) fn get<T: Handled>(handle: *const T::Opaque) -> Result<Arc<T>> {
    let wrong = |why: String| Err(Error::invalid_argument(why));
    if handle.is_null() {
        return wrong(format!("the {} is null", T::WHAT));
    }
    let table = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    let Some(Open { object, what, process }) = table.open.get(&handle.addr()) else {
        return wrong(format!("the {} is closed, or was never open: make another", T::WHAT));
    };
    if *process != std::process::id() {
        return wrong(format!("the {what} belongs to the process before its fork: make another"));
    }
    match Arc::clone(object).downcast() {
        Ok(object) => Ok(object),
        Err(_) => wrong(format!("the handle is a {what}, not a {}", T::WHAT)),
    }
}

/// Closes a handle of any type: of a context, a dataset, a writer, a table or a fill context. Null and a handle that is
/// closed already are allowed. A writer that is not committed leaves no file, and a fill context that is not committed
/// makes its table fail if it has entries that are in no cluster. Calls that use the object in other threads end as if it
/// were open. In a fork of the process that opened it, a handle stays, so that its unfinished file does.
#[unsafe(no_mangle)]
pub extern "C" fn nyssa_close(handle: *const std::ffi::c_void) {
    let close = || {
        let mut table = OPEN.write().unwrap_or_else(PoisonError::into_inner);
        let is_own = |open: &Open| open.process == std::process::id();
        let closed = table
            .open
            .get(&handle.addr())
            .is_some_and(is_own)
            .then(|| table.open.remove(&handle.addr()));
        // Without the lock, because this may take time.
        drop(table);
        drop(closed);
    };
    // There is nobody to tell.
    let _ = std::panic::catch_unwind(close);
}
