//! The folder of a real XRootD server.

use std::fs;

use nyssa_io::testing::content;
use tempfile::TempDir;

/// Returns a folder for a server, which exports `data` with the file `content.bin` of [`content`].
pub(crate) fn served_folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("data")).unwrap();
    fs::write(folder.path().join("data/content.bin"), content()).unwrap();
    folder
}
