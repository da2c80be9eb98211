//! Requests the bytes of one range. An answer that was cut, or has fewer bytes, is completed from where it ended.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::reply::Reply;
use super::resource::Resource;
use super::version::{Version, content_range};
use crate::Stop;

/// The largest resource that is read whole from a server that does not answer with parts.
pub(super) const WHOLE_BYTES: u64 = 16 << 20;

/// The times of an answer: until its first byte, and when that came.
pub(super) struct Times {
    pub latency: Duration,
    pub begin: Instant,
}

/// Requests the bytes of a range that `buffer` does not have yet. Everything in the answer must be of the version and the
/// size that the resource has, as far as they are known.
///
/// # Errors
/// A failure for an answer that is not complete, is wrong, or is of another version. The bytes that have arrived are in
/// `buffer`.
pub(super) fn complete(
    resource: &Resource,
    (version, size): (&Version, Option<u64>),
    range: &Range<u64>,
    buffer: &mut Vec<u8>,
    stop: &Stop,
) -> Result<Times, Failure> {
    let requested = range.start + buffer.len() as u64..range.end;
    let reply = resource.get(&format!("{}-{}", requested.start, requested.end - 1), stop)?;
    version.check(&Version::of(&reply))?;
    match reply.status {
        416 => Err(Failure::changed("it is shorter now")),
        200 => cut_from_whole(resource, reply, size, &requested, buffer),
        _ => take_part(reply, size, &requested, buffer),
    }
}

/// Takes the bytes of a part. A server may send only the first of the requested bytes (RFC 9110, 15.3.7).
fn take_part(
    mut reply: Reply,
    size: Option<u64>,
    requested: &Range<u64>,
    buffer: &mut Vec<u8>,
) -> Result<Times, Failure> {
    let text = reply.header("content-range").unwrap_or("nothing").to_owned();
    let sent = match content_range(&text) {
        Some((Some(sent), now)) if sent.start == requested.start && sent.end <= requested.end => {
            if now.zip(size).is_some_and(|(now, size)| now != size) {
                return Err(Failure::changed("it has another size"));
            }
            sent
        }
        _ => {
            let (first, last) = (requested.start, requested.end - 1);
            let reason =
                format!("the server answered a request for bytes {first}-{last} with {text}");
            return Err(Failure::answer(reason));
        }
    };
    let (length, missing) = (sent.end - sent.start, requested.end - requested.start);
    if let Some(stated) = reply.content_length().filter(|&stated| stated != length) {
        let reason = format!(
            "the server sends {stated} bytes instead of the {length} bytes of its Content-Range"
        );
        return Err(Failure::answer(reason));
    }
    let times = Times { latency: reply.latency, begin: Instant::now() };
    let len = usize::try_from(length).ok().and_then(|length| length.checked_add(buffer.len()));
    let large = || Failure::of(io::ErrorKind::OutOfMemory, "the range is too large");
    reply.read_to(buffer, len.ok_or_else(large)?)?;
    reply.finish();
    match length == missing {
        true => Ok(times),
        false => Err(Failure::short(length, missing)),
    }
}

/// Cuts the bytes from a resource that a server sends whole, though it has sent parts before. The whole is kept.
fn cut_from_whole(
    resource: &Resource,
    reply: Reply,
    size: Option<u64>,
    requested: &Range<u64>,
    buffer: &mut Vec<u8>,
) -> Result<Times, Failure> {
    let Some(size) = size.filter(|&size| size <= WHOLE_BYTES) else {
        let reason = "the server answered a request for a part with the whole file";
        return Err(Failure::of(io::ErrorKind::Unsupported, reason));
    };
    let changed = || Failure::changed("it has another size");
    if reply.content_length().is_some_and(|stated| stated != size) {
        return Err(changed());
    }
    let times = Times { latency: reply.latency, begin: Instant::now() };
    let whole = reply.read_all(size)?;
    if whole.len() as u64 != size {
        return Err(changed());
    }
    let bytes = resource.keep_whole(whole.into(), requested).ok_or_else(changed)?;
    buffer.extend_from_slice(&bytes);
    Ok(times)
}
