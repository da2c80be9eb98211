//! Lists the options that a search tries.

use nyssa_data::dataset::Format;
use nyssa_rntuple::choose::Encodings;
use nyssa_rntuple::write::{
    DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_MAX_UNZIPPED_PAGE, RNTupleWriteOptions, default_memory,
};
use nyssa_root::compression::{Algorithm, Compression};
use nyssa_root::effort::{CompressionChoice, Effort};
use serde::{Deserialize, Serialize};

use crate::convert::default_encoding;
use crate::heuristics::tune;
use crate::job::{OutputOptions, StorageOptions};

/// The compressions that are tried if users name none. The most promising compressions come first, since time may be
/// short.
const COMPRESSIONS: [(Algorithm, Option<u8>); 9] = [
    (Algorithm::Zstd, None),
    (Algorithm::Zstd, Some(9)),
    (Algorithm::Zstd, Some(5)),
    (Algorithm::Zstd, Some(1)),
    (Algorithm::Lz4, Some(1)),
    (Algorithm::Lz4, Some(9)),
    (Algorithm::Zlib, Some(1)),
    (Algorithm::Lzma, Some(7)),
    (Algorithm::Zlib, Some(6)),
];

/// The sizes of clusters that are tried, in bytes on storage.
pub(super) const CLUSTERS: [u64; 5] = [4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20];
/// The sizes of pages that are tried, in bytes before compression.
pub(super) const PAGES: [u64; 4] = [64 << 10, 256 << 10, 1 << 20, 4 << 20];

/// Returns the numbers of threads that are tried: 1, 2, 4, ... and `most`.
pub(super) fn thread_counts(most: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1_usize), |count| count.checked_mul(2))
        .take_while(move |&count| count < most)
        .chain(std::iter::once(most))
}

/// The options of an output that a search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The compression algorithm and level.
    pub compression: Compression,
    /// The CPU time that compression may take.
    pub effort: Effort,
    /// The way in which column types are chosen.
    pub encoding: Encodings,
    /// The stored size of a cluster in bytes.
    pub cluster_size: u64,
    /// The largest size of a page before compression, in bytes.
    pub page_size: u64,
    /// The option `streamer` of a conversion. `None` stores objects of classes in columns.
    pub streamer: Option<StreamerFields>,
}

/// The branches of classes that become streamer fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamerFields {
    /// The branches that are smaller as streamer fields.
    Auto,
}

nyssa_root::named_variants!(StreamerFields, "streamer", Auto = "auto");

/// ROOT's column types, with a chosen effort.
impl Default for Candidate {
    fn default() -> Self {
        let output = OutputOptions::default();
        let (compression, effort) = (output.compression(), output.effort());
        let encoding = Encodings::Default;
        let (cluster_size, page_size) =
            (DEFAULT_APPROX_ZIPPED_CLUSTER, DEFAULT_MAX_UNZIPPED_PAGE as u64);
        Self { compression, effort, encoding, cluster_size, page_size, streamer: None }
    }
}

impl Candidate {
    /// Returns the default options of the job that writes a dataset of this format again.
    pub(super) fn default_for(format: Format) -> Self {
        let encoding = match format {
            Format::TTree => default_encoding(&OutputOptions::default()),
            _ => Encodings::Default,
        };
        Self { encoding, ..Self::default() }
    }

    /// Returns all codecs with both encodings. The default options for the format come first.
    pub(super) fn codecs(requested: &[CompressionChoice], format: Format) -> Vec<Self> {
        let level = |(algorithm, level): (Algorithm, Option<u8>)| CompressionChoice {
            compression: Compression {
                algorithm,
                level: level.unwrap_or(Compression::DEFAULT.level),
            },
            level_named: level.is_some(),
        };
        let all = match requested {
            [] => COMPRESSIONS.map(level).to_vec(),
            requested => requested.to_vec(),
        };
        let mut candidates = vec![Self::default_for(format)];
        for choice in all {
            for encoding in [Encodings::Auto, Encodings::Default] {
                let (compression, effort) = (choice.compression, choice.effort(None));
                let candidate = Self { compression, effort, encoding, ..Self::default() };
                if !candidates.contains(&candidate) {
                    candidates.push(candidate);
                }
            }
        }
        candidates
    }

    /// Returns whether users name a level of zstd that has large tables, and looks further back in larger pages.
    pub(super) fn has_large_tables(&self) -> bool {
        let Compression { algorithm, level } = self.compression;
        let named = algorithm == Algorithm::Zstd && self.effort == Effort::Full;
        named && level >= tune::TABLE_LEVEL
    }

    /// Returns the approximate time of a trial, compared with the default options.
    pub(super) fn price(&self) -> f64 {
        let hard = f64::from(self.compression.level) / 9.0;
        let codec = match (self.compression.algorithm, self.effort) {
            (_, Effort::Auto) => 1.0,
            (Algorithm::Zstd, Effort::Full) => 0.8 + 4.0 * hard,
            (Algorithm::Lz4, Effort::Full) => 0.7 + 2.0 * hard,
            (Algorithm::Zlib, Effort::Full) => 1.0 + 4.0 * hard,
            (Algorithm::Lzma, Effort::Full) => 8.0 + 6.0 * hard,
        };
        let encoding = if self.encoding == Encodings::Auto { 0.6 } else { 0.0 };
        codec + encoding + if self.streamer.is_some() { 2.5 } else { 0.0 }
    }

    /// Returns the options of a job.
    pub(super) fn job_options(&self, profile: Option<String>) -> (OutputOptions, StorageOptions) {
        let output = OutputOptions {
            compression: Some(self.compression.into()),
            effort: Some(self.effort),
            no_carry: true,
            reproducible: true,
            ..OutputOptions::default()
        };
        let storage = StorageOptions {
            encoding: Some(self.encoding),
            profile,
            cluster_size: Some(self.cluster_size),
            page_size: Some(self.page_size),
            ..StorageOptions::default()
        };
        (output, storage)
    }

    /// Returns the options of a writer.
    pub(super) fn write_options(&self) -> RNTupleWriteOptions {
        let (output, storage) = self.job_options(None);
        let options = storage.write_options(&output);
        RNTupleWriteOptions {
            effort: self.effort,
            encodings: self.encoding,
            approx_zipped_cluster: self.cluster_size,
            max_unzipped_cluster: options.max_unzipped_cluster.max(self.cluster_size * 10),
            memory: default_memory(self.cluster_size),
            ..options
        }
    }
}
