//! Reports the results for many files, and their sums.

use serde::Serialize;

use crate::job::{MadeOf, identity};

/// The result for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileState {
    /// The file was converted now.
    Done,
    /// The output already existed.
    Found,
    /// The file could not be converted.
    Failed,
}

/// The result for a file. The line of the journal has these members, too.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConvertedFile {
    /// The input, possibly with the path of its tree. It is for people, and cannot be opened: secrets of a URL are
    /// left out.
    pub input: String,
    /// A digest of the query of a URL; see [`nyssa_io::query_digest`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_query: Option<String>,
    /// The number of bytes of the input.
    pub input_bytes: u64,
    /// The identity of this version of the input; see [`nyssa_root::rootfile::RootFile::version`].
    pub input_version: Option<String>,
    /// The output.
    pub output: String,
    /// The number of bytes of the output.
    pub output_bytes: u64,
    /// The number of entries of the output.
    pub entries: u64,
    /// The result.
    pub state: FileState,
    /// The error, if it failed.
    pub error: Option<String>,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The job with the options that are not the defaults; see [`super::Direction::job`].
    pub job: String,
    /// The branches or fields that were left out, with the reasons.
    pub skipped: Vec<(String, String)>,
    /// What of the input is missing or damaged and was left out, with the reasons.
    pub bad: Vec<String>,
    /// The other objects of the input that are not in the output, with the reasons.
    pub left_out: Vec<String>,
    /// Remarks for people: the parts that were left out or changed, and the reasons.
    pub notes: Vec<String>,
}

impl ConvertedFile {
    /// Returns the identity (UUID) of the output that is made from this version of the input with these options.
    pub(super) fn identity(&self, verified: bool) -> [u8; 16] {
        let bytes = i64::try_from(self.input_bytes).unwrap_or(-1);
        let version = self.input_version.as_deref();
        let query = self.input_query.as_deref();
        identity([MadeOf { location: &self.input, query, bytes, version }], &self.job, verified)
    }
}

/// The sums over many files. Entries, bytes and seconds count only the files that were converted now.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ConvertedTotal {
    /// The number of files that were converted now.
    pub converted: u64,
    /// The number of files whose outputs already existed.
    pub found: u64,
    /// The number of files that could not be converted.
    pub failed: u64,
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of the inputs.
    pub input_bytes: u64,
    /// The number of bytes of the outputs.
    pub output_bytes: u64,
    /// The size of the inputs divided by the size of the outputs. `None` without outputs.
    pub ratio: Option<f64>,
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The number of megabytes (10⁶ bytes) of the inputs that were converted per second.
    pub megabytes_per_second: f64,
}

impl ConvertedTotal {
    /// Sums up files.
    pub fn of(files: &[ConvertedFile]) -> Self {
        let mut total = Self::default();
        for file in files {
            match file.state {
                FileState::Failed => total.failed += 1,
                FileState::Found => total.found += 1,
                FileState::Done => total.add(file),
            }
        }
        let (before, after) = (total.input_bytes as f64, total.output_bytes as f64);
        total.ratio = (total.output_bytes > 0).then_some(before / after);
        total.megabytes_per_second = before / 1e6 / total.seconds.max(1e-9);
        total
    }

    fn add(&mut self, file: &ConvertedFile) {
        self.converted += 1;
        self.entries += file.entries;
        self.input_bytes += file.input_bytes;
        self.output_bytes += file.output_bytes;
        self.seconds += file.seconds;
    }
}
