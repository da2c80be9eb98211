//! Locks whole files. A lock ends with the process that holds it.

use std::fs::{File, TryLockError};

/// The result of locking a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    /// This process holds the lock until the file is closed.
    Ours,
    /// Another process holds the lock.
    Taken,
    /// The file system has no locks.
    Unknown,
}

/// Locks the whole file, without waiting.
pub(crate) fn lock(file: &File) -> Lock {
    // A lock of Windows would keep others from reading.
    match cfg!(unix).then(|| file.try_lock()) {
        Some(Ok(())) => Lock::Ours,
        Some(Err(TryLockError::WouldBlock)) => Lock::Taken,
        // Some network file systems have no locks.
        Some(Err(TryLockError::Error(_))) | None => Lock::Unknown,
    }
}

/// The file systems that only this machine can use, by their numbers in Linux (`statfs(2)`): ext, xfs, btrfs,
/// tmpfs, overlay, zfs, f2fs, ramfs.
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

/// Returns whether only this machine uses the file system of a file. Locks of all other processes on the file
/// are then visible here. On a network file system this depends on its mount options.
#[cfg(target_os = "linux")]
pub(super) fn is_on_this_machine(file: &File) -> bool {
    #[allow(clippy::unnecessary_cast, clippy::cast_lossless)]
    rustix::fs::fstatfs(file)
        .is_ok_and(|system| LOCAL.contains(&(system.f_type as i64 & 0xFFFF_FFFF)))
}

#[cfg(not(target_os = "linux"))]
pub fn is_on_this_machine(_: &File) -> bool {
    false
}
