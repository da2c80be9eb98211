//! Simulates a link: TCP connections that share its bandwidth, and servers behind it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::window::Window;
use crate::http::Several;
use crate::limits::NETWORK_OVER_READ;
use crate::{Cost, Limits};

/// The largest number of bytes that are sent before other connections get their turn.
const TURN: u64 = 64 << 10;
/// The shortest turn.
const TURN_TIME: Duration = Duration::from_millis(1);
/// The round trip from which on XRootD's reads go over several connections.
const FAR: Duration = Duration::from_millis(5);

/// A link with servers behind it, all of which share its bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// The time of a round trip.
    pub latency: Duration,
    /// The number of bytes per second.
    pub bandwidth: u64,
    /// The protocol by which servers are accessed.
    pub protocol: LinkProtocol,
    /// The largest number of connections to a server. `None` means the number of the protocol.
    pub connections: Option<usize>,
    /// The largest number of bytes that TCP has under way on a connection.
    pub window: u64,
    /// The time that a server needs for each range, such as the seek time of a disk. A server reads one range
    /// after the other.
    pub seek: Duration,
    /// The number of servers. Files are spread over them.
    pub servers: usize,
}

/// The protocol by which servers behind a link are accessed. It is simulated as this program uses it with real
/// servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkProtocol {
    /// XRootD: a connection needs one round trip to be opened, and one for the login. It carries many requests,
    /// each with many ranges. More connections are opened when many bytes are requested.
    #[default]
    Root,
    /// HTTP: a connection needs one round trip to be opened, and carries one request at a time. A request has one
    /// range, or up to 32 after the server has proven that it answers such requests. The simulated servers do.
    Http,
    /// S3, and servers of HTTP that do not answer requests for several ranges: a request has one range.
    S3,
    /// No protocol: each request takes a round trip and the time of its bytes. There is no slow start of TCP.
    Ideal,
}

/// The numbers of a protocol.
struct Numbers {
    /// The number of round trips until a new connection carries requests.
    greeting: u32,
    connections: usize,
    /// The number of bytes that are requested on one connection before others are opened. If it is `None`, a
    /// connection carries one request.
    queue: Option<u64>,
    /// The number of requests under way.
    concurrency: usize,
    /// The largest number of requests under way where each brings few bytes.
    short_concurrency: usize,
    max_ranges: usize,
    max_range_bytes: u64,
    /// Whether the ends of a file are received when it is opened.
    opens_with_ends: bool,
    /// Whether a server can prove that it answers requests for several ranges.
    can_prove: bool,
}

impl LinkProtocol {
    fn numbers(self) -> Numbers {
        match self {
            Self::Root => Numbers {
                greeting: 2,
                connections: 4,
                queue: Some(8 << 20),
                concurrency: 64,
                short_concurrency: 64,
                max_ranges: 1024,
                max_range_bytes: 8 << 20,
                opens_with_ends: false,
                can_prove: false,
            },
            Self::Http => Numbers { can_prove: true, ..Self::S3.numbers() },
            Self::S3 => Numbers {
                greeting: 1,
                connections: 32,
                queue: None,
                concurrency: 8,
                short_concurrency: 32,
                max_ranges: 1,
                max_range_bytes: 16 << 20,
                opens_with_ends: true,
                can_prove: false,
            },
            Self::Ideal => {
                Numbers { greeting: 0, connections: 64, queue: None, ..Self::Root.numbers() }
            }
        }
    }
}

impl Link {
    /// Returns the limits of the sources behind the link. Servers of HTTP have not proven anything yet.
    pub fn limits(&self) -> Limits {
        let numbers = self.protocol.numbers();
        let range = self.seek.max(Duration::from_micros(2));
        Limits {
            max_ranges: numbers.max_ranges,
            max_range_bytes: numbers.max_range_bytes,
            concurrency: self.carried(numbers.queue, numbers.concurrency),
            short_concurrency: self.carried(numbers.queue, numbers.short_concurrency),
            cost: Cost { latency: self.latency, range, bandwidth: self.bandwidth },
            gap: None,
            over_read: NETWORK_OVER_READ,
        }
    }

    /// Returns whether the ends of a file come when it is opened.
    pub(super) fn opens_with_ends(&self) -> bool {
        self.protocol.numbers().opens_with_ends
    }

    /// Returns how many of `requests` requests the connections carry at the same time.
    fn carried(&self, queue: Option<u64>, requests: usize) -> usize {
        match queue {
            Some(_) => requests,
            None => self.connections.unwrap_or(requests).max(1),
        }
    }

    fn connections(&self) -> usize {
        self.connections.unwrap_or(self.protocol.numbers().connections).max(1)
    }

    fn window(&self, now: Instant) -> Window {
        match self.protocol {
            LinkProtocol::Ideal => Window::unlimited(self.latency, now),
            _ => Window::new(self.latency, self.window, now),
        }
    }
}

/// The state of a link. Threads that wait for answers share it.
pub(super) struct SharedLink {
    pub link: Link,
    /// Whether each server answers requests for several ranges, where a protocol lets it prove that.
    several: Vec<Several>,
    state: Mutex<Traffic>,
    changed: Condvar,
}

struct Traffic {
    /// The time at which the line will have carried all bytes that were given to it.
    line: Instant,
    servers: Vec<Server>,
}

struct Server {
    /// The time at which the server will have read everything that was requested.
    idle: Instant,
    connections: Vec<Connection>,
    /// The bytes and requests that wait for a connection.
    waiting: (u64, usize),
}

struct Connection {
    /// The time from which on it carries requests.
    stands: Instant,
    window: Window,
    /// The time at which its last byte will be sent.
    idle: Instant,
    /// The bytes and requests under way.
    pending: (u64, usize),
    /// The number of the next request, and the number of the request whose answer is sent now.
    turns: (u64, u64),
}

impl SharedLink {
    pub(super) fn new(link: Link) -> Arc<Self> {
        let now = Instant::now();
        let server = || Server { idle: now, connections: Vec::new(), waiting: (0, 0) };
        let servers: Vec<Server> = (0..link.servers.max(1)).map(|_| server()).collect();
        let can_prove = link.protocol.numbers().can_prove;
        let several = servers.iter().filter(|_| can_prove).map(|_| Several::default()).collect();
        let state = Mutex::new(Traffic { line: now, servers });
        Arc::new(Self { link, several, state, changed: Condvar::new() })
    }

    /// Returns whether server number `server` is known to answer requests for several ranges, if it can prove it.
    pub(super) fn several(&self, server: usize) -> Option<&Several> {
        self.several.get(server % self.several.len().max(1))
    }

    fn lock(&self) -> MutexGuard<'_, Traffic> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the answer of server number `server` to a request.
    pub(super) fn wait(&self, server: usize, ranges: usize, bytes: u64) {
        let (server, connection, turn) = self.connection(server, bytes);
        let latency = self.link.latency;
        let arrived = Instant::now() + latency / 2;
        let ranges = u32::try_from(ranges).unwrap_or(u32::MAX);
        let mut state = self.lock();
        let idle = &mut state.servers[server].idle;
        *idle = (*idle).max(arrived) + self.link.seek.saturating_mul(ranges);
        let answers = *idle;
        // Answers follow each other in the order of their requests.
        while state.servers[server].connections[connection].turns.1 != turn {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let begin = answers.max(state.servers[server].connections[connection].idle);
        drop(state);
        let sent = self.send(server, connection, bytes, begin);
        let mut state = self.lock();
        let used = &mut state.servers[server].connections[connection];
        used.idle = sent;
        used.turns.1 += 1;
        drop(state);
        self.changed.notify_all();
        sleep_until(sent + latency / 2);
        let mut state = self.lock();
        let used = &mut state.servers[server].connections[connection];
        used.pending = (used.pending.0 - bytes, used.pending.1 - 1);
        drop(state);
        self.changed.notify_all();
    }

    /// Sends bytes from `now` on, as the window of the connection and the line allow. Returns when the last one
    /// is sent.
    fn send(&self, server: usize, connection: usize, mut bytes: u64, mut now: Instant) -> Instant {
        let bandwidth = self.link.bandwidth.max(1);
        let turn = TURN.max((bandwidth as f64 * TURN_TIME.as_secs_f64()) as u64);
        while bytes > 0 {
            sleep_until(now);
            let mut state = self.lock();
            let Traffic { line, servers } = &mut *state;
            let window = &mut servers[server].connections[connection].window;
            match window.room(now) {
                Ok(room) => {
                    let part = room.min(bytes).min(turn);
                    let seconds = part as f64 / bandwidth as f64;
                    let time = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                    *line = now.max(*line) + time;
                    now = *line;
                    window.sent(part, now);
                    bytes -= part;
                }
                Err(later) => now = later,
            }
        }
        now
    }

    /// Waits for a connection that has room for a request. Returns the numbers of the server, of the
    /// connection, and of the request on it.
    fn connection(&self, server: usize, bytes: u64) -> (usize, usize, u64) {
        let mut state = self.lock();
        let server = server % state.servers.len();
        let waiting = &mut state.servers[server].waiting;
        *waiting = (waiting.0 + bytes, waiting.1 + 1);
        loop {
            let now = Instant::now();
            let of = &mut state.servers[server];
            if let Some(index) = self.find(of, bytes, now) {
                of.waiting = (of.waiting.0 - bytes, of.waiting.1 - 1);
                let used = &mut of.connections[index];
                used.pending = (used.pending.0 + bytes, used.pending.1 + 1);
                used.turns.0 += 1;
                return (server, index, used.turns.0 - 1);
            }
            if self.open_more(of, now) {
                continue;
            }
            let next = of.connections.iter().map(|item| item.stands).filter(|at| *at > now).min();
            state = match next {
                Some(at) => {
                    let waited = self.changed.wait_timeout(state, at - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Returns the connection with the least work, if it has room for `bytes`.
    fn find(&self, server: &Server, bytes: u64, now: Instant) -> Option<usize> {
        let all = server.connections.iter().enumerate();
        let standing = all.filter(|(_, item)| item.stands <= now);
        let (index, least) = standing.min_by_key(|(_, item)| item.pending)?;
        let queue = self.link.protocol.numbers().queue.unwrap_or_default();
        (least.pending.1 == 0 || least.pending.0 + bytes <= queue).then_some(index)
    }

    /// Begins to open the connections that the waiting requests need. Returns whether there are any.
    fn open_more(&self, server: &mut Server, now: Instant) -> bool {
        let numbers = self.link.protocol.numbers();
        let pending = server.connections.iter().map(|connection| connection.pending);
        let (bytes, requests) = pending
            .fold(server.waiting, |sum, item| (sum.0.saturating_add(item.0), sum.1 + item.1));
        let wanted = match numbers.queue {
            Some(_) if self.link.latency < FAR => 1,
            Some(queue) => usize::try_from(bytes.div_ceil(queue)).unwrap_or(usize::MAX).max(1),
            None => requests,
        };
        // Another connection also opens the file.
        let open = u32::from(numbers.queue.is_some() && !server.connections.is_empty());
        let stands = now + self.link.latency * (numbers.greeting + open);
        let missing = server.connections.len()..wanted.min(self.link.connections());
        for _ in missing.clone() {
            server.connections.push(Connection {
                stands,
                window: self.link.window(stands),
                idle: stands,
                pending: (0, 0),
                turns: (0, 0),
            });
        }
        !missing.is_empty()
    }
}

/// Waits until `time`.
pub(super) fn sleep_until(time: Instant) {
    std::thread::sleep(time.saturating_duration_since(Instant::now()));
}
