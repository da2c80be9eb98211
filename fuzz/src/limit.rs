//! An allocator that ends the run when the input makes nyssa ask for too much memory, with the
//! place that asked. libFuzzer's own limit looks at the process now and then, and sees only pages
//! that were touched.

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// Bytes that may be in use at once. Inputs have at most 64 KiB, and zstd stores 128 KiB of one value
/// in four bytes: a page of that size may hold 2 GiB. They are not touched before they are decoded.
const LIMIT: usize = 5 << 29;

static USED: AtomicUsize = AtomicUsize::new(0);
static OVER: AtomicBool = AtomicBool::new(false);

struct Limited;

#[global_allocator]
static ALLOCATOR: Limited = Limited;

// SAFETY: every call goes to the system's allocator as it came; the counters are atomics.
unsafe impl GlobalAlloc for Limited {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promises are those of `System`.
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
    // Printing the backtrace allocates: only the first one does it.
    if used > LIMIT && !OVER.swap(true, Relaxed) {
        eprintln!("{size} bytes asked for with {used} in use\n{}", Backtrace::force_capture());
        std::process::abort();
    }
}
