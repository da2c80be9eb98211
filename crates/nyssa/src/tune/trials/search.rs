//! Searches for the best options: codecs and encodings first, then the size of clusters, then that of pages.

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nyssa_io::ScratchFolder;

use super::baskets::baskets;
use super::candidate::{CLUSTERS, Candidate, PAGES};
use super::expect::{Expected, Overhead, expect};
use super::options::{Objective, TuneOptions};
use super::reason::reasons;
use super::report::{TriedSettings, TuneReport, TunedSample};
use super::sample::{Population, count, halves};
use super::score::{best, pareto};
use super::trial::{Measured, Subject};
use super::tried::Tried;
use crate::Context;
use crate::dataset::check_patterns;
use crate::error::{Error, Result, ResultExt};
use crate::open::{Opened, find_dataset, path_of};
use crate::rntuple::choose::Chooser;
use crate::rntuple::write::profile::{Profile, StatedOptions};
use crate::rootfile::RootFile;
use crate::tune::inspect::inspect;

/// The fewest stored bytes of the input that a sample has.
const LEAST_BYTES: f64 = 1e6;
/// The part of the dataset that all candidates are tried on, at most.
const FIRST_SHARE: f64 = 1.0 / 16.0;
/// The part of the budget that the first trials of all candidates take.
const FIRST_TIME: f64 = 0.3;
/// How much larger the second sample is.
const SECOND: u64 = 4;
/// The number of codecs and encodings that are tried on the second sample.
const KEPT: usize = 4;
/// The part of the budget in which options are searched. The rest is for the last sample.
const SEARCH_TIME: f64 = 0.6;
/// The part of the rest of the budget that the last trials take.
const LAST_TIME: f64 = 0.7;
/// The part of the budget that looking at baskets may take.
const BASKETS_TIME: f64 = 0.1;

/// Finds the options that store the dataset at `path` of `file` best. Without a path, the file has only one dataset.
///
/// # Errors
/// `NotFound` for the dataset, and for globs of columns that match nothing; `InvalidArgument` for options; `Cancelled`;
/// the errors of [`crate::convert`] and [`crate::rewrite`].
pub fn tune(
    file: &RootFile,
    path: Option<&str>,
    options: &TuneOptions,
    context: &Context,
) -> Result<TuneReport> {
    let start = Instant::now();
    options.validate()?;
    let key = find_dataset(file, path)?;
    let path = path_of(file, &key);
    let opened = Opened::of_key(file, &key)?;
    let dataset = opened.dataset();
    let names: Vec<&str> = dataset.columns().iter().map(|column| column.name.as_str()).collect();
    check_patterns(&options.columns, &names).in_file(file.name())?;
    if dataset.num_entries() == 0 {
        let message = "there are no entries, so there is nothing to measure";
        return Err(Error::invalid_argument(message)).in_file(file.name()).in_object(&path);
    }
    let inspection = inspect(&opened)?;
    let all = Population {
        clusters: dataset.clusters(),
        entries: inspection.entries,
        bytes: inspection.stored_bytes.max(1),
    };
    let subject = Subject {
        file,
        path: path.clone(),
        format: dataset.format(),
        columns: &options.columns,
        link: options.link,
        folder: ScratchFolder::new()?,
        context: context.quiet(),
    };
    let mut search = Search {
        subject,
        all,
        objective: options.objective,
        deadline: start + options.budget.mul_f64(SEARCH_TIME),
        budget: options.budget,
        start,
        overhead: Overhead::default(),
        profiles: 0,
        samples: Vec::new(),
        notes: Vec::new(),
        context,
    };
    let found = search.run(options)?;
    let mut report = found.report(&search)?;
    report.input = file.name().to_owned();
    report.dataset = path;
    report.format = inspection.format;
    report.entries = inspection.entries;
    report.input_bytes = inspection.stored_bytes;
    report.baskets = match &opened {
        Opened::Tree(reader) => {
            Some(baskets(reader, &inspection, options.budget.mul_f64(BASKETS_TIME), context)?)
        }
        Opened::NTuple(_) => None,
    };
    report.threads = context.threads();
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

/// A search that is running.
struct Search<'a> {
    subject: Subject<'a>,
    all: Population,
    objective: Objective,
    budget: Duration,
    /// The time at which no further options are tried.
    deadline: Instant,
    start: Instant,
    overhead: Overhead,
    /// The number of profiles that trials have made.
    profiles: u32,
    samples: Vec<TunedSample>,
    notes: Vec<String>,
    context: &'a Context,
}

/// What a search has found.
struct Found {
    /// The trials of the second sample.
    tried: Vec<Tried>,
    /// The recommended options, on the second sample.
    chosen: Tried,
    /// The same on the last sample.
    expected: Expected,
    by_default: Expected,
    profile: Option<PathBuf>,
}

impl Search<'_> {
    fn run(&mut self, options: &TuneOptions) -> Result<Found> {
        let default = Candidate::default();
        let empty = self.subject.trial(&default, std::slice::from_ref(&(0..0)), None)?;
        self.overhead.file = empty.bytes.first().copied().unwrap_or(0);
        let candidates = Candidate::codecs(&options.compression);
        let first = self.first_sample(&candidates)?;
        let mut tried = self.try_all("codecs and encodings", &candidates, &first)?;
        let mut second = self.all.spread(count(&first).saturating_mul(SECOND));
        if second != first {
            let kept = self.kept(&tried);
            let again = self.try_all("the best of them", &kept, &second)?;
            // Trials of different samples do not compare, so a sample counts only if all were tried on it.
            if again.len() == kept.len() {
                tried = again;
            } else {
                second = first;
            }
        }
        if count(&second) < self.all.entries {
            self.measure_cut(&second, &mut tried)?;
        }
        self.try_sizes(&second, &mut tried)?;
        let chosen = self.best(&tried)?;
        self.last_sample(tried, chosen, second)
    }

    /// Returns the sample that all candidates are tried on. It is as large as the budget allows.
    fn first_sample(&mut self, candidates: &[Candidate]) -> Result<Vec<Range<u64>>> {
        let least = self.all.spread(self.all.entries_of(LEAST_BYTES));
        let begun = Instant::now();
        self.subject.trial(&Candidate::default(), &least, None)?;
        let rate = begun.elapsed().as_secs_f64() / self.all.bytes_of(count(&least)).max(1.0);
        let price: f64 = candidates.iter().map(Candidate::price).sum();
        let affordable = self.budget.as_secs_f64() * FIRST_TIME / (price * rate).max(1e-12);
        let wanted = affordable.min(self.all.bytes as f64 * FIRST_SHARE).max(LEAST_BYTES);
        Ok(self.all.spread(self.all.entries_of(wanted)))
    }

    /// Tries candidates until the budget is used up, and at least the first one.
    fn try_all(
        &mut self,
        stage: &'static str,
        candidates: &[Candidate],
        ranges: &[Range<u64>],
    ) -> Result<Vec<Tried>> {
        let mut tried = Vec::new();
        for candidate in candidates {
            if !tried.is_empty() && Instant::now() > self.deadline {
                let left = candidates.len() - tried.len();
                self.notes.push(format!(
                    "{left} of {} trials were left out ({stage}): the budget was used up",
                    candidates.len()
                ));
                break;
            }
            tried.push(self.attempt(candidate, ranges)?);
        }
        self.sampled(stage, ranges, tried.len());
        Ok(tried)
    }

    fn sampled(&mut self, stage: &'static str, ranges: &[Range<u64>], trials: usize) {
        let (entries, ranges, trials) = (count(ranges), ranges.len() as u64, trials as u64);
        self.samples.push(TunedSample { stage, ranges, entries, trials });
    }

    fn attempt(&mut self, candidate: &Candidate, ranges: &[Range<u64>]) -> Result<Tried> {
        let profile = self.profile(candidate);
        let measured = self.subject.trial(candidate, ranges, profile.as_deref())?;
        let spent = self.start.elapsed().as_millis() as u64;
        let budget = self.budget.as_millis() as u64;
        self.context.report(spent.min(budget), budget);
        Ok(self.tried(*candidate, measured, profile))
    }

    /// Returns the name of a new profile, if samples choose something for the candidate.
    fn profile(&mut self, candidate: &Candidate) -> Option<PathBuf> {
        Chooser::of(candidate.compression, candidate.effort, candidate.encoding)?;
        self.profiles += 1;
        Some(self.subject.folder.file(&format!("{}.toml", self.profiles)))
    }

    fn tried(&self, candidate: Candidate, measured: Measured, profile: Option<PathBuf>) -> Tried {
        let expected = expect(&measured, &candidate, &self.all, &self.overhead, &self.subject);
        Tried { candidate, measured, expected, profile }
    }

    /// Returns a trial with what is expected now that the cost of a cluster is known.
    fn again(&self, tried: Tried) -> Tried {
        let Tried { candidate, measured, profile, .. } = tried;
        self.tried(candidate, measured, profile)
    }

    /// Returns the default options, and the best candidates.
    fn kept(&self, tried: &[Tried]) -> Vec<Candidate> {
        let mut kept = vec![Candidate::default()];
        let mut left: Vec<&Tried> = tried.iter().collect();
        while kept.len() <= KEPT {
            let expected: Vec<&Expected> = left.iter().map(|one| &one.expected).collect();
            let Some(index) = best(self.objective, &expected) else { break };
            let candidate = left.remove(index).candidate;
            if candidate != Candidate::default() {
                kept.push(candidate);
            }
        }
        kept
    }

    fn best(&self, tried: &[Tried]) -> Result<Tried> {
        let expected: Vec<&Expected> = tried.iter().map(|one| &one.expected).collect();
        let index = best(self.objective, &expected);
        let chosen = index.and_then(|index| tried.get(index)).cloned();
        chosen.ok_or_else(|| Error::invalid_argument("there is nothing to try"))
    }

    /// Measures how many bytes one more cluster takes: the same entries are written in halves.
    fn measure_cut(&mut self, ranges: &[Range<u64>], tried: &mut [Tried]) -> Result<()> {
        let chosen = self.best(tried)?;
        let halves = halves(ranges);
        if halves.len() == ranges.len() {
            return Ok(());
        }
        let Tried { measured: cut, .. } = self.attempt(&chosen.candidate, &halves)?;
        let more = cut.clusters.saturating_sub(chosen.measured.clusters);
        let data = |one: &Measured| {
            one.bytes.iter().map(|bytes| bytes.saturating_sub(self.overhead.file)).sum::<u64>()
        };
        let bytes = data(&cut).saturating_sub(data(&chosen.measured));
        self.overhead.cluster = bytes as f64 / (more as f64).max(1.0);
        for one in tried {
            *one = self.again(one.clone());
        }
        self.sampled("the cost of a cluster", &halves, 1);
        Ok(())
    }

    /// Tries other sizes of clusters, and then other sizes of pages with the best of them.
    fn try_sizes(&mut self, ranges: &[Range<u64>], tried: &mut Vec<Tried>) -> Result<()> {
        let mut trials = 0;
        for is_page in [false, true] {
            let best = self.best(tried)?;
            let sizes: &[u64] = if is_page { &PAGES } else { &CLUSTERS };
            for &size in sizes {
                let mut candidate = best.candidate;
                let (now, changes_nothing) = if is_page {
                    let now = std::mem::replace(&mut candidate.page_size, size);
                    (now, size.min(now) >= best.measured.largest_column)
                } else {
                    let now = std::mem::replace(&mut candidate.cluster_size, size);
                    let largest = best.measured.bytes.iter().copied().max().unwrap_or(0);
                    (now, size.min(now) >= largest)
                };
                if size == now {
                    continue;
                }
                if changes_nothing {
                    let mut measured = best.measured.clone();
                    measured.memory = self.subject.memory(&candidate, &measured)?;
                    tried.push(self.tried(candidate, measured, best.profile.clone()));
                } else if Instant::now() < self.deadline {
                    tried.push(self.attempt(&candidate, ranges)?);
                    trials += 1;
                } else {
                    self.notes.push(format!(
                        "{}: {size} bytes were not tried: the budget was used up",
                        if is_page { "page_size" } else { "cluster_size" }
                    ));
                }
            }
        }
        self.sampled("sizes of clusters and pages", ranges, trials);
        Ok(())
    }

    /// Measures the recommended and the default options on a sample that takes the rest of the budget.
    fn last_sample(
        &mut self,
        tried: Vec<Tried>,
        chosen: Tried,
        second: Vec<Range<u64>>,
    ) -> Result<Found> {
        let default = tried.first().cloned().unwrap_or_else(|| chosen.clone());
        let is_default = chosen.candidate == default.candidate;
        let seconds = |one: &Tried| one.measured.write_seconds + one.measured.read_seconds;
        // The halves, which tell what a cluster costs, take the time of the recommended options once more.
        let both = 2.0 * seconds(&chosen) + if is_default { 0.0 } else { seconds(&default) };
        let left = self.budget.saturating_sub(self.start.elapsed()).as_secs_f64();
        let more = (left * LAST_TIME / both.max(1e-9)).max(1.0);
        let entries = (count(&second) as f64 * more).min(self.all.entries as f64) as u64;
        let ranges = self.all.spread(entries.max(1));
        let mut last = vec![chosen.clone(), default];
        if ranges != second {
            last = vec![self.attempt(&chosen.candidate, &ranges)?];
            if !is_default {
                last.push(self.attempt(&Candidate::default(), &ranges)?);
            }
            self.sampled("the recommended and the default options", &ranges, last.len());
            if count(&ranges) < self.all.entries {
                self.measure_cut(&ranges, &mut last[..1])?;
                last = last.into_iter().map(|one| self.again(one)).collect();
            }
        }
        let profile = last.first().and_then(|one| one.profile.clone());
        let expected = last.first().map(|one| one.expected.clone()).unwrap_or_default();
        let by_default = last.last().map(|one| one.expected.clone()).unwrap_or_default();
        Ok(Found { tried, chosen, expected, by_default, profile })
    }
}

impl Found {
    fn report(self, search: &Search<'_>) -> Result<TuneReport> {
        let Self { tried, chosen, expected, by_default, profile } = self;
        let all: Vec<&Expected> = tried.iter().map(|one| &one.expected).collect();
        let trials = tried.iter().zip(pareto(&all)).map(|(one, pareto)| TriedSettings {
            settings: one.candidate.settings(),
            expected: one.expected.clone(),
            pareto,
            recommended: one.candidate == chosen.candidate,
        });
        let mut trials: Vec<TriedSettings> = trials.collect();
        trials.sort_by_key(|one| one.expected.bytes);
        let Candidate { compression, effort, encoding, cluster_size, page_size } = chosen.candidate;
        let stated = StatedOptions {
            compression,
            effort: Some(effort),
            encoding: Some(encoding),
            cluster_size: Some(cluster_size),
            page_size: Some(page_size),
        };
        let profile = profile.unwrap_or_else(|| search.subject.folder.file("none.toml"));
        let choices = Profile::open(&profile.display().to_string(), compression)?;
        Ok(TuneReport {
            objective: search.objective.to_string(),
            recommended: chosen.candidate.settings(),
            expected,
            expected_by_default: by_default,
            reasons: reasons(search.objective, &chosen, &tried),
            trials,
            samples: search.samples.clone(),
            notes: search.notes.clone(),
            profile: choices.with_options(&stated)?,
            ..TuneReport::default()
        })
    }
}
