//! Makes the requests for the plan of a read.
//!
//! A plan is a list of work units in the order of their use. Each unit is a list of byte ranges. The fetcher
//! makes requests within the [`Limits`](crate::Limits) of the source: it merges neighbouring ranges, splits
//! long ones, and puts as many ranges as possible in one request. For a source with latency, several requests
//! are in flight while units are decoded, and a request that is stuck is made once more. The number of bytes in
//! memory is limited. For a near source, the thread that requests a unit reads it.

mod ahead;
mod coalesce;
mod ends;
mod ends_kept;
mod ends_wanted;
mod hedge;
mod near;
mod read_ahead;
mod requests;

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use nyssa_net::stopped;
use nyssa_observe::{RecordedPlan, RecordedWait, Stage, stage};

use crate::source::check_range;
use crate::{Error, OpenOptions, Result, Source, Stop};
use ahead::Ahead;
pub use coalesce::{Merged, coalesce};
pub use ends::with_ends;
pub(crate) use ends_kept::KeptEnds;
pub(crate) use ends_wanted::Ends;
pub use hedge::{HedgeCounts, hedge_counts};
use near::Near;
pub use read_ahead::{Announced, Held, ReadAhead};
use requests::Request;

/// The default of the largest number of bytes that are fetched and not yet decoded.
pub const AHEAD_BYTES: u64 = 64 << 20;

/// The fetcher of the units of one plan. Threads share it by reference.
pub struct Fetcher {
    mode: Mode,
    /// The plan in the trace, if a recorder runs.
    recorded: Option<RecordedPlan>,
}

enum Mode {
    Near(Near),
    Ahead(Arc<Ahead>),
}

/// The bytes of one unit. They count as fetched and not yet decoded until this is dropped.
pub struct Fetched {
    /// The index of the unit in the plan.
    pub unit: usize,
    /// The bytes of each of its ranges.
    pub bytes: Vec<Bytes>,
    /// A guard that releases the memory of the bytes when it is dropped.
    _held: Option<ahead::Held>,
    /// A guard that writes into the trace which thread waited for the bytes.
    wait: Option<RecordedWait>,
}

/// A unit, or the reason why it could not be fetched.
type Taken = std::result::Result<Fetched, Failed>;

/// A unit that could not be fetched.
#[derive(Debug)]
pub struct Failed {
    /// The index of the unit in the plan.
    pub unit: usize,
    /// The error, with the requested bytes.
    pub error: Error,
}

impl Fetcher {
    /// Begins to fetch `units`. At most `ahead_bytes` are fetched and not yet decoded. A larger unit is
    /// fetched alone.
    pub fn new(source: &Arc<dyn Source>, units: Vec<Vec<Range<u64>>>, ahead_bytes: u64) -> Self {
        let limits = source.limits_of(&units);
        let recorded = source.record_plan(&units, ahead_bytes);
        let (source, plan) = (Arc::clone(source), recorded.clone());
        let mode = match limits.is_near() {
            true => Mode::Near(Near::new(source, limits, units, plan)),
            false => Mode::Ahead(Ahead::start(source, limits, &units, ahead_bytes, plan)),
        };
        Self { mode, recorded }
    }

    /// Returns a unit from `take`, and records the thread that waited for it.
    fn recorded(&self, take: impl FnOnce() -> Option<Taken>) -> Option<Taken> {
        let mut stage = stage!("wait");
        let taken = self.recorded_in_plan(take);
        if let Some(Ok(fetched)) = &taken {
            set_bytes(&mut stage, &fetched.bytes);
        }
        taken
    }

    fn recorded_in_plan(&self, take: impl FnOnce() -> Option<Taken>) -> Option<Taken> {
        let Some(plan) = &self.recorded else { return take() };
        let start = Instant::now();
        let mut taken = take();
        if let Some(Ok(fetched)) = &mut taken {
            fetched.wait = Some(plan.waited(fetched.unit, start));
        }
        taken
    }

    /// Waits for the next unit that has not been taken, and returns it. Units come mostly in the order of the
    /// plan. Returns `None` after the last unit, after [`Fetcher::stop`], and if `stopped`, which is called
    /// while this waits, returns true.
    ///
    /// # Errors
    /// A request of the source failed. After an error, no more units come.
    pub fn next(&self, stopped: &dyn Fn() -> bool) -> Option<std::result::Result<Fetched, Failed>> {
        self.recorded(|| match &self.mode {
            Mode::Near(near) => near.next(),
            Mode::Ahead(ahead) => ahead.take(None, stopped),
        })
    }

    /// Waits for the unit number `unit`, and returns it. Units must be taken roughly in the order of the
    /// plan. Returns `None` if the unit was taken before, after [`Fetcher::stop`], and if `stopped` returns
    /// true.
    ///
    /// # Errors
    /// The request for the unit, or an earlier request, failed.
    pub fn take(
        &self,
        unit: usize,
        stopped: &dyn Fn() -> bool,
    ) -> Option<std::result::Result<Fetched, Failed>> {
        self.recorded(|| match &self.mode {
            Mode::Near(near) => near.take(unit),
            Mode::Ahead(ahead) => ahead.take(Some(unit), stopped),
        })
    }

    /// Ends all fetching. Units that were not taken are dropped, and waiting threads get `None`.
    pub fn stop(&self) {
        match &self.mode {
            Mode::Near(near) => near.stop(),
            Mode::Ahead(ahead) => ahead.stop(),
        }
    }
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Reads all of `ranges`, with few requests that are in flight together.
///
/// # Errors
/// The source cannot be read; `UnexpectedEof` for a range beyond its end, `InvalidInput` for one that ends
/// before it starts; `Interrupted` after the [`Stop`] of the source.
pub fn read_all(source: &Arc<dyn Source>, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let limits = source.limits();
    if let [range] = ranges
        && limits.is_near()
        && range.end.saturating_sub(range.start) <= limits.max_range_bytes
    {
        let mut stage = stage!("wait");
        let bytes = vec![source.read_range(range.clone())?];
        set_bytes(&mut stage, &bytes);
        return Ok(bytes);
    }
    let fetcher = Fetcher::new(source, vec![ranges.to_vec()], u64::MAX);
    let stop = source.options().and_then(OpenOptions::stop);
    let is_stopped = || stop.as_ref().is_some_and(Stop::is_set);
    match fetcher.take(0, &is_stopped) {
        Some(Ok(fetched)) => Ok(fetched.bytes),
        Some(Err(failed)) => Err(failed.error),
        None if is_stopped() => Err(Error::new(source.name(), "read", stopped())),
        None => Err(too_few(source.name())),
    }
}

/// Says to a stage which bytes came while its thread waited for them, or read them from a near source.
fn set_bytes(stage: &mut Stage, bytes: &[Bytes]) {
    stage.set_bytes_out(|| bytes.iter().map(|bytes| bytes.len() as u64).sum());
}

/// Checks that the ranges of a unit are inside the source.
fn check_unit(source: &dyn Source, unit: &[Range<u64>]) -> Result<()> {
    unit.iter().try_for_each(|range| check_range(source.name(), source.size(), range))
}

/// Makes a request, and checks that the answers have the requested lengths.
fn request(source: &dyn Source, request: &Request) -> Result<Vec<Bytes>> {
    count_over_read(source, request);
    check_answers(source, &request.ranges, source.read_ranges(&request.ranges)?)
}

/// Makes a request until `stop` is given, and checks that the answers have the requested lengths.
fn request_until(source: &dyn Source, request: &Request, stop: &Stop) -> Result<Vec<Bytes>> {
    count_over_read(source, request);
    check_answers(source, &request.ranges, source.read_ranges_until(&request.ranges, stop)?)
}

/// Counts the bytes of a request that no unit needs.
fn count_over_read(source: &dyn Source, request: &Request) {
    if let Some(options) = source.options() {
        options.stats.add_over_read(request.over_read);
    }
}

/// Makes a request while another request for the same ranges is stuck, and checks the lengths of the answers.
fn request_again(source: &dyn Source, request: &Request) -> Result<Vec<Bytes>> {
    check_answers(source, &request.ranges, source.read_ranges_again(&request.ranges)?)
}

/// Checks that the answers of a request have the requested lengths.
pub(crate) fn check_answers(
    source: &dyn Source,
    ranges: &[Range<u64>],
    answers: Vec<Bytes>,
) -> Result<Vec<Bytes>> {
    let fits =
        |(range, bytes): (&Range<u64>, &Bytes)| range.end - range.start == bytes.len() as u64;
    if answers.len() == ranges.len() && ranges.iter().zip(&answers).all(fits) {
        return Ok(answers);
    }
    Err(too_few(source.name()))
}

fn too_few(name: &str) -> Error {
    let reason = "it answered with fewer bytes than were requested";
    Error::new(name, "read", std::io::Error::new(std::io::ErrorKind::InvalidData, reason))
}
