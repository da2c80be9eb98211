//! Runs a loop with the widest vectors the machine has.

/// Runs `work`, compiled for AVX2 where the processor has it. Everything hot in `work` must be
/// `#[inline(always)]`: only what is inlined here gets the wide instructions. Unsplitting floats runs
/// several times faster than with the SSE2 that every x86-64 has.
#[inline(always)]
pub(super) fn widest<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: `avx2` is safe but for needing AVX2, and the processor was just asked for it.
            return unsafe { avx2(work) };
        }
    }
    work()
}
