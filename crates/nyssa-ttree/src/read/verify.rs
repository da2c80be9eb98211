//! Checks a TTree completely. It reads every basket and collects all problems.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use nyssa_data::dataset::Dataset;
use nyssa_root::Context;
use nyssa_root::compression::has_checksum;
use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Kind, Result, ResultExt};
use nyssa_root::fetch::{on_all_threads, read_one};
use nyssa_root::page_pool::PagePool;
use nyssa_root::problem::{DatasetCheck, Problem};
use nyssa_root::rootfile::KeyEntry;

use super::Reader;
use super::ahead::range;
use super::basket::{Contents, Opened};
use super::basket_header::{Expected, Header};
use crate::model::{Basket, Branch, Shape};

/// The result of the check of a basket.
enum Finding {
    Problem(Box<Problem>),
    /// The name of a column that nyssa cannot read, and the reason with the name.
    Unreadable(String, String),
}

/// Reads every basket of every branch: its key, its compressed data, and, where nyssa can read the
/// branch, its entries against its entry offsets and its counter.
///
/// # Errors
/// Only `Io` and `Cancelled`. The report contains the problems of the file.
pub fn verify(reader: &Reader, context: &Context) -> Result<DatasetCheck> {
    let mut report = DatasetCheck { entries: reader.num_entries(), ..DatasetCheck::default() };
    let mut tasks = Vec::new();
    for item in reader.columns().iter().chain(reader.subcolumns()) {
        let Some(branch) = reader.branch(&item.name) else { continue };
        if branch.baskets.is_empty() && branch.split.is_some() {
            // The sub-branches hold its data.
            continue;
        }
        if let Err(reason) = &item.field {
            report.unreadable.push(format!("{}: {reason}", item.name));
        }
        if branch.is_elsewhere {
            continue;
        }
        match reader.reach(branch) {
            Err(error) if error.kind().ends_check() => return Err(error),
            Err(error) => {
                report.unreadable.push(format!("{}: {}", item.name, error.message()));
                continue;
            }
            Ok(()) => {}
        }
        check_order(branch, &item.name, &mut report.problems);
        let baskets = branch.baskets.iter().enumerate();
        tasks.extend(baskets.map(|(index, basket)| (&item.name, branch, index, basket)));
    }
    report.parts = tasks.len() as u64;
    report.bytes = tasks.iter().fold(0, |sum, task| sum.saturating_add(task.3.bytes));
    let total = report.bytes;
    let (decoded, checksummed) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = AtomicU64::new(0);
    type Task<'a> = (&'a String, &'a Branch, usize, &'a Basket);
    let check = |(): &mut (), task: (usize, Task<'_>), bytes: Result<&mut [Bytes]>| {
        let (number, (name, branch, index, basket)) = task;
        let checked = bytes.and_then(|bytes| check_basket(reader, branch, basket, bytes));
        let result = checked.at(|place| {
            place.field = Some(name.clone());
            place.basket = Some(index as u64);
            place.offset = basket.embedded.is_none().then(|| reader.place_in_file(basket.seek));
        });
        let before = done.fetch_add(basket.bytes, Ordering::Relaxed);
        context.report(before.saturating_add(basket.bytes), total);
        match result {
            Ok(basket) => {
                decoded.fetch_add(u64::from(basket.decoded), Ordering::Relaxed);
                checksummed.fetch_add(u64::from(basket.checksummed), Ordering::Relaxed);
                Ok((number, None))
            }
            Err(error) if error.kind().ends_check() => Err(error),
            // The basket is not damaged: nyssa has no place for its objects.
            Err(error) if error.kind() == Kind::Unsupported => {
                let reason = format!("{name}: {}", error.message());
                Ok((number, Some(Finding::Unreadable(name.clone(), reason))))
            }
            Err(error) => Ok((number, Some(Finding::Problem(Box::new(Problem::from(&error)))))),
        }
    };
    let tasks = tasks.into_iter().enumerate();
    let ranges = |task: &Task<'_>| needed(reader, task.1, task.3).into_iter().map(range).collect();
    let units = tasks.map(|(number, task)| (ranges(&task), (number, task))).collect();
    let mut findings = on_all_threads(reader.source(), units, context, || (), check)?;
    findings.sort_by_key(|(number, _)| *number);
    let mut unreadable = HashSet::new();
    for finding in findings.into_iter().filter_map(|(_, finding)| finding) {
        match finding {
            Finding::Problem(problem) => report.problems.push(*problem),
            Finding::Unreadable(name, reason) => {
                if unreadable.insert(name) {
                    report.unreadable.push(reason);
                }
            }
        }
    }
    report.decoded = decoded.into_inner();
    report.checksummed = checksummed.into_inner();
    Ok(report)
}

/// Checks that baskets follow each other without a gap, up to the last entry of the branch.
fn check_order(branch: &Branch, name: &str, problems: &mut Vec<Problem>) {
    let mut next = branch.first_entry;
    let mut wrong = |message: String, basket: Option<u64>| {
        let error = Error::out_of_spec(message).at(|place| {
            place.field = Some(name.to_owned());
            place.basket = basket;
        });
        problems.push(Problem::from(&error));
    };
    for (index, basket) in branch.baskets.iter().enumerate() {
        if basket.first_entry != next {
            let start = basket.first_entry;
            let message = format!("the basket starts at entry {start} where {next} is expected");
            wrong(message, Some(index as u64));
        }
        next = basket.first_entry.saturating_add(basket.entries);
    }
    if next != branch.entries && !branch.baskets.is_empty() {
        wrong(format!("the baskets end at entry {next}, the branch has {}", branch.entries), None);
    }
}

/// The parts of a basket that could be checked.
#[derive(Default)]
struct Checked {
    decoded: bool,
    checksummed: bool,
}

/// Returns the baskets whose bytes are needed to check `basket`: the basket itself if it is in the file and its size
/// is known, and the baskets of its counter.
fn needed<'r>(reader: &'r Reader, branch: &Branch, basket: &'r Basket) -> Vec<&'r Basket> {
    if is_never_stored(branch, basket) {
        return Vec::new();
    }
    let counter = branch.shape.as_ref().ok().and_then(Shape::counter);
    let counter = counter.and_then(|counter| reader.branch(&counter.branch));
    let entries = basket_entries(basket);
    let counters =
        counter.into_iter().flat_map(|counter| reader.baskets_in_file(counter, &entries));
    reader.is_in_file(basket).then_some(basket).into_iter().chain(counters).collect()
}

fn basket_entries(basket: &Basket) -> Range<u64> {
    basket.first_entry..basket.first_entry.saturating_add(basket.entries)
}

/// Returns whether a basket was never filled nor stored. Branches that only group other branches have such
/// baskets.
fn is_never_stored(branch: &Branch, basket: &Basket) -> bool {
    branch.shape.is_err() && (basket.embedded.is_some() || basket.bytes == 0)
}

/// Checks a basket; `fetched` are the bytes of the [`needed`] baskets.
fn check_basket(
    reader: &Reader,
    branch: &Branch,
    basket: &Basket,
    fetched: &[Bytes],
) -> Result<Checked> {
    let mut checked = Checked::default();
    if is_never_stored(branch, basket) {
        return Ok(checked);
    }
    // A basket that is opened here stays in memory, so that decoding does not read it again.
    let opened = PagePool::new(u64::MAX);
    opened.keep_all(true);
    if let Some(embedded) = &basket.embedded {
        let expected =
            Expected { bytes: basket.bytes, seek: None, entries: basket.entries, unpacked: false };
        let mut scratch = Vec::new();
        let contents = Contents::open_embedded(embedded, &expected, &mut scratch)?;
        contents.check_header(&Header::read(&mut Cursor::new(embedded, 0))?, true)?;
    } else {
        let block = match fetched.first() {
            Some(block) if reader.is_in_file(basket) => block.clone(),
            _ => read(reader, basket)?,
        };
        KeyEntry::parse(&mut Cursor::new(&block, basket.seek))?;
        let expected = expected(reader, basket);
        let contents = Arc::new(Opened::new(&block, &expected)?);
        let header = Header::read(&mut Cursor::new(&block, basket.seek))?;
        contents.contents(&expected)?.check_header(&header, false)?;
        if let Some(key) = reader.key(basket) {
            opened.keep(key, Arc::clone(&contents), contents.len());
        }
        let stored = block.get(header.keylen..header.nbytes).unwrap_or_default();
        checked.checksummed = has_checksum(stored, header.objlen);
    }
    let Ok(shape) = &branch.shape else { return Ok(checked) };
    for (other, block) in needed(reader, branch, basket).into_iter().zip(fetched) {
        // The check of the branch of the counter reports problems of its baskets.
        if let (false, Some(key), Ok(contents)) = (
            std::ptr::eq(other, basket),
            reader.key(other),
            Opened::new(block, &expected(reader, other)),
        ) {
            let bytes = contents.len();
            opened.keep(key, Arc::new(contents), bytes);
        }
    }
    let entries = basket_entries(basket);
    let counts = match shape.counter() {
        Some(counter) => match reader.offsets_with(counter, entries.clone(), Some(&opened)) {
            Ok(counts) => Some(counts),
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Unsupported) => None,
            // The check of the branch of the counter reports its problems.
            Err(error) if error.place().field.as_deref() != Some(&branch.path) => {
                return Ok(checked);
            }
            Err(error) => return Err(error),
        },
        None => None,
    };
    reader.read_branch_with(branch, entries, counts.as_ref(), Some(&opened))?;
    checked.decoded = true;
    Ok(checked)
}

fn expected(reader: &Reader, basket: &Basket) -> Expected {
    let seek = Some(reader.place_in_file(basket.seek));
    Expected { bytes: basket.bytes, seek, entries: basket.entries, unpacked: false }
}

fn read(reader: &Reader, basket: &Basket) -> Result<Bytes> {
    let bytes = match basket.bytes {
        0 => reader.stored_size(basket.seek)?,
        bytes => bytes,
    };
    let range = basket.seek..basket.seek.saturating_add(bytes);
    reader.check_in_file(&range)?;
    read_one(reader.source(), range)
}
