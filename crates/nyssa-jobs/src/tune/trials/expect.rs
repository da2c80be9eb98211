//! Extrapolates from a trial of a sample to the whole dataset.

use serde::{Deserialize, Serialize};

use super::candidate::Candidate;
use super::measured::{Measured, Times};
use super::memory::needed;
use super::pages::{PageCosts, extrapolate};
use super::reading::Reading;
use super::sample::Population;
use super::trial::Subject;
use crate::heuristics::tune;

/// The expectation for the whole dataset. Times apply to this machine, with its number of threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// The bytes of a file with the RNTuple, and without other objects.
    pub bytes: u64,
    /// The standard error of the bytes: from the differences between the places of the sample, and from the
    /// additional cost of the sample's pages compared with larger pages. 0 if all entries were written.
    pub bytes_error: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The wall-clock time in seconds to convert or rewrite, including the reading of the input.
    pub write_seconds: f64,
    /// The CPU time in seconds to convert or rewrite, including the reading of the input.
    pub write_cpu_seconds: f64,
    /// The time in seconds to read the selected columns, including the time of the link.
    pub read_seconds: f64,
    /// The maximum resident memory in bytes of the process that converts or rewrites, with its number of threads.
    pub memory: u64,
    /// The maximum memory in bytes of a writer that is filled with these columns.
    pub writer_memory: u64,
}

/// The costs of a file apart from its entries, and of reading the input.
#[derive(Clone, Debug, Default)]
pub(super) struct Overhead {
    /// The bytes of a file without entries.
    pub file: u64,
    /// The bytes of one more page of each column, for equal entries.
    pub pages: PageCosts,
    /// The time to write and to read a file without entries.
    pub times: Times,
    /// The time of one more cluster, for equal entries: each column has one more page there.
    pub cluster: Times,
    /// The time to read, if a large cluster was read.
    pub reading: Option<Reading>,
    /// The time to decompress the whole input, which trials do not need, with `threads` threads.
    pub unpacking: Times,
    pub threads: usize,
}

/// Returns the expectation for the whole dataset.
pub(super) fn expect(
    measured: &Measured,
    candidate: &Candidate,
    all: &Population,
    overhead: &Overhead,
    subject: &Subject<'_>,
) -> Expected {
    let entries = measured.total_entries();
    let (bytes, error, clusters) = match measured.entries[..] {
        [all_entries] if all_entries == all.entries => {
            (measured.file_bytes as f64, 0.0, measured.clusters)
        }
        _ => {
            let extrapolated =
                extrapolate(measured, &overhead.pages, candidate, all.entries, overhead.file);
            let spread = spread(measured, all.entries);
            let unseen = 1.0 - entries as f64 / (all.entries as f64).max(1.0);
            let model = (tune::UNSURE * extrapolated.corrected)
                .hypot(tune::MODEL * unseen * extrapolated.bytes);
            let error = spread.hypot(model);
            let more = measured.growth.map_or(0.0, |growth| growth.bytes * all.entries as f64);
            (
                overhead.file as f64 + (extrapolated.bytes + more).max(0.0),
                error,
                extrapolated.clusters,
            )
        }
    };
    let total = all.entries as f64;
    let read_bytes = (measured.read_bytes as f64 * total / (entries as f64).max(1.0)) as u64;
    // Each file of a trial is one cluster, except where clusters are small.
    let seen_clusters = measured.clusters as f64 / (measured.entries.len() as f64).max(1.0);
    let time = |seconds: f64,
                [fixed, of_cluster]: [f64; 2],
                (count, files): (u64, u64),
                unpacking: f64| {
        let known = files as f64 * (fixed + seen_clusters * of_cluster);
        // The known costs are measured, too, and may have taken longer by chance.
        let entries = (seconds - known).max(seconds / 4.0) / (count as f64).max(1.0);
        let all = count == all.entries && files == 1;
        if all {
            return seconds + unpacking;
        }
        fixed + clusters as f64 * of_cluster + total * entries + unpacking
    };
    let to_write = |seconds: f64, [fixed, of_cluster]: [f64; 2], unpacking: f64| {
        let (count, files) = measured.timed;
        match measured.growth.and_then(|growth| growth.time) {
            // This already includes pages of another size, so clusters do not count again.
            Some(growth) => {
                let own = time(seconds, [fixed, 0.0], (count, files), 0.0) - fixed;
                fixed + own * growth + unpacking
            }
            None => time(seconds, [fixed, of_cluster], (count, files), unpacking),
        }
    };
    let Overhead { times: fixed, cluster, unpacking, .. } = overhead;
    let threads = overhead.threads as f64 / subject.context.threads() as f64;
    let Times { write, cpu, .. } = measured.times;
    let reading = overhead.reading.as_ref();
    let read_seconds =
        reading.and_then(|reading| reading.expect(measured, (all.entries, clusters)));
    let read_seconds = read_seconds.unwrap_or_else(|| {
        let timed = (entries, measured.entries.len() as u64);
        time(measured.times.read, [fixed.read, cluster.read], timed, 0.0)
    });
    Expected {
        bytes: bytes as u64,
        bytes_error: error as u64,
        clusters,
        write_seconds: to_write(write, [fixed.write, cluster.write], unpacking.write * threads),
        write_cpu_seconds: to_write(cpu, [fixed.cpu, cluster.cpu], unpacking.cpu),
        read_seconds: read_seconds + subject.link_seconds(clusters, read_bytes),
        memory: subject.memory + needed(measured, candidate, (all.entries, clusters), subject),
        writer_memory: measured.writer_memory,
    }
}

/// Returns the standard error of the bytes of the whole dataset, from the parts of the sample.
fn spread(measured: &Measured, total: u64) -> f64 {
    let (entries, total) = (measured.total_entries() as f64, total as f64);
    let rate = |&(entries, bytes): &(u64, u64)| bytes as f64 / (entries as f64).max(1.0);
    let rates: Vec<f64> = measured.parts.iter().map(rate).collect();
    let unseen = (1.0 - entries / total.max(1.0)).max(0.0);
    deviation(&rates) / (rates.len() as f64).max(1.0).sqrt() * total * unseen.sqrt()
}

/// Returns the standard deviation of some numbers, which are a sample.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    if values.len() < 2 {
        return 0.0;
    }
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt()
}
