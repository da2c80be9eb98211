//! Requests the bytes of one range. An answer that was cut is completed from where it ended.

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use super::failure::Failure;
use super::resource::Resource;
use super::version::{Version, content_range};
use crate::Stop;

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
    let asked = range.start + buffer.len() as u64..range.end;
    let mut reply = resource.get(&format!("{}-{}", asked.start, asked.end - 1), stop)?;
    version.check(&Version::of(&reply))?;
    if reply.status == 416 {
        return Err(Failure::changed("it is shorter now"));
    }
    if reply.status == 200 {
        let is_all = size == Some(asked.end) && asked.start == 0 && reply.content_length() == size;
        if !is_all {
            let reason = "the server answered a request for a part with the whole file";
            return Err(Failure::of(io::ErrorKind::Unsupported, reason));
        }
    } else {
        let text = reply.header("content-range").unwrap_or("nothing").to_owned();
        match content_range(&text) {
            Some((Some(range), now)) if range == asked => {
                if now.zip(size).is_some_and(|(now, size)| now != size) {
                    return Err(Failure::changed("it has another size"));
                }
            }
            _ => {
                let reason = format!(
                    "the server answered a request for bytes {}-{} with {text}",
                    asked.start,
                    asked.end - 1
                );
                return Err(Failure::answer(reason));
            }
        }
    }
    let missing = asked.end - asked.start;
    if let Some(stated) = reply.content_length().filter(|&stated| stated != missing) {
        let reason = format!(
            "the server sends {stated} bytes instead of the {missing} bytes of the request"
        );
        return Err(Failure::answer(reason));
    }
    let times = Times { latency: reply.latency, begin: Instant::now() };
    let len = usize::try_from(range.end - range.start)
        .map_err(|_| Failure::of(io::ErrorKind::OutOfMemory, "the range is too large"))?;
    reply.read_to(buffer, len)?;
    reply.finish();
    Ok(times)
}
