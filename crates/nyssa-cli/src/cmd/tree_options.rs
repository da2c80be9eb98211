//! Defines the options of the TTrees that a command writes: `nyssa_jobs::convert::TreeOptions` on the command line.

use clap::Args;
use nyssa_jobs::convert::{BranchOptions, TreeOptions};

use crate::cmd::field_options::of_branches;
use crate::units::parse_size;

/// The options of TTrees.
#[derive(Args, Debug)]
pub struct TreeArgs {
    /// For --to ttree: size of a basket before compression [default: 32kB, as in ROOT]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    basket_size: Option<u64>,
    /// For --to ttree: where clusters end: a number of entries, or a compressed size such as 30MB; 0 makes no clusters
    /// [default: 30MB, as in ROOT]
    #[arg(long, value_name = "ENTRIES|SIZE", allow_hyphen_values = true, value_parser = auto_flush)]
    auto_flush: Option<i64>,
    /// For --to ttree: arrays with this counter, instead of std::vector, for lists whose branch matches a glob
    /// (repeatable; the last glob that matches counts)
    #[arg(long, value_name = "GLOB:NAME", value_parser = counter)]
    counters: Vec<(String, String)>,
    /// For --to ttree: one branch with several leaves for records whose branch matches a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    leaf_lists: Vec<String>,
    /// For --to ttree: std::vector, instead of arrays with a counter, for lists whose branch matches a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    vectors: Vec<String>,
    /// For --to ttree: compression, basket-size or title of branches that match a glob (repeatable; the last glob that
    /// matches counts)
    #[arg(long, value_name = "GLOB:NAME=VALUE,...", value_parser = of_branches)]
    branch_options: Vec<BranchOptions>,
}

impl TreeArgs {
    /// Returns the options for the core.
    pub fn options(&self) -> TreeOptions {
        TreeOptions {
            basket_size: self.basket_size.map(|size| usize::try_from(size).unwrap_or(usize::MAX)),
            auto_flush: self.auto_flush,
            counters: self.counters.clone(),
            leaf_lists: self.leaf_lists.clone(),
            vectors: self.vectors.clone(),
            branch_options: self.branch_options.clone(),
        }
    }
}

/// Parses ROOT's number (entries, or negative bytes), or a size with a unit.
fn auto_flush(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => parse_size(text).map(|bytes| -i64::try_from(bytes).unwrap_or(i64::MAX)),
    }
}

fn counter(text: &str) -> Result<(String, String), String> {
    match text.rsplit_once(':') {
        Some((glob, name)) if !glob.is_empty() && !name.is_empty() => {
            Ok((glob.to_owned(), name.to_owned()))
        }
        _ => Err(format!("{text:?} is not GLOB:NAME, such as 'Jet_*:nJet'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_end_after_entries_or_bytes() {
        assert_eq!(auto_flush("1000"), Ok(1000));
        assert_eq!(auto_flush("-5000"), Ok(-5000));
        assert_eq!(auto_flush("30MB"), Ok(-30_000_000));
        assert_eq!(auto_flush("0"), Ok(0));
        assert!(auto_flush("many").is_err());
    }

    #[test]
    fn a_counter_has_a_glob_and_a_name() {
        assert_eq!(counter("Jet_*:nJet"), Ok(("Jet_*".to_owned(), "nJet".to_owned())));
        for text in ["nJet", ":nJet", "Jet_*:"] {
            assert!(counter(text).unwrap_err().contains("is not GLOB:NAME"));
        }
    }
}
