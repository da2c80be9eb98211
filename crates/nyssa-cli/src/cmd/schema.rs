//! `nyssa schema`: branches and fields with their types.

mod ntuple;
mod tree;

use clap::Args;
use nyssa::dataset::Filter;
use nyssa::tune::schema::{Content, describe};

use crate::FINE;
use crate::app::App;
use crate::data::{check_filter, open_dataset};
use crate::failure::Result;

/// Show fields or branches with their types
///
/// For an RNTuple, shows the tree of fields with their C++ types, their columns (type and bits on storage), and the
/// sources of projected fields. For a TTree, shows the branches with their types, counters and numbers of baskets.
/// If nyssa cannot read a field or branch, the reason is shown.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa schema run3.root:Events --filter 'Jet_*'")]
pub struct Schema {
    /// FILE or FILE:PATH
    data: String,
    /// Show only branches or top-level fields that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Also show titles and descriptions
    #[arg(short, long)]
    verbose: bool,
}

pub fn run(args: &Schema, app: &mut App<'_>) -> Result<u8> {
    let filter = Filter::new(&args.filter, &[])?;
    let mut report = describe(&open_dataset(&args.data)?)?;
    check_filter(&filter, &report.names(), &report.file)?;
    report.select(&filter);
    if app.json {
        app.print_json(&report)?;
        return Ok(FINE);
    }
    match report.content {
        Content::Branches(content) => tree::print(content, args.verbose, app)?,
        Content::Fields(content) => ntuple::print(content, args.verbose, app)?,
    }
    Ok(FINE)
}

/// Returns the indentation of a level: two blanks for each level.
fn indented(depth: usize, name: &str) -> String {
    format!("{}{name}", "  ".repeat(depth))
}

/// Returns why something cannot be read, as a remark.
fn remark(reason: Option<&String>) -> String {
    reason.map(|reason| format!("not readable: {reason}")).unwrap_or_default()
}
