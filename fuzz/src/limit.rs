//! Ends the run when an input makes nyssa allocate too much memory. It prints the place of the allocation. The limit of
//! libFuzzer checks the process only sometimes, and counts only pages that were used.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The maximum number of allocated bytes. Inputs have at most 64 KiB, and zstd stores 128 KiB of one value in
/// four bytes: a page of this size may hold 2 GiB. This memory is not used before it is decoded.
const LIMIT: usize = 5 << 29;

static USED: AtomicUsize = AtomicUsize::new(0);
static OVER: AtomicBool = AtomicBool::new(false);

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

// SAFETY: every call is passed unchanged to the system's allocator; the counters are atomics.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller guarantees what `System` requires.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        take(size);
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

fn take(size: usize) {
    let used = USED.fetch_add(size, Relaxed).saturating_add(size);
    // Printing the backtrace allocates memory, so only the first allocation prints it.
    if used > LIMIT && !OVER.swap(true, Relaxed) {
        eprintln!("{size} bytes asked for with {used} in use\n{}", Backtrace::force_capture());
        std::process::abort();
    }
}
