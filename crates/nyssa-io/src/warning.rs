//! Sends warnings to the user, although nothing has failed.

use std::sync::OnceLock;

use crate::for_people::{printable, said_by_server};

type Handler = Box<dyn Fn(&str) + Send + Sync>;

static HANDLER: OnceLock<Handler> = OnceLock::new();

/// Sets the function that gets the warnings of this process. Without one, they go to standard error. Later
/// calls change nothing.
pub fn set_warning_handler(handler: impl Fn(&str) + Send + Sync + 'static) {
    let _ = HANDLER.set(Box::new(handler));
}

/// Sends a warning to the user. Any thread may call this.
pub fn warn(message: &str) {
    let message = printable(&said_by_server(message));
    match HANDLER.get() {
        Some(handler) => handler(&message),
        None => eprintln!("warning: {message}"),
    }
}
