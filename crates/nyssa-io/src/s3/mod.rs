//! Reads and writes objects of servers that speak S3. `rusty-s3` knows their URLs and answers, [`sign`] signs requests,
//! and [`crate::http`] makes them.

mod bucket;
mod credentials;
mod list;
mod object;
mod profile;
mod sign;
mod upload;

use std::io::{self, ErrorKind};
use std::sync::Arc;

use crate::http::{HttpOptions, HttpSource};
use crate::local::LocalSink;
use crate::location::scheme;
use crate::protocol::Protocol;
use crate::{EntryKind, Error, FolderEntry, OpenOptions, Result, Sink, Source, Staging};
use object::Object;
use upload::S3Upload;

/// The protocol of URLs of the scheme `s3`.
pub(crate) struct S3;

impl Protocol for S3 {
    fn open(&self, url: &str, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let (object, http) = object(url, "open", options.http.as_ref())?;
        let without_credentials = options.without_credentials;
        let object = Object { without_credentials, ..object };
        let http = HttpOptions { without_credentials, ..http };
        if object.key.is_empty() {
            let error = io::Error::new(ErrorKind::IsADirectory, "it is a bucket, not an object");
            return Err(Error::new(url, "open", error));
        }
        Ok(Arc::new(HttpSource::open(Box::new(object), http, options)?))
    }

    fn server(&self, url: &str) -> Result<Option<String>> {
        let (object, _) = object(url, "open", None)?;
        Ok(Some(object.bucket.base_url().to_string()))
    }

    fn create(&self, url: &str, force: bool) -> Result<Box<dyn Sink>> {
        Ok(Box::new(create(url, force)?))
    }

    fn stage(&self, url: &str, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
        let (sink, staging) = create(url, force)?.with_staging();
        Ok((Box::new(sink), staging))
    }

    fn kind(&self, url: &str) -> Result<Option<EntryKind>> {
        let (object, options) = object(url, "find", None)?;
        list::kind(&object, &options).map_err(|error| Error::new(url, "find", error))
    }

    fn list(&self, url: &str) -> Result<Vec<FolderEntry>> {
        let url = url.strip_suffix("/.").unwrap_or(url);
        let action = "list the folder";
        let (object, options) = object(url, action, None)?;
        list::list(&object, &options).map_err(|error| Error::new(url, action, error))
    }
}

/// Starts a file on this machine that is uploaded as an object when it is complete.
///
/// # Errors
/// `AlreadyExists` without `force`; `InvalidInput` for a URL without a key; an error of a connection.
fn create(url: &str, force: bool) -> Result<LocalSink> {
    let (object, options) = object(url, "create", None)?;
    let failed = |error| Error::new(url, "create", error);
    if object.key.is_empty() || object.key.ends_with('/') {
        let why = "it is the name of a folder, not of an object";
        return Err(failed(io::Error::new(ErrorKind::InvalidInput, why)));
    }
    if !force && list::kind(&object, &options).map_err(failed)? == Some(EntryKind::File) {
        return Err(failed(crate::staging::exists()));
    }
    let name = object.name.clone();
    LocalSink::upload(name, Box::new(S3Upload { object, options, force }))
}

/// Returns the object of a URL, and the options for its server.
fn object(url: &str, action: &str, options: Option<&HttpOptions>) -> Result<(Object, HttpOptions)> {
    let failed = |error| Error::new(url, action, error);
    let options = options.cloned().map_or_else(HttpOptions::from_env, Ok).map_err(failed)?;
    let (_, rest) = scheme(url).unwrap_or(("", url));
    Ok((Object::parse(url, rest).map_err(failed)?, options))
}
