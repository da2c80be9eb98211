//! Keeps a value that belongs to one process. A child of `fork` makes its own value.
//!
//! A child inherits sockets that its parent still uses, and locks of threads that the child does not have. It
//! must use neither.

use std::process;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One value for each process that asks for it. The values of other processes stay unchanged.
#[derive(Debug)]
pub struct PerProcess<T>(OnceLock<Box<Entry<T>>>);

#[derive(Debug)]
struct Entry<T> {
    process: u32,
    value: T,
    next: PerProcess<T>,
}

impl<T> PerProcess<T> {
    /// Makes the place for a value.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// Returns the value of this process. `make` makes it at the first call.
    pub fn get(&self, make: impl Fn() -> T) -> &T {
        let process = process::id();
        let mut place = self;
        loop {
            let new = || Box::new(Entry { process, value: make(), next: Self::new() });
            let entry = place.0.get_or_init(new);
            if entry.process == process {
                return &entry.value;
            }
            place = &entry.next;
        }
    }
}

impl<T> Default for PerProcess<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Default> PerProcess<Mutex<T>> {
    /// Locks the value of this process.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.get(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }
}
