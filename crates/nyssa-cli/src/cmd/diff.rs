//! `nyssa diff`: compares two datasets, or two whole files, value by value.

use clap::Args;
use nyssa_data::dataset::Filter;
use nyssa_data::view::evolve::{self, Missing};
use nyssa_data::view::{ChainOptions, ChainSchema};
use nyssa_jobs::compare::Selection;
use nyssa_jobs::compare::diff::{self, DiffOptions, DiffReport};
use nyssa_jobs::compare::files::{FileDiffReport, diff_files};
use nyssa_root::{Context, Kind};
use serde::Serialize;

use crate::app::App;
use crate::data;
use crate::exit_code::{FINE, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted};

/// Compare two datasets, or two whole files, value by value
///
/// If a file has several datasets and no path is named, each dataset is compared with the dataset at its path in the other
/// file. Datasets and other objects that only one file has are differences, and so are other objects whose class or whose
/// stored bytes (before compression) differ.
///
/// Each dataset is a TTree or an RNTuple. Columns are matched by name; the collections of converted files are
/// compared through the projected fields that have the names of the branches. Floats are compared bit by bit.
/// The exit code is 1 if anything is different.
///
/// Several files on one side are compared as one dataset, with their entries one after the other. In this way a
/// merge can be verified. The dataset has the columns of all files; in a file that lacks a column, its values
/// are zero or empty.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa diff run3.root:Events out.root:Events\n  \
    nyssa diff 'run*.root' merged.root")]
pub(crate) struct Diff {
    /// FILE or FILE:PATH; also a glob in quotes, a folder, or @LIST for the lines of a file
    a: String,
    /// The other dataset, in the same forms as A
    b: String,
    /// Do not count columns, datasets and objects that only one side has as differences
    #[arg(long)]
    only_common: bool,
    /// Compare only columns that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a, R: Serialize> {
    a: &'a str,
    b: &'a str,
    #[serde(flatten)]
    report: &'a R,
}

pub(crate) fn run(args: &Diff, app: &mut App<'_>) -> Result<u8> {
    let filter = Filter::new(&args.filter, &[])?;
    let context = app.context()?;
    let chain = ChainOptions {
        target: ChainSchema::Union,
        evolution: evolve::EvolutionOptions {
            missing: Missing::Default,
            ..evolve::EvolutionOptions::default()
        },
        ..ChainOptions::default()
    };
    let (bar, quiet) = app.progress(&context, "comparing");
    let whole = whole(args, &filter, &chain, &quiet);
    drop(bar);
    if let Some(report) = whole? {
        return whole_files(&report, args, app);
    }
    let open = |argument| data::open_datasets(std::slice::from_ref(argument), &chain, &context);
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let (a, b) = (a.dataset(), b.dataset());
    data::check_filter(&args.filter, &[data::names(a), data::names(b)].concat(), &args.a)?;
    let (bar, context) = app.progress(&context, "comparing");
    let selection = Selection { filter, ..Selection::default() };
    let options =
        DiffOptions { selection, only_common: args.only_common, ..DiffOptions::default() };
    let report = diff::diff(a, b, &options, &context).map_err(|error| match error.kind() {
        Kind::InvalidArgument if args.only_common => {
            Failure::from(error).hint("`nyssa schema` lists the columns of each")
        }
        _ => error.into(),
    })?;
    drop(bar);
    if app.json {
        let (a, b) = (nyssa_io::shown(&args.a), nyssa_io::shown(&args.b));
        app.print_json(&Document { a: &a, b: &b, report: &report })?;
    } else {
        print(&report, args, app)?;
    }
    Ok(if report.equal { FINE } else { PROBLEM })
}

/// Compares whole files, if one has several datasets and none is named.
fn whole(
    args: &Diff,
    filter: &Filter,
    chain: &ChainOptions,
    context: &Context,
) -> Result<Option<FileDiffReport>> {
    let files = |argument| data::files(std::slice::from_ref(argument));
    let selection = Selection { filter: filter.clone(), ..Selection::default() };
    let options =
        DiffOptions { selection, only_common: args.only_common, ..DiffOptions::default() };
    Ok(diff_files(&files(&args.a)?, &files(&args.b)?, (&options, chain), context)?)
}

fn whole_files(report: &FileDiffReport, args: &Diff, app: &mut App<'_>) -> Result<u8> {
    if app.json {
        let (a, b) = (nyssa_io::shown(&args.a), nyssa_io::shown(&args.b));
        app.print_json(&Document { a: &a, b: &b, report })?;
    } else {
        for dataset in &report.datasets {
            writeln!(app.out, "{}:", printable(&dataset.path))?;
            print(&dataset.report, args, app)?;
        }
        if !args.only_common {
            only("a", &report.only_in_a, app)?;
            only("b", &report.only_in_b, app)?;
        }
        for object in &report.different {
            writeln!(app.out, "different: {}", printable(object))?;
        }
        if !app.quiet {
            let datasets = counted(report.datasets.len() as u64, "dataset");
            let objects = counted(report.compared_objects, "other object");
            let word = if report.equal { "equal" } else { "different" };
            writeln!(app.out, "{word}: {datasets}, {objects} compared")?;
        }
    }
    Ok(if report.equal { FINE } else { PROBLEM })
}

/// Prints the names that only one side has.
fn only(side: &str, names: &[String], app: &mut App<'_>) -> Result<()> {
    if !names.is_empty() {
        writeln!(app.out, "only in {side}: {}", printable(&names.join(", ")))?;
    }
    Ok(())
}

fn print(report: &DiffReport, args: &Diff, app: &mut App<'_>) -> Result<()> {
    if report.entries_a != report.entries_b {
        let (a, b) = (count(report.entries_a), count(report.entries_b));
        writeln!(app.out, "entries: {a} in a, {b} in b")?;
    }
    if !args.only_common {
        only("a", &report.only_in_a, app)?;
        only("b", &report.only_in_b, app)?;
    }
    for item in &report.incomparable {
        writeln!(app.out, "cannot compare {}: {}", printable(&item.name), printable(&item.reason))?;
    }
    let mut table = Columns::new(&["column", ">different", ">first", "item", "in a", "in b"]);
    let mut different = 0;
    for compared in report.different() {
        different += 1;
        let Some(first) = &compared.first else { continue };
        table.row([
            compared.name.clone(),
            count(compared.different_entries),
            first.entry.to_string(),
            first.item.clone(),
            first.a.clone(),
            first.b.clone(),
        ]);
    }
    if different > 0 {
        table.print(app)?;
    }
    if app.quiet {
        return Ok(());
    }
    let columns = counted(report.compared.len() as u64, "column");
    let entries = counted(report.compared_entries, "entry");
    if report.equal {
        writeln!(app.out, "equal: {columns}, {entries} compared")?;
    } else {
        writeln!(app.out, "different: {} of {columns}, {entries} compared", count(different))?;
    }
    Ok(())
}
