//! The ranges of the numbers that may be asked for.

use crate::error::{Error, Result};

/// Smallest page size that may be asked for, bytes.
pub const MIN_UNZIPPED_PAGE: usize = 64;
/// Largest page size that may be asked for, bytes: ROOT's limit of elements per page with one-byte
/// elements would allow more, but one page has to fit into one key with room to spare.
pub const MAX_UNZIPPED_PAGE: usize = 512 << 20;
/// Smallest compressed cluster size that may be asked for, bytes,
pub const MIN_CLUSTER: u64 = 256;
/// and what every column of a cluster counts for at least, bytes: what the page list says of it takes
/// about as much.
pub const MIN_CLUSTER_OF_COLUMN: u64 = 64;
/// Smallest memory that may be asked for, bytes.
pub const MIN_MEMORY: u64 = 1 << 20;
/// Distinct pages remembered for sharing; once so many are known, the memory starts afresh.
pub const MAX_REMEMBERED_PAGES: usize = 1 << 16;

/// Checks a compressed cluster size.
///
/// # Errors
/// `InvalidArgument` with the smallest one.
pub(crate) fn check_cluster(bytes: u64) -> Result<()> {
    if bytes >= MIN_CLUSTER {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "a cluster size of {bytes} bytes is too small: at least {MIN_CLUSTER} are needed"
    )))
}

/// The cluster size that is aimed at when `bytes` are asked for, with a note where that is more.
pub(crate) fn cluster_of(bytes: u64, columns: usize) -> (u64, Option<String>) {
    let least = MIN_CLUSTER_OF_COLUMN.saturating_mul(columns as u64);
    let note = || {
        format!(
            "clusters have {least} bytes, not {bytes}: {MIN_CLUSTER_OF_COLUMN} for each of {columns} \
             columns are the least, since the page list needs as many"
        )
    };
    (bytes.max(least), (bytes < least).then(note))
}

/// Checks a memory budget.
///
/// # Errors
/// `InvalidArgument` with the smallest one.
pub(crate) fn check_memory(bytes: u64) -> Result<()> {
    if bytes >= MIN_MEMORY {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{bytes} bytes of memory are not enough: at least {MIN_MEMORY} are needed"
    )))
}

/// Checks a page size.
///
/// # Errors
/// `InvalidArgument` with the range.
pub(crate) fn check_page(bytes: usize) -> Result<()> {
    if (MIN_UNZIPPED_PAGE..=MAX_UNZIPPED_PAGE).contains(&bytes) {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "a page size of {bytes} bytes is outside {MIN_UNZIPPED_PAGE} to {MAX_UNZIPPED_PAGE}"
    )))
}
