//! Makes the body of an answer: a text, or parts of a file that are read while they are sent.

use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use nyssa_io::fetch::read_all;
use nyssa_io::{Error, Result, Source};
use tokio::task::{JoinHandle, spawn_blocking};

/// The number of bytes that are read at once from a remote origin. While they are sent, the next ones are read.
const BATCH: u64 = 8 << 20;
/// The number of bytes that are read at once from a file of this machine. They stay in the cache of the
/// processor.
const NEAR_BATCH: u64 = 1 << 20;
/// The length of the largest body that is read before its head is sent.
const SHORT: u64 = 256 << 10;

/// A part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum BodyPart {
    Text(Bytes),
    Range(Range<u64>),
}

/// A function that gets the error of a read that failed.
pub(crate) type OnError = Arc<dyn Fn(&Error) + Send + Sync>;

/// The body of an answer. Its length is known before it is sent.
pub(crate) struct Body {
    left: u64,
    pieces: VecDeque<BodyPart>,
    ready: VecDeque<Bytes>,
    reading: Option<JoinHandle<Result<VecDeque<Bytes>>>>,
    file: Option<(Arc<dyn Source>, OnError)>,
}

impl Body {
    /// Makes the body of a text.
    pub(crate) fn text(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        Self {
            left: text.len() as u64,
            pieces: VecDeque::new(),
            ready: VecDeque::from_iter((!text.is_empty()).then_some(text)),
            reading: None,
            file: None,
        }
    }

    /// Makes a body of parts of a file, with texts between them. A short one is read at once, so that it needs
    /// no other thread, and an error can be reported by a status. A longer one is read when it is polled.
    ///
    /// # Errors
    /// A short part cannot be read.
    pub(crate) fn read_if_short(
        source: Arc<dyn Source>,
        pieces: Vec<BodyPart>,
        on_error: OnError,
    ) -> Result<Self> {
        let left = pieces.iter().map(BodyPart::length).sum();
        if left > SHORT {
            return Ok(Self::of_file(source, pieces, on_error));
        }
        let ready = read(&source, pieces).inspect_err(|error| on_error(error))?;
        Ok(Self { left, pieces: VecDeque::new(), ready, reading: None, file: None })
    }

    /// Makes a body of parts of a file, with texts between them. Nothing is read before it is polled.
    pub(crate) fn of_file(
        source: Arc<dyn Source>,
        pieces: Vec<BodyPart>,
        on_error: OnError,
    ) -> Self {
        Self {
            left: pieces.iter().map(BodyPart::length).sum(),
            pieces: pieces.into(),
            ready: VecDeque::new(),
            reading: None,
            file: Some((source, on_error)),
        }
    }

    /// Begins to read the next batch on a thread that may wait.
    fn read_next(&mut self) {
        let Some((source, on_error)) = self.file.clone() else { return };
        let mut batch = Vec::new();
        let mut room = if source.limits().is_near() { NEAR_BATCH } else { BATCH };
        while room > 0
            && let Some(piece) = self.pieces.pop_front()
        {
            let (piece, rest) = piece.cut(room);
            room -= piece.length().min(room);
            batch.push(piece);
            if let Some(rest) = rest {
                self.pieces.push_front(rest);
            }
        }
        if !batch.is_empty() {
            self.reading = Some(spawn_blocking(move || {
                read(&source, batch).inspect_err(|error| on_error(error))
            }));
        }
    }
}

impl BodyPart {
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Text(text) => text.len() as u64,
            Self::Range(range) => range.end - range.start,
        }
    }

    /// Cuts a range that has more bytes than there is room for.
    fn cut(self, room: u64) -> (Self, Option<Self>) {
        match self {
            Self::Range(range) if range.end - range.start > room => {
                let middle = range.start + room;
                (Self::Range(range.start..middle), Some(Self::Range(middle..range.end)))
            }
            whole => (whole, None),
        }
    }
}

/// Reads the ranges of a batch together.
fn read(source: &Arc<dyn Source>, batch: Vec<BodyPart>) -> Result<VecDeque<Bytes>> {
    let range = |piece: &BodyPart| match piece {
        BodyPart::Range(range) => Some(range.clone()),
        BodyPart::Text(_) => None,
    };
    let ranges: Vec<Range<u64>> = batch.iter().filter_map(range).collect();
    let mut pieces =
        if ranges.is_empty() { Vec::new() } else { read_all(source, &ranges)? }.into_iter();
    let bytes = |piece| match piece {
        BodyPart::Text(text) => Some(text),
        BodyPart::Range(_) => pieces.next(),
    };
    Ok(batch.into_iter().filter_map(bytes).collect())
}

impl HttpBody for Body {
    type Data = Bytes;
    type Error = io::Error;

    /// Returns the next bytes. After an error, hyper ends the connection, so that the client sees that bytes
    /// are missing.
    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        loop {
            if let Some(bytes) = self.ready.pop_front() {
                self.left = self.left.saturating_sub(bytes.len() as u64);
                return Poll::Ready(Some(Ok(Frame::data(bytes))));
            }
            if self.reading.is_none() {
                self.read_next();
            }
            let Some(reading) = &mut self.reading else { return Poll::Ready(None) };
            let done = ready!(Pin::new(reading).poll(context));
            self.reading = None;
            match done.map_err(io::Error::other).and_then(|read| read.map_err(io::Error::other)) {
                Ok(bytes) => self.ready = bytes,
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            self.read_next();
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
