//! `host`: the server looks at where the connection comes from.

/// The name of the method.
pub(super) fn credentials() -> Vec<u8> {
    b"host\0".to_vec()
}
