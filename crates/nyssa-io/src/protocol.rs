//! Lists the protocols of URLs. One table has their schemes.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::bridge;
use crate::http::Http;
use crate::location::scheme;
use crate::s3::S3;
#[cfg(feature = "testing")]
use crate::testing::Served;
use crate::xrootd::Xrootd;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};

/// A protocol, which opens, writes and lists the resources of URLs of some schemes. The methods do the same as
/// the functions of this crate with the same names.
pub(crate) trait Protocol: Sync {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>>;

    /// Returns the settings of the environment that decide which server a URL leads to. Most protocols have none.
    /// Returns `None` if the same URL may lead to another server in other processes.
    ///
    /// # Errors
    /// `InvalidInput` for settings that are not valid.
    fn server(&self, _url: &str) -> Result<Option<String>> {
        Ok(Some(String::new()))
    }

    /// Refuses to write. Protocols that can only read keep this default.
    fn create(&self, url: &str, _force: bool) -> Result<Box<dyn Sink>> {
        Err(only_reads(url))
    }

    /// Refuses to write. Protocols that can only read keep this default.
    fn stage(&self, url: &str, _force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        Err(only_reads(url))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>>;

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>>;
}

/// The protocols that are built in, with the schemes of their URLs.
const BUILT_IN: [(&[&str], &dyn Protocol); 3] = [
    (&["http", "https", "dav", "davs"], &Http),
    (&["s3"], &S3),
    (&["root", "roots", "xroot", "xroots"], &Xrootd),
];

/// Returns the protocol of a location, and the location as a URL. Returns `None` for a path, a `file://` URL,
/// and an unknown scheme.
pub(crate) fn protocol(location: &Path) -> Option<(&'static dyn Protocol, &str)> {
    let url = location.to_str()?;
    let (scheme, _) = scheme(url)?;
    if let Some(protocol) = built_in(scheme) {
        return Some((protocol, url));
    }
    #[cfg(feature = "testing")]
    if scheme == crate::testing::SCHEME {
        return Some((&Served, url));
    }
    let bridge = bridge::protocol().filter(|_| !scheme.eq_ignore_ascii_case("file"))?;
    Some((bridge, url))
}

/// Returns the built-in protocol of a scheme.
pub(crate) fn built_in(scheme: &str) -> Option<&'static dyn Protocol> {
    let has = |schemes: &[&str]| schemes.iter().any(|known| scheme.eq_ignore_ascii_case(known));
    BUILT_IN.iter().find(|(schemes, _)| has(schemes)).map(|(_, protocol)| *protocol)
}

/// Returns the error of a URL that cannot be written.
pub(crate) fn only_reads(url: &str) -> Error {
    let scheme = scheme(url).map_or("such", |(scheme, _)| scheme);
    let why = format!("nyssa only reads {scheme}:// URLs; write a file here, and copy it");
    Error::new(url, "create", io::Error::new(io::ErrorKind::Unsupported, why))
}
