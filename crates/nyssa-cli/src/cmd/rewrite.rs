//! `nyssa rewrite`: writes an RNTuple or a TTree again, with other options or less of its columns and entries.

use std::path::PathBuf;

use clap::Args;
use nyssa_jobs::rewrite::{self, RewriteOptions, RewriteReport};
use nyssa_root::{Error, Kind};

use crate::app::App;
use crate::cmd::job_report::{self, Row};
use crate::data::{check_output, find, only, open_file, path_of};
use crate::exit_code::FINE;
use crate::failure::{Failure, Result};
use crate::output::names;

/// Write an RNTuple or a TTree again
///
/// Types, versions, names and values stay the same. An RNTuple is decoded, and its compression, cluster size and page
/// size are chosen again. The entries of a TTree, which may be of any class, are packed into other baskets without being
/// decoded; what no option changes stays as it is. Some fields or branches, and some entries, can be left out. Without a
/// path, all RNTuples and TTrees of the file are rewritten; a TTree whose entries cannot be taken apart is left out, with a
/// note that has the reason. The output appears only when it is complete, and with --verify only when every value has been
/// read back and compared.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nyssa rewrite run3.root out.root --compression zstd:7 --verify\n  \
    nyssa rewrite run3.root:Events slim.root --include 'Muon_*' --include 'jets._0.pt'\n  \
    nyssa rewrite run3.root:Events skim.root --cut 'nMuon >= 2 && Muon_pt[0] > 20'\n  \
    nyssa rewrite run3.root:Events out.root --exclude '*_trigger' --entries 0:1000\n  \
    nyssa rewrite run3.root:Events out.root --field-options 'Jet_*:column=Real32Trunc:16,compression=zstd:9'\n  \
    nyssa rewrite run2.root out.root --basket-size 64kB --auto-flush 30MB --compression zlib:6\n\n\
    A cut is an expression of columns that is true or false for each entry, with operators and functions as in Python and \
    NumPy, items (pt[0], pt[-1]), selected items (pt[eta < 2.4]) and functions of lists (any, sum, max, ...); \
    docs/expressions.md has all of it. A name that is no plain word has back quotes."
)]
pub(crate) struct Rewrite {
    /// FILE or FILE:PATH with the RNTuple or TTree
    input: String,
    /// File to write
    output: PathBuf,
    /// Show for each column of the output how it is stored, and why
    #[arg(long)]
    columns: bool,
    #[command(flatten)]
    options: RewriteOptions,
}

pub(crate) fn run(args: &Rewrite, app: &mut App<'_>) -> Result<u8> {
    let context = app.context()?;
    check_output(&args.output)?;
    let (file, path) = open_file(&args.input)?;
    let path = match path {
        Some(path) => Some(path_of(&file, &find(&file, path)?)),
        // A range of entries belongs to one dataset.
        None if args.options.entries.is_some() => Some(path_of(&file, &only(&file, None)?)),
        None => None,
    };
    let options = &args.options;
    let (bar, context) = app.progress(&context, "rewriting");
    let reports = match path {
        Some(path) => rewrite::rewrite(&file, &path, &args.output, options, &context)
            .map(|report| vec![report]),
        None => rewrite::rewrite_all(&file, &args.output, options, &context),
    };
    drop(bar);
    let reports = reports.map_err(explain)?;
    if app.json {
        app.print_json(&serde_json::json!({ "reports": reports }))?;
    } else if !app.quiet {
        print(&reports, args.columns, app)?;
    }
    Ok(FINE)
}

/// Adds a hint with the option that helps when some fields cannot be rewritten.
fn explain(error: Error) -> Failure {
    let some_fields = error.kind() == Kind::Unsupported && !error.fields().is_empty();
    match Failure::from(error) {
        failure if some_fields => failure.hint("--exclude leaves fields out by name"),
        failure => failure,
    }
}

fn print<'a>(reports: &'a [RewriteReport], each: bool, app: &mut App<'_>) -> Result<()> {
    let row = |report: &'a RewriteReport| Row {
        source: &report.source,
        target: &report.written.ntuple,
        fields: report.fields.len(),
        written: &report.written,
        reencoded: &report.reencoded,
    };
    let rows: Vec<_> = reports.iter().map(row).collect();
    let mut formats = reports.iter().map(|report| report.format);
    let head = match formats.next() {
        Some(format) if formats.all(|other| other == format) => format,
        _ => "dataset",
    };
    job_report::print(&rows, [head, ">before", ">after"], each, app)?;
    for report in reports {
        let what = if report.format == "ttree" { "branch" } else { "field" };
        names("left out", what, &report.dropped, app)?;
        job_report::notes(&report.written, app)?;
    }
    job_report::others(reports.last().map(|report| &report.reencoded), app)
}
