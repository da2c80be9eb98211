//! Contains what the clients of servers share: bearer tokens and trusted certificates, a signal that ends waiting,
//! the measured cost of requests, and values that a child of `fork` does not inherit. No protocol is here.

#![deny(missing_docs, unreachable_pub)]

mod meter;
mod per_process;
mod stop;
mod token;
mod trust;

pub use meter::{Cost, Meter};
pub use per_process::PerProcess;
pub use stop::{Stop, StopOfProcess, is_stopped, stopped};
pub use token::{BearerToken, NO_CREDENTIALS, bearer_token, may_get_token};
pub use trust::{authorities, explained};
