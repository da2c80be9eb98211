//! Implements `unix`: the server believes the name of the user.

/// Returns the name of the method and that of the user, each with a zero byte behind it.
pub(super) fn credentials(user: &str) -> Vec<u8> {
    format!("unix\0{user}\0").into_bytes()
}
