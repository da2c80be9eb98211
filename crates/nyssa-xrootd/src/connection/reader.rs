//! Runs the thread that reads the answers of a connection.

use std::io::{self, ErrorKind, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::patience::Patient;
use super::table::Slot;
use super::{Answer, Body, Connection};
use crate::wire::{
    Header, Malformed, PageHeader, Redirect, ServerError, Status, Wait, check_page_header,
};

/// The largest number of bytes of an answer without data, such as an error or a redirect.
const TALK: u64 = 64 << 10;
/// The time for which a connection without open files and requests is kept.
const IDLE: Duration = Duration::from_secs(300);
/// The largest memory that is allocated at once. It is enough for reads.
const READ_ROOM: u64 = 32 << 20;
/// The number of bytes that are read at once if it is not known how many will arrive.
const STEP: u64 = 1 << 20;

/// Reads answers until the connection ends.
pub(super) fn run(connection: Arc<Connection>, stream: Box<dyn Read + Send>) {
    let asks = Arc::clone(&connection);
    let mut stream = Patient::new(stream, move |heard| gives_up(&asks, heard));
    loop {
        if let Err(error) = read_one(&connection, &mut stream) {
            // The file does not end here: the connection does.
            let (kind, why) = match error.kind() {
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => {
                    (ErrorKind::ConnectionReset, "it closed the connection".to_owned())
                }
                kind => (kind, error.to_string()),
            };
            connection.fail(kind, why);
            return;
        }
    }
}

/// Returns an error if a connection on which nothing was received for some time must be given up.
fn gives_up(connection: &Connection, heard: Instant) -> Option<io::Error> {
    let table = connection.table();
    if table.is_idle() {
        let is_old = table.files == 0 && heard.elapsed() > IDLE;
        return is_old.then(|| io::Error::new(ErrorKind::TimedOut, "it was not used"));
    }
    let limit = connection.stream_timeout;
    let silent = table.oldest().is_some_and(|sent| sent.max(heard).elapsed() > limit);
    // An answer that has begun is not in the table, because its slot was taken out.
    let stuck = table.oldest().is_none() && table.is_filling() && heard.elapsed() > limit;
    (silent || stuck).then(|| {
        let limit = limit.as_secs_f64();
        let why = format!("it was silent for {limit} s; XRD_STREAMTIMEOUT sets the limit");
        io::Error::new(ErrorKind::TimedOut, why)
    })
}

/// Reads one answer, or a part of one.
fn read_one(connection: &Connection, stream: &mut impl Read) -> io::Result<()> {
    let mut bytes = [0; Header::LENGTH];
    stream.read_exact(&mut bytes)?;
    let mut header = Header::parse(&bytes).map_err(malformed)?;
    if header.status == Status::Attention {
        let body = small_body(stream, header.length)?;
        let Some(inside) = Header::in_attention(&body) else {
            // This is a message for people, or something that old servers sent.
            return Ok(());
        };
        header = inside;
        let rest = body.get(16..).unwrap_or_default();
        if rest.len() != header.length as usize {
            return Err(malformed(Malformed(format!("a late answer of {} bytes", rest.len()))));
        }
        return answer(connection, header, &mut &rest[..]);
    }
    answer(connection, header, stream)
}

/// Reads the body of an answer, and passes it on when it is complete.
fn answer(connection: &Connection, header: Header, stream: &mut impl Read) -> io::Result<()> {
    let stream_id = header.stream;
    let slot = connection.table().take(stream_id);
    let mut slot = slot.ok_or_else(|| {
        malformed(Malformed(format!(
            "an answer to a request that nyssa did not send ({stream_id})"
        )))
    })?;
    if slot.begun.is_none() {
        let begun = Instant::now();
        slot.begun = Some(begun);
        if slot.alone && !slot.deferred {
            connection.meter.waited(begun.saturating_duration_since(slot.sent));
        }
    }
    let complete = match take_in(connection, &mut slot, header, stream) {
        Ok(complete) => complete,
        Err(error) => {
            // The thread that waits for it gets the reason why the connection ends, as all others do.
            connection.table().put_back(stream_id, slot);
            return Err(error);
        }
    };
    let mut table = connection.table();
    match complete {
        Some(answer) => {
            table.free(stream_id);
            // The receiver may be gone.
            let _ = slot.sender.send(answer);
        }
        None => table.put_back(stream_id, slot),
    }
    Ok(())
}

/// Reads the body of an answer. Returns the answer if it is complete.
fn take_in(
    connection: &Connection,
    slot: &mut Slot,
    header: Header,
    stream: &mut impl Read,
) -> io::Result<Option<Answer>> {
    Ok(match header.status {
        Status::Ok | Status::OkSoFar => {
            fill(slot, stream, header.length.into())?;
            (header.status == Status::Ok).then(|| body(connection, slot))
        }
        Status::Checked => {
            let partial = read_pages(slot, header, stream)?;
            (!partial).then(|| body(connection, slot))
        }
        Status::Error => {
            let body = small_body(stream, header.length)?;
            Some(Answer::Error(ServerError::parse(&body).map_err(malformed)?))
        }
        Status::Redirect => {
            let body = small_body(stream, header.length)?;
            Some(Answer::Redirect(Redirect::parse(&body).map_err(malformed)?))
        }
        Status::Wait => {
            let body = small_body(stream, header.length)?;
            Some(Answer::Wait(Wait::parse(&body).map_err(malformed)?))
        }
        Status::WaitAnswer => {
            small_body(stream, header.length)?;
            slot.deferred = true;
            None
        }
        Status::AuthMore | Status::Attention => {
            let what = format!("an unexpected answer with the status {:?}", header.status);
            return Err(malformed(Malformed(what)));
        }
    })
}

fn body(connection: &Connection, slot: &mut Slot) -> Answer {
    let now = Instant::now();
    connection.meter.received(slot.body.len(), slot.begun.unwrap_or(now), now);
    let parts = std::mem::take(&mut slot.parts);
    Answer::Body(Body { bytes: std::mem::take(&mut slot.body).into(), parts })
}

/// Appends `length` bytes to those that were received before.
fn fill(slot: &mut Slot, stream: &mut impl Read, length: u64) -> io::Result<()> {
    let total = slot.body.len() as u64 + length;
    if total > slot.room.max(TALK) {
        let what =
            format!("an answer of {total} bytes to a request for at most {} bytes", slot.room);
        return Err(malformed(Malformed(what)));
    }
    if slot.body.capacity() == 0 && slot.room <= READ_ROOM {
        // The room is the number of requested bytes, and all of them will arrive.
        slot.body.reserve_exact(slot.room as usize);
    }
    read_into(stream, &mut slot.body, length)
}

/// Reads the second header and the pages of an answer with checksums. Returns whether more parts follow.
fn read_pages(slot: &mut Slot, header: Header, stream: &mut impl Read) -> io::Result<bool> {
    if header.length as usize != PageHeader::LENGTH {
        return Err(malformed(Malformed(format!("an answer with checksums of {}", header.length))));
    }
    let mut bytes = [0; PageHeader::LENGTH];
    stream.read_exact(&mut bytes)?;
    let page = PageHeader::parse(&bytes).map_err(malformed)?;
    check_page_header(&page, &bytes).map_err(malformed)?;
    slot.parts.push((page.offset, slot.body.len()));
    fill(slot, stream, page.length.into())?;
    Ok(page.partial)
}

/// Returns a body without data.
fn small_body(stream: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    if u64::from(length) > TALK {
        return Err(malformed(Malformed(format!("a message of {length} bytes"))));
    }
    let mut body = Vec::new();
    read_into(stream, &mut body, length.into())?;
    Ok(body)
}

/// Appends exactly `length` bytes. Memory grows with the received bytes.
pub(super) fn read_into(stream: &mut impl Read, body: &mut Vec<u8>, length: u64) -> io::Result<()> {
    let mut left = length;
    while left > 0 {
        let step = left.min(STEP) as usize;
        let start = body.len();
        body.resize(start + step, 0);
        stream.read_exact(&mut body[start..])?;
        left -= step as u64;
    }
    Ok(())
}

fn malformed(what: Malformed) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("it sent {}", what.0))
}
