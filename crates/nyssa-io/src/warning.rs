//! Says what a user should know although nothing has failed.

use std::sync::OnceLock;

type Handler = Box<dyn Fn(&str) + Send + Sync>;

static HANDLER: OnceLock<Handler> = OnceLock::new();

/// Sets what is done with warnings in this process. They go to standard error otherwise. Later calls change
/// nothing.
pub fn set_warning_handler(handler: impl Fn(&str) + Send + Sync + 'static) {
    let _ = HANDLER.set(Box::new(handler));
}

/// Says something to the user. Any thread may call this.
pub(crate) fn warn(message: &str) {
    match HANDLER.get() {
        Some(handler) => handler(message),
        None => eprintln!("warning: {message}"),
    }
}
