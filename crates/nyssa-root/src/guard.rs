//! Checks numbers from a file before memory is allocated for them.

use crate::error::{Error, Result};

/// Converts a count or size from a file to `usize`.
///
/// # Errors
/// `LimitExceeded` when it does not fit.
pub fn to_usize(value: u64, what: &str) -> Result<usize> {
    usize::try_from(value)
        .map_err(|_| Error::limit(format!("{what} of {value} does not fit in memory")))
}

/// Allocates a vector of `len` default elements. It returns an error, and does not abort, when there is not
/// enough memory.
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
