//! Makes the first requests for a resource. They bring its size, its version, and its first and last bytes in
//! the time of one round trip.

use std::io;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::client::Reply;
use super::failure::Failure;
use super::resource::Resource;
use super::retry::{Patience, retried};
use super::version::{Version, content_range, size_of_overrun};
use crate::Stop;
use crate::fetch::Ends;

/// The largest resource that is read whole from a server that does not answer with parts.
const WHOLE_BYTES: u64 = 16 << 20;

/// The properties of a resource that are known when it is open.
pub(super) struct Opened {
    pub size: u64,
    pub version: Version,
    /// The bytes that have arrived already.
    pub known: Vec<(Range<u64>, Bytes)>,
    /// The time that the first answer took.
    pub latency: Duration,
}

/// Opens a resource with its first and last bytes, until `stop` is given.
///
/// # Errors
/// `NotFound`; `PermissionDenied`; `Unsupported` for a resource that the server only sends whole, unless it is
/// small; `TimedOut` and others if the server does not answer as it should.
pub(super) fn open(resource: &Resource, ends: Ends, stop: &Stop) -> io::Result<Opened> {
    let patience = || Patience::new(resource.options.deadline, false).until(stop);
    let (first, last) = thread::scope(|scope| {
        let last = (ends.last > 0).then(|| {
            thread::Builder::new().spawn_scoped(scope, || last_bytes(resource, ends.last))
        });
        let first = retried(patience(), || first_bytes(resource, ends.first));
        // If no thread can be started, the last bytes are not known yet.
        (first, last.and_then(|last| last.ok()?.join().ok()))
    });
    let mut opened = first?;
    // A server that cannot answer a request for the last bytes may answer one for bytes with numbers.
    let Some(Ok(last)) = last else { return Ok(opened) };
    let is_whole = opened.known.first().is_some_and(|(range, _)| range.end == opened.size);
    if is_whole {
        return Ok(opened);
    }
    let changed = match opened.version.check(&last.version) {
        Ok(()) if last.size == opened.size => None,
        Ok(()) => Some(Failure::changed("it has another size")),
        Err(failure) => Some(failure),
    };
    if let Some(failure) = changed {
        return Err(io::Error::new(failure.kind, failure.reason));
    }
    opened.known = joined(opened.known.into_iter().chain(last.known).collect());
    Ok(opened)
}

/// Makes one range of the first and the last bytes if they meet.
fn joined(mut known: Vec<(Range<u64>, Bytes)>) -> Vec<(Range<u64>, Bytes)> {
    let [(first, start), (last, end)] = &known[..] else { return known };
    if last.start > first.end {
        return known;
    }
    // The second range begins within the first, and ends behind it.
    let rest = end.slice((first.end - last.start) as usize..);
    known = vec![(first.start..last.end, [&start[..], &rest[..]].concat().into())];
    known
}

fn first_bytes(resource: &Resource, bytes: u64) -> Result<Opened, Failure> {
    let reply = resource.get(&format!("0-{}", bytes - 1))?;
    let overrun = reply.header("content-range").and_then(size_of_overrun);
    match reply.status {
        // Servers of XRootD 5.5 promise bytes after the end of a small file, and do not send them.
        206 if overrun.is_some_and(|size| size > 0) => {
            let size = overrun.unwrap_or_default();
            let reply = resource.get(&format!("0-{}", size - 1))?;
            part(reply, |range, all| *range == (0..size) && all == size)
        }
        206 => part(reply, |range, size| range.start == 0 && range.end == size.min(bytes)),
        416 => empty(&reply),
        _ => whole(reply),
    }
}

/// Returns the last bytes, which need no number to be asked for. A connection that breaks says nothing about the server:
/// they are asked for once more.
fn last_bytes(resource: &Resource, bytes: u64) -> Result<Opened, Failure> {
    match last_bytes_once(resource, bytes) {
        Err(failure) if failure.kind == io::ErrorKind::ConnectionReset => {
            last_bytes_once(resource, bytes)
        }
        done => done,
    }
}

fn last_bytes_once(resource: &Resource, bytes: u64) -> Result<Opened, Failure> {
    let reply = resource.get(&format!("-{bytes}"))?;
    match reply.status {
        206 => part(reply, |range, size| {
            range.end == size && range.start == size.saturating_sub(bytes)
        }),
        // This answer may be a large file, which must not be read.
        _ => Err(Failure::answer("the server does not send the last bytes alone")),
    }
}

fn part(mut reply: Reply, fits: impl Fn(&Range<u64>, u64) -> bool) -> Result<Opened, Failure> {
    let text = reply.header("content-range").unwrap_or("nothing").to_owned();
    let odd = || Failure::answer(format!("the server answered a request for a part with {text}"));
    let Some((Some(range), Some(size))) = content_range(&text) else { return Err(odd()) };
    let len = usize::try_from(range.end - range.start).map_err(|_| odd())?;
    if !fits(&range, size) {
        return Err(odd());
    }
    let version = Version::of(&reply);
    let latency = reply.latency;
    let mut bytes = Vec::with_capacity(len);
    reply.read_to(&mut bytes, len)?;
    reply.finish();
    Ok(Opened { size, version, known: vec![(range, bytes.into())], latency })
}

/// Opens a resource without bytes, which has no part that could be requested.
fn empty(reply: &Reply) -> Result<Opened, Failure> {
    match reply.header("content-range").and_then(content_range) {
        Some((None, Some(0))) => {
            let version = Version::of(reply);
            Ok(Opened { size: 0, version, known: Vec::new(), latency: reply.latency })
        }
        _ => Err(Failure::status(reply.status, "", None)),
    }
}

/// Opens a resource of a server that does not answer with parts.
fn whole(reply: Reply) -> Result<Opened, Failure> {
    let refused = |size: String| {
        let reason = format!(
            "the server sends only whole files, and this one has {size} bytes; copy it to this \
             machine first"
        );
        Failure::of(io::ErrorKind::Unsupported, reason)
    };
    if let Some(size) = reply.content_length().filter(|&size| size > WHOLE_BYTES) {
        return Err(refused(size.to_string()));
    }
    let is_stated = reply.content_length().is_some();
    let version = Version::of(&reply);
    let latency = reply.latency;
    let bytes = match reply.read_all(WHOLE_BYTES) {
        Ok(bytes) => Bytes::from(bytes),
        Err(_) if !is_stated => return Err(refused(format!("perhaps more than {WHOLE_BYTES}"))),
        Err(failure) => return Err(failure),
    };
    let size = bytes.len() as u64;
    Ok(Opened { size, version, known: vec![(0..size, bytes)], latency })
}
