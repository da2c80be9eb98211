//! Defines the options of the output that all jobs share: `nyssa_jobs::job::OutputOptions` on the command line.

use clap::Args;
use nyssa_jobs::job::{OutputOptions, RequestedOptions};
use nyssa_rntuple::write::{Encodings, FieldOptions};
use nyssa_root::effort::{CompressionChoice, Effort};

use super::field_options;
use crate::failure::Result;
use crate::units::parse_size;

/// The options that all jobs share.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// zstd, zlib, lz4 or lzma, with or without a level from 1 to 9; a ROOT setting such as 505; or none. A
    /// level is used exactly; without a level, zstd spends time where a sample of a column shows that it pays
    /// [default: that of the profile, else zstd]
    #[arg(long, value_name = "ALGORITHM[:LEVEL]", value_parser = parse::<CompressionChoice>)]
    compression: Option<CompressionChoice>,
    /// auto: spend time where a sample shows that it pays, and at most that of the level; full: use the level
    /// for every column [default: that of the profile, else full with a level, otherwise auto]
    #[arg(long, value_parser = parse::<Effort>)]
    effort: Option<Effort>,
    /// default: the column types of ROOT; auto: for each column the type and effort that make a sample smallest
    /// [default: that of the profile; else auto for conversions to RNTuple with zstd and effort auto, otherwise
    /// default]
    #[arg(long, value_parser = parse::<Encodings>)]
    encoding: Option<Encodings>,
    /// File (TOML) that remembers how columns are stored, for the other files of a dataset: what it knows is not
    /// chosen again, and what it does not know is added. It may also state options of the output, as `nyssa tune` writes
    /// them; options that are given here count more
    #[arg(long, value_name = "FILE")]
    profile: Option<String>,
    /// Other options for the fields whose path matches a glob: column (unsplit, Real32Trunc:16,
    /// Real32Quant:12:0:1, ...), compression, page-size (repeatable; the last glob that matches counts)
    #[arg(long, value_name = "GLOB:NAME=VALUE,...", value_parser = field_options::parse)]
    field_options: Vec<FieldOptions>,
    /// Largest size of a page before compression, 64 bytes to 512MiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    page_size: Option<u64>,
    /// Largest size of the data that are in memory at the same time, at least 1MiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Read input and output back and compare every value before the output appears
    #[arg(long)]
    pub verify: bool,
    /// Do not copy the other objects of the file
    #[arg(long)]
    no_carry: bool,
    /// Replace an existing output
    #[arg(long, short)]
    pub force: bool,
    /// Name of the RNTuple, or of the TTree [default: its path in the input]
    #[arg(long)]
    name: Option<String>,
    /// Write the same bytes every time: no dates, no random identity
    #[arg(long)]
    reproducible: bool,
}

/// The option for the size of clusters.
#[derive(Args, Debug)]
pub struct ClusterArgs {
    /// Compressed size of a cluster on storage, within a few percent: at least 256 bytes, and 64 bytes for each
    /// column; clusters are smaller if the memory is too small [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub cluster_size: Option<u64>,
}

impl OutputArgs {
    /// Returns the options for the core, with this size of clusters.
    ///
    /// # Errors
    /// `InvalidArgument` for a file that is no profile, and for a page that no memory can hold; an error if the profile
    /// cannot be read.
    pub fn options(&self, cluster_size: Option<u64>) -> Result<OutputOptions> {
        let asked = RequestedOptions {
            compression: self.compression,
            effort: self.effort,
            encoding: self.encoding,
            cluster_size,
            page_size: self.page_size,
            profile: self.profile.clone(),
        };
        Ok(OutputOptions {
            name: self.name.clone(),
            field_options: self.field_options.clone(),
            memory: self.memory,
            carry: !self.no_carry,
            verify: self.verify,
            force: self.force,
            reproducible: self.reproducible,
            ..asked.settle()?
        })
    }
}

/// Parses a value of the core.
pub fn parse<T: std::str::FromStr<Err = nyssa_root::Error>>(
    text: &str,
) -> std::result::Result<T, String> {
    text.parse().map_err(|error: nyssa_root::Error| error.message().to_owned())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Job {
        #[command(flatten)]
        output: OutputArgs,
        #[command(flatten)]
        clusters: ClusterArgs,
    }

    #[test]
    fn the_defaults_are_those_of_the_core() {
        let Job { output, clusters } = Job::parse_from(["job"]);
        let options = output.options(clusters.cluster_size).unwrap();
        assert_eq!(format!("{options:?}"), format!("{:?}", OutputOptions::default()));
    }
}
