//! Objects of servers that speak S3. Requests are signed by `rusty-s3` and made by [`crate::http`].

mod bucket;
mod credentials;
mod list;
mod object;
mod profile;
mod upload;

use std::path::Path;
use std::sync::Arc;

use crate::http::{HttpOptions, HttpSource};
use crate::local::LocalSink;
use crate::location::scheme;
use crate::{Entry, EntryKind, Error, Result, Sink, Source, Staging};
use object::Object;
use upload::S3Upload;

/// What is behind `s3://`, if a location is such a URL.
pub(crate) fn url(location: &Path) -> Option<&str> {
    let (scheme, rest) = scheme(location.to_str()?)?;
    scheme.eq_ignore_ascii_case("s3").then_some(rest)
}

/// Opens the object of a URL.
///
/// # Errors
/// `NotFound`, `PermissionDenied`; `InvalidInput` for a URL without a key; those of connections.
pub(crate) fn open(
    location: &Path,
    rest: &str,
    options: Option<&HttpOptions>,
) -> Result<Arc<dyn Source>> {
    let (object, options) = object(location, rest, "open", options)?;
    if object.key.is_empty() {
        let why = "it is a bucket, not an object";
        return Err(failed(
            location,
            "open",
            std::io::Error::new(std::io::ErrorKind::IsADirectory, why),
        ));
    }
    Ok(Arc::new(HttpSource::open(Box::new(object), options)?))
}

/// Starts to write what will be an object: a file on this machine, which is uploaded when it is complete.
///
/// # Errors
/// `AlreadyExists` without `force`; `InvalidInput` for a URL without a key; those of connections.
pub(crate) fn create(location: &Path, rest: &str, force: bool) -> Result<LocalSink> {
    let (object, options) = object(location, rest, "create", None)?;
    let failed = |error| failed(location, "create", error);
    if object.key.is_empty() || object.key.ends_with('/') {
        let why = "it is the name of a folder, not of an object";
        return Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidInput, why)));
    }
    if !force && list::kind(&object, &options).map_err(failed)? == Some(EntryKind::File) {
        return Err(failed(crate::staging::exists()));
    }
    let name = object.name.clone();
    LocalSink::upload(name, Box::new(S3Upload { object, options, force }))
}

/// As [`create`], with a [`Staging`] between completing and uploading.
///
/// # Errors
/// As [`create`].
pub(crate) fn stage(location: &Path, rest: &str, force: bool) -> Result<(Box<dyn Sink>, Staging)> {
    let (sink, staging) = create(location, rest, force)?.with_staging();
    Ok((Box::new(sink), staging))
}

/// What a URL names.
///
/// # Errors
/// `PermissionDenied`; those of connections.
pub(crate) fn kind(location: &Path, rest: &str) -> Result<Option<EntryKind>> {
    let (object, options) = object(location, rest, "find", None)?;
    list::kind(&object, &options).map_err(|error| failed(location, "find", error))
}

/// What is below a URL, as in a folder.
///
/// # Errors
/// `NotFound` where nothing is; `PermissionDenied`; those of connections.
pub(crate) fn list(location: &Path, rest: &str) -> Result<Vec<Entry>> {
    let rest = rest.strip_suffix("/.").unwrap_or(rest);
    let action = "list the folder";
    let (object, options) = object(location, rest, action, None)?;
    list::list(&object, &options).map_err(|error| failed(location, action, error))
}

fn object(
    location: &Path,
    rest: &str,
    action: &str,
    options: Option<&HttpOptions>,
) -> Result<(Object, HttpOptions)> {
    let failed = |error| failed(location, action, error);
    let options = options.cloned().map_or_else(HttpOptions::from_env, Ok).map_err(failed)?;
    let name = location.display().to_string();
    Ok((Object::parse(&name, rest).map_err(failed)?, options))
}

fn failed(location: &Path, action: &str, error: std::io::Error) -> Error {
    Error::new(location.display().to_string(), action, error)
}
