//! Fetches units of a source with latency. A few threads keep requests in flight while other threads decode.
//!
//! The threads end with the plan. They own a reference to the source, so that nothing has to wait for a
//! request that is no longer needed.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;

use super::requests::Requests;
use super::{Failed, Fetched, check_unit, request, too_few};
use crate::{Error, Limits, Result, Source};

/// Divisor of the number of bytes that are fetched ahead. The quotient is the size of the window in which
/// ranges are merged in any order.
const WINDOWS: u64 = 2;
/// Time between two checks if a waiting thread must stop.
const POLL: Duration = Duration::from_millis(50);

/// The state that the threads that fetch share with the threads that decode.
pub(super) struct Ahead {
    source: Arc<dyn Source>,
    plan: Requests,
    ahead_bytes: u64,
    state: Mutex<State>,
    /// Wakes the threads that decode: an answer has arrived.
    arrived: Condvar,
    /// Wakes the threads that fetch: memory was released, or a thread waits for bytes.
    released: Condvar,
}

#[derive(Default)]
struct State {
    /// Requests that have begun.
    begun: usize,
    in_flight: usize,
    /// Number of bytes that are in flight, or have arrived and are not decoded.
    bytes: u64,
    /// Answers by request, as long as a unit needs them.
    answers: HashMap<usize, Answer>,
    /// Number of missing answers of each unit.
    missing: Vec<usize>,
    /// Complete units that have not been taken.
    ready: BTreeSet<usize>,
    /// Units that were not taken.
    left: usize,
    failed: HashMap<usize, Error>,
    /// The unit that each waiting thread needs, or `None` for any unit.
    waiting: Vec<Option<usize>>,
    /// Number of threads that fetch.
    threads: usize,
    stopped: bool,
}

struct Answer {
    bytes: Vec<Bytes>,
    /// Number of units that have not been decoded.
    users: usize,
}

impl State {
    /// Tells whether a thread waits for bytes that have not arrived.
    fn starves(&self) -> bool {
        self.waiting.iter().any(|unit| match unit {
            Some(unit) => !self.ready.contains(unit),
            None => self.ready.is_empty(),
        })
    }

    fn no_longer_waits(&mut self, unit: Option<usize>) {
        if let Some(index) = self.waiting.iter().position(|other| *other == unit) {
            self.waiting.swap_remove(index);
        }
    }
}

/// The memory that the bytes of a unit take.
pub(super) struct Held {
    ahead: Arc<Ahead>,
    unit: usize,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.ahead.release(self.unit);
    }
}

impl Ahead {
    /// Begins to fetch.
    pub fn start(
        source: Arc<dyn Source>,
        limits: Limits,
        units: &[Vec<Range<u64>>],
        ahead_bytes: u64,
    ) -> Arc<Self> {
        let mut state = State { left: units.len(), ..State::default() };
        let mut sound = units.to_vec();
        for (unit, ranges) in sound.iter_mut().enumerate() {
            if let Err(error) = check_unit(source.as_ref(), ranges) {
                state.failed.insert(unit, error);
                ranges.clear();
            }
        }
        let concurrency = limits.concurrency.max(1);
        // Some requests are in flight while others are decoded.
        let share = ahead_bytes / (concurrency as u64 * WINDOWS);
        let request_bytes = limits.request_bytes().min(share).max(1);
        let plan = Requests::of(&sound, &limits, request_bytes, (ahead_bytes / WINDOWS).max(1));
        state.missing = plan.units.iter().map(|unit| unit.requests.len()).collect();
        let all = state.missing.iter().enumerate();
        state.ready = all.filter(|(_, missing)| **missing == 0).map(|(unit, _)| unit).collect();
        let threads = concurrency.min(plan.requests.len());
        let ahead = Arc::new(Self {
            source,
            plan,
            ahead_bytes,
            state: Mutex::new(state),
            arrived: Condvar::new(),
            released: Condvar::new(),
        });
        for number in 0..threads {
            ahead.lock().threads += 1;
            let shared = Arc::clone(&ahead);
            let thread = std::thread::Builder::new().name(format!("nyssa-fetch-{number}"));
            if thread.spawn(move || shared.run()).is_err() {
                // Without threads, the thread that waits for a unit fetches it.
                ahead.lock().threads -= 1;
                break;
            }
        }
        ahead
    }

    /// Takes the first unit that is ready, or the unit `wanted`.
    pub fn take(
        self: &Arc<Self>,
        unit: Option<usize>,
        stopped: &dyn Fn() -> bool,
    ) -> Option<std::result::Result<Fetched, Failed>> {
        let mut state = self.lock();
        loop {
            if state.stopped || stopped() || state.left == 0 {
                return None;
            }
            let found = match unit {
                None => state.ready.first().copied(),
                Some(unit) if unit >= self.plan.units.len() => return None,
                Some(unit) => state.ready.contains(&unit).then_some(unit),
            };
            if let Some(unit) = found {
                return Some(self.hand_over(state, unit));
            }
            if let Some(unit) = self.broken(&state, unit) {
                let error =
                    state.failed.remove(&unit).unwrap_or_else(|| too_few(self.source.name()));
                drop(state);
                self.stop();
                return Some(Err(Failed { unit, error }));
            }
            state.waiting.push(unit);
            if state.threads == 0 {
                let request = self.begin(&mut state);
                state.no_longer_waits(unit);
                drop(state);
                self.answer(request?);
                state = self.lock();
                continue;
            }
            // Threads can now fetch even if there is no memory.
            self.released.notify_one();
            let waited = self.arrived.wait_timeout(state, POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.no_longer_waits(unit);
        }
    }

    /// Ends all fetching.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopped = true;
        state.answers.clear();
        self.arrived.notify_all();
        self.released.notify_all();
    }

    fn hand_over(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, State>,
        unit: usize,
    ) -> std::result::Result<Fetched, Failed> {
        state.ready.remove(&unit);
        state.left -= 1;
        if let Some(error) = state.failed.remove(&unit) {
            drop(state);
            self.stop();
            return Err(Failed { unit, error });
        }
        let answer = |request: usize| state.answers.get(&request).map(|one| one.bytes.as_slice());
        let bytes = self.plan.bytes(unit, answer);
        drop(state);
        let held = Held { ahead: Arc::clone(self), unit };
        let error = || Failed { unit, error: too_few(self.source.name()) };
        bytes.map(|bytes| Fetched { unit, bytes, _held: Some(held) }).ok_or_else(error)
    }

    /// Returns the unit whose request has failed. It will never be ready.
    fn broken(&self, state: &State, wanted: Option<usize>) -> Option<usize> {
        let broken = || state.failed.keys().copied().filter(|&unit| state.missing[unit] > 0).min();
        wanted.filter(|unit| state.failed.contains_key(unit)).or_else(broken)
    }

    /// Fetches until all requests have begun.
    fn run(&self) {
        loop {
            let mut state = self.lock();
            let request = loop {
                if state.stopped || state.begun == self.plan.requests.len() {
                    state.threads -= 1;
                    return;
                }
                match self.begin(&mut state) {
                    Some(request) => break request,
                    None => {
                        let waited = self.released.wait(state);
                        state = waited.unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            drop(state);
            self.answer(request);
        }
    }

    /// Begins the next request, if there is memory for it, or if a thread waits and no request is in flight.
    fn begin(&self, state: &mut State) -> Option<usize> {
        let bytes = self.plan.requests.get(state.begun)?.bytes;
        let fits = state.bytes.saturating_add(bytes) <= self.ahead_bytes;
        if !fits && (state.in_flight > 0 || !state.starves()) {
            return None;
        }
        state.begun += 1;
        state.in_flight += 1;
        state.bytes = state.bytes.saturating_add(bytes);
        Some(state.begun - 1)
    }

    /// Makes a request and stores the answer.
    fn answer(&self, number: usize) {
        let Some(asked) = self.plan.requests.get(number) else { return };
        let answer =
            catch_unwind(AssertUnwindSafe(|| request(self.source.as_ref(), &asked.ranges)));
        let answer: Result<Vec<Bytes>> = answer.unwrap_or_else(|_| Err(self.died()));
        let mut state = self.lock();
        state.in_flight -= 1;
        match answer {
            Ok(_) if state.stopped => {}
            Ok(bytes) => {
                state.answers.insert(number, Answer { bytes, users: asked.units.len() });
                for &unit in &asked.units {
                    state.missing[unit] -= 1;
                    if state.missing[unit] == 0 {
                        state.ready.insert(unit);
                    }
                }
            }
            Err(error) => {
                // The error ends the other units that need the request too.
                if let Some(&unit) = asked.units.first() {
                    state.failed.entry(unit).or_insert(error);
                }
                state.begun = self.plan.requests.len();
            }
        }
        self.arrived.notify_all();
        // Perhaps a thread waits and no request is in flight any more, or the threads that fetch can end.
        self.released.notify_all();
    }

    fn died(&self) -> Error {
        Error::new(
            self.source.name(),
            "read",
            std::io::Error::other("the thread that reads has died"),
        )
    }

    /// Releases the memory of a decoded unit.
    fn release(&self, unit: usize) {
        let mut state = self.lock();
        for &request in &self.plan.units[unit].requests {
            let Some(answer) = state.answers.get_mut(&request) else { continue };
            answer.users -= 1;
            if answer.users == 0 {
                state.answers.remove(&request);
                state.bytes = state.bytes.saturating_sub(self.plan.requests[request].bytes);
            }
        }
        self.released.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
