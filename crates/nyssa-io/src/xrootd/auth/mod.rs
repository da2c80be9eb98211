//! Credentials, one file for each method.

mod host;
mod unix;

/// The credentials of a method for a server that offers it with these parameters, or why there are none.
pub(super) fn credentials(method: &str, _parameters: &str, user: &str) -> Result<Vec<u8>, String> {
    match method {
        "unix" => Ok(unix::credentials(user)),
        "host" => Ok(host::credentials()),
        _ => Err("nyssa does not know this method".to_owned()),
    }
}
