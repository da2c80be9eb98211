//! Implements `unix`: the server trusts the name of the user.

/// Returns the names of the method and of the user, each with a zero byte after it.
pub(super) fn credentials(user: &str) -> Vec<u8> {
    format!("unix\0{user}\0").into_bytes()
}
