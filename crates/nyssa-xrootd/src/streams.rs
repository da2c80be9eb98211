//! Spreads the reads of one file over several connections to its server.
//!
//! TCP carries at most one window of bytes in a round trip, and begins with a small window. One connection to a remote
//! server is slow for both reasons. A file begins with one connection. As soon as reads have to wait for it, more are
//! opened together, so that their windows grow at the same time. Each has a session of its own: a server answers a
//! vectored read on the connection on which it came.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nyssa_net::{PerProcess, Stop};

use super::file::File;

/// The number of bytes that are requested on one connection at the same time. Other reads wait for a
/// connection. It is two windows of TCP, if the systems at both ends have usual settings.
const QUEUE: u64 = 8 << 20;
/// The measured round trip from which on a window limits the speed.
const FAR: Duration = Duration::from_millis(5);
/// The time between two checks whether a waiting read must stop.
const POLL: Duration = Duration::from_millis(50);

/// The connections over which one file is read.
pub(super) struct Streams {
    first: Arc<File>,
    /// The largest number of connections.
    most: usize,
    shared: PerProcess<(Mutex<Connections>, Condvar)>,
}

#[derive(Default)]
struct Connections {
    /// The files on the connections, each with the number of bytes that are requested on it.
    files: Vec<(Arc<File>, u64)>,
    /// The number of bytes of the reads that wait for a connection.
    waiting: u64,
    /// The number of connections that are being opened.
    opening: usize,
    /// Whether a connection could not be opened. Reading continues with the others.
    has_failed: bool,
}

impl Connections {
    /// Returns the connection with the least work, if it has room for `bytes`.
    fn find(&self, bytes: u64) -> Option<usize> {
        let index = (0..self.files.len()).min_by_key(|&index| self.files[index].1)?;
        let (_, pending) = self.files.get(index)?;
        (*pending == 0 || pending + bytes <= QUEUE).then_some(index)
    }

    /// Returns the number of connections for the bytes that are requested and those that wait.
    fn wanted(&self, most: usize) -> usize {
        let pending: u64 = self.files.iter().map(|(_, pending)| *pending).sum();
        let all = (pending + self.waiting).div_ceil(QUEUE);
        most.min(usize::try_from(all).unwrap_or(most))
    }
}

impl Streams {
    /// Makes the streams of a file that is open on one connection.
    pub(crate) fn new(first: Arc<File>, most: usize) -> Arc<Self> {
        Arc::new(Self { first, most, shared: PerProcess::new() })
    }

    /// Reads `bytes` bytes from the file on one of its connections. When `stop` is given, it no longer waits
    /// for a connection.
    pub(crate) fn read<T>(
        self: &Arc<Self>,
        bytes: u64,
        stop: &Stop,
        read: impl FnOnce(&File) -> T,
    ) -> T {
        let (index, file) = self.wait_for_room(bytes, stop);
        let answer = read(&file);
        if let Some((_, pending)) = self.lock().files.get_mut(index) {
            *pending = pending.saturating_sub(bytes);
        }
        self.shared().1.notify_all();
        answer
    }

    /// Waits for a connection and counts `bytes` as requested on it. Returns its number and the file on it.
    fn wait_for_room(self: &Arc<Self>, bytes: u64, stop: &Stop) -> (usize, Arc<File>) {
        let mut state = self.lock();
        let mut index = state.find(bytes);
        if index.is_none() {
            state.waiting += bytes;
            while index.is_none() && !self.first.is_closed() && !stop.is_set() {
                self.open_more(&mut state);
                let waited = self.shared().1.wait_timeout(state, POLL);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                index = state.find(bytes);
            }
            state.waiting -= bytes;
        }
        // A closed file returns an error on any connection, and a stopped read ends on any.
        let index = index.unwrap_or_default();
        match state.files.get_mut(index) {
            Some((file, pending)) => {
                *pending += bytes;
                (index, Arc::clone(file))
            }
            None => (index, Arc::clone(&self.first)),
        }
    }

    /// Begins to open the connections that the waiting reads need, if the server is remote.
    fn open_more(self: &Arc<Self>, state: &mut Connections) {
        let numbers = state.files.len() + state.opening..state.wanted(self.most);
        if !state.has_failed && !numbers.is_empty() && self.is_far() {
            state.opening += numbers.filter(|&number| self.open_another(number)).count();
        }
    }

    /// Closes the file on all connections.
    pub(crate) fn close(&self) {
        self.first.close();
        self.lock().files.iter().for_each(|(file, _)| file.close());
    }

    fn is_far(&self) -> bool {
        let latency = self.first.with_connection(|connection| connection.meter.cost().latency);
        latency.is_some_and(|latency| latency >= FAR)
    }

    /// Opens the file on one more connection, while reading continues. Returns whether a thread has begun to do
    /// so.
    fn open_another(self: &Arc<Self>, number: usize) -> bool {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("nyssa-xrootd-stream".to_owned());
        let spawned = thread.spawn(move || {
            let file = shared.first.beside(u16::try_from(number).unwrap_or(u16::MAX));
            let mut state = shared.lock();
            state.opening = state.opening.saturating_sub(1);
            match file {
                Ok(file) if !shared.first.is_closed() => state.files.push((Arc::new(file), 0)),
                _ => state.has_failed = true,
            }
            drop(state);
            shared.shared().1.notify_all();
        });
        spawned.is_ok()
    }

    fn shared(&self) -> &(Mutex<Connections>, Condvar) {
        self.shared.get(|| {
            let files = vec![(Arc::clone(&self.first), 0)];
            (Mutex::new(Connections { files, ..Connections::default() }), Condvar::new())
        })
    }

    fn lock(&self) -> MutexGuard<'_, Connections> {
        self.shared().0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::connection::Connection;
    use super::super::read_plan::ReadRequest;
    use super::super::settings::{Settings, XrootdOptions};
    use super::super::url::Url;
    use super::*;
    use crate::testing::{DATA_SERVER, Reply, ScriptedXrootd};

    /// The number of the request `read`.
    const READ: u16 = 3013;

    #[test]
    fn a_far_file_is_read_over_several_connections() {
        let content: Vec<u8> = (0..48_u32 << 18).flat_map(u32::to_be_bytes).collect();
        let server = ScriptedXrootd::start(content.clone(), DATA_SERVER, |_, sound| {
            std::thread::sleep(Duration::from_millis(5));
            Reply::Send(sound)
        })
        .unwrap();
        let options = XrootdOptions { streams: Some(3), ..XrootdOptions::default() };
        let settings = Settings::new(&options).unwrap();
        let url = Url::parse(&server.url("/data")).unwrap();
        let file = Arc::new(File::open(url, settings, &Stop::default()).unwrap());
        // The server is on this machine, so the test makes it seem remote.
        let seem_far = |connection: &Connection| {
            (0..60).for_each(|_| connection.meter.waited(Duration::from_secs(1)));
        };
        file.with_connection(seem_far).unwrap();
        let streams = Streams::new(file, 3);
        let connections = || {
            let reads = server.requests().into_iter().filter(|request| request.id == READ);
            reads.map(|request| request.connection).collect::<BTreeSet<_>>().len()
        };
        let stop = Stop::default();
        std::thread::scope(|scope| {
            for thread in 0..48_u64 {
                let (streams, content, stop) = (&streams, &content, &stop);
                scope.spawn(move || {
                    let range = thread << 20..(thread + 1) << 20;
                    let parts = [ReadRequest::Read(range.clone())];
                    let answers =
                        streams.read(1 << 20, stop, |file| file.read(&parts, stop)).unwrap();
                    let expected = &content[range.start as usize..range.end as usize];
                    assert!(answers[0][0][..] == *expected, "bytes {range:?}");
                });
            }
        });
        assert!((2..=3).contains(&connections()), "{} connections", connections());
        streams.close();
        let closed = streams.read(1, &stop, |file| file.is_closed());
        assert!(closed, "all of them are closed");
    }
}
