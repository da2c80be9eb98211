//! Asks the system for huge pages, which avoid most page faults.

/// Asks the system for huge pages for memory that is not used yet. This does nothing where the system has
/// none.
#[cfg(target_os = "linux")]
pub(crate) fn huge_pages<T>(memory: &mut [T]) {
    const PAGE: usize = 2 << 20;
    let start = memory.as_mut_ptr().cast::<u8>();
    let skip = start.align_offset(PAGE);
    let len = size_of_val(memory).saturating_sub(skip) / PAGE * PAGE;
    if len > 0 {
        // SAFETY: the range lies inside a slice that is borrowed mutably here and starts and ends at
        // page boundaries; this advice changes no contents and no permissions.
        unsafe { libc::madvise(start.wrapping_add(skip).cast(), len, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn huge_pages<T>(_: &mut [T]) {}
