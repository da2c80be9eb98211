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
use nyssa_observe::RecordedPlan;

use super::hedge::{Credit, Flight, Times};
use super::requests::Requests;
use super::{Failed, Fetched, check_unit, request_again, request_until, too_few};
use crate::heuristics::{fetch, hedge};
use crate::{Error, Limits, Result, Source, Stop};

/// The time between two checks whether a waiting thread must stop.
const POLL: Duration = Duration::from_millis(50);

/// The state that the threads that fetch share with the threads that decode.
pub(super) struct Ahead {
    source: Arc<dyn Source>,
    plan: Requests,
    ahead_bytes: u64,
    limits: Limits,
    recorded: Option<RecordedPlan>,
    /// The limit of requests that are made a second time.
    credit: Arc<Credit>,
    /// The signal that ends the requests under way as far as that is possible.
    stop: Stop,
    state: Mutex<FetchQueue>,
    /// The signal to the threads that decode: an answer has arrived.
    arrived: Condvar,
    /// The signal to the threads that fetch: memory was released, or a thread waits for bytes.
    released: Condvar,
}

#[derive(Default)]
struct FetchQueue {
    /// The number of requests that have begun.
    begun: usize,
    /// The requests that are under way, by their numbers.
    flights: HashMap<usize, Flight>,
    /// The times of the requests that were answered.
    times: Times,
    /// The number of bytes that are in flight, or have arrived and are not decoded.
    bytes: u64,
    /// The answers by request, as long as a unit needs them.
    answers: HashMap<usize, Answer>,
    /// The number of missing answers of each unit.
    missing: Vec<usize>,
    /// The complete units that have not been taken.
    ready: BTreeSet<usize>,
    /// The number of units that were not taken.
    left: usize,
    failed: HashMap<usize, Error>,
    /// The unit that each waiting thread needs, or `None` for any unit.
    waiting: Vec<Option<usize>>,
    /// The number of threads that fetch.
    threads: usize,
    stopped: bool,
}

struct Answer {
    bytes: Vec<Bytes>,
    /// The number of units that have not been handed over. After that only they have the bytes, and can free them.
    waiting: usize,
    /// The number of units that have not been decoded.
    users: usize,
}

impl FetchQueue {
    /// Ends an attempt at a request. Returns the request if the answer of this attempt is used. This is not so
    /// if another attempt was answered before, or if this one failed and another one is under way.
    fn land(&mut self, number: usize, is_answered: bool) -> Option<Flight> {
        let flight = self.flights.get_mut(&number)?;
        flight.attempts -= 1;
        match is_answered || flight.attempts == 0 {
            true => self.flights.remove(&number),
            false => None,
        }
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
    pub(super) fn start(
        source: Arc<dyn Source>,
        limits: Limits,
        units: &[Vec<Range<u64>>],
        ahead_bytes: u64,
        recorded: Option<RecordedPlan>,
    ) -> Arc<Self> {
        let mut state = FetchQueue { left: units.len(), ..FetchQueue::default() };
        let mut sound = units.to_vec();
        for (unit, ranges) in sound.iter_mut().enumerate() {
            if let Err(error) = check_unit(source.as_ref(), ranges) {
                state.failed.insert(unit, error);
                ranges.clear();
            }
        }
        let request_bytes = limits.request_bytes().min(ahead_bytes / fetch::LEAST_REQUESTS).max(1);
        let plan =
            Requests::of(&sound, &limits, request_bytes, (ahead_bytes / fetch::WINDOWS).max(1));
        state.missing = plan.units.iter().map(|unit| unit.requests.len()).collect();
        let all = state.missing.iter().enumerate();
        state.ready = all.filter(|(_, missing)| **missing == 0).map(|(unit, _)| unit).collect();
        let bytes = plan.requests.iter().map(|request| request.bytes).sum();
        let threads = limits.requests_at_once(plan.requests.len(), bytes);
        let credit = Credit::of(source.name());
        let ahead = Arc::new(Self {
            source,
            plan,
            ahead_bytes,
            limits,
            recorded,
            credit,
            stop: Stop::default(),
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
    pub(super) fn take(
        self: &Arc<Self>,
        unit: Option<usize>,
        stopped: &dyn Fn() -> bool,
    ) -> Option<std::result::Result<Fetched, Failed>> {
        let mut state = self.lock();
        loop {
            if state.stopped || stopped() || state.left == 0 {
                return None;
            }
            let complete = match unit {
                None => state.ready.first().copied(),
                Some(unit) if unit >= self.plan.units.len() => return None,
                Some(unit) => state.ready.contains(&unit).then_some(unit),
            };
            if let Some(unit) = complete {
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
                self.answer(request?, false);
                state = self.lock();
                continue;
            }
            // A thread can now fetch even if there is no memory.
            self.released.notify_one();
            let waited = self.arrived.wait_timeout(state, POLL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            state.no_longer_waits(unit);
            self.repeat_overdue(&mut state, unit);
        }
    }

    /// Ends all fetching.
    pub(super) fn stop(&self) {
        self.stop.set();
        let mut state = self.lock();
        state.stopped = true;
        state.answers.clear();
        self.arrived.notify_all();
        self.released.notify_all();
    }

    fn hand_over(
        self: &Arc<Self>,
        mut state: MutexGuard<'_, FetchQueue>,
        unit: usize,
    ) -> std::result::Result<Fetched, Failed> {
        state.ready.remove(&unit);
        state.left -= 1;
        if let Some(error) = state.failed.remove(&unit) {
            drop(state);
            self.stop();
            return Err(Failed { unit, error });
        }
        let answer = |request: usize| state.answers.get(&request).map(|item| item.bytes.as_slice());
        let bytes = self.plan.bytes(unit, answer);
        for request in &self.plan.units[unit].requests {
            let Some(answer) = state.answers.get_mut(request) else { continue };
            answer.waiting = answer.waiting.saturating_sub(1);
            if answer.waiting == 0 {
                answer.bytes = Vec::new();
            }
        }
        drop(state);
        let held = Held { ahead: Arc::clone(self), unit };
        let error = || Failed { unit, error: too_few(self.source.name()) };
        bytes.map(|bytes| Fetched { unit, bytes, _held: Some(held), wait: None }).ok_or_else(error)
    }

    /// Returns the unit whose request has failed. It will never be ready.
    fn broken(&self, state: &FetchQueue, wanted: Option<usize>) -> Option<usize> {
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
                    Some(request) => {
                        self.wake_next(&state);
                        break request;
                    }
                    None => {
                        let waited = self.released.wait(state);
                        state = waited.unwrap_or_else(PoisonError::into_inner);
                    }
                }
            };
            drop(state);
            if !self.answer(request, false) {
                // The thread of the other attempt continues in place of this one.
                return;
            }
        }
    }

    /// Makes a request again that a thread waits for and that is overdue. [`super::hedge`] has the rule.
    fn repeat_overdue(self: &Arc<Self>, state: &mut FetchQueue, unit: Option<usize>) {
        let is_needed = |number: usize| unit.is_none_or(|unit| self.plan.needs(unit, number));
        let flights = state.flights.iter();
        let flights = flights.filter(|(number, flight)| !flight.repeated && is_needed(**number));
        let Some((&number, flight)) = flights.max_by_key(|(_, flight)| flight.elapsed()) else {
            return;
        };
        if self.limits.concurrency < 2 || state.stopped || flight.elapsed() < hedge::LEAST {
            return;
        }
        let bytes = state.flights.keys().map(|&number| self.plan.requests[number].bytes).sum();
        let ranges = self.plan.requests[number].ranges.len();
        let limit = state.times.limit(&self.limits, ranges, bytes);
        if flight.elapsed() < limit || !self.credit.take() {
            return;
        }
        let shared = Arc::clone(self);
        let thread = std::thread::Builder::new().name("nyssa-fetch-again".to_owned());
        let spawned = thread.spawn(move || {
            if shared.answer(number, true) {
                shared.run();
            }
        });
        match state.flights.get_mut(&number) {
            Some(flight) if spawned.is_ok() => {
                flight.repeated = true;
                flight.attempts += 1;
            }
            _ => self.credit.end(false),
        }
    }

    /// Begins the next request, if there is memory for it, or if a waiting thread needs its answer.
    fn begin(&self, state: &mut FetchQueue) -> Option<usize> {
        let bytes = self.plan.requests.get(state.begun)?.bytes;
        let fits = state.bytes.saturating_add(bytes) <= self.ahead_bytes;
        if !fits && state.begun >= self.needed(state) {
            return None;
        }
        state.flights.insert(state.begun, Flight::new());
        state.begun += 1;
        self.credit.count();
        state.bytes = state.bytes.saturating_add(bytes);
        Some(state.begun - 1)
    }

    /// Returns the number of requests that must have begun, so that one of the waiting threads gets its unit. All
    /// of them may be in flight together: the whole unit is in memory in any case.
    fn needed(&self, state: &FetchQueue) -> usize {
        let first_incomplete = || state.missing.iter().position(|&missing| missing > 0);
        let unit = |waiting: &Option<usize>| match waiting {
            Some(unit) => (!state.ready.contains(unit)).then_some(*unit),
            None => state.ready.is_empty().then(first_incomplete).flatten(),
        };
        let units =
            state.waiting.iter().filter_map(unit).filter_map(|unit| self.plan.units.get(unit));
        let ends = units.filter_map(|unit| unit.requests.last()).map(|last| last + 1);
        ends.min().unwrap_or(0)
    }

    /// Wakes one thread that begins the next request if there is memory for it. After the last request, all
    /// threads that fetch end.
    fn wake_next(&self, state: &FetchQueue) {
        match state.begun < self.plan.requests.len() {
            true => self.released.notify_one(),
            false => self.released.notify_all(),
        }
    }

    /// Makes a request, or makes it a second time (`again`), and stores the answer. Returns false if the answer
    /// of another attempt came before, or if this attempt failed and the other may still be answered.
    fn answer(&self, number: usize, again: bool) -> bool {
        let Some(request) = self.plan.requests.get(number) else { return true };
        let stage = nyssa_observe::stage!("request", bytes_out = request.bytes);
        let make = || match again {
            true => request_again(self.source.as_ref(), request),
            false => request_until(self.source.as_ref(), request, &self.stop),
        };
        let answer = catch_unwind(AssertUnwindSafe(|| match &self.recorded {
            Some(plan) => plan.requesting(make),
            None => make(),
        }));
        let answer: Result<Vec<Bytes>> = answer.unwrap_or_else(|_| Err(self.died()));
        drop(stage);
        let mut state = self.lock();
        let flight = state.land(number, answer.is_ok());
        if again {
            self.credit.end(flight.is_some());
        }
        let Some(flight) = flight else { return false };
        if !flight.repeated {
            state.times.add(flight.elapsed());
        }
        match answer {
            Ok(_) if state.stopped => {}
            Ok(bytes) => {
                let users = request.units.len();
                state.answers.insert(number, Answer { bytes, waiting: users, users });
                for &unit in &request.units {
                    state.missing[unit] -= 1;
                    if state.missing[unit] == 0 {
                        state.ready.insert(unit);
                    }
                }
            }
            Err(error) => {
                // The error ends the other units that need the request too.
                if let Some(&unit) = request.units.first() {
                    state.failed.entry(unit).or_insert(error);
                }
                state.begun = self.plan.requests.len();
            }
        }
        self.arrived.notify_all();
        // A thread may wait although no request is in flight any more, or the threads that fetch can end.
        self.wake_next(&state);
        true
    }

    fn died(&self) -> Error {
        Error::new(
            self.source.name(),
            "read",
            std::io::Error::other(
                "a thread of nyssa ended unexpectedly; this is a bug of nyssa, \
                                   please report it",
            ),
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
        self.wake_next(&state);
    }

    fn lock(&self) -> MutexGuard<'_, FetchQueue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
