//! Searches for the best options: first codecs and encodings, then the size of clusters, then the size of pages.

mod curves;
mod measuring;
mod result;

use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use nyssa_data::dataset::{Dataset, check_patterns};
use nyssa_io::ScratchFolder;
use nyssa_observe::resident_bytes;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::{Branch, Shape};

use self::result::SearchResult;
use super::baskets::baskets;
use super::budget::Budget;
use super::cached::with_cache;
use super::candidate::{Candidate, StreamerFields};
use super::copies::Copies;
use super::expect::{Expected, Overhead, expect};
use super::growth::{fields_of, guess};
use super::measured::Measured;
use super::options::{Objective, TuneOptions};
use super::report::{TuneReport, TunedSample};
use super::sample::{Population, count};
use super::score::best;
use super::trial::Subject;
use super::tried::Tried;
use crate::heuristics::tune;
use crate::open::{Opened, find_dataset, path_of};
use crate::tune::inspect::inspect;

/// Finds the options that store the dataset at `path` of `file` best. Without a path, the file has only one dataset.
///
/// # Errors
/// `NotFound` for the dataset, and for globs of columns that match nothing; `InvalidArgument` for options;
/// `Cancelled`; an error if a conversion or rewrite fails.
pub fn tune(
    file: &RootFile,
    path: Option<&str>,
    options: &TuneOptions,
    context: &Context,
) -> Result<TuneReport> {
    options.validate()?;
    let budget = Budget::new(options.budget);
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
        columns: inspection.columns.len().max(inspection.fields.len()) as u64,
    };
    let folder = ScratchFolder::new()?;
    let subject = Subject {
        file: file.clone(),
        path: path.clone(),
        format: dataset.format(),
        entries: inspection.entries,
        has_objects: has_objects(&opened),
        columns: &options.columns,
        link: options.link,
        folder,
        copies: Copies::default(),
        memory: resident_bytes().unwrap_or(0),
        context: context.quiet(),
    };
    let mut search = Search {
        plain: file.clone(),
        subject,
        all,
        fields: fields_of(&inspection, dataset),
        objective: options.objective,
        budget,
        rate: 0.0,
        overhead: Overhead { threads: context.threads(), ..Overhead::default() },
        large: None,
        profiles: 0,
        samples: Vec::new(),
        notes: Vec::new(),
        context,
    };
    let result = search.run(options).map_err(|error| {
        let explained = error.system().and_then(|system| search.subject.folder.explain(system));
        explained.map_or(error, Error::from)
    })?;
    let mut report = result.report(&search)?;
    report.input = file.name().to_owned();
    report.dataset = path;
    report.format = inspection.format.to_owned();
    report.entries = inspection.entries;
    report.input_bytes = inspection.stored_bytes;
    report.baskets = match &opened {
        Opened::Tree(reader) => {
            Some(baskets(reader, &inspection, options.budget.mul_f64(tune::BASKETS_TIME), context)?)
        }
        Opened::NTuple(_) | Opened::Table(_) => None,
    };
    report.threads = context.threads();
    report.seconds = search.budget.spent().as_secs_f64();
    Ok(report)
}

/// Returns whether a tree has branches of classes or containers.
fn has_objects(opened: &Opened) -> bool {
    let Opened::Tree(reader) = opened else { return false };
    let branches = reader.columns().iter().filter_map(|column| reader.branch(&column.name));
    let is_plain = |branch: &Branch| matches!(branch.shape, Ok(Shape::Plain(_) | Shape::LeafList));
    branches.into_iter().any(|branch| branch.split.is_some() || !is_plain(branch))
}

/// A search that is running.
struct Search<'a> {
    /// The input without changes.
    plain: RootFile,
    subject: Subject<'a>,
    all: Population,
    /// The fields or branches of the input with their bytes before compression.
    fields: Vec<(String, u64)>,
    objective: Objective,
    budget: Budget,
    /// The seconds of a trial of the default options for a stored byte of the input.
    rate: f64,
    overhead: Overhead,
    /// The default options on a number of neighbouring entries: the entries of a cluster, or fewer if the budget
    /// requires it.
    large: Option<Measured>,
    /// The number of profiles that trials have made.
    profiles: u32,
    samples: Vec<TunedSample>,
    notes: Vec<String>,
    context: &'a Context,
}

impl Search<'_> {
    fn run(&mut self, options: &TuneOptions) -> Result<SearchResult> {
        let default = Candidate::default();
        let empty = self.subject.trial(&default, std::slice::from_ref(&(0..0)), None)?;
        (self.overhead.file, self.overhead.times) = (empty.file_bytes, empty.times);
        let candidates = Candidate::codecs(&options.compression, self.subject.format);
        let first = self.first_sample(&candidates)?;
        let mut tried = self.try_all("codecs and encodings", &candidates, &first)?;
        let best = self.best_candidates(&tried);
        let threads_sample = first.clone();
        let mut second = self.second_sample(&first, &best);
        if second != first {
            self.fill(&second)?;
            let again = self.try_all("the best of them", &best, &second)?;
            // Trials of different samples cannot be compared, so a sample counts only if all candidates were tried on
            // it.
            if again.len() == best.len() {
                tried = again;
            } else {
                second = first;
            }
        }
        match tried.first().cloned() {
            Some(default) if count(&second) < self.all.entries => {
                self.measure_large(&default, &second)?;
                self.measure_cut(&second, &mut tried, &default)?;
            }
            _ => self.measure_unpacking(&second)?,
        }
        let mut tried: Vec<Tried> = tried.into_iter().map(|item| self.again(item)).collect();
        self.try_streamer(&second, &mut tried)?;
        let mut curves = self.try_sizes(&second, &mut tried)?;
        let chosen = self.best(&tried)?;
        curves.push(self.try_threads(&threads_sample, &chosen)?);
        let result = self.last_sample(tried, chosen, second)?;
        Ok(SearchResult { curves, ..result })
    }

    /// Returns the sample on which all candidates are tried. It is as large as the budget allows. From now on, trials
    /// read the decompressed input.
    fn first_sample(&mut self, candidates: &[Candidate]) -> Result<Vec<Range<u64>>> {
        let least = self.all.place_bytes() as f64;
        let ranges = self.all.spread(self.all.entries_of(least));
        let default = Candidate::default();
        self.subject.file = with_cache(&self.plain, &self.subject.folder)?;
        self.fill(&ranges)?;
        let begun = Instant::now();
        self.subject.trial(&default, &ranges, None)?;
        self.rate = begun.elapsed().as_secs_f64() / self.all.bytes_of(count(&ranges)).max(1.0);
        let price: f64 = candidates.iter().map(Candidate::price).sum();
        let total = self.budget.total().as_secs_f64();
        let affordable = total * tune::FIRST_TIME / (price * self.rate).max(1e-12);
        let wanted = affordable.min(self.all.bytes as f64 * tune::FIRST_SHARE).max(least);
        let wanted = self.all.spread(self.all.entries_of(wanted));
        self.fill(&wanted)?;
        Ok(wanted)
    }

    /// Returns a larger sample for the best candidates, if the budget allows it.
    fn second_sample(&self, first: &[Range<u64>], best: &[Candidate]) -> Vec<Range<u64>> {
        let price: f64 = best.iter().map(Candidate::price).sum();
        let time =
            self.budget.total().mul_f64(tune::SECOND_TIME).saturating_sub(self.budget.spent());
        let affordable = time.as_secs_f64() / (price * self.rate).max(1e-12);
        let wanted = affordable.min(self.all.bytes as f64 * tune::SECOND_SHARE);
        let times = wanted / self.all.bytes_of(count(first)).max(1.0);
        if times < tune::LEAST_SECOND {
            return first.to_vec();
        }
        self.all.spread((count(first) as f64 * times.min(tune::MOST_SECOND)) as u64)
    }

    /// Returns whether a trial ends while options are still searched.
    fn affords(&self, candidate: &Candidate, ranges: &[Range<u64>]) -> bool {
        let seconds = self.rate * candidate.price() * self.all.bytes_of(count(ranges));
        self.budget.affords(seconds, tune::SEARCH_TIME)
    }

    /// Tries candidates until the budget is used up, and at least the first candidate.
    fn try_all(
        &mut self,
        stage: &'static str,
        candidates: &[Candidate],
        ranges: &[Range<u64>],
    ) -> Result<Vec<Tried>> {
        let mut tried = Vec::new();
        let mut left = 0;
        for candidate in candidates {
            if !tried.is_empty() && !self.affords(candidate, ranges) {
                left += 1;
            } else {
                tried.push(self.attempt(candidate, ranges)?);
            }
        }
        if left > 0 {
            let all = candidates.len();
            self.notes.push(format!(
                "{left} of {all} trials were left out ({stage}): the budget was used up"
            ));
        }
        self.sampled(stage, ranges, tried.len());
        Ok(tried)
    }

    fn sampled(&mut self, stage: &'static str, ranges: &[Range<u64>], trials: usize) {
        let (entries, ranges, trials) = (count(ranges), ranges.len() as u64, trials as u64);
        let stage = stage.to_owned();
        self.samples.push(TunedSample { stage, ranges, entries, trials });
    }

    fn attempt(&mut self, candidate: &Candidate, ranges: &[Range<u64>]) -> Result<Tried> {
        let profile = self.profile(candidate);
        self.attempt_with(candidate, ranges, profile)
    }

    /// Tries a candidate. If the profile exists, it defines how columns are stored.
    fn attempt_with(
        &mut self,
        candidate: &Candidate,
        ranges: &[Range<u64>],
        profile: Option<PathBuf>,
    ) -> Result<Tried> {
        let measured = self.subject.trial(candidate, ranges, profile.as_deref())?;
        let spent = self.budget.spent().as_millis() as u64;
        let budget = self.budget.total().as_millis() as u64;
        self.context.report(spent.min(budget), budget);
        Ok(self.tried(*candidate, measured, profile))
    }

    /// Returns the name of a new profile, if samples choose something for the candidate.
    fn profile(&mut self, candidate: &Candidate) -> Option<PathBuf> {
        candidate.encoding.chooser(candidate.compression, candidate.effort)?;
        self.profiles += 1;
        Some(self.subject.folder.file(&format!("{}.toml", self.profiles)))
    }

    fn tried(&self, candidate: Candidate, measured: Measured, profile: Option<PathBuf>) -> Tried {
        let expected = expect(&measured, &candidate, &self.all, &self.overhead, &self.subject);
        Tried { candidate, measured, expected, profile }
    }

    /// Returns a trial with its current expectation, after more is known.
    fn again(&self, tried: Tried) -> Tried {
        let Tried { candidate, measured, profile, .. } = tried;
        self.tried(candidate, measured, profile)
    }

    /// Returns the default options, and the best candidates.
    fn best_candidates(&self, tried: &[Tried]) -> Vec<Candidate> {
        let default = Candidate::default_for(self.subject.format);
        let mut candidates = vec![default];
        let mut left: Vec<&Tried> = tried.iter().collect();
        while candidates.len() <= tune::BEST {
            let expected: Vec<&Expected> = left.iter().map(|item| &item.expected).collect();
            let Some(index) = best(self.objective, &expected) else { break };
            let candidate = left.remove(index).candidate;
            if candidate != default {
                candidates.push(candidate);
            }
        }
        candidates
    }

    fn best(&self, tried: &[Tried]) -> Result<Tried> {
        let expected: Vec<&Expected> = tried.iter().map(|item| &item.expected).collect();
        let index = best(self.objective, &expected);
        let chosen = index.and_then(|index| tried.get(index)).cloned();
        chosen.ok_or_else(|| Error::invalid_argument("there is nothing to try"))
    }

    /// Tries to store classes as streamer fields if this is smaller, if the input has objects of classes.
    fn try_streamer(&mut self, ranges: &[Range<u64>], tried: &mut Vec<Tried>) -> Result<()> {
        let candidate =
            Candidate { streamer: Some(StreamerFields::Auto), ..self.best(tried)?.candidate };
        if !self.subject.has_objects {
            return Ok(());
        }
        let tries = self.try_all("streamer fields", &[candidate], ranges)?;
        tried.extend(tries);
        Ok(())
    }

    /// Returns the entries of the last sample. `default` are the default options, if other options are recommended.
    fn last_ranges(
        &self,
        chosen: &Tried,
        default: Option<&Tried>,
        second: &[Range<u64>],
    ) -> Vec<Range<u64>> {
        let seconds = |item: &Tried| item.measured.times.write + item.measured.times.read;
        let candidate = &chosen.candidate;
        let (chosen, default) = (seconds(chosen), default.map_or(0.0, seconds));
        let affordable = |seconds: f64, part: f64| {
            self.budget.left().as_secs_f64() * part / seconds.max(1e-9) * count(second) as f64
        };
        let [of_part, of_all] = tune::LAST_TIME;
        let most = self.all.entries_of(tune::MAX_CACHED).max(count(second));
        let in_full_pages = chosen * guess(candidate) + default;
        if affordable(in_full_pages, of_all) >= self.all.entries as f64 && most >= self.all.entries
        {
            return std::iter::once(0..self.all.entries).collect();
        }
        // The halves, which show the cost of a cluster, take the time of the recommended options once more.
        let entries = affordable(2.0 * chosen + default, of_part) as u64;
        if entries <= count(second) {
            return second.to_vec();
        }
        self.all.spread(entries.min(most))
    }

    /// Measures the recommended and the default options on all entries, or on a last sample and in full pages.
    fn last_sample(
        &mut self,
        tried: Vec<Tried>,
        chosen: Tried,
        second: Vec<Range<u64>>,
    ) -> Result<SearchResult> {
        let default = tried.first().cloned().unwrap_or_else(|| chosen.clone());
        let is_default = chosen.candidate == default.candidate;
        let ranges = self.last_ranges(&chosen, (!is_default).then_some(&default), &second);
        let mut last = vec![chosen.clone()];
        if !is_default {
            last.push(default.clone());
        }
        if ranges != second {
            self.fill(&ranges)?;
            for item in &mut last {
                *item = self.attempt_with(&item.candidate, &ranges, item.profile.clone())?;
            }
            self.sampled("the recommended and the default options", &ranges, last.len());
            if count(&ranges) < self.all.entries {
                let default = last.last().cloned().unwrap_or(default);
                self.measure_cut(&ranges, &mut last[..1], &default)?;
            } else {
                self.measure_unpacking(&ranges)?;
            }
            last = last.into_iter().map(|item| self.again(item)).collect();
        }
        let seconds = self.budget.total().as_secs_f64() * tune::GROWTH_TIME;
        let full = last.into_iter().map(|item| self.in_full_pages(item, seconds));
        let last = full.collect::<Result<Vec<_>>>()?;
        let profile = last.first().and_then(|item| item.profile.clone());
        let expected = last.first().map(|item| item.expected.clone()).unwrap_or_default();
        let by_default = last.last().map(|item| item.expected.clone()).unwrap_or_default();
        let curves = Vec::new();
        Ok(SearchResult { tried, chosen, expected, by_default, profile, curves })
    }
}
