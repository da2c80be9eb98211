//! Measures the costs that the trials of a search do not show: decompression of the input, the cost of pages and
//! clusters, and the time of large clusters and full pages.

use std::ops::Range;

use nyssa_root::error::Result;
use nyssa_root::process::UsageAtStart;
use nyssa_root::rootfile::RootFile;

use super::Search;
use crate::heuristics::tune;
use crate::open::open_dataset;
use crate::tune::trials::cached::read;
use crate::tune::trials::growth::growth;
use crate::tune::trials::measured::Times;
use crate::tune::trials::pages::PageCosts;
use crate::tune::trials::reading::Reading;
use crate::tune::trials::sample::halves;
use crate::tune::trials::tried::Tried;

impl Search<'_> {
    /// Decompresses the input of a sample.
    pub(super) fn fill(&self, ranges: &[Range<u64>]) -> Result<()> {
        ranges.iter().try_for_each(|range| self.read_input(&self.subject.file, range))
    }

    /// Reads all columns of some entries of `file`, which is the input or the decompressed input of trials.
    fn read_input(&self, file: &RootFile, range: &Range<u64>) -> Result<()> {
        let dataset = open_dataset(file, Some(&self.subject.path))?;
        read(&*dataset, range, &self.subject.context)
    }

    /// Measures how much longer it takes to read the input than the decompressed input of trials.
    pub(super) fn measure_unpacking(&mut self, ranges: &[Range<u64>]) -> Result<()> {
        let inputs = ranges.iter().map(|range| self.subject.input(range, &[]));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let begun = UsageAtStart::now();
        ranges.iter().try_for_each(|range| self.read_input(&self.plain, range))?;
        let packed = begun.usage(0, 1);
        let begun = UsageAtStart::now();
        inputs.iter().try_for_each(|(file, range)| self.read_input(file, range))?;
        let unpacked = begun.usage(0, 1);
        // Baskets and pages that extend beyond a part are decompressed as a whole. So bytes count, and not entries.
        let share = self.all.bytes as f64 / (packed.read_bytes as f64).max(1.0);
        self.overhead.unpacking = Times {
            write: (packed.seconds - unpacked.seconds).max(0.0) * share,
            cpu: (packed.cpu_or_wall_seconds() - unpacked.cpu_or_wall_seconds()).max(0.0) * share,
            read: 0.0,
        };
        Ok(())
    }

    /// Measures the bytes of one more page of each column, and the time of one more cluster: the entries of the best
    /// trial are written in halves.
    pub(super) fn measure_cut(
        &mut self,
        ranges: &[Range<u64>],
        tried: &mut [Tried],
        default: &Tried,
    ) -> Result<()> {
        let chosen = self.best(tried)?;
        let halves = halves(ranges);
        if halves.len() == ranges.len() {
            return Ok(());
        }
        let candidate = chosen.candidate;
        let Tried { measured: cut, .. } =
            self.attempt_with(&candidate, &halves, chosen.profile.clone())?;
        self.overhead.pages = PageCosts::of(&chosen.measured.columns, &cut.columns);
        self.overhead.cluster = chosen.measured.cost_of_cluster(&cut, &self.overhead.times);
        let large = self.large.as_ref();
        self.overhead.reading =
            large.map(|large| Reading::of(&default.measured, large, self.overhead.times.read));
        for item in tried.iter_mut().filter(|item| item.candidate == candidate) {
            item.measured.learn(&cut);
        }
        self.sampled("the cost of a page", &halves, 1);
        Ok(())
    }

    /// Measures the costs for which the parts of a sample are too small: decompression, and reading a large cluster.
    pub(super) fn measure_large(&mut self, default: &Tried, ranges: &[Range<u64>]) -> Result<()> {
        let affordable =
            self.budget.total().as_secs_f64() * tune::LARGE_TIME / self.rate.max(1e-12);
        let of_cluster = self.all.entries.div_ceil(default.expected.clusters.max(1));
        let entries = of_cluster.min(self.all.entries_of(affordable));
        let longest = ranges.iter().map(|range| range.end - range.start).max();
        if entries / 2 < longest.unwrap_or(0) {
            return self.measure_unpacking(ranges);
        }
        let start = (self.all.entries - entries) / 2;
        let range = std::iter::once(start..start + entries).collect::<Vec<_>>();
        self.fill(&range)?;
        self.measure_unpacking(&range)?;
        let trial = self.attempt_with(&default.candidate, &range, default.profile.clone())?;
        self.large = Some(trial.measured);
        Ok(())
    }

    /// Returns a trial with the changes of full pages. This takes about `seconds`.
    pub(super) fn in_full_pages(&self, mut tried: Tried, seconds: f64) -> Result<Tried> {
        if tried.measured.total_entries() >= self.all.entries {
            return Ok(tried);
        }
        let full = 0..self.all.entries.div_ceil(tried.expected.clusters.max(1));
        tried.measured.growth = growth(&self.subject, &tried, &self.fields, full, seconds)?;
        Ok(self.again(tried))
    }
}
