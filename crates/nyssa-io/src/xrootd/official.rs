//! Chooses between the client that is built in and XRootD's own client.
//!
//! XRootD's own client is used through Python if a server accepts only methods of authentication that are not
//! built in. The environment variable `NYSSA_XROOTD_CLIENT` can fix the choice.

use std::collections::BTreeSet;
use std::env;
use std::io::{self, ErrorKind};
use std::sync::Mutex;

use nyssa_net::PerProcess;
use nyssa_xrootd::NoLogin;

use crate::bridge::{Bridge, installed};
use crate::{Error, Result};

/// The environment variable that fixes which client is used.
const VARIABLE: &str = "NYSSA_XROOTD_CLIENT";

/// The servers, as URLs name them, that XRootD's own client has opened after the login of the built-in client
/// failed. The built-in client is not tried again for them.
static SERVERS: PerProcess<Mutex<BTreeSet<String>>> = PerProcess::new();

/// The choice of a client.
enum Choice {
    BuiltIn,
    Official,
    /// XRootD's own client if the login of the built-in one fails.
    Either,
}

impl Choice {
    fn new() -> std::result::Result<Self, String> {
        match env::var(VARIABLE).unwrap_or_default().as_str() {
            "" => Ok(Self::Either),
            "nyssa" => Ok(Self::BuiltIn),
            "official" => Ok(Self::Official),
            other => Err(format!(
                "the environment variable {VARIABLE} is {other:?}; it can be nyssa or official"
            )),
        }
    }
}

/// Does something at a URL with the built-in client, or with XRootD's own client if that is chosen or needed.
pub(super) fn either<T>(
    url: &str,
    action: &str,
    built_in: impl FnOnce() -> Result<T>,
    official: impl FnOnce(&'static dyn Bridge) -> Result<T>,
) -> Result<T> {
    let failed = |kind, why: String| Error::new(url, action, io::Error::new(kind, why));
    match Choice::new().map_err(|why| failed(ErrorKind::InvalidInput, why))? {
        Choice::BuiltIn => built_in(),
        Choice::Official => {
            let why = format!("{VARIABLE} asks for XRootD's own client, which only Python can use");
            official(installed().ok_or_else(|| failed(ErrorKind::Unsupported, why))?)
        }
        Choice::Either => {
            if let Some(bridge) = installed().filter(|_| is_known(url)) {
                return official(bridge);
            }
            let error = match built_in() {
                Err(error) => error,
                done => return done,
            };
            let (Some(no_login), Some(bridge)) = (no_login(&error), installed()) else {
                return Err(error);
            };
            match official(bridge) {
                Ok(done) => {
                    note(url);
                    Ok(done)
                }
                Err(other) => Err(match other.source.kind() {
                    ErrorKind::Unsupported => error,
                    ErrorKind::PermissionDenied => {
                        let why = format!("{}; {}", no_login.why, other.source);
                        Error { source: io::Error::new(ErrorKind::PermissionDenied, why), ..other }
                    }
                    _ => other,
                }),
            }
        }
    }
}

fn no_login(error: &Error) -> Option<&NoLogin> {
    error.source.get_ref()?.downcast_ref()
}

/// Returns whether XRootD's own client has opened something on the servers of a URL.
fn is_known(url: &str) -> bool {
    SERVERS.lock().contains(hosts(url))
}

fn note(url: &str) {
    SERVERS.lock().insert(hosts(url).to_owned());
}

/// Returns the servers that a URL names.
fn hosts(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or(rest)
}
