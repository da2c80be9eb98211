//! Finds the protocol of a location. No protocol knows another one, except that S3 uses the requests of HTTP.

use std::path::Path;

use crate::bridge;
use crate::built_in::{BuiltIn, built_in};
use crate::http::Http;
use crate::location::scheme;
use crate::protocol::Protocol;
use crate::s3::S3;
#[cfg(feature = "testing")]
use crate::testing::{SCHEME, Served};
use crate::xrootd::Xrootd;

/// Returns the protocol of a location, and the location as a URL. Returns `None` for a path, a `file://` URL,
/// and an unknown scheme.
pub(crate) fn protocol(location: &Path) -> Option<(&'static dyn Protocol, &str)> {
    let url = location.to_str()?;
    let (scheme, _) = scheme(url)?;
    let protocol: &'static dyn Protocol = match built_in(scheme) {
        Some(BuiltIn::Http) => &Http,
        Some(BuiltIn::S3) => &S3,
        Some(BuiltIn::Xrootd) => &Xrootd,
        #[cfg(feature = "testing")]
        None if scheme == SCHEME => &Served,
        None if scheme.eq_ignore_ascii_case("file") => return None,
        None => bridge::protocol()?,
    };
    Some((protocol, url))
}
