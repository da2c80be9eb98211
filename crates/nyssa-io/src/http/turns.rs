//! Makes fewer requests at the same time to a server that is too busy.
//!
//! A server says so by the status 429 or 503. From then on, half as many requests are under way as before, and none
//! until the time is over that the server asks for (`Retry-After`). With each right answer the number grows again a
//! little.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use nyssa_net::PerProcess;
use url::Origin;

use super::failure::Failure;
use crate::Stop;

/// The time between two checks of the signal to stop.
const POLL: Duration = Duration::from_millis(20);

/// The requests of this process to one server.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: Mutex<ServerLoad>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ServerLoad {
    /// The number of requests that are under way.
    active: usize,
    /// The limit of a server that was too busy.
    limit: Option<Limit>,
    /// The time before which no request is made.
    quiet: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Limit {
    /// The number of requests at the same time. The fraction is what was gained on the way to the next number.
    now: f64,
    /// The number from which on there is no limit again.
    most: f64,
    /// The time of the last change to a smaller number.
    since: Instant,
}

/// The right to make one request. It ends when this value is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Arc<Turns>,
    begin: Instant,
}

static SERVERS: PerProcess<Mutex<HashMap<Origin, Arc<Turns>>>> = PerProcess::new();

impl Turns {
    /// Returns the requests of this process to a server.
    pub(super) fn of(server: Origin) -> Arc<Self> {
        Arc::clone(SERVERS.lock().entry(server).or_default())
    }

    /// Waits until a request may be made, but not longer than `longest` for other requests to end.
    ///
    /// # Errors
    /// A failure if the signal `stop` is given.
    pub(super) fn wait(self: &Arc<Self>, longest: Duration, stop: &Stop) -> Result<Turn, Failure> {
        let last = Instant::now() + longest;
        let mut state = self.lock();
        loop {
            if stop.is_set() {
                return Err(Failure::of(ErrorKind::Interrupted, "it was stopped"));
            }
            let now = Instant::now();
            let quiet = state.quiet.filter(|&until| until > now);
            let is_full = state.limit.is_some_and(|limit| state.active >= limit.now as usize);
            let until = match quiet {
                Some(until) => until,
                None if is_full && now < last => last,
                None => break,
            };
            let waited = self.changed.wait_timeout(state, (until - now).min(POLL));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.active += 1;
        Ok(Turn { turns: Arc::clone(self), begin: Instant::now() })
    }

    fn lock(&self) -> MutexGuard<'_, ServerLoad> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turn {
    /// Records that the server is too busy, and for how long it wants no requests.
    pub(super) fn refused(&self, pause: Option<Duration>) {
        let mut state = self.turns.lock();
        let now = Instant::now();
        if let Some(until) = pause.and_then(|pause| now.checked_add(pause)) {
            state.quiet = state.quiet.max(Some(until));
        }
        let before = state.limit;
        // Requests that were under way together are refused together, which counts once.
        if before.is_some_and(|limit| self.begin < limit.since) {
            return;
        }
        let active = state.active as f64;
        let (now_active, most) = before.map_or((active, active), |limit| (limit.now, limit.most));
        state.limit = Some(Limit { now: (now_active / 2.0).max(1.0), most, since: now });
    }

    /// Records that the server has answered.
    pub(super) fn answered(&self) {
        let mut state = self.turns.lock();
        let Some(limit) = &mut state.limit else { return };
        limit.now += 1.0 / limit.now;
        if limit.now >= limit.most {
            state.limit = None;
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        // A child of `fork` counts anew.
        state.active = state.active.saturating_sub(1);
        drop(state);
        self.turns.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(turns: &Arc<Turns>) -> Turn {
        turns.wait(Duration::from_millis(20), &Stop::default()).unwrap()
    }

    /// Takes as many turns as there are at once.
    fn taken(turns: &Arc<Turns>) -> Vec<Turn> {
        let mut taken = Vec::new();
        while taken.len() < 100 {
            let begin = Instant::now();
            let turn = turn(turns);
            if begin.elapsed() >= Duration::from_millis(20) {
                break;
            }
            taken.push(turn);
        }
        taken
    }

    #[test]
    fn a_busy_server_gets_half_as_many_requests_and_slowly_more() {
        let turns = Arc::new(Turns::default());
        let eight: Vec<Turn> = (0..8).map(|_| turn(&turns)).collect();
        // All of them are refused, which counts once.
        eight.iter().for_each(|turn| turn.refused(None));
        drop(eight);
        let four = taken(&turns);
        assert_eq!(four.len(), 4);
        four.iter().for_each(Turn::answered);
        drop(four);
        // Four right answers are not yet one more request: 4 + 1/4 + 1/4.25 + ...
        assert_eq!(taken(&turns).len(), 4);
        turn(&turns).answered();
        assert_eq!(taken(&turns).len(), 5);
        turn(&turns).refused(None);
        assert_eq!(taken(&turns).len(), 2);
        for _ in 0..40 {
            turn(&turns).answered();
        }
        assert_eq!(taken(&turns).len(), 100);
    }

    #[test]
    fn no_request_is_made_while_the_server_wants_none() {
        let turns = Arc::new(Turns::default());
        let begin = Instant::now();
        turn(&turns).refused(Some(Duration::from_millis(200)));
        drop(turn(&turns));
        assert!(begin.elapsed() >= Duration::from_millis(200));
    }
}
