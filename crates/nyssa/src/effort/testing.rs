//! Contains helpers of several tests.

/// Returns pseudo-random numbers of 31 bits, which are the same each time.
pub(crate) fn noise() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    })
}
