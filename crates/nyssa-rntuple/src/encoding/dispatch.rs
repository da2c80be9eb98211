//! Runs a loop with the widest vector instructions of the processor.

/// Runs `work`, compiled for AVX2 if the processor has it. All hot code in `work` must be `#[inline(always)]`,
/// because only inlined code gets the wide instructions. Decoding of split floats runs several times faster than with
/// SSE2, which every x86-64 has.
#[inline(always)]
pub(super) fn widest<T>(work: impl FnOnce() -> T) -> T {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<T>(work: impl FnOnce() -> T) -> T {
            work()
        }
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: `avx2` needs only AVX2, and the processor was just checked for it.
            return unsafe { avx2(work) };
        }
    }
    work()
}
