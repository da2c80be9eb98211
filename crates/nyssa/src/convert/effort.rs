//! Where compression effort pays.
//!
//! Most columns of physics data are random mantissas, on which a high zstd level gains next to
//! nothing, and a few hold repetition that only a search finds. So every column is tried on a sample
//! of its entries with a short list of codecs, and gets the one with the least of
//! `bytes + price * seconds`. Seconds come from fixed speeds, not from a clock, so that the choice,
//! and with it the output, is the same on every machine and for any number of threads.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::map::Unit;
use super::unit::Units;
use crate::Context;
use crate::compression::{Algorithm, Codec, Compression, ZstdParameter};
use crate::error::Result;
use crate::page::{SealedColumn, SealedPage};
use crate::write::{Scratch, SealSettings};

/// Entries of the sample, at the start of the conversion.
const SAMPLE_ENTRIES: u64 = 8192;
/// Bytes that one second of one core must save, at ROOT's level 5. Each level above halves it, each
/// level below doubles it.
const PRICE: f64 = 1.5e6;
/// A deeper search follows one that paid, or that at least saved this share of the bytes.
const PROMISING: f64 = 0.001;

/// (native zstd level, shortest match, seconds per uncompressed byte): the speeds are those of one
/// core of a current server on NanoAOD. Level 1 comes first: it is what the others must beat.
/// Short matches are left out because in mantissas they arise by chance and cost more than they save.
const CANDIDATES: [(i32, u32, f64); 8] = [
    (1, 7, 1.7e-9),
    (3, 7, 2.1e-9),
    (5, 7, 5.5e-9),
    (7, 6, 9e-9),
    (10, 6, 16e-9),
    (13, 6, 70e-9),
    (16, 5, 215e-9),
    (18, 3, 350e-9),
];

/// A codec for all columns, and what it costs.
struct Candidate {
    codec: Arc<Codec>,
    settings: SealSettings,
    seconds_per_byte: f64,
}

/// What a candidate makes of a column of the sample.
struct Trial<'a> {
    column: usize,
    bytes: f64,
    /// Bytes plus the price of the time.
    cost: f64,
    candidate: &'a Candidate,
}

/// Chooses the codec of every column; only zstd leaves a choice.
///
/// # Errors
/// Whatever is wrong with the input, `Cancelled`.
pub(super) fn choose(
    units: &Units<'_>,
    entries: &Range<u64>,
    compression: Compression,
    settings: &mut SealSettings,
    context: &Context,
) -> Result<()> {
    if compression.algorithm != Algorithm::Zstd || compression.level == 0 {
        return Ok(());
    }
    let candidates = candidates(compression.level, settings);
    let price = PRICE * 2f64.powi(5 - i32::from(compression.level));
    let sample = entries.start..entries.end.min(entries.start.saturating_add(SAMPLE_ENTRIES));
    let chosen: Vec<Vec<Trial<'_>>> = context.pool().install(|| {
        units
            .units
            .par_iter()
            .map_init(Scratch::new, |scratch, unit| {
                context.check()?;
                best(units, unit, &sample, &candidates, price, scratch)
            })
            .collect::<Result<_>>()
    })?;
    for trial in chosen.into_iter().flatten() {
        if let Some(column) = settings.columns.get_mut(trial.column) {
            column.codec = Arc::clone(&trial.candidate.codec);
        }
    }
    Ok(())
}

/// What may be used at ROOT's `level`: nothing beyond the native level that it stands for.
fn candidates(level: u8, settings: &SealSettings) -> Vec<Candidate> {
    CANDIDATES
        .into_iter()
        .filter(|&(native, ..)| native <= 2 * i32::from(level))
        .map(|(native, shortest_match, seconds_per_byte)| {
            let parameters = vec![ZstdParameter::MinMatch(shortest_match)];
            let codec = Arc::new(Codec::Zstd { level: native, parameters });
            let mut settings = settings.clone();
            settings.columns.iter_mut().for_each(|column| column.codec = Arc::clone(&codec));
            Candidate { codec, settings, seconds_per_byte }
        })
        .collect()
}

/// The best candidate of each column of a unit. Deeper searches are tried as long as they pay.
fn best<'a>(
    units: &Units<'_>,
    unit: &Unit,
    sample: &Range<u64>,
    candidates: &'a [Candidate],
    price: f64,
    scratch: &mut Scratch,
) -> Result<Vec<Trial<'a>>> {
    let data = units.read(unit, 0, sample)?;
    let mut best: Vec<Trial<'a>> = Vec::new();
    for candidate in candidates {
        let sealed = units.seal(unit, &data, &candidate.settings, scratch)?;
        let tried = sealed.iter().map(|column| trial(column, candidate, price));
        if best.is_empty() {
            best = tried.collect();
            continue;
        }
        let mut go_on = false;
        for (best, tried) in best.iter_mut().zip(tried) {
            let promising = tried.bytes < best.bytes * (1.0 - PROMISING);
            if tried.cost < best.cost {
                *best = tried;
                go_on = true;
            }
            go_on |= promising;
        }
        if !go_on {
            break;
        }
    }
    Ok(best)
}

fn trial<'a>(column: &SealedColumn, candidate: &'a Candidate, price: f64) -> Trial<'a> {
    let sum = |size: fn(&SealedPage) -> usize| column.pages.iter().map(size).sum::<usize>() as f64;
    let bytes = sum(|page| page.bytes.len());
    let seconds = candidate.seconds_per_byte * sum(|page| page.uncompressed);
    Trial { column: column.column.0 as usize, bytes, cost: bytes + price * seconds, candidate }
}
