//! Measures how much longer an entry takes where pages are full than in the small pages of a sample.
//!
//! High levels look further back the larger a page is: `zstd:9` takes twice as long for a byte in pages of 1 MiB as in those
//! of 32 KiB. Neither the number of entries nor that of pages says so. Pages of all columns
//! in their full size are nearly the whole dataset, so a part of the fields is written with pages of both sizes.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use super::candidate::Candidate;
use super::sample::count;
use super::trial::Subject;
use super::tried::Tried;
use crate::compression::Algorithm;
use crate::dataset::Dataset;
use crate::effort::Effort;
use crate::error::Result;
use crate::open::open_dataset;
use crate::tune::inspect::Inspection;

/// How much longer full pages take, as a guess before it is measured.
const GUESS: f64 = 2.0;
/// The lowest level of zstd whose time grows with the pages.
const ZSTD_LEVEL: u8 = 5;

/// Returns whether the time of a codec grows with the size of pages.
pub(super) fn grows(candidate: &Candidate) -> bool {
    let named = candidate.effort == Effort::Full;
    let zstd = candidate.compression.level >= ZSTD_LEVEL;
    match candidate.compression.algorithm {
        Algorithm::Zstd => named && zstd,
        Algorithm::Lzma => named,
        Algorithm::Zlib | Algorithm::Lz4 => false,
    }
}

/// Returns the fields or branches that can be read, with their bytes before compression.
pub(super) fn fields_of(inspection: &Inspection, dataset: &dyn Dataset) -> Vec<(String, u64)> {
    let columns = dataset.columns().iter().filter(|one| one.field.is_ok());
    let readable: HashSet<&str> = columns.map(|one| one.name.as_str()).collect();
    let is_plain = |name: &str| !name.contains(['*', '?', '[']) && readable.contains(name);
    let fields = inspection.fields.iter().filter(|one| is_plain(&one.name));
    fields.map(|one| (one.name.clone(), one.uncompressed_bytes)).collect()
}

/// Returns every so many of the fields by size, as many as have at most `most` of their bytes together. Each has its
/// bytes.
fn some(fields: &[(String, u64)], most: f64) -> Vec<String> {
    let mut sorted: Vec<&(String, u64)> = fields.iter().filter(|(_, bytes)| *bytes > 0).collect();
    sorted.sort_by_key(|(_, bytes)| *bytes);
    let every = |step: usize| sorted.iter().copied().skip(step / 2).step_by(step);
    let bytes = |step: usize| every(step).map(|(_, bytes)| *bytes as f64).sum::<f64>();
    let step = (1..=sorted.len()).find(|&step| bytes(step) <= most);
    step.map_or_else(Vec::new, |step| every(step).map(|(name, _)| name.clone()).collect())
}

/// Returns the time of an entry in a cluster of `full` entries by that in `ranges`, from fields that take about `seconds`.
/// It is `None` where there is no time for any field.
///
/// # Errors
/// Those of a trial.
pub(super) fn growth(
    subject: &Subject<'_>,
    tried: &Tried,
    fields: &[(String, u64)],
    (ranges, full): (&[Range<u64>], Range<u64>),
    seconds: f64,
) -> Result<Option<f64>> {
    let (time, timed) = (tried.measured.times.cpu, tried.measured.timed.0.max(1) as f64);
    let all = time / timed * (full.end - full.start) as f64 * GUESS;
    let bytes: f64 = fields.iter().map(|(_, bytes)| *bytes as f64).sum();
    let include = some(fields, bytes * seconds / all.max(1e-9));
    if include.is_empty() || full.end - full.start <= count(ranges) / ranges.len().max(1) as u64 {
        return Ok(None);
    }
    let part = Part { subject, tried, include, profile: copied(subject, tried)? };
    let growth = part.growth(ranges, full)?;
    Ok((growth > 0.0).then_some(growth))
}

/// Returns a copy of the profile, since that of the whole dataset must not learn from a part of the fields.
fn copied(subject: &Subject<'_>, tried: &Tried) -> Result<Option<PathBuf>> {
    let Some(path) = &tried.profile else { return Ok(None) };
    let copy = subject.folder.file("growth.toml");
    nyssa_io::write(&copy, &nyssa_io::read(path)?)?;
    Ok(Some(copy))
}

/// Some fields, which are written in small and in full pages.
struct Part<'a> {
    subject: &'a Subject<'a>,
    tried: &'a Tried,
    include: Vec<String>,
    profile: Option<PathBuf>,
}

impl Part<'_> {
    fn growth(&self, ranges: &[Range<u64>], full: Range<u64>) -> Result<f64> {
        // What was not in the sample is unpacked before.
        let (file, entries) = self.subject.input(&full)?;
        let dataset = open_dataset(&file, Some(&self.subject.path))?;
        let names: Vec<&str> = self.include.iter().map(String::as_str).collect();
        dataset.read(&names, entries, &self.subject.context)?;
        // The first range may take samples. A file without entries takes some time, too.
        self.cpu(ranges.get(..1).unwrap_or_default())?;
        let fixed = self.cpu(std::slice::from_ref(&(0..0)))?;
        let small = self.cpu(ranges)? - ranges.len() as f64 * fixed;
        let large = self.cpu(std::slice::from_ref(&full))? - fixed;
        let of_entry = |seconds: f64, entries: u64| seconds / entries.max(1) as f64;
        let growth = of_entry(large, full.end - full.start) / of_entry(small, count(ranges));
        Ok(if growth.is_finite() { growth } else { 0.0 })
    }

    /// Returns the CPU time to write some ranges, each to a file of its own.
    fn cpu(&self, ranges: &[Range<u64>]) -> Result<f64> {
        let Self { subject, tried, include, profile } = self;
        let seconds =
            |range| subject.cpu_seconds(&tried.candidate, range, profile.as_deref(), include);
        ranges.iter().map(seconds).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Compression;

    #[test]
    fn some_fields_of_all_sizes() {
        let fields: Vec<(String, u64)> = [("e", 0), ("c", 30), ("a", 10), ("d", 40), ("b", 20)]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .to_vec();
        assert_eq!(some(&fields, 100.0), ["a", "b", "c", "d"]);
        assert_eq!(some(&fields, 99.0), ["b", "d"]);
        assert_eq!(some(&fields, 59.0), ["b"]);
        assert!(some(&fields, 9.0).is_empty() && some(&[], 1.0).is_empty());
    }

    #[test]
    fn levels_whose_time_grows() {
        let of = |algorithm, level, effort| {
            let compression = Compression { algorithm, level };
            grows(&Candidate { compression, effort, ..Candidate::default() })
        };
        assert!(of(Algorithm::Zstd, 9, Effort::Full) && of(Algorithm::Lzma, 1, Effort::Full));
        assert!(!of(Algorithm::Zstd, 1, Effort::Full) && !of(Algorithm::Zstd, 9, Effort::Auto));
        assert!(!of(Algorithm::Lz4, 9, Effort::Full) && !of(Algorithm::Zlib, 9, Effort::Full));
    }
}
