//! Lists the entries below a key. Buckets have no folders, but keys with `/`.

use std::collections::BTreeSet;
use std::io;

use rusty_s3::actions::ListObjectsV2;
use ureq::http::Method;

use super::object::Object;
use crate::http::{Client, Failure, HttpOptions, Patience, retried};
use crate::{EntryKind, FolderEntry};

/// The largest number of bytes of one page of a list.
const PAGE_BYTES: u64 = 16 << 20;

/// One page of a list.
struct Page {
    keys: Vec<String>,
    folders: Vec<String>,
    next: Option<String>,
}

/// Returns the entries below the key of an object, as in a folder.
///
/// # Errors
/// `NotFound` if there are none; `PermissionDenied`; `Other` for a bucket that does not exist; an error of a request.
pub(super) fn list(object: &Object, options: &HttpOptions) -> io::Result<Vec<FolderEntry>> {
    let prefix = folder(&object.key);
    let mut entries = Vec::new();
    let mut folders = BTreeSet::new();
    let mut next = None;
    loop {
        let page = page(object, &prefix, next.as_deref(), options);
        let page = page.map_err(|error| missing(object, error))?;
        let name = |key: &String| Some(key.strip_prefix(&prefix)?.to_owned());
        for name in page.keys.iter().filter_map(name).filter(|name| !name.is_empty()) {
            entries.push(FolderEntry { name: name.into(), kind: EntryKind::File });
        }
        folders.extend(page.folders.iter().filter_map(name));
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    let folders = folders.iter().map(|name| name.trim_end_matches('/'));
    let folders = folders.filter(|name| !name.is_empty());
    entries.extend(folders.map(|name| FolderEntry { name: name.into(), kind: EntryKind::Folder }));
    if entries.is_empty() {
        let why = "the bucket has no key that begins with this text";
        return Err(io::Error::new(io::ErrorKind::NotFound, why));
    }
    Ok(entries)
}

/// Returns the kind of the thing that a key names: an object, or the start of the keys of objects.
///
/// # Errors
/// `PermissionDenied`; an error of a request.
pub(super) fn kind(object: &Object, options: &HttpOptions) -> io::Result<Option<EntryKind>> {
    let key = &object.key;
    if !key.is_empty() && !key.ends_with('/') {
        let first = page(object, key, None, options)?;
        if first.keys.contains(key) {
            return Ok(Some(EntryKind::File));
        }
        if first.folders.is_empty() {
            return Ok(None);
        }
    }
    let below = page(object, &folder(key), None, options)?;
    let is_folder = !below.keys.is_empty() || !below.folders.is_empty();
    Ok(is_folder.then_some(EntryKind::Folder))
}

/// Returns an error of another kind for a bucket that does not exist. A missing folder counts as an empty folder, but a
/// missing bucket does not.
fn missing(object: &Object, error: io::Error) -> io::Error {
    if error.kind() != io::ErrorKind::NotFound {
        return error;
    }
    let place = object.bucket.base_url();
    io::Error::other(format!(
        "the bucket {:?} does not exist at {place}: check its name and AWS_ENDPOINT_URL ({error})",
        object.bucket.name()
    ))
}

/// Returns the start of the keys in a folder.
fn folder(key: &str) -> String {
    match key.trim_end_matches('/') {
        "" => String::new(),
        key => format!("{key}/"),
    }
}

fn page(
    object: &Object,
    prefix: &str,
    after: Option<&str>,
    options: &HttpOptions,
) -> io::Result<Page> {
    let client = Client::of(options);
    let body = retried(Patience::new(options.deadline, false), || {
        let mut action = ListObjectsV2::new(&object.bucket, None);
        action.with_prefix(prefix);
        action.with_delimiter("/");
        if let Some(after) = after {
            action.with_continuation_token(after);
        }
        let reply = client.send(&object.ask(Method::GET, &action, Vec::new(), None)?)?;
        if reply.status != 200 {
            return Err(reply.failure());
        }
        let body = reply.read_all(PAGE_BYTES)?;
        let odd = || Failure::answer("the server sent an answer that is not a list of a folder");
        let body = String::from_utf8(body).map_err(|_| odd())?;
        ListObjectsV2::parse_response(&body).map_err(|_| odd())
    })?;
    let keys = body.contents.into_iter().map(|object| object.key).collect();
    let folders = body.common_prefixes.into_iter().map(|common| common.prefix).collect();
    Ok(Page { keys, folders, next: body.next_continuation_token })
}
