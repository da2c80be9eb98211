//! Writes some entries of a dataset with a candidate, reads them back, and measures both.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nyssa_data::dataset::{Format, select_columns};
use nyssa_io::ScratchFolder;
use nyssa_observe::{MemorySampler, resident_bytes};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::estimate;
use nyssa_root::Context;
use nyssa_root::arena::release_memory;
use nyssa_root::error::Result;
use nyssa_root::process::UsageAtStart;
use nyssa_root::rootfile::RootFile;

use super::candidate::Candidate;
use super::copies::Copies;
use super::measured::{JobMemory, Measured, StoredColumn};
use super::options::Link;
use crate::convert::{InputOptions, Skipped, ToRNTuple, convert};
use crate::heuristics::tune;
use crate::job::{Reencoded, Written};
use crate::open::open_dataset;
use crate::rewrite::{RewriteOptions, rewrite};
use crate::tune::inspect::inspect_ntuple;

/// The dataset that trials write again.
pub(super) struct Subject<'a> {
    pub file: RootFile,
    /// The path of the dataset in the file.
    pub path: String,
    pub format: Format,
    pub entries: u64,
    /// Whether it has objects of classes or containers, which may become streamer fields.
    pub has_objects: bool,
    /// The globs of the columns that are read back.
    pub columns: &'a [String],
    pub link: Option<Link>,
    pub folder: ScratchFolder,
    pub copies: Copies,
    /// The resident memory of the process in bytes when the search began.
    pub memory: u64,
    pub context: Context,
}

impl Subject<'_> {
    /// Writes and reads `ranges`. With the name of a profile, it defines how columns are stored; it is made if it
    /// does not exist.
    ///
    /// # Errors
    /// `Cancelled`; an error if the conversion or rewrite fails, or the output cannot be read.
    pub(super) fn trial(
        &self,
        candidate: &Candidate,
        ranges: &[Range<u64>],
        profile: Option<&Path>,
    ) -> Result<Measured> {
        let mut measured = Measured::default();
        for range in ranges {
            let output = self.write(candidate, (range, &[]), profile, &mut measured)?;
            self.read(&output, &mut measured)?;
        }
        measured.writer_memory = self.writer_memory(candidate, &measured)?;
        Ok(measured)
    }

    /// Writes some fields of `ranges`, and does not read them.
    ///
    /// # Errors
    /// `Cancelled`; an error if the conversion or rewrite fails.
    pub(super) fn trial_of_fields(
        &self,
        candidate: &Candidate,
        ranges: &[Range<u64>],
        profile: Option<&Path>,
        include: &[String],
    ) -> Result<Measured> {
        let mut measured = Measured::default();
        for range in ranges {
            self.write(candidate, (range, include), profile, &mut measured)?;
        }
        Ok(measured)
    }

    /// Writes a range to a file, and returns its path.
    fn write(
        &self,
        candidate: &Candidate,
        (range, include): (&Range<u64>, &[String]),
        profile: Option<&Path>,
        measured: &mut Measured,
    ) -> Result<PathBuf> {
        self.context.check()?;
        let output = self.folder.file("trial.root");
        let input = self.input(range, include)?;
        let chooses = match profile {
            Some(path) => nyssa_io::kind(path)?.is_none(),
            None => false,
        };
        let (written, taken) =
            with_memory(|| self.run(candidate, input, profile, (&output, include)));
        let (written, reencoded, skipped) = written?;
        measured.skipped = skipped;
        let entries = range.end - range.start;
        let clusters = written.clusters;
        let taken = taken.map(|bytes| JobMemory { bytes, entries, clusters });
        measured.job_memory = taken.max(measured.job_memory);
        measured.entries.push(entries);
        measured.file_bytes += written.output_bytes;
        measured.clusters += written.clusters;
        if measured.has_chosen && !chooses {
            // The other ranges show the time to write without samples.
            (measured.timed, measured.has_chosen) = ((0, 0), false);
            (measured.times.write, measured.times.cpu) = (0.0, 0.0);
        }
        measured.has_chosen |= chooses;
        measured.timed.0 += entries;
        measured.timed.1 += 1;
        measured.times.write += written.process.seconds;
        measured.times.cpu += written.process.cpu_or_wall_seconds();
        let columns = reencoded.columns.iter().map(|column| column.uncompressed_bytes);
        let largest = columns.max().unwrap_or(0).div_ceil(written.clusters.max(1));
        measured.largest_column = measured.largest_column.max(largest);
        inspect_output(&output, measured)?;
        Ok(output)
    }

    /// Returns the file that a trial of `range` reads, and the entries that it writes. If fields are named, the file
    /// may contain only these fields.
    ///
    /// # Errors
    /// `Cancelled`; an error if a part of an RNTuple cannot be copied.
    pub(super) fn input(
        &self,
        range: &Range<u64>,
        include: &[String],
    ) -> Result<(RootFile, Range<u64>)> {
        let entries = range.end - range.start;
        if self.format == Format::TTree || entries == self.entries {
            return Ok((self.file.clone(), range.clone()));
        }
        let ntuple = (&self.file, &*self.path);
        let copy = self.copies.of(ntuple, (range, include), &self.folder, &self.context)?;
        Ok((copy, 0..entries))
    }

    /// Returns the maximum memory in bytes of a writer of the columns.
    ///
    /// # Errors
    /// `InvalidArgument` for impossible options; `LimitExceeded` when there is not enough memory.
    pub(super) fn writer_memory(&self, candidate: &Candidate, measured: &Measured) -> Result<u64> {
        let Some(schema) = &measured.schema else { return Ok(0) };
        let options = candidate.write_options();
        Ok(estimate(schema, &options, None, self.context.threads())?.total)
    }

    /// Converts or rewrites entries of a file. Also returns the branches that were left out.
    fn run(
        &self,
        candidate: &Candidate,
        (file, range): (RootFile, Range<u64>),
        profile: Option<&Path>,
        (output, include): (&Path, &[String]),
    ) -> Result<(Written, Reencoded, Vec<Skipped>)> {
        let profile = profile.map(|path| path.display().to_string());
        let (mut shared, storage) = candidate.job_options(profile);
        shared.force = true;
        let (path, context, entries) = (&self.path, &self.context, Some(range.into()));
        Ok(match self.format {
            Format::TTree => {
                let options = ToRNTuple {
                    input: InputOptions {
                        include: include.to_vec(),
                        entries,
                        skip_unsupported: true,
                        ..InputOptions::default()
                    },
                    output: shared,
                    storage,
                    streamer: candidate.streamer.iter().map(ToString::to_string).collect(),
                    ..ToRNTuple::default()
                };
                let report = convert(&file, path, output, &options, context)?;
                (report.written, report.reencoded, report.skipped)
            }
            _ => {
                let include = include.to_vec();
                let options = RewriteOptions {
                    output: shared,
                    storage,
                    include,
                    entries,
                    ..RewriteOptions::default()
                };
                let report = rewrite(&file, path, output, &options, context)?;
                (report.written, report.reencoded, Vec::new())
            }
        })
    }

    /// Reads the output cluster by cluster, several times.
    fn read(&self, output: &Path, measured: &mut Measured) -> Result<()> {
        let [least, most] = tune::READS;
        let (_, bytes) = self.read_once(output)?;
        let (mut shortest, mut all) = (f64::INFINITY, 0.0);
        for count in 0..most {
            if count >= least && all > tune::READ_SECONDS {
                break;
            }
            let (seconds, _) = self.read_once(output)?;
            (shortest, all) = (shortest.min(seconds), all + seconds);
        }
        measured.times.read += shortest;
        measured.read_bytes += bytes;
        Ok(())
    }

    /// Opens and reads the output. Returns the seconds and the bytes of this.
    fn read_once(&self, output: &Path) -> Result<(f64, u64)> {
        let source = nyssa_io::open(output)?;
        let begun = (Instant::now(), UsageAtStart::now());
        let written = RootFile::open(source)?;
        let dataset = open_dataset(&written, None)?;
        let columns = select_columns(&*dataset, self.columns)?;
        let names: Vec<&str> = columns
            .iter()
            .filter(|column| column.field.is_ok())
            .map(|column| column.name.as_str())
            .collect();
        let clusters = dataset.clusters();
        for cluster in &clusters {
            self.context.check()?;
            dataset.read(&names, cluster.clone(), &self.context)?;
        }
        Ok((begun.0.elapsed().as_secs_f64(), begun.1.usage(0, 1).read_bytes))
    }

    /// Returns the seconds to fetch this number of bytes and clusters over the link.
    pub(super) fn link_seconds(&self, clusters: u64, bytes: u64) -> f64 {
        let Some(link) = self.link else { return 0.0 };
        let of_cluster = (bytes / clusters.max(1)).div_ceil(tune::REQUEST_BYTES).max(1);
        link.seconds(tune::OPEN_REQUESTS + clusters * of_cluster, bytes)
    }
}

/// Adds the properties of the file of a trial.
fn inspect_output(output: &Path, measured: &mut Measured) -> Result<()> {
    let file = RootFile::open(nyssa_io::open(output)?)?;
    let dataset = open_dataset(&file, None)?;
    if measured.schema.is_none() {
        measured.schema = Reader::shown_by(dataset.as_ref()).map(|it| it.schema().clone());
    }
    let inspection = inspect_ntuple(&Reader::open(&file, dataset.name())?)?;
    measured.columns.resize(inspection.columns.len(), StoredColumn::default());
    for (sum, column) in measured.columns.iter_mut().zip(&inspection.columns) {
        sum.pages += column.part.pages;
        sum.elements += column.part.elements;
        sum.uncompressed += column.part.uncompressed_bytes;
        sum.stored += column.part.stored_bytes;
    }
    measured.parts.push((dataset.num_entries(), inspection.stored_bytes));
    Ok(())
}

/// Calls `work`, and returns the maximum resident bytes of the process meanwhile, in addition to the resident bytes
/// before. They are `None` if the system does not report them.
fn with_memory<T>(work: impl FnOnce() -> T) -> (T, Option<u64>) {
    // Memory that was freed before would hide the memory of the work.
    release_memory();
    let before = resident_bytes();
    let sampler = MemorySampler::start(Instant::now());
    let done = work();
    let samples = sampler.map(MemorySampler::finish).unwrap_or_default();
    let peak = samples.into_iter().map(|(_, bytes)| bytes).max();
    (done, peak.zip(before).map(|(peak, before)| peak.saturating_sub(before)))
}
