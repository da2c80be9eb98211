//! Finds credentials. Each method of authentication has one file.

mod host;
mod sss;
mod unix;
mod ztn;

use std::net::SocketAddr;

/// The client as methods of authentication show it.
pub(super) struct Client<'c> {
    /// The user that the URL names, or who runs this program.
    pub user: &'c str,
    /// The address of this end of the connection.
    pub address: SocketAddr,
}

/// Makes the credentials of a method for a server that offers it with these parameters, or says why it cannot.
pub(super) fn credentials(
    method: &str,
    parameters: &str,
    client: &Client<'_>,
) -> Result<Vec<u8>, String> {
    match method {
        "unix" => Ok(unix::credentials(client.user)),
        "host" => Ok(host::credentials()),
        "sss" => sss::credentials(parameters, client),
        "ztn" => ztn::credentials(parameters),
        _ => Err("nyssa has not built it in".to_owned()),
    }
}

/// Describes the credentials of a method that a server has refused, as the end of a message; empty where there
/// is nothing to tell.
pub(super) fn describe(method: &str) -> String {
    match method {
        "ztn" => ztn::describe(),
        _ => String::new(),
    }
}

/// Returns whether nyssa has a method itself.
pub(super) fn is_built_in(method: &str) -> bool {
    matches!(method, "unix" | "host" | "sss" | "ztn")
}

/// Returns whether a method is allowed on connections with TLS only.
pub(super) fn needs_tls(method: &str) -> bool {
    method == "ztn"
}
