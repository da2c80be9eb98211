//! Defines the requests of users for a search for the best options.

use std::time::Duration;

use nyssa_root::effort::CompressionChoice;
use nyssa_root::error::{Error, Result};

/// The default for the time that a search takes.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(60);

/// The quantity that the options should optimise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// The size of the output.
    Size,
    /// The time to read the output.
    Read,
    /// The CPU time to write the output.
    Write,
    /// The memory of a writer, if the output becomes larger by at most a few percent.
    Memory,
    /// Size first, and then the times to read and to write.
    #[default]
    Balanced,
}

nyssa_root::named_variants!(
    Objective,
    "objective",
    Size = "size",
    Read = "read",
    Write = "write",
    Memory = "memory",
    Balanced = "balanced"
);

/// A link over which the output will be read.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Link {
    /// The seconds between a request and the first byte of its answer.
    pub latency: f64,
    /// The bytes that come in one second. `None` means that bytes take no time.
    pub bandwidth: Option<u64>,
}

impl Link {
    /// Returns the seconds for this number of requests and bytes, one after the other.
    pub(super) fn seconds(&self, requests: u64, bytes: u64) -> f64 {
        let transfer = self.bandwidth.map_or(0.0, |bandwidth| bytes as f64 / bandwidth as f64);
        requests as f64 * self.latency + transfer
    }
}

/// The options of a search.
#[derive(Clone, Debug)]
pub struct TuneOptions {
    /// The quantity to optimise.
    pub objective: Objective,
    /// The time that the search may take.
    pub budget: Duration,
    /// The compressions to try. An empty list tries the compressions of ROOT users, from fast to small.
    pub compression: Vec<CompressionChoice>,
    /// The globs of the columns that are read back. An empty list reads all columns.
    pub columns: Vec<String>,
    /// The link over which the output will be read. `None` means a local file.
    pub link: Option<Link>,
}

impl Default for TuneOptions {
    fn default() -> Self {
        Self {
            objective: Objective::default(),
            budget: DEFAULT_BUDGET,
            compression: Vec::new(),
            columns: Vec::new(),
            link: None,
        }
    }
}

impl TuneOptions {
    /// Checks that the numbers make sense.
    ///
    /// # Errors
    /// `InvalidArgument` with the range of the option.
    pub fn validate(&self) -> Result<()> {
        let wrong = |message: String| Err(Error::invalid_argument(message));
        let day = Duration::from_secs(86_400);
        if self.budget.is_zero() || self.budget > day {
            let seconds = self.budget.as_secs_f64();
            return wrong(format!(
                "the budget is more than 0 and at most 86400 s, not {seconds} s"
            ));
        }
        let Some(link) = self.link else { return Ok(()) };
        if !(0.0..=3600.0).contains(&link.latency) {
            return wrong(format!("the latency is 0 to 3600 s, not {} s", link.latency));
        }
        if link.bandwidth == Some(0) {
            return wrong("the bandwidth must be at least one byte per second".to_owned());
        }
        Ok(())
    }
}
