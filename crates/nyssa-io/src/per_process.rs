//! Holds a value that belongs to one process: a child of `fork` makes its own.
//!
//! A child inherits sockets that its parent goes on using, and locks that threads hold which it does not
//! have. It must touch neither.

use std::process;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// One value for each process that asks. The values of other processes stay untouched.
#[derive(Debug)]
pub(crate) struct PerProcess<T>(OnceLock<Box<Entry<T>>>);

#[derive(Debug)]
struct Entry<T> {
    process: u32,
    value: T,
    next: PerProcess<T>,
}

impl<T> PerProcess<T> {
    /// Makes it without a value.
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The value of this process, which `make` makes when it is first asked for.
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

impl<T: Default> PerProcess<Mutex<T>> {
    /// Locks the value of this process.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.get(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
    }
}
