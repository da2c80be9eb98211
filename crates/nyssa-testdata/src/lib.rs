//! Where the files of the tests are.
//!
//! A test that calls [`data`] says so: `#[ignore = "needs NYSSA_TEST_DATA"]`. So the test runner counts
//! it as ignored, and `--include-ignored` runs it where the files are.

use std::path::{Path, PathBuf};

/// The path of a file in `testdata`: ROOT wrote it, and every clone has it.
pub fn testdata(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(path)
}

/// Returns the path of a file or folder in the folder `NYSSA_TEST_DATA` (default: `../shared/data` beside the
/// repository), which not everybody has.
///
/// # Panics
///
/// When it is not there.
pub fn data(path: &str) -> PathBuf {
    let folder = std::env::var_os("NYSSA_TEST_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(path);
    assert!(path.exists(), "no {}: set NYSSA_TEST_DATA to the folder of test data", path.display());
    path
}

#[cfg(unix)]
pub mod xrootd;
