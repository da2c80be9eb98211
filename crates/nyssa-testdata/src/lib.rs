//! Contains what the tests of several crates share: the places of their files, servers, and processes of their own.
//!
//! A test that calls [`data`] is marked by `#[ignore = "needs NYSSA_TEST_DATA"]`. The test runner then counts
//! it as ignored, and `--include-ignored` runs it if the files are there.

#![deny(missing_docs, unreachable_pub)]

use std::path::{Path, PathBuf};

/// Returns the path of a file in `testdata`. ROOT wrote these files, and every clone has them.
pub fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

/// Returns the path of a file or folder in the folder `NYSSA_TEST_DATA` (default: `../shared/data` beside the
/// repository), which not everybody has.
///
/// # Panics
///
/// When the file or folder does not exist.
pub fn data(path: &str) -> PathBuf {
    let folder = std::env::var_os("NYSSA_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(path);
    assert!(path.exists(), "no {}: set NYSSA_TEST_DATA to the folder of test data", path.display());
    path
}

/// Returns pseudo-random numbers of 31 bits. They are equal each time.
pub fn noise() -> impl Iterator<Item = u64> {
    let mut state = 1_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        state >> 33
    })
}

mod inside;
#[cfg(unix)]
pub mod xrootd;

pub use inside::run_inside;
