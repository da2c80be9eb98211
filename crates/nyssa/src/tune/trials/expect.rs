//! Says from a trial of a sample what the whole dataset would take.

use serde::Serialize;

use super::candidate::Candidate;
use super::sample::Population;
use super::trial::{Measured, Subject};

/// What is expected for the whole dataset. Times are those of this machine, with its number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Expected {
    /// The bytes of a file with the RNTuple, and without other objects.
    pub bytes: u64,
    /// The standard error of the bytes: from how much the places of the sample differ. 0 if all entries were written.
    pub bytes_error: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The wall-clock time in seconds to convert or rewrite, with reading of the input.
    pub write_seconds: f64,
    /// The CPU time in seconds of the same.
    pub write_cpu_seconds: f64,
    /// The time in seconds to read the columns that count, with that of the link.
    pub read_seconds: f64,
    /// The most memory in bytes that a writer of these columns takes.
    pub memory: u64,
}

/// What a file takes apart from its entries.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overhead {
    /// The bytes of a file without entries.
    pub file: u64,
    /// The bytes that one more cluster takes, for the same entries.
    pub cluster: f64,
}

/// Returns what the whole dataset would take.
pub(super) fn expect(
    measured: &Measured,
    candidate: &Candidate,
    all: &Population,
    overhead: &Overhead,
    subject: &Subject<'_>,
) -> Expected {
    let entries = measured.total_entries();
    let scale = all.entries as f64 / (entries as f64).max(1.0);
    let (bytes, error, clusters) = match measured.bytes[..] {
        [bytes] if entries == all.entries => (bytes as f64, 0.0, measured.clusters),
        _ => extrapolate(measured, candidate, all, overhead),
    };
    let read_bytes = (measured.read_bytes as f64 * scale) as u64;
    Expected {
        bytes: bytes as u64,
        bytes_error: error as u64,
        clusters,
        write_seconds: measured.write_seconds * scale,
        write_cpu_seconds: measured.write_cpu_seconds * scale,
        read_seconds: measured.read_seconds * scale + subject.link_seconds(clusters, read_bytes),
        memory: measured.memory,
    }
}

/// Returns the bytes, their standard error, and the number of clusters.
fn extrapolate(
    measured: &Measured,
    candidate: &Candidate,
    all: &Population,
    overhead: &Overhead,
) -> (f64, f64, u64) {
    let (entries, total) = (measured.total_entries() as f64, all.entries as f64);
    let file = overhead.file as f64;
    let data: Vec<f64> =
        measured.bytes.iter().map(|&bytes| (bytes as f64 - file).max(0.0)).collect();
    // The clusters of a sample are smaller than those of the whole dataset, and take more bytes for an entry.
    let cut = measured.clusters as f64 * overhead.cluster;
    let each = (data.iter().sum::<f64>() - cut).max(0.0) / entries.max(1.0);
    let clusters = ((each * total) / candidate.cluster_size as f64).ceil().max(1.0);
    let bytes = file + each * total + clusters * overhead.cluster;
    let rates: Vec<f64> = data
        .iter()
        .zip(&measured.entries)
        .map(|(bytes, &entries)| bytes / (entries as f64).max(1.0))
        .collect();
    let unseen = (1.0 - entries / total.max(1.0)).max(0.0);
    let spread = deviation(&rates) / (rates.len() as f64).sqrt() * total * unseen.sqrt();
    // Half of what is corrected counts as not known.
    let corrected =
        overhead.cluster * (measured.clusters as f64 * total / entries.max(1.0) - clusters);
    (bytes, spread.hypot(corrected / 4.0), clusters as u64)
}

/// Returns the standard deviation of some numbers, of which these are a sample.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt()
}
