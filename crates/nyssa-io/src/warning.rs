//! Sends warnings to the user, although nothing has failed.

use crate::for_people::{printable, said_by_server};

/// Sends a warning to the user, on standard error. Any thread may call this.
pub fn warn(message: &str) {
    eprintln!("warning: {}", printable(&said_by_server(message)));
}
