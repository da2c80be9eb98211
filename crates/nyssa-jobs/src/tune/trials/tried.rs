//! Stores a candidate with the measurements of its trial.

use std::path::PathBuf;

use super::candidate::Candidate;
use super::expect::Expected;
use super::measured::Measured;

/// A trial with its results.
#[derive(Clone, Debug)]
pub(super) struct Tried {
    pub candidate: Candidate,
    pub measured: Measured,
    pub expected: Expected,
    /// The file with the choices of samples, if they make choices.
    pub profile: Option<PathBuf>,
}
