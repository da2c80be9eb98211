//! Reports the result of a search.

use std::path::PathBuf;

use nyssa_rntuple::choose::{StatedOptions, StorageChoices};
use nyssa_root::error::Result;

use super::Search;
use crate::tune::trials::candidate::Candidate;
use crate::tune::trials::expect::Expected;
use crate::tune::trials::reason::reasons;
use crate::tune::trials::report::{Curve, TriedCandidate, TuneReport};
use crate::tune::trials::score::pareto;
use crate::tune::trials::tried::Tried;

/// The result of a search.
pub(super) struct SearchResult {
    /// The trials of the second sample.
    pub(super) tried: Vec<Tried>,
    /// The recommended options, on the second sample.
    pub(super) chosen: Tried,
    /// The recommended options, on the last sample.
    pub(super) expected: Expected,
    pub(super) by_default: Expected,
    pub(super) profile: Option<PathBuf>,
    pub(super) curves: Vec<Curve>,
}

impl SearchResult {
    pub(super) fn report(self, search: &Search<'_>) -> Result<TuneReport> {
        let Self { tried, chosen, expected, by_default, profile, curves } = self;
        let all: Vec<&Expected> = tried.iter().map(|item| &item.expected).collect();
        let trials = tried.iter().zip(pareto(&all)).map(|(item, pareto)| TriedCandidate {
            candidate: item.candidate,
            expected: item.expected.clone(),
            pareto,
            recommended: item.candidate == chosen.candidate,
        });
        let mut trials: Vec<TriedCandidate> = trials.collect();
        trials.sort_by_key(|trial| trial.expected.bytes);
        let Candidate { compression, effort, encoding, cluster_size, page_size, streamer } =
            chosen.candidate;
        let stated = StatedOptions {
            compression,
            effort: Some(effort),
            encoding: Some(encoding),
            cluster_size: Some(cluster_size),
            page_size: Some(page_size),
            streamer: streamer.map(|fields| vec![fields.to_string()]),
        };
        let skipped = chosen.measured.skipped.iter().map(|item| {
            format!("{} is left out of what is measured and expected: {}", item.branch, item.reason)
        });
        let notes = search.notes.iter().cloned().chain(skipped).collect();
        let profile = profile.unwrap_or_else(|| search.subject.folder.file("none.toml"));
        let choices = StorageChoices::open(&profile.display().to_string(), compression)?;
        Ok(TuneReport {
            objective: search.objective.to_string(),
            recommended: chosen.candidate,
            expected,
            expected_by_default: by_default,
            reasons: reasons(search.objective, &chosen, &tried),
            trials,
            curves,
            samples: search.samples.clone(),
            notes,
            profile: choices.with_options(&stated)?,
            ..TuneReport::default()
        })
    }
}
