//! Credentials, one file for each method.

mod host;
mod unix;
mod ztn;

/// The credentials of a method for a server that offers it with these parameters, or why there are none.
pub(super) fn credentials(method: &str, parameters: &str, user: &str) -> Result<Vec<u8>, String> {
    match method {
        "unix" => Ok(unix::credentials(user)),
        "host" => Ok(host::credentials()),
        "ztn" => ztn::credentials(parameters),
        "gsi" | "krb5" => {
            Err("nyssa does not have this method; use a token (ztn), which most sites take as well"
                .to_owned())
        }
        _ => Err("nyssa does not have this method".to_owned()),
    }
}

/// Whether a method is allowed on connections with TLS only.
pub(super) fn needs_tls(method: &str) -> bool {
    method == "ztn"
}
