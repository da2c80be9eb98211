//! Spreads the reads of one file over several connections to its server.
//!
//! TCP carries at most one window of bytes in a round trip, so one connection to a far server is slow. A file
//! begins with one connection. While reads queue, their number is doubled, as long as the last ones made reading
//! faster. Each has a session of its own: a server answers a vectored read on the connection on which it came.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::file::File;
use crate::per_process::PerProcess;

/// Number of bytes that TCP carries in a round trip, if the systems at both ends have usual settings.
const WINDOW: u64 = 4 << 20;
/// Number of bytes that are asked for on one connection at the same time. Other reads wait for a connection.
const QUEUE: u64 = 16 << 20;
/// Round trip from which on a window limits the speed.
const FAR: Duration = Duration::from_millis(5);
/// More connections are opened if the last ones made reading so many times faster.
const GAIN: f64 = 1.1;
/// Time between two checks if a waiting read must stop.
const POLL: Duration = Duration::from_millis(50);

/// The connections over which one file is read.
pub(super) struct Streams {
    first: Arc<File>,
    /// Largest number of connections.
    most: usize,
    shared: PerProcess<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    /// The files on the connections, and the numbers of bytes that are asked for on each.
    files: Vec<(Arc<File>, u64)>,
    growth: Growth,
    /// Number of connections that are being opened.
    opening: usize,
}

/// Decides if more connections make reading faster.
#[derive(Default)]
struct Growth {
    /// Begin of the measurement with the present connections, and the bytes that came since then.
    since: Option<Instant>,
    bytes: u64,
    /// Bytes per second before the last connections were added.
    before: f64,
    has_ended: bool,
}

impl Growth {
    /// Adds bytes that have come.
    fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
    }

    /// Returns whether more connections are worth their cost, where `count` ones were measured.
    fn wants_more(&mut self, count: usize, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        let seconds = now.saturating_duration_since(since).as_secs_f64();
        if self.has_ended || self.bytes < WINDOW * count as u64 || seconds <= 0.0 {
            return false;
        }
        let speed = self.bytes as f64 / seconds;
        self.has_ended = speed < GAIN * self.before;
        self.before = speed;
        !self.has_ended
    }

    /// Begins to measure again.
    fn restart(&mut self, now: Instant) {
        (self.since, self.bytes) = (Some(now), 0);
    }
}

impl Streams {
    /// Makes the streams of a file, of which one is open.
    pub fn new(first: Arc<File>, most: usize) -> Arc<Self> {
        Arc::new(Self { first, most, shared: PerProcess::new() })
    }

    /// Reads `bytes` bytes from the file on one of its connections.
    pub fn read<T>(self: &Arc<Self>, bytes: u64, read: impl FnOnce(&File) -> T) -> T {
        let mut state = self.lock();
        let index = loop {
            let least = (0..state.files.len()).min_by_key(|&index| state.files[index].1);
            let index = least.unwrap_or_default();
            let pending = state.files.get(index).map_or(0, |(_, pending)| *pending);
            if pending == 0 || pending + bytes <= QUEUE || self.first.is_closed() {
                break index;
            }
            let waited = self.shared().1.wait_timeout(state, POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        };
        if state.files.iter().all(|(_, pending)| *pending == 0) {
            // Nothing was read for a while.
            state.growth.restart(Instant::now());
        }
        let file = match state.files.get_mut(index) {
            Some((file, pending)) => {
                *pending += bytes;
                Arc::clone(file)
            }
            None => Arc::clone(&self.first),
        };
        drop(state);
        let answer = read(&file);
        let mut state = self.lock();
        if let Some((_, pending)) = state.files.get_mut(index) {
            *pending = pending.saturating_sub(bytes);
        }
        let count = state.files.len();
        let is_busy = state.files.iter().all(|(_, pending)| *pending >= WINDOW);
        let may_grow = count < self.most && is_busy && state.opening == 0 && self.is_far();
        state.growth.add(bytes);
        if may_grow && state.growth.wants_more(count, Instant::now()) {
            let numbers = count..self.most.min(2 * count);
            state.opening = numbers.filter(|&number| self.open_another(number)).count();
        }
        drop(state);
        self.shared().1.notify_one();
        answer
    }

    /// Closes the file on all connections.
    pub fn close(&self) {
        self.first.close();
        self.lock().files.iter().for_each(|(file, _)| file.close());
    }

    fn is_far(&self) -> bool {
        let latency = self.first.with_connection(|connection| connection.meter.cost().latency);
        latency.is_some_and(|latency| latency >= FAR)
    }

    /// Opens the file on one more connection, while reading goes on. Returns whether a thread has begun to.
    fn open_another(self: &Arc<Self>, number: usize) -> bool {
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("nyssa-xrootd-stream".to_owned());
        let spawned = thread.spawn(move || {
            let file = shared.first.beside(u16::try_from(number).unwrap_or(u16::MAX));
            let mut state = shared.lock();
            state.opening -= 1;
            match file {
                Ok(file) if !shared.first.is_closed() => {
                    state.files.push((Arc::new(file), 0));
                    state.growth.restart(Instant::now());
                }
                // Reading goes on with the connections that there are.
                _ => state.growth.has_ended = true,
            }
            drop(state);
            shared.shared().1.notify_all();
        });
        spawned.is_ok()
    }

    fn shared(&self) -> &(Mutex<State>, Condvar) {
        self.shared.get(|| {
            let files = vec![(Arc::clone(&self.first), 0)];
            (Mutex::new(State { files, ..State::default() }), Condvar::new())
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared().0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::connection::Connection;
    use super::super::part::Part;
    use super::super::settings::{Settings, XrootdOptions};
    use super::super::url::Url;
    use super::*;
    use crate::testing::{DATA_SERVER, Reply, ScriptedXrootd};

    /// The number of the request `read`.
    const READ: u16 = 3013;

    #[test]
    fn connections_are_added_while_they_make_reading_faster() {
        let mut growth = Growth::default();
        let begin = Instant::now();
        let at = |milliseconds| begin + Duration::from_millis(milliseconds);
        growth.restart(at(0));
        growth.add(WINDOW / 2);
        assert!(!growth.wants_more(1, at(50)), "too little was read to measure");
        growth.add(WINDOW / 2);
        assert!(growth.wants_more(1, at(100)));
        growth.restart(at(200));
        growth.add(2 * WINDOW);
        assert!(growth.wants_more(2, at(300)), "twice as fast");
        growth.restart(at(400));
        growth.add(3 * WINDOW);
        assert!(!growth.wants_more(3, at(545)), "hardly faster");
        growth.add(300 * WINDOW);
        assert!(!growth.wants_more(3, at(560)), "that was the last one");
    }

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
        let file = Arc::new(File::open(url, settings).unwrap());
        // The server is on this machine: it is made to look far away.
        let seem_far = |connection: &Connection| {
            (0..60).for_each(|_| connection.meter.waited(Duration::from_secs(1)));
        };
        file.with_connection(seem_far).unwrap();
        let streams = Streams::new(file, 3);
        let connections = || {
            let reads = server.asked().into_iter().filter(|asked| asked.id == READ);
            reads.map(|asked| asked.connection).collect::<BTreeSet<_>>().len()
        };
        std::thread::scope(|scope| {
            for thread in 0..48_u64 {
                let (streams, content) = (&streams, &content);
                scope.spawn(move || {
                    let range = thread << 20..(thread + 1) << 20;
                    let parts = [Part::Read(range.clone())];
                    let answers = streams.read(1 << 20, |file| file.read(&parts)).unwrap();
                    let expected = &content[range.start as usize..range.end as usize];
                    assert!(answers[0][0][..] == *expected, "bytes {range:?}");
                });
            }
        });
        assert!((2..=3).contains(&connections()), "{} connections", connections());
        streams.close();
        let closed = streams.read(1, |file| file.is_closed());
        assert!(closed, "all of them are closed");
    }
}
