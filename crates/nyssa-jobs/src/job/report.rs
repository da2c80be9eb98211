//! Defines the common parts of the reports of several jobs.

use std::time::Instant;

use nyssa_rntuple::choose::ColumnReport;
use nyssa_rntuple::write;
use nyssa_root::Context;
use nyssa_ttree::write::TreeReport;
use serde::Serialize;

use super::run::Finished;
pub use nyssa_root::process::ProcessUsage;
use nyssa_root::rootfile::RootFile;

/// The facts that every job reports about its output.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Written {
    /// The name of the output file.
    pub output: String,
    /// The path of the RNTuple in it; or in the input, if a TTree was written.
    pub ntuple: String,
    /// The number of entries that were written.
    pub entries: u64,
    /// The number of clusters that were written.
    pub clusters: u64,
    /// The number of bytes of the output file.
    pub output_bytes: u64,
    /// The wall-clock time in seconds. `convert` and `rewrite` do not count the verification.
    pub seconds: f64,
    /// The number of megabytes (10⁶ bytes) of the input that were processed per second.
    pub megabytes_per_second: f64,
    /// The largest resident set of the process until now in bytes, if the system reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_memory_bytes: Option<u64>,
    /// The memory limit of the job, in bytes.
    pub memory_bytes: u64,
    /// The minimum memory that the largest entry needs, in bytes, by the metadata of the input or the data. If it
    /// exceeds [`Written::memory_bytes`], a note states the reason. A warning has stated it before if the metadata
    /// allow.
    pub needed_memory_bytes: u64,
    /// The resources that the process used for the whole output file.
    pub process: ProcessUsage,
    /// Whether every value was read back from the inputs and the output, and is equal.
    pub verified: bool,
    /// Remarks for people: the parts that were left out or changed, and the reasons.
    pub notes: Vec<String>,
}

/// The facts that a job reports when it encodes the data of one input file again.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Reencoded {
    /// The name of the input file.
    pub input: String,
    /// The number of compressed bytes of the pages or baskets that were read.
    pub input_bytes: u64,
    /// The number of bytes of the written pages before compression.
    pub uncompressed_bytes: u64,
    /// The number of bytes of the written pages after compression.
    pub compressed_bytes: u64,
    /// The number of worker threads.
    pub threads: usize,
    /// The wall-clock time of verification in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_seconds: Option<f64>,
    /// The encoding and codec of each column of the output, with the reasons, in order of column ids.
    pub columns: Vec<ColumnReport>,
    /// The other objects of the input file that were copied to the output: path, cycle and class.
    pub carried: Vec<String>,
    /// The other objects of the input file that are not in the output, and the reasons.
    pub left_out: Vec<String>,
}

impl Written {
    /// Returns the report on an RNTuple that is complete. The job started at `start` and processed
    /// `input_bytes`.
    pub(crate) fn new(
        output: &str,
        ntuple: String,
        totals: &write::WriteReport,
        (input_bytes, start): (u64, Instant),
        notes: Vec<String>,
    ) -> Self {
        let seconds = start.elapsed().as_secs_f64();
        Self {
            output: output.to_owned(),
            ntuple,
            entries: totals.entries,
            clusters: totals.clusters,
            seconds,
            megabytes_per_second: input_bytes as f64 / 1e6 / seconds.max(1e-9),
            notes,
            ..Self::default()
        }
    }

    /// Adds the facts that are known only when the output file is complete.
    pub(crate) fn finish(&mut self, finished: &Finished) {
        self.output_bytes = finished.bytes;
        self.peak_memory_bytes = finished.peak_memory_bytes;
        self.process = finished.process.clone();
    }
}

/// Returns the totals of a TTree as the totals of an RNTuple are.
pub(crate) fn of_tree(written: &TreeReport) -> write::WriteReport {
    write::WriteReport {
        entries: written.entries,
        clusters: written.clusters,
        uncompressed_bytes: written.tot_bytes,
        compressed_bytes: written.zip_bytes,
        ..write::WriteReport::default()
    }
}

impl Reencoded {
    /// Makes the report on `input_bytes` of the file `input`.
    pub(crate) fn new(
        input: &str,
        input_bytes: u64,
        totals: &write::WriteReport,
        columns: Vec<ColumnReport>,
        context: &Context,
    ) -> Self {
        Self {
            input: input.to_owned(),
            input_bytes,
            uncompressed_bytes: totals.uncompressed_bytes,
            compressed_bytes: totals.compressed_bytes,
            threads: context.threads(),
            columns,
            ..Self::default()
        }
    }
}

/// Adds to both parts of a report the facts that are known only when the output file is complete.
pub(crate) fn finish(
    (written, reencoded): (&mut Written, &mut Reencoded),
    input: &RootFile,
    finished: &Finished,
) {
    written.finish(finished);
    written.notes.extend(input.not_closed().map(str::to_owned));
    reencoded.carried.clone_from(&finished.others.carried);
    reencoded.left_out = finished.others.left_out();
}

/// Adds to both parts of a report that all values were verified. Verification began at `start`.
pub(crate) fn verified((written, reencoded): (&mut Written, &mut Reencoded), start: Instant) {
    written.verified = true;
    reencoded.verify_seconds = Some(start.elapsed().as_secs_f64());
}
