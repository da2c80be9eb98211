//! Opens the files and folders of a cache folder, if their owners are trusted. No links are followed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The largest size of a small file of a cache. A larger one is damaged.
const SMALL_BYTES: u64 = 1 << 20;

/// Returns options that open no link, and do not wait for a pipe.
pub(super) fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "other systems have no such flags")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    options
}

/// Opens a file to read it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let file = options().read(true).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(ErrorKind::InvalidData, "it is not a file")),
    }
}

/// Reads a small file.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open(path)?.take(SMALL_BYTES + 1).read_to_end(&mut content)?;
    match content.len() as u64 <= SMALL_BYTES {
        true => Ok(content),
        false => Err(io::Error::new(ErrorKind::InvalidData, "it is too large")),
    }
}

/// Makes a folder in the cache, if there is none.
///
/// # Errors
/// `InvalidData` for a link or a file of this name; an error of the system.
pub(super) fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => check_folder(path),
    }
}

/// Refuses a link in the place of a folder of the cache.
///
/// # Errors
/// `InvalidData` for something that is not a folder; an error of the system.
pub(super) fn check_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path)?.is_dir() {
        true => Ok(()),
        false => Err(io::Error::new(ErrorKind::InvalidData, "it is not a folder")),
    }
}

/// Refuses the cache folder of another user, who decides what is read from it. A folder is shared on purpose if its
/// group, to which this user belongs, may write into it.
///
/// # Errors
/// `PermissionDenied`; an error of the system.
#[cfg(unix)]
pub(super) fn check_owner(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let metadata = fs::metadata(folder)?;
    let is_own = [0, rustix::process::geteuid().as_raw()].contains(&metadata.uid());
    let is_shared = || {
        let mut groups = rustix::process::getgroups().unwrap_or_default();
        groups.push(rustix::process::getegid());
        metadata.mode() & 0o020 != 0 && groups.iter().any(|group| group.as_raw() == metadata.gid())
    };
    match is_own || is_shared() {
        true => Ok(()),
        false => Err(io::Error::new(
            ErrorKind::PermissionDenied,
            "it belongs to another user, who decides what is read from it; name a folder of your own, or one that a \
             group of yours may write into",
        )),
    }
}

#[cfg(not(unix))]
pub(super) fn check_owner(_: &Path) -> io::Result<()> {
    Ok(())
}
