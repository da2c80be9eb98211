//! Settles the options of a user and the options of a profile.

use nyssa_rntuple::choose::{Encodings, StorageChoices};
use nyssa_root::effort::{CompressionChoice, Effort};
use nyssa_root::error::Result;
use nyssa_root::guard::to_usize;

use super::OutputOptions;

/// The options that a profile may also state. The options of the user take precedence over the profile, and the
/// profile over the defaults.
#[derive(Clone, Debug, Default)]
pub struct RequestedOptions {
    /// The compression algorithm, and possibly a level.
    pub compression: Option<CompressionChoice>,
    /// The CPU time that compression may take.
    pub effort: Option<Effort>,
    /// The way in which column types are chosen.
    pub encoding: Option<Encodings>,
    /// The stored size of a cluster in bytes.
    pub cluster_size: Option<u64>,
    /// The largest number of uncompressed bytes of a page.
    pub page_size: Option<u64>,
    /// The path or URL of the profile.
    pub profile: Option<String>,
}

impl RequestedOptions {
    /// Returns the options of a job with these values. All other options have their defaults.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that is no profile, and for a page that no memory can hold; an error if the
    /// profile cannot be read.
    pub fn settle(self) -> Result<OutputOptions> {
        let default = OutputOptions::default();
        let profile = self.profile.as_deref().map(StorageChoices::stated).transpose()?.flatten();
        let requested = self.compression.map(|choice| (choice.compression, choice.effort(None)));
        let profile = profile.as_ref();
        let known =
            profile.map(|profile| (profile.compression, profile.effort.unwrap_or_default()));
        let (compression, effort) =
            requested.or(known).unwrap_or((default.compression, default.effort));
        let encoding = self.encoding.or(profile.and_then(|profile| profile.encoding));
        let cluster_size = self.cluster_size.or(profile.and_then(|profile| profile.cluster_size));
        let page_size = self.page_size.or(profile.and_then(|profile| profile.page_size));
        let page_size = page_size.map(|bytes| to_usize(bytes, "a page")).transpose()?;
        Ok(OutputOptions {
            compression,
            effort: self.effort.unwrap_or(effort),
            encoding,
            cluster_size: cluster_size.unwrap_or(default.cluster_size),
            page_size: page_size.unwrap_or(default.page_size),
            profile: self.profile,
            ..default
        })
    }
}
