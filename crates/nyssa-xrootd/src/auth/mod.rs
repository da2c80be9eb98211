//! Finds credentials. Each method of authentication has one file.

mod host;
mod sss;
mod unix;
mod ztn;

use std::net::SocketAddr;

/// The properties of the client that methods of authentication use.
pub(super) struct Client<'c> {
    /// The host of the server.
    pub host: &'c str,
    /// The port of the server.
    pub port: u16,
    /// The user that the URL names, or the user who runs this program.
    pub user: &'c str,
    /// The address of this end of the connection.
    pub address: SocketAddr,
}

/// Returns the credentials of a method for a server that offers it with these parameters. The error is the
/// reason why it cannot make them.
pub(super) fn credentials(
    method: &str,
    parameters: &str,
    client: &Client<'_>,
) -> Result<Vec<u8>, String> {
    match method {
        "unix" => Ok(unix::credentials(client.user)),
        "host" => Ok(host::credentials()),
        "sss" => sss::credentials(parameters, client),
        "ztn" => ztn::credentials(parameters, (client.host, client.port)),
        _ => Err("nyssa does not support this method".to_owned()),
    }
}

/// Returns text about the credentials of a method that a server has refused, as the end of a message. It is
/// empty if there is nothing to say.
pub(super) fn describe(method: &str, client: &Client<'_>) -> String {
    match method {
        "ztn" => ztn::describe((client.host, client.port)),
        _ => String::new(),
    }
}

/// Returns whether nyssa implements a method itself.
pub(super) fn is_built_in(method: &str) -> bool {
    matches!(method, "unix" | "host" | "sss" | "ztn")
}

/// Returns whether a method is allowed only on connections with TLS.
pub(super) fn needs_tls(method: &str) -> bool {
    method == "ztn"
}
