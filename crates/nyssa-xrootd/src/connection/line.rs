//! Defines the two directions of a socket, with TLS or without.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use crate::settings::Settings;

/// The two directions of a connection.
pub(super) struct Line {
    pub reader: Box<dyn Read + Send>,
    pub writer: Box<dyn Write + Send>,
}

impl Line {
    /// Returns the two directions of a plain socket.
    pub(super) fn plain(socket: &TcpStream) -> io::Result<Self> {
        let (reader, writer) = (Box::new(socket.try_clone()?), Box::new(socket.try_clone()?));
        Ok(Self { reader, writer })
    }
}

/// Returns the reason why there is no connection in time.
pub(super) fn too_late(settings: &Settings) -> String {
    let limit = settings.connection_window.as_secs_f64();
    format!("no session began within {limit} s; XRD_CONNECTIONWINDOW sets the limit")
}
