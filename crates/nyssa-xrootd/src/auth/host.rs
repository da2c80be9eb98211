//! Implements `host`: the server checks the address that the connection comes from.

/// Returns the name of the method, which is all that is sent.
pub(super) fn credentials() -> Vec<u8> {
    b"host\0".to_vec()
}
