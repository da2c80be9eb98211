//! Sums up the results for many files.

use serde::Serialize;

use super::many::{ConvertedFile, FileState};

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
