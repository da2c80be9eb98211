//! Defines numbers of the protocol and their meaning.

use std::io::ErrorKind;

/// The flags of a server in its answer to `protocol`.
#[allow(missing_docs)]
pub mod flags {
    pub const IS_SERVER: u32 = 0x0000_0001;
    pub const IS_MANAGER: u32 = 0x0000_0002;
    /// The server has `pgread`.
    pub const HAS_PAGES: u32 = 0x0020_0000;
    pub const HAS_TLS: u32 = 0x8000_0000;
    /// TLS begins with the next byte.
    pub const GOTO_TLS: u32 = 0x4000_0000;
    /// Data need TLS.
    pub const TLS_DATA: u32 = 0x0100_0000;
    /// Logins need TLS.
    pub const TLS_LOGIN: u32 = 0x0400_0000;
    /// Everything after a login needs TLS.
    pub const TLS_SESSION: u32 = 0x0800_0000;
}

/// The error codes: number, name in the protocol, and its meaning for a program that reads files.
const ERRORS: [(&str, ErrorKind); 36] = {
    use ErrorKind as K;
    [
        ("kXR_ArgInvalid", K::InvalidInput),
        ("kXR_ArgMissing", K::InvalidInput),
        ("kXR_ArgTooLong", K::InvalidInput),
        ("kXR_FileLocked", K::ResourceBusy),
        ("kXR_FileNotOpen", K::Other),
        ("kXR_FSError", K::Other),
        ("kXR_InvalidRequest", K::InvalidInput),
        ("kXR_IOError", K::Other),
        ("kXR_NoMemory", K::Other),
        ("kXR_NoSpace", K::StorageFull),
        ("kXR_NotAuthorized", K::PermissionDenied),
        ("kXR_NotFound", K::NotFound),
        ("kXR_ServerError", K::Other),
        ("kXR_Unsupported", K::Unsupported),
        ("kXR_noserver", K::HostUnreachable),
        ("kXR_NotFile", K::InvalidInput),
        ("kXR_isDirectory", K::IsADirectory),
        ("kXR_Cancelled", K::Other),
        ("kXR_ItExists", K::AlreadyExists),
        ("kXR_ChkSumErr", K::InvalidData),
        ("kXR_inProgress", K::ResourceBusy),
        ("kXR_overQuota", K::QuotaExceeded),
        ("kXR_SigVerErr", K::PermissionDenied),
        ("kXR_DecryptErr", K::PermissionDenied),
        ("kXR_Overloaded", K::ResourceBusy),
        ("kXR_fsReadOnly", K::ReadOnlyFilesystem),
        ("kXR_BadPayload", K::InvalidInput),
        ("kXR_AttrNotFound", K::Other),
        ("kXR_TLSRequired", K::PermissionDenied),
        ("kXR_noReplicas", K::HostUnreachable),
        ("kXR_AuthFailed", K::PermissionDenied),
        ("kXR_Impossible", K::Unsupported),
        ("kXR_Conflict", K::Other),
        ("kXR_TooManyErrs", K::Other),
        ("kXR_ReqTimedOut", K::TimedOut),
        ("kXR_TimerExpired", K::TimedOut),
    ]
};

fn entry(code: u32) -> Option<&'static (&'static str, ErrorKind)> {
    ERRORS.get(usize::try_from(code.checked_sub(3000)?).ok()?)
}

/// Returns the name of an error code.
pub fn error_name(code: u32) -> String {
    entry(code).map_or_else(|| format!("error {code}"), |(name, _)| (*name).to_owned())
}

/// Returns the meaning of an error code for a program that reads files.
pub fn error_kind(code: u32) -> ErrorKind {
    entry(code).map_or(ErrorKind::Other, |(_, kind)| *kind)
}
