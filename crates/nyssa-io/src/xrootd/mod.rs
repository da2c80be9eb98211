//! Files on XRootD servers: `root://`, and with TLS `roots://`.
//!
//! A client of the protocol in threads, without XRootD's own library.
//!
//! ```text
//! source            what the door gives: ranges of a file
//! part              ranges <-> requests and answers (no I/O)
//! file              an open file; found again when its server is lost
//! client            requests about paths: redirects, waits, other replicas
//! pool              the connections of this process
//! connection, auth  one socket: login, writer, the thread that reads
//! wire, url         bytes and text of the protocol (no I/O)
//! ```
//!
//! One connection serves all files on a server. Requests of all threads go out on it at once and answers
//! come in any order. What was in flight when a connection was lost is asked for again on another one.
//! After `fork`, a child has connections of its own.

mod auth;
mod client;
mod connection;
mod failure;
mod file;
mod part;
mod per_process;
mod pool;
mod settings;
mod source;
mod speed;
mod url;
pub mod wire;

use std::path::Path;
use std::sync::Arc;

use crate::{Result, Source};

pub use settings::XrootdOptions;
pub use source::XrootdSource;

/// Opens a location that names a file of an XRootD server; `None` for another one.
pub(crate) fn open(location: &Path, options: &XrootdOptions) -> Option<Result<Arc<dyn Source>>> {
    let url = location.to_str()?;
    let (scheme, _) = url.split_once("://")?;
    let open = || -> Result<Arc<dyn Source>> { Ok(Arc::new(XrootdSource::open(url, options)?)) };
    url::Url::knows(scheme).then(open)
}
