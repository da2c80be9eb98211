//! Checks the allowed ranges of numbers in options.

use nyssa_root::error::{Error, Result};

/// The minimum compressed size of a cluster, in bytes.
pub const MIN_CLUSTER: u64 = 256;
/// The minimum compressed size of a cluster for each of its columns, in bytes. The page list needs about as
/// much for a column.
pub const MIN_CLUSTER_OF_COLUMN: u64 = 64;
/// The minimum memory, in bytes.
pub const MIN_MEMORY: u64 = 1 << 20;
/// The maximum number of pages that are recorded to store equal pages once. When it is reached, all of them are
/// dropped.
pub const MAX_REMEMBERED_PAGES: usize = 1 << 16;

/// Checks a compressed cluster size.
///
/// # Errors
/// `InvalidArgument` with the minimum.
pub fn check_cluster(bytes: u64) -> Result<()> {
    if bytes >= MIN_CLUSTER {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "a cluster size of {bytes} bytes is too small: at least {MIN_CLUSTER} are needed"
    )))
}

/// Returns the cluster size that is used for the requested `bytes`. If it is larger, also returns a note.
pub fn cluster_of(bytes: u64, columns: usize) -> (u64, Option<String>) {
    let least = MIN_CLUSTER_OF_COLUMN.saturating_mul(columns as u64);
    let note = || {
        format!(
            "clusters have {least} bytes, not {bytes}: {MIN_CLUSTER_OF_COLUMN} bytes for each of {columns} \
             columns are the minimum, because the page list needs as much"
        )
    };
    (bytes.max(least), (bytes < least).then(note))
}

/// Checks a memory budget.
///
/// # Errors
/// `InvalidArgument` with the minimum.
pub fn check_memory(bytes: u64) -> Result<()> {
    if bytes >= MIN_MEMORY {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{bytes} bytes of memory are not enough: at least {MIN_MEMORY} are needed"
    )))
}
