//! `nyssa merge`: merges the RNTuples, TTrees and other objects of several files.

use std::path::PathBuf;

use clap::Args;
use nyssa_jobs::merge::{self, MergeOptions, MergeReport, MergedNTupleReport, MergedTreeReport};

use crate::app::App;
use crate::cmd::job_report;
use crate::data::{check_output, files};
use crate::exit_code::{FINE, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted, size};

/// Merge RNTuples, TTrees and histograms
///
/// Every RNTuple and every TTree of the files is merged, matched by its path; FILE:PATH means only the dataset at this
/// path. An RNTuple that some files lack is refused: --union takes what each file has, --filter leaves it out. A TTree
/// has the entries of the files that have it.
///
/// Compressed pages are copied as they are, so that a merge is as fast as the disk. Inputs may differ in
/// compression and in the encodings of their fields. If the types of numbers differ, the output has the type
/// that holds the numbers of all inputs; integers in some inputs that are floats in others need --recluster.
/// Collections of converted files are matched by their counters. --recluster makes few full clusters from many
/// small files. The baskets of TTrees are copied as they are, too, if the branches of all inputs are equal. With
/// --basket-size, --auto-flush or --branch-options, their entries are packed into other baskets, as by rewrite.
///
/// Histograms, graphs, lists of them and other objects that ROOT merges are merged as hadd does it; those that ROOT does
/// not merge are all kept, each with a cycle of its own. The output appears only when it is complete.
#[derive(Args, Debug)]
#[command(mut_arg("name", |arg| arg.help("Name of the only dataset, or of the dataset that the first input names [default: its path in the first input]")))]
#[command(after_help = "Examples:\n  nyssa merge run*.root -o all.root\n  \
    nyssa merge a.root:Events b.root:Events -o ab.root --union\n  \
    nyssa merge @files.txt -o all.root --recluster 200MB\n  \
    nyssa merge run*.root -o all.root --skip-bad --compression zstd:5\n  \
    nyssa merge run*.root -o all.root --auto-flush 30MB --compression zstd:5\n  \
    nyssa merge run*.root -o 'part_{number}.root' --condense 10")]
pub(crate) struct Merge {
    /// FILE or FILE:PATH with the RNTuples or TTrees, in order; also globs, folders, and @LIST for the lines of a
    /// file
    #[arg(required = true)]
    inputs: Vec<String>,
    /// File to write
    #[arg(long, short)]
    output: PathBuf,
    /// Make one output of each N inputs; {number} in the name of the output stands for 0, 1, 2, ... With -k, the number of an
    /// output whose inputs are all bad is not used
    #[arg(long, value_name = "N")]
    condense: Option<usize>,
    #[command(flatten)]
    options: MergeOptions,
}

pub(crate) fn run(args: &Merge, app: &mut App<'_>) -> Result<u8> {
    let context = app.context()?;
    check_output(&args.output)?;
    let inputs = files(&args.inputs)?;
    let (bar, context) = app.progress(&context, "merging");
    let (output, options) = (&args.output, &args.options);
    let mut reports = Vec::new();
    let done = match args.condense {
        Some(condense) => {
            merge::merge_many(&inputs, output, condense, (options, &context), &mut reports)
        }
        None => merge::merge(&inputs, output, options, &context).map(|it| reports.push(it)),
    };
    drop(bar);
    let failure = done.err().map(Failure::from);
    // The outputs that were made before the failure stay.
    if app.json && !reports.is_empty() {
        print_documents(&reports, args.condense.is_some(), failure.as_ref(), app)?;
    } else if !app.quiet {
        reports.iter().try_for_each(|report| print(report, app))?;
    } else {
        for bad in reports.iter().flat_map(|report| &report.bad) {
            app.complain(&format!("left out the input {}: {}", bad.file, bad.error));
        }
    }
    let is_whole = reports.iter().all(|report| report.bad.is_empty());
    failure.map_or(Ok(if is_whole { FINE } else { PROBLEM }), Err)
}

/// Prints the reports as one JSON document, with the reason why there are no more.
fn print_documents(
    reports: &[MergeReport],
    condensed: bool,
    failure: Option<&Failure>,
    app: &mut App<'_>,
) -> Result<()> {
    match (reports, failure) {
        (reports, Some(failure)) => {
            let error = failure.report(app.exit_code(failure));
            app.print_json(&serde_json::json!({ "reports": reports, "error": error }))
        }
        ([report], None) if !condensed => app.print_json(report),
        (reports, None) => app.print_json(&serde_json::json!({ "reports": reports })),
    }
}

fn print(report: &MergeReport, app: &mut App<'_>) -> Result<()> {
    let MergeReport { inputs, written, ntuples, trees, .. } = report;
    let (output, path) = (&written.output, &written.ntuple);
    let path = if path.is_empty() { String::new() } else { format!(":{path}") };
    let line = format!("{} -> {output}{path}", counted(inputs.len() as u64, "input"));
    writeln!(app.out, "{}\n", printable(&line))?;
    if ntuples.len() == 1 {
        print_ntuple(report, app)?;
    } else {
        let mut table = Columns::new(&[">file", ">seconds", ">MB/s"]);
        table.row([
            size(written.output_bytes),
            format!("{:.2}", written.seconds),
            format!("{:.0}", written.megabytes_per_second),
        ]);
        table.print(app)?;
        if !ntuples.is_empty() {
            writeln!(app.out)?;
            print_ntuples(ntuples, app)?;
        }
    }
    if !trees.is_empty() {
        writeln!(app.out)?;
        print_trees(trees, app)?;
    }
    job_report::process(written, app)?;
    job_report::notes(written, app)
}

fn print_ntuple(report: &MergeReport, app: &mut App<'_>) -> Result<()> {
    let written = &report.written;
    let mut table = Columns::new(&[
        ">entries",
        ">clusters",
        ">fields",
        ">pages",
        ">shared",
        ">moved",
        ">file",
        ">seconds",
        ">MB/s",
    ]);
    table.row([
        count(written.entries),
        count(written.clusters),
        count(report.fields),
        count(report.pages),
        count(report.shared_pages),
        size(report.page_bytes),
        size(written.output_bytes),
        format!("{:.2}", written.seconds),
        format!("{:.0}", written.megabytes_per_second),
    ]);
    table.print(app)
}

fn print_ntuples(ntuples: &[MergedNTupleReport], app: &mut App<'_>) -> Result<()> {
    let mut table = Columns::new(&[
        "rntuple",
        ">inputs",
        ">entries",
        ">clusters",
        ">fields",
        ">pages",
        ">shared",
        ">moved",
    ]);
    for ntuple in ntuples {
        table.row([
            printable(&ntuple.ntuple).to_string(),
            count(ntuple.inputs),
            count(ntuple.entries),
            count(ntuple.clusters),
            count(ntuple.fields),
            count(ntuple.pages),
            count(ntuple.shared_pages),
            size(ntuple.page_bytes),
        ]);
    }
    table.print(app)
}

fn print_trees(trees: &[MergedTreeReport], app: &mut App<'_>) -> Result<()> {
    let mut table = Columns::new(&[
        "tree",
        ">inputs",
        ">entries",
        ">clusters",
        ">branches",
        ">baskets",
        ">moved",
    ]);
    for tree in trees {
        table.row([
            printable(&tree.tree).to_string(),
            count(tree.inputs),
            count(tree.entries),
            count(tree.clusters),
            count(tree.branches),
            count(tree.baskets),
            size(tree.basket_bytes),
        ]);
    }
    table.print(app)
}
