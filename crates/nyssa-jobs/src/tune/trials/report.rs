//! Defines the report of a search for the best options.

use serde::{Deserialize, Serialize};

use super::baskets::BasketReport;
use super::candidate::Candidate;
use super::expect::Expected;

/// The report of a search for the best options.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TuneReport {
    /// The name of the input file.
    pub input: String,
    /// The path of the dataset in it.
    pub dataset: String,
    /// The format of the dataset: `TTree` or `RNTuple`.
    pub format: String,
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of the pages or baskets of the input.
    pub input_bytes: u64,
    /// The quantity to optimise.
    pub objective: String,
    /// The options that are recommended.
    pub recommended: Candidate,
    /// The expectation for the whole dataset with these options.
    pub expected: Expected,
    /// The expectation for the whole dataset with the default options, from the same sample.
    pub expected_by_default: Expected,
    /// The reason of each recommended option.
    pub reasons: Vec<Reason>,
    /// The trials of one sample, smallest first.
    pub trials: Vec<TriedCandidate>,
    /// The changes with one option while the other options stay: the sizes of clusters and of pages, and the number
    /// of threads.
    pub curves: Vec<Curve>,
    /// The samples: first for all candidates, then for the best candidates, then for the recommended options.
    pub samples: Vec<TunedSample>,
    /// The costs of the sizes of the baskets, for a TTree.
    pub baskets: Option<BasketReport>,
    /// The wall-clock time of the search in seconds.
    pub seconds: f64,
    /// The number of worker threads.
    pub threads: usize,
    /// Remarks for people.
    pub notes: Vec<String>,
    /// The text of a profile with the recommended options and the choices for each column.
    pub profile: String,
}

/// The reason of one option.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The name of the option.
    pub option: String,
    /// The recommended value.
    pub value: String,
    /// The reason.
    pub reason: String,
}

/// One trial, and the expectation for the whole dataset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TriedCandidate {
    /// The options.
    #[serde(flatten)]
    pub candidate: Candidate,
    /// The expectation.
    #[serde(flatten)]
    pub expected: Expected,
    /// Whether no other trial is better in size, times and memory.
    pub pareto: bool,
    /// Whether these options are recommended.
    pub recommended: bool,
}

/// The changes with one option. The other options are the best options when it was tried.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Curve {
    /// The name of the option: `cluster_size`, `page_size` or `threads`.
    pub option: String,
    /// The values that were tried, smallest first.
    pub points: Vec<CurvePoint>,
}

impl Curve {
    /// Makes the curve of an option, from its values in any order.
    pub(super) fn new(option: &str, recommended: u64, points: Vec<(u64, Expected)>) -> Self {
        let point =
            |(value, expected)| CurvePoint { value, expected, recommended: value == recommended };
        let mut points: Vec<CurvePoint> = points.into_iter().map(point).collect();
        points.sort_by_key(|point| point.value);
        Self { option: option.to_owned(), points }
    }
}

/// One value of an option, and the expectation for the whole dataset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The value.
    pub value: u64,
    /// The expectation.
    #[serde(flatten)]
    pub expected: Expected,
    /// Whether this value is recommended.
    pub recommended: bool,
}

/// The entries that were written in the trials of one stage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TunedSample {
    /// The purpose of the sample.
    pub stage: String,
    /// The number of ranges of entries.
    pub ranges: u64,
    /// The number of entries.
    pub entries: u64,
    /// The number of trials.
    pub trials: u64,
}
