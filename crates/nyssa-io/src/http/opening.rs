//! Makes the first requests for a resource. They bring its size, its version, and its first and last bytes in
//! the time of one round trip.

use std::cell::Cell;
use std::io;
use std::ops::Range;
use std::thread;
use std::time::Duration;

use bytes::Bytes;

use super::failure::{Again, Failure};
use super::part::{WHOLE_BYTES, complete};
use super::reply::Reply;
use super::resource::Resource;
use super::retry::{Patience, retried};
use super::version::{Version, content_range, size_of_overrun};
use crate::Stop;
use crate::fetch::Ends;

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
    let last_bytes = |bytes| last_bytes(resource, bytes, patience(), stop);
    let (first, last) = thread::scope(|scope| {
        let last = (ends.last > 0)
            .then(|| thread::Builder::new().spawn_scoped(scope, || last_bytes(ends.last)));
        let first = arrived(resource, patience(), stop, || first_bytes(resource, ends.first, stop));
        // If no thread can be started, the last bytes are not known yet.
        (first, last.and_then(|last| last.ok()?.join().ok()))
    });
    let first = first?;
    // A server that cannot answer a request for the last bytes may answer one for bytes with numbers.
    let mut last = last.and_then(Result::ok);
    if first.size.is_none() && last.is_none() {
        // The place of the last byte tells the size, which the server does not.
        last = Some(last_bytes(1)?);
    }
    let sizes = (first.size, last.as_ref().and_then(|last| last.size));
    let Some(size) = sizes.0.or(sizes.1) else {
        let why = "the server does not say how many bytes the file has";
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    };
    let Piece { version, range, bytes, latency, .. } = first;
    let known = vec![(range, Bytes::from(bytes))];
    let opened = Opened { size, version, known, latency };
    let is_whole = opened.known.first().is_some_and(|(range, _)| range.end == size);
    let Some(last) = last.filter(|_| !is_whole) else { return Ok(opened) };
    let changed = match opened.version.check(&last.version) {
        Ok(()) if sizes.1 == Some(size) => None,
        Ok(()) => Some(Failure::changed("it has another size")),
        Err(failure) => Some(failure),
    };
    if let Some(failure) = changed {
        return Err(io::Error::new(failure.kind, failure.reason));
    }
    let last = (last.range, Bytes::from(last.bytes));
    Ok(Opened { known: joined(opened.known.into_iter().chain([last]).collect()), ..opened })
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

/// A part of a resource, with the bytes that have arrived.
struct Piece {
    /// The size of the resource, if the server has told it.
    size: Option<u64>,
    version: Version,
    range: Range<u64>,
    bytes: Vec<u8>,
    latency: Duration,
}

/// A part, and the answer whose body has its bytes. There is none if the bytes are complete.
type Begun = (Piece, Option<Reply>);

/// Requests a part until all its bytes are there. `begin` makes the first request. When its answer is cut, the others ask
/// for what is missing.
fn arrived(
    resource: &Resource,
    patience: Patience,
    stop: &Stop,
    begin: impl Fn() -> Result<Begun, Failure>,
) -> io::Result<Piece> {
    let mut piece: Option<Piece> = None;
    retried(patience, || {
        if let Some(piece) = &mut piece {
            let known = (&piece.version, piece.size);
            complete(resource, known, &piece.range, &mut piece.bytes, stop)?;
            return Ok(());
        }
        let (begun, reply) = begin()?;
        let Piece { range, bytes, .. } = piece.insert(begun);
        let Some(mut reply) = reply else { return Ok(()) };
        let len = usize::try_from(range.end - range.start)
            .map_err(|_| Failure::of(io::ErrorKind::OutOfMemory, "the part is too large"))?;
        reply.read_to(bytes, len)?;
        reply.finish();
        Ok(())
    })?;
    piece.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

fn first_bytes(resource: &Resource, bytes: u64, stop: &Stop) -> Result<Begun, Failure> {
    let reply = resource.get(&format!("0-{}", bytes - 1), stop)?;
    let overrun = reply.header("content-range").and_then(size_of_overrun);
    match reply.status {
        // Servers of XRootD 5.5 promise bytes after the end of a small file, and do not send them.
        206 if overrun.is_some_and(|size| size > 0) => {
            let size = overrun.unwrap_or_default();
            drop(reply);
            let reply = resource.get(&format!("0-{}", size - 1), stop)?;
            part(reply, |range, all| *range == (0..size) && all == Some(size))
        }
        // It may have fewer bytes than were requested.
        206 => part(reply, |range, _| range.start == 0 && range.end <= bytes),
        416 => empty(&reply).map(|piece| (piece, None)),
        _ => whole(reply).map(|piece| (piece, None)),
    }
}

/// Returns the last bytes, which need no number to be requested. Their end is the size of the resource.
fn last_bytes(
    resource: &Resource,
    bytes: u64,
    patience: Patience,
    stop: &Stop,
) -> io::Result<Piece> {
    let broken = Cell::new(0);
    let mut piece = arrived(resource, patience, stop, || {
        last_bytes_once(resource, bytes, stop).map_err(|failure| {
            // A connection that breaks says nothing about the server: they are requested once more.
            let is_broken = failure.kind == io::ErrorKind::ConnectionReset;
            let is_first = broken.replace(broken.get() + 1) == 0;
            let again = if is_broken && is_first { Again::Always } else { Again::Never };
            Failure { again, ..failure }
        })
    })?;
    piece.size = Some(piece.size.unwrap_or(piece.range.end));
    Ok(piece)
}

fn last_bytes_once(resource: &Resource, bytes: u64, stop: &Stop) -> Result<Begun, Failure> {
    let reply = resource.get(&format!("-{bytes}"), stop)?;
    match reply.status {
        206 => part(reply, |range, size| {
            let size = size.unwrap_or(range.end);
            range.end == size && range.start == size.saturating_sub(bytes)
        }),
        // This answer may be a large file, which must not be read.
        _ => Err(Failure::answer("the server does not send the last bytes alone")),
    }
}

fn part(reply: Reply, fits: impl Fn(&Range<u64>, Option<u64>) -> bool) -> Result<Begun, Failure> {
    let text = reply.header("content-range").unwrap_or("nothing").to_owned();
    let odd = || Failure::answer(format!("the server answered a request for a part with {text}"));
    let Some((Some(range), size)) = content_range(&text) else { return Err(odd()) };
    if !fits(&range, size) {
        return Err(odd());
    }
    let (version, latency) = (Version::of(&reply), reply.latency);
    Ok((Piece { size, version, range, bytes: Vec::new(), latency }, Some(reply)))
}

/// Returns the part of a resource without bytes, which has no part that could be requested.
fn empty(reply: &Reply) -> Result<Piece, Failure> {
    match reply.header("content-range").and_then(content_range) {
        Some((None, Some(0))) => {
            let (version, latency) = (Version::of(reply), reply.latency);
            Ok(Piece { size: Some(0), version, range: 0..0, bytes: Vec::new(), latency })
        }
        _ => Err(Failure::status(reply.status, "", None)),
    }
}

/// Reads the whole resource from a server that does not answer with parts.
fn whole(reply: Reply) -> Result<Piece, Failure> {
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
        Ok(bytes) => bytes,
        Err(_) if !is_stated => return Err(refused(format!("perhaps more than {WHOLE_BYTES}"))),
        Err(failure) => return Err(failure),
    };
    let size = bytes.len() as u64;
    Ok(Piece { size: Some(size), version, range: 0..size, bytes, latency })
}
