//! Measures how full pages differ from the small pages of a sample, in bytes and in time.
//!
//! A larger page compresses better by more than its tables and headers, since more data repeats in it. And high
//! levels look further back in larger pages: `zstd:9` takes twice as long for a byte in pages of 1 MiB as in pages of
//! 32 KiB. Neither the number of entries nor the number of pages shows this. Pages of all columns in their full size
//! are nearly the whole dataset, so a part of the fields is written with pages of both sizes, from the same entries.

use std::collections::HashSet;
use std::ops::Range;
use std::path::PathBuf;

use nyssa_data::dataset::Dataset;
use nyssa_root::compression::Algorithm;
use nyssa_root::effort::Effort;
use nyssa_root::error::Result;

use super::candidate::Candidate;
use super::measured::{Growth, Measured};
use super::pages::{PageCosts, extrapolate};
use super::sample::halves;
use super::trial::Subject;
use super::tried::Tried;
use crate::heuristics::tune;
use crate::open::open_dataset;
use crate::tune::inspect::Inspection;

/// Returns whether the time of a codec grows with the size of pages.
fn grows(candidate: &Candidate) -> bool {
    let is_lzma = candidate.compression.algorithm == Algorithm::Lzma;
    candidate.has_large_tables() || is_lzma && candidate.effort == Effort::Full
}

/// Returns the factor by which full pages take longer than pages of a sample, as a guess before it is measured.
pub(super) fn guess(candidate: &Candidate) -> f64 {
    if grows(candidate) { tune::GUESS } else { 1.0 }
}

/// Returns the fields or branches that can be read, with their bytes before compression.
pub(super) fn fields_of(inspection: &Inspection, dataset: &dyn Dataset) -> Vec<(String, u64)> {
    let columns = dataset.columns().iter().filter(|column| column.field.is_ok());
    let readable: HashSet<&str> = columns.map(|column| column.name.as_str()).collect();
    let is_plain = |name: &str| !name.contains(['*', '?', '[']) && readable.contains(name);
    let fields = inspection.fields.iter().filter(|field| is_plain(&field.name));
    fields.map(|field| (field.name.clone(), field.uncompressed_bytes)).collect()
}

/// Returns fields that are evenly spaced by size, as many as have at most `most` of their bytes together, and the
/// number of fields that each field represents. Each field has its bytes.
fn some(fields: &[(String, u64)], most: f64) -> (Vec<String>, f64) {
    let mut sorted: Vec<&(String, u64)> = fields.iter().filter(|(_, bytes)| *bytes > 0).collect();
    sorted.sort_by_key(|(_, bytes)| *bytes);
    let every = |step: usize| sorted.iter().copied().skip(step / 2).step_by(step);
    let bytes = |step: usize| every(step).map(|(_, bytes)| *bytes as f64).sum::<f64>();
    let step = (1..=sorted.len()).find(|&step| bytes(step) <= most);
    let names = |step| every(step).map(|(name, _)| name.clone()).collect();
    let some: Vec<String> = step.map_or_else(Vec::new, names);
    let weight = sorted.len() as f64 / some.len().max(1) as f64;
    (some, weight)
}

/// Compares a cluster of `full` entries with these entries in pages as small as the pages of a trial. Takes as many
/// fields as take about `seconds`. Returns `None` if this is no field.
///
/// # Errors
/// `Cancelled`; an error if the trial fails.
pub(super) fn growth(
    subject: &Subject<'_>,
    tried: &Tried,
    fields: &[(String, u64)],
    full: Range<u64>,
    seconds: f64,
) -> Result<Option<Growth>> {
    let measured = &tried.measured;
    let (time, timed) = (measured.times.write, measured.timed.0.max(1) as f64);
    // Small pages are written twice: whole and in halves.
    let all = time / timed * (full.end - full.start) as f64 * (2.0 + guess(&tried.candidate));
    let bytes: f64 = fields.iter().map(|(_, bytes)| *bytes as f64).sum();
    let (include, weight) = some(fields, bytes * seconds / all.max(1e-9));
    let length = measured.total_entries() / (measured.entries.len() as u64).max(1);
    if include.is_empty() || length == 0 || full.end - full.start <= length {
        return Ok(None);
    }
    let some = SomeFields { subject, tried, include, weight, profile: copied(subject, tried)? };
    some.growth(full, length).map(Some)
}

/// Returns pieces of `length` entries that are spread evenly over a range.
fn pieces(range: &Range<u64>, length: u64) -> Vec<Range<u64>> {
    let entries = range.end - range.start;
    let count = (entries / length.max(1)).clamp(1, tune::PIECES);
    let start = |piece: u64| range.start + entries * piece / count;
    (0..count).map(|piece| start(piece)..(start(piece) + length).min(range.end)).collect()
}

/// Returns a copy of the profile, since the profile of the whole dataset must not change by a part of the fields.
fn copied(subject: &Subject<'_>, tried: &Tried) -> Result<Option<PathBuf>> {
    let Some(path) = &tried.profile else { return Ok(None) };
    let copy = subject.folder.file("growth.toml");
    nyssa_io::write(&copy, &nyssa_io::read(path)?)?;
    Ok(Some(copy))
}

/// Some fields, which are written in small and in full pages.
struct SomeFields<'a> {
    subject: &'a Subject<'a>,
    tried: &'a Tried,
    include: Vec<String>,
    /// The number of fields that each of them represents.
    weight: f64,
    profile: Option<PathBuf>,
}

impl SomeFields<'_> {
    fn growth(&self, full: Range<u64>, length: u64) -> Result<Growth> {
        let pieces = pieces(&full, length);
        // Data outside the sample is decompressed first. The first range may take samples.
        let (file, entries) = self.subject.input(&full, &self.include)?;
        let dataset = open_dataset(&file, Some(&self.subject.path))?;
        let names: Vec<&str> = self.include.iter().map(String::as_str).collect();
        dataset.read(&names, entries, &self.subject.context)?;
        self.trial(&pieces[..1])?;
        let empty = self.trial(std::slice::from_ref(&(0..0)))?;
        let (small, cut) = (self.trial(&pieces)?, self.trial(&halves(&pieces))?);
        let large = self.trial(std::slice::from_ref(&full))?;
        let costs = PageCosts::of(&small.columns, &cut.columns);
        let candidate = &self.tried.candidate;
        let entries = large.total_entries();
        let expected = extrapolate(&small, &costs, candidate, entries, empty.file_bytes).bytes;
        // Small fields differ by larger fractions, so differences count, and not ratios.
        let stored = large.file_bytes.saturating_sub(empty.file_bytes) as f64;
        let bytes = self.weight * (stored - expected) / entries.max(1) as f64;
        let of_entry = |item: &Measured| {
            let fixed = empty.times.cpu * item.entries.len() as f64;
            (item.times.cpu - fixed) / item.total_entries().max(1) as f64
        };
        let time = grows(candidate).then(|| of_entry(&large) / of_entry(&small));
        let time = time.filter(|time| time.is_finite() && *time > 0.0);
        Ok(Growth { bytes, time })
    }

    /// Writes some ranges, each to a separate file.
    fn trial(&self, ranges: &[Range<u64>]) -> Result<Measured> {
        let Self { subject, tried, include, profile, .. } = self;
        subject.trial_of_fields(&tried.candidate, ranges, profile.as_deref(), include)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_root::compression::Compression;

    #[test]
    fn some_fields_of_all_sizes() {
        let fields: Vec<(String, u64)> = [("e", 0), ("c", 30), ("a", 10), ("d", 40), ("b", 20)]
            .map(|(name, bytes)| (name.to_owned(), bytes))
            .to_vec();
        let names = |most| some(&fields, most).0;
        assert_eq!(names(100.0), ["a", "b", "c", "d"]);
        assert_eq!(names(99.0), ["b", "d"]);
        assert_eq!(names(59.0), ["b"]);
        assert!(names(9.0).is_empty() && some(&[], 1.0).0.is_empty());
        assert_eq!(
            [some(&fields, 100.0).1, some(&fields, 99.0).1, some(&fields, 59.0).1],
            [1.0, 2.0, 4.0]
        );
    }

    #[test]
    fn pieces_of_a_cluster() {
        assert_eq!(pieces(&(10..40), 10), [10..20, 20..30, 30..40]);
        assert_eq!(pieces(&(10..39), 10), [10..20, 24..34]);
        assert_eq!(pieces(&(0..5), 10), vec![0..5; 1]);
        assert_eq!(pieces(&(0..10_000), 10).len() as u64, tune::PIECES);
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
