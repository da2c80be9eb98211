//! Tests what a search for the best options reads, and what it expects from a small sample.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use nyssa_io::testing::SlowSource;
use nyssa_io::{Limits, MemorySource};
use nyssa_jobs::rewrite::{RewriteOptions, rewrite};
use nyssa_jobs::tune::trials::{Objective, TuneOptions, TuneReport, tune};
use nyssa_root::rootfile::RootFile;

use crate::round_trips::{context, ntuple};

/// A day is never used up.
const ENDLESS: Duration = Duration::from_secs(86_400);

fn search(file: &RootFile, budget: Duration, compression: &[&str]) -> TuneReport {
    let compression = compression.iter().map(|text| text.parse().unwrap()).collect();
    let options =
        TuneOptions { objective: Objective::Size, budget, compression, ..TuneOptions::default() };
    tune(file, None, &options, &context()).unwrap()
}

fn trials(report: &TuneReport) -> u64 {
    report.samples.iter().map(|sample| sample.trials).sum()
}

#[test]
fn trials_do_not_read_the_input_again() {
    let bytes = ntuple(0..2);
    let size = bytes.len() as u64;
    let memory = MemorySource::new("memory.root", bytes);
    let source = Arc::new(SlowSource::new(Arc::new(memory), Limits::NONE));
    let file = RootFile::open(Arc::<SlowSource>::clone(&source)).unwrap();
    let report = search(&file, ENDLESS, &["zstd", "lz4:1"]);
    assert!(trials(&report) >= 4, "{:?}", report.samples);
    // Samples and all entries for the time to unpack, and all entries for the seven other trials.
    let read = source.observed().bytes;
    assert!(read < 7 * size / 2, "{read} bytes were read of {size}");
}

/// Once the budget is used up, each stage makes one trial.
#[test]
fn a_budget_that_is_used_up_ends_the_search() {
    let source = Arc::new(MemorySource::new("memory.root", ntuple(0..2)));
    let file = RootFile::open(source).unwrap();
    let report = search(&file, Duration::from_nanos(1), &[]);
    assert!(trials(&report) <= 3, "{:?}", report.samples);
    let left = "17 of 18 trials were left out (codecs and encodings): the budget was used up";
    assert!(report.notes.iter().any(|note| note == left), "{:?}", report.notes);
}

/// A sample of a few entries has small pages, which take more bytes for an entry than the pages of the whole dataset.
#[test]
fn the_size_is_expected_from_small_pages() {
    let source = Arc::new(MemorySource::new("memory.root", ntuple(0..10)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one_cluster.root");
    let size = written(&RootFile::open(source).unwrap(), &path);
    let file = RootFile::open(nyssa_io::open(&path).unwrap()).unwrap();
    let report = search(&file, Duration::from_nanos(1), &["zstd"]);
    let sample = report.samples.first().unwrap();
    assert!(sample.entries * 5 < report.entries, "{sample:?}");
    let expected = report.expected_by_default;
    assert_eq!(expected.clusters, 1);
    let difference = expected.bytes.abs_diff(size);
    assert!(difference * 100 < size, "{expected:?} {size}");
    assert!(difference < 2 * expected.bytes_error, "{expected:?} {size}");
}

fn written(file: &RootFile, output: &Path) -> u64 {
    let mut options = RewriteOptions::default();
    (options.output.no_carry, options.output.reproducible) = (true, true);
    rewrite(file, "Events", output, &options, &context()).unwrap().written.output_bytes
}
