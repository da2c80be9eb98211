//! A full check of a TTree: every basket is read, all problems are collected.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::Reader;
use super::basket::{Contents, Expected, Header, Opened};
use crate::Context;
use crate::compression::has_checksum;
use crate::cursor::Cursor;
use crate::dataset::Dataset;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::fetch::{on_all_threads, read_one};
use crate::leftovers::Leftovers;
use crate::problem::{Problem, VerifyReport};
use crate::rootfile::KeyEntry;
use crate::ttree::model::{Basket, Branch, is_elsewhere};

/// Reads every basket of every branch: its key, its compressed data, and, where nyssa can read the
/// branch, its entries against its entry offsets and its counter.
///
/// # Errors
/// Only `Io` and `Cancelled`: what is wrong with the file is in the report.
pub fn verify(reader: &Reader, context: &Context) -> Result<VerifyReport> {
    let mut report = VerifyReport { entries: reader.num_entries(), ..VerifyReport::default() };
    let mut jobs = Vec::new();
    for item in reader.columns().iter().chain(reader.subcolumns()) {
        let Some(branch) = reader.branch(&item.name) else { continue };
        if branch.baskets.is_empty() && branch.split.is_some() {
            // Its data are in its sub-branches.
            continue;
        }
        if let Err(reason) = &item.field {
            report.unreadable.push(format!("{}: {reason}", item.name));
        }
        if is_elsewhere(branch) {
            continue;
        }
        check_order(branch, &item.name, &mut report.problems);
        let baskets = branch.baskets.iter().enumerate();
        jobs.extend(baskets.map(|(index, basket)| (&item.name, branch, index, basket)));
    }
    report.parts = jobs.len() as u64;
    report.bytes = jobs.iter().fold(0, |sum, job| sum.saturating_add(job.3.bytes));
    let total = report.bytes;
    let (decoded, checksummed) = (AtomicU64::new(0), AtomicU64::new(0));
    let done = AtomicU64::new(0);
    type Job<'a> = (&'a String, &'a Branch, usize, &'a Basket);
    let check = |(): &mut (), job: (usize, Job<'_>), bytes: Result<&[Bytes]>| {
        let (number, (name, branch, index, basket)) = job;
        let checked = bytes.and_then(|bytes| check_basket(reader, branch, basket, bytes.first()));
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
            Err(error) if matches!(error.kind(), Kind::Io | Kind::Cancelled) => Err(error),
            Err(error) => Ok((number, Some(Problem::from(&error)))),
        }
    };
    let jobs = jobs.into_iter().enumerate();
    let units = jobs.map(|(number, job)| (needs(reader, job.1, job.3), (number, job))).collect();
    let mut problems = on_all_threads(reader.source(), units, context, || (), check)?;
    problems.sort_by_key(|(number, _)| *number);
    let problems = problems.into_iter().map(|(_, problem)| problem);
    report.problems.extend(problems.flatten());
    report.decoded = decoded.into_inner();
    report.checksummed = checksummed.into_inner();
    Ok(report)
}

/// Baskets follow each other without gap, up to the entries of the branch.
fn check_order(branch: &Branch, name: &str, problems: &mut Vec<Problem>) {
    let mut next = 0;
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

/// What could be checked of a basket.
#[derive(Default)]
struct Checked {
    decoded: bool,
    checksummed: bool,
}

/// The bytes of a basket, where they are known and in the file.
fn needs(reader: &Reader, branch: &Branch, basket: &Basket) -> Vec<Range<u64>> {
    let range = basket.seek..basket.seek.saturating_add(basket.bytes);
    let skipped = basket.embedded.is_some() || basket.bytes == 0 || is_never_stored(branch, basket);
    let known = !skipped && reader.check_in_file(&range).is_ok();
    known.then_some(range).into_iter().collect()
}

/// Branches that only hold others have baskets that were never filled, nor stored.
fn is_never_stored(branch: &Branch, basket: &Basket) -> bool {
    branch.shape.is_err() && (basket.embedded.is_some() || basket.bytes == 0)
}

/// Checks a basket; `block` are its bytes, where they were fetched.
fn check_basket(
    reader: &Reader,
    branch: &Branch,
    basket: &Basket,
    block: Option<&Bytes>,
) -> Result<Checked> {
    let mut checked = Checked::default();
    if is_never_stored(branch, basket) {
        return Ok(checked);
    }
    // What is opened here need not be read again to be decoded.
    let opened = Leftovers::new(u64::MAX);
    opened.keep_all(true);
    if let Some(embedded) = &basket.embedded {
        let expected = Expected { bytes: basket.bytes, seek: None, entries: basket.entries };
        Contents::open_embedded(embedded, &expected, &mut Vec::new())?;
    } else {
        let block = match block {
            Some(block) => block.clone(),
            None => read(reader, basket)?,
        };
        KeyEntry::parse(&mut Cursor::new(&block, basket.seek))?;
        let expected = Expected {
            bytes: basket.bytes,
            seek: Some(reader.place_in_file(basket.seek)),
            entries: basket.entries,
        };
        let contents = Arc::new(Opened::new(&block, &expected)?);
        contents.contents(&expected)?;
        if let Some(key) = reader.key(basket) {
            opened.keep(key, Arc::clone(&contents), contents.len());
        }
        let header = Header::read(&mut Cursor::new(&block, basket.seek))?;
        let stored = block.get(header.keylen..header.nbytes).unwrap_or_default();
        checked.checksummed = has_checksum(stored, header.objlen);
    }
    let Ok(shape) = &branch.shape else { return Ok(checked) };
    let entries = basket.first_entry..basket.first_entry.saturating_add(basket.entries);
    let counts = match shape.counter() {
        Some(counter) => match reader.offsets(counter, entries.clone()) {
            Ok(counts) => Some(counts),
            Err(error) if matches!(error.kind(), Kind::NotFound | Kind::Unsupported) => None,
            // The counter's own problem is told with the counter.
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

fn read(reader: &Reader, basket: &Basket) -> Result<Bytes> {
    let bytes = match basket.bytes {
        0 => reader.stored_size(basket.seek)?,
        bytes => bytes,
    };
    let range = basket.seek..basket.seek.saturating_add(bytes);
    reader.check_in_file(&range)?;
    read_one(reader.source(), range)
}
