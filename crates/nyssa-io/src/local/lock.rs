//! Locks on whole files, which end with the process that holds them.

use std::fs::File;
use std::io;

/// What became of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lock {
    /// It is held now, until the file is closed.
    Ours,
    /// Another process holds it.
    Taken,
    /// The file system has no locks.
    Unknown,
}

/// Locks the whole file, without waiting.
///
/// # Errors
/// None today; those of systems that may fail otherwise.
#[cfg(unix)]
pub fn lock(file: &File) -> io::Result<Lock> {
    use std::os::fd::AsRawFd;
    // SAFETY: the descriptor is open for as long as `file` is borrowed, and flock touches no memory.
    if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
        return Ok(Lock::Ours);
    }
    Ok(match io::Error::last_os_error().kind() {
        io::ErrorKind::WouldBlock => Lock::Taken,
        // Some network file systems have no locks.
        _ => Lock::Unknown,
    })
}

#[cfg(not(unix))]
pub fn lock(_: &File) -> io::Result<Lock> {
    Ok(Lock::Unknown)
}

/// File systems of this machine alone, by the numbers that Linux gives them (`statfs(2)`): ext, xfs,
/// btrfs, tmpfs, overlay, zfs, f2fs, ramfs.
#[cfg(target_os = "linux")]
const LOCAL: [i64; 8] = [
    0xEF53,
    0x5846_5342,
    0x9123_683E,
    0x0102_1994,
    0x794C_7630,
    0x2FC1_2FC1,
    0xF2F5_2010,
    0x8584_58F6,
];

/// Whether a lock that somebody holds on this file is seen here for sure: on a network file system that
/// depends on how it is mounted.
#[cfg(target_os = "linux")]
pub fn sees_all_locks(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let mut found = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the descriptor is open for as long as `file` is borrowed; fstatfs writes one `statfs` into
    // the memory that is there for one.
    if unsafe { libc::fstatfs(file.as_raw_fd(), found.as_mut_ptr()) } != 0 {
        return false;
    }
    // SAFETY: fstatfs has filled it, as it says by 0.
    let found = unsafe { found.assume_init() };
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
    LOCAL.contains(&((found.f_type as i64) & 0xFFFF_FFFF))
}

#[cfg(not(target_os = "linux"))]
pub fn sees_all_locks(_: &File) -> bool {
    false
}
