//! Options of the output that all jobs have: `nyssa::job::OutputOptions` on the command line.

use clap::Args;
use nyssa::job::OutputOptions;
use nyssa::rntuple::write::{CompressionChoice, Effort, Encodings, FieldOptions};

use super::field_options;
use crate::failure::Result;
use crate::units::parse_size;

/// What all jobs have.
#[derive(Args, Debug)]
pub struct OutputArgs {
    /// zstd, zlib, lz4 or lzma, with a level 1 to 9 or without, a ROOT setting such as 505, or none. A
    /// level is used exactly; without one, zstd spends time where a sample of a column shows that it pays
    #[arg(long, value_name = "ALGORITHM[:LEVEL]", default_value_t = CompressionChoice::default(), value_parser = parse::<CompressionChoice>)]
    compression: CompressionChoice,
    /// auto: spend time where it pays, at most that of the level; full: the exact level for every column
    /// [default: full with a level, else auto]
    #[arg(long, value_parser = parse::<Effort>)]
    effort: Option<Effort>,
    /// default: as ROOT does; auto: for each column the type and effort that is smallest on a sample
    #[arg(long, default_value = "default", value_parser = parse::<Encodings>)]
    encoding: Encodings,
    /// How some fields are stored, by glob of their paths: column type (unsplit, Real32Trunc:16,
    /// Real32Quant:12:0:1, ...), compression, page-size (repeatable; the last that matches wins)
    #[arg(long, value_name = "GLOB:NAME=VALUE,...", value_parser = field_options::parse)]
    field_options: Vec<FieldOptions>,
    /// Size of a page before compression at most, 64 bytes to 512MiB [default: 1MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    page_size: Option<u64>,
    /// Memory for data in flight, at least 1MiB [default: 512MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
    /// Read the files back and compare every value
    #[arg(long)]
    pub verify: bool,
    /// Leave the other objects of the file behind
    #[arg(long)]
    no_carry: bool,
    /// Replace an existing output
    #[arg(long, short)]
    pub force: bool,
    /// Name of the RNTuple [default: its path in the input]
    #[arg(long)]
    name: Option<String>,
    /// Write the same bytes every time: no dates, no random identity
    #[arg(long)]
    reproducible: bool,
}

/// How large clusters are.
#[derive(Args, Debug)]
pub struct ClusterArgs {
    /// Compressed size of a cluster on storage, within some percent: at least 256 bytes, and 64 for each
    /// column; smaller where memory is short [default: 128MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub cluster_size: Option<u64>,
}

impl OutputArgs {
    /// The options, with clusters of a size.
    ///
    /// # Errors
    /// For a page that is larger than memory can be.
    pub fn options(&self, cluster_size: Option<u64>) -> Result<OutputOptions> {
        let default = OutputOptions::default();
        let page_size = self.page_size.map(|bytes| nyssa::guard::to_usize(bytes, "a page"));
        Ok(OutputOptions {
            name: self.name.clone(),
            compression: self.compression.compression,
            effort: self.compression.effort(self.effort),
            encoding: self.encoding,
            field_options: self.field_options.clone(),
            cluster_size: cluster_size.unwrap_or(default.cluster_size),
            page_size: page_size.transpose()?.unwrap_or(default.page_size),
            memory: self.memory,
            carry: !self.no_carry,
            verify: self.verify,
            force: self.force,
            reproducible: self.reproducible,
        })
    }
}

/// Parses a value of the core.
pub fn parse<T: std::str::FromStr<Err = nyssa::Error>>(
    text: &str,
) -> std::result::Result<T, String> {
    text.parse().map_err(|error: nyssa::Error| error.message().to_owned())
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
