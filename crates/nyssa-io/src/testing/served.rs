//! Sources under URLs of their own, so that tests can hand them to whatever takes a path or URL.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Error, Result, Source};

/// The scheme of the URLs.
pub(crate) const SCHEME: &str = "test";

static SERVED: Mutex<BTreeMap<String, Arc<dyn Source>>> = Mutex::new(BTreeMap::new());

/// Lets [`open`](crate::open) find `source` under its name, which is `test://` and a word that no other test
/// of the process uses.
pub fn serve(source: Arc<dyn Source>) {
    let mut served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
    served.insert(source.name().to_owned(), source);
}

pub(crate) fn served(url: &str) -> Result<Arc<dyn Source>> {
    let served = SERVED.lock().unwrap_or_else(PoisonError::into_inner);
    let missing = || Error::new(url, "open", io::ErrorKind::NotFound.into());
    served.get(url).cloned().ok_or_else(missing)
}
