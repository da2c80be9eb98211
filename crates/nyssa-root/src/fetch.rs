//! Runs work on bytes of a source. Each unit of work names the ranges it needs, and the fetcher reads them
//! while other units run.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_io::fetch::{AHEAD_BYTES, Fetched, Fetcher};
use rayon::prelude::*;

use crate::Context;
use crate::error::{Error, Kind, Result};

/// The ranges that a unit of work needs, and the data that describes the work.
pub type FetchUnit<T> = (Vec<Range<u64>>, T);

/// Reads each of the ranges in few requests.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub fn read_all(source: &Arc<dyn Source>, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    Ok(nyssa_io::fetch::read_all(source, ranges)?)
}

/// Reads one range.
///
/// # Errors
/// Returns an error if the source cannot be read.
pub fn read_one(source: &Arc<dyn Source>, range: Range<u64>) -> Result<Bytes> {
    Ok(read_all(source, &[range])?.pop().unwrap_or_default())
}

/// Runs `work` for each unit on all threads of `context`, roughly in order. `work` gets the bytes of its
/// ranges, which it may take to free them early, or the reason why they could not be fetched. `start` makes the scratch data of a thread.
///
/// # Errors
/// `Cancelled`; an error if `work` fails.
pub fn on_all_threads<T, S, R>(
    source: &Arc<dyn Source>,
    units: Vec<FetchUnit<T>>,
    context: &Context,
    start: impl Fn() -> S + Send + Sync,
    work: impl Fn(&mut S, T, Result<&mut [Bytes]>) -> Result<R> + Send + Sync,
) -> Result<Vec<R>>
where
    T: Send,
    R: Send,
{
    let (ranges, items): (Vec<_>, Vec<_>) = units.into_iter().unzip();
    let fetcher = Fetcher::new(source, ranges, context.ahead_bytes());
    let items: Vec<Mutex<Option<T>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let next_unit = |scratch: &mut S| {
        context.check()?;
        let Some(fetched) = fetcher.next(&|| context.is_cancelled()) else {
            // Another unit has failed, or the user has stopped the work.
            return context.check().map(|()| None);
        };
        let unit = unit(&fetched);
        let item = items.get(unit).map(|item| item.lock().unwrap_or_else(PoisonError::into_inner));
        let item = item.and_then(|mut item| item.take()).ok_or_else(twice)?;
        run(fetched, |bytes| work(scratch, item, bytes)).map(Some)
    };
    let done = |scratch: &mut S, _| {
        let done = next_unit(scratch);
        if done.is_err() {
            fetcher.stop();
        }
        done
    };
    let all = (0..items.len()).into_par_iter().with_max_len(1);
    let all = context.pool().install(|| all.map_init(start, done).collect::<Result<Vec<_>>>())?;
    Ok(all.into_iter().flatten().collect())
}

/// Runs `work` for each unit in order on this thread. `work` gets the bytes of its ranges, which it may take to free
/// them early, or the reason why they could not be fetched.
///
/// # Errors
/// `Cancelled`; an error if `work` fails.
pub fn in_order<T>(
    source: &Arc<dyn Source>,
    units: Vec<FetchUnit<T>>,
    context: Option<&Context>,
    mut work: impl FnMut(T, Result<&mut [Bytes]>) -> Result<()>,
) -> Result<()> {
    let (ranges, items): (Vec<_>, Vec<_>) = units.into_iter().unzip();
    let ahead_bytes = context.map_or(AHEAD_BYTES, Context::ahead_bytes);
    let fetcher = Fetcher::new(source, ranges, ahead_bytes);
    for (unit, item) in items.into_iter().enumerate() {
        context.map_or(Ok(()), Context::check)?;
        let stopped = || context.is_some_and(Context::is_cancelled);
        let Some(fetched) = fetcher.take(unit, &stopped) else {
            return context.map_or(Ok(()), Context::check).and_then(|()| Err(twice()));
        };
        run(fetched, |bytes| work(item, bytes))?;
    }
    Ok(())
}

type TakenUnit = std::result::Result<Fetched, nyssa_io::fetch::Failed>;

fn unit(taken: &TakenUnit) -> usize {
    taken.as_ref().map_or_else(|failed| failed.unit, |fetched| fetched.unit)
}

/// Runs `work`. The fetcher counts the bytes as held until `work` returns.
fn run<R>(taken: TakenUnit, work: impl FnOnce(Result<&mut [Bytes]>) -> Result<R>) -> Result<R> {
    match taken {
        Ok(mut fetched) => work(Ok(&mut fetched.bytes)),
        Err(failed) => work(Err(failed.error.into())),
    }
}

fn twice() -> Error {
    Error::new(Kind::Io, "the bytes that were fetched are missing")
}
