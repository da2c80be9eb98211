//! Guards between numbers that came from a file and the machine.

use crate::error::{Error, Result};

/// A count or size from a file as `usize`.
///
/// # Errors
/// `LimitExceeded` when it does not fit.
pub fn to_usize(value: u64, what: &str) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Error::limit(format!("{what} of {value} does not fit in memory")))
}

/// A vector of `len` default elements, or an error instead of an abort when memory is short.
///
/// # Errors
/// `LimitExceeded` when the allocation fails.
pub fn try_vec<T: Default + Clone>(len: usize, what: &str) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector
        .try_reserve_exact(len)
        .map_err(|_| Error::limit(format!("cannot allocate {len} elements for {what}")))?;
    vector.resize(len, T::default());
    Ok(vector)
}
