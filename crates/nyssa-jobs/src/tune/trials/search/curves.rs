//! Tries the values of one option, with the best values of the others.

use std::ops::Range;

use nyssa_root::error::Result;

use super::Search;
use crate::heuristics::tune;
use crate::tune::trials::candidate::{CLUSTERS, Candidate, PAGES, thread_counts};
use crate::tune::trials::expect::Expected;
use crate::tune::trials::report::Curve;
use crate::tune::trials::sample::count;
use crate::tune::trials::score::fewest_threads;
use crate::tune::trials::tried::Tried;

impl Search<'_> {
    /// Tries other numbers of threads. Only the wall-clock times and the memory differ.
    pub(super) fn try_threads(&mut self, ranges: &[Range<u64>], chosen: &Tried) -> Result<Curve> {
        let (most, mut points, candidate) = (self.context.threads(), Vec::new(), chosen.candidate);
        for threads in thread_counts(most) {
            let seconds = self.rate * candidate.price() * self.all.bytes_of(count(ranges));
            // Fewer threads take more time.
            let seconds = seconds * most as f64 / threads as f64;
            if !self.budget.affords(seconds, tune::THREADS_TIME) {
                self.notes
                    .push(format!("threads: {threads} were not tried: the budget was used up"));
                continue;
            }
            let context = self.subject.context.on_threads(threads)?;
            let context = std::mem::replace(&mut self.subject.context, context);
            let attempt = self.attempt_with(&candidate, ranges, chosen.profile.clone());
            self.subject.context = context;
            points.push((threads as u64, attempt?.expected));
        }
        self.sampled("threads", ranges, points.len());
        if points.is_empty() {
            points.push((most as u64, chosen.expected.clone()));
        }
        let expected: Vec<&Expected> = points.iter().map(|(_, expected)| expected).collect();
        let best = fewest_threads(self.objective, &expected);
        let value = best.and_then(|index| points.get(index)).map_or(0, |(threads, _)| *threads);
        Ok(Curve::new("threads", value, points))
    }

    /// Tries other sizes of clusters, and then other sizes of pages with the best clusters. Returns both curves.
    pub(super) fn try_sizes(
        &mut self,
        ranges: &[Range<u64>],
        tried: &mut Vec<Tried>,
    ) -> Result<Vec<Curve>> {
        let (mut trials, mut curves) = (0, Vec::new());
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
                    let parts = best.measured.parts.iter();
                    let largest = parts.map(|(_, bytes)| *bytes).max().unwrap_or(0);
                    (now, size.min(now) >= largest)
                };
                if size == now {
                    continue;
                }
                if changes_nothing {
                    let mut measured = best.measured.clone();
                    measured.writer_memory = self.subject.writer_memory(&candidate, &measured)?;
                    tried.push(self.tried(candidate, measured, best.profile.clone()));
                } else if self.affords(&candidate, ranges) {
                    tried.push(self.attempt(&candidate, ranges)?);
                    trials += 1;
                } else {
                    self.notes.push(format!(
                        "{}: {size} bytes were not tried: the budget was used up",
                        if is_page { "page_size" } else { "cluster_size" }
                    ));
                }
            }
            let value = |item: &Candidate| if is_page { item.page_size } else { item.cluster_size };
            let alike = |item: &Candidate| match is_page {
                true => Candidate { page_size: item.page_size, ..best.candidate },
                false => Candidate { cluster_size: item.cluster_size, ..best.candidate },
            };
            let points = tried.iter().filter(|item| item.candidate == alike(&item.candidate));
            let points =
                points.map(|point| (value(&point.candidate), point.expected.clone())).collect();
            let option = if is_page { "page_size" } else { "cluster_size" };
            curves.push(Curve::new(option, value(&self.best(tried)?.candidate), points));
        }
        self.sampled("sizes of clusters and pages", ranges, trials);
        Ok(curves)
    }
}
