//! Holds what a trial measured.

use crate::rntuple::schema::Schema;

/// The fewest elements of a page whose byte planes have blocks of their own.
const PLANE_ELEMENTS: u64 = 1024;

/// What a column took in a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StoredColumn {
    /// The number of pages.
    pub pages: u64,
    /// The number of elements.
    pub elements: u64,
    /// The bytes of the pages before compression.
    pub uncompressed: u64,
    /// The bytes of the pages on storage, with checksums. Equal pages are stored once.
    pub stored: u64,
}

impl StoredColumn {
    /// Returns whether the byte planes of a page have blocks of their own, on average.
    pub fn has_planes(&self) -> bool {
        self.elements >= PLANE_ELEMENTS.saturating_mul(self.pages)
    }
}

/// The times of a trial, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    /// The wall-clock time to write.
    pub write: f64,
    /// The CPU time to write.
    pub cpu: f64,
    /// The time to read.
    pub read: f64,
}

/// What a trial of some ranges of entries measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Measured {
    /// The entries of each range, which was written to a file of its own.
    pub entries: Vec<u64>,
    /// The bytes of all these files.
    pub file_bytes: u64,
    /// The columns, with what they took in all files.
    pub columns: Vec<StoredColumn>,
    /// The entries and the bytes of the pages of parts of the sample that can be compared: ranges, or halves of them.
    pub parts: Vec<(u64, u64)>,
    pub clusters: u64,
    pub times: Times,
    /// The entries and the files whose writing was timed: those for which no samples were taken, if there are any.
    pub timed: (u64, u64),
    /// Whether the time to write has that of taking samples.
    pub has_chosen: bool,
    /// The bytes of the input that were read.
    pub input_bytes: u64,
    /// The bytes that were read back.
    pub read_bytes: u64,
    /// The largest memory of a writer in bytes.
    pub writer_memory: u64,
    /// The largest number of bytes, before compression, of a column in a cluster.
    pub largest_column: u64,
    /// The fields and columns that were written.
    pub schema: Option<Schema>,
}

impl Measured {
    pub fn total_entries(&self) -> u64 {
        self.entries.iter().sum()
    }

    /// Takes what a trial of the same options and entries in halves knows better: times without samples, and more parts
    /// that can be compared.
    pub fn learn(&mut self, halves: &Self) {
        if self.has_chosen && !halves.has_chosen {
            (self.timed, self.has_chosen) = (halves.timed, false);
            (self.times.write, self.times.cpu) = (halves.times.write, halves.times.cpu);
        }
        if self.parts.len() < 2 {
            self.parts.clone_from(&halves.parts);
        }
    }
}
