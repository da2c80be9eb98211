//! The exit codes of all commands. `docs/command-line.md` lists them.

use std::io;

use nyssa_root::{Error, Kind};

/// All is well.
pub const FINE: u8 = 0;
/// The data have a problem: damage, or differences.
pub const PROBLEM: u8 = 1;
/// The command is wrong: an option, a value, or an output that exists already.
pub const USAGE: u8 = 2;
/// A file, or an object or column in it, does not exist.
pub const MISSING: u8 = 3;
/// The data are correct, but nyssa cannot read or write all of them.
pub const UNSUPPORTED: u8 = 4;
/// The system, the network or a server failed.
pub const SYSTEM: u8 = 5;
/// The disk is full, or a quota is used up.
pub const FULL: u8 = 6;
/// A limit of memory or of safety was reached.
pub const LIMIT: u8 = 7;

/// Returns the exit code of an error of the core.
pub fn of(error: &Error) -> u8 {
    of_kind(error.kind(), error.system().map(|error| &error.source))
}

/// Returns the exit code of an error of a kind, which may come from one of the system.
pub fn of_kind(kind: Kind, system: Option<&io::Error>) -> u8 {
    match kind {
        Kind::Checksum | Kind::OutOfSpecification => PROBLEM,
        Kind::InvalidArgument | Kind::AlreadyExists => USAGE,
        Kind::NotFound => MISSING,
        Kind::Unsupported => UNSUPPORTED,
        Kind::LimitExceeded => LIMIT,
        Kind::Io => system.map_or(SYSTEM, of_system),
        // The code of a stopped command is the code of its signal.
        Kind::Cancelled => SYSTEM,
    }
}

/// Returns the exit code of an error of the system.
pub fn of_system(error: &io::Error) -> u8 {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            FULL
        }
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => PROBLEM,
        io::ErrorKind::InvalidInput => USAGE,
        _ => SYSTEM,
    }
}
