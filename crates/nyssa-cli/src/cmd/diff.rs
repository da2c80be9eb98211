//! `nyssa diff`: compares two datasets value by value.

use clap::Args;
use nyssa_data::dataset::Filter;
use nyssa_data::view::evolve::{self, Missing};
use nyssa_data::view::{ChainOptions, ChainSchema};
use nyssa_jobs::compare::Selection;
use nyssa_jobs::compare::diff::{self, DiffOptions, DiffReport};
use nyssa_root::Kind;
use serde::Serialize;

use crate::app::App;
use crate::data;
use crate::exit_code::{FINE, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted};

/// Compare two datasets value by value
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
pub struct Diff {
    /// FILE or FILE:PATH; also a glob in quotes, a folder, or @LIST for the lines of a file
    a: String,
    /// The other dataset, in the same forms as A
    b: String,
    /// Do not count columns that only one side has as differences
    #[arg(long)]
    only_common: bool,
    /// Compare only columns that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    a: &'a str,
    b: &'a str,
    #[serde(flatten)]
    report: &'a DiffReport,
}

pub fn run(args: &Diff, app: &mut App<'_>) -> Result<u8> {
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
    let open = |argument| data::open_datasets(std::slice::from_ref(argument), &chain, &context);
    let (a, b) = (open(&args.a)?, open(&args.b)?);
    let (a, b) = (a.dataset(), b.dataset());
    data::check_filter(&filter, &[data::names(a), data::names(b)].concat(), &args.a)?;
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

fn print(report: &DiffReport, args: &Diff, app: &mut App<'_>) -> Result<()> {
    if report.entries_a != report.entries_b {
        let (a, b) = (count(report.entries_a), count(report.entries_b));
        writeln!(app.out, "entries: {a} in a, {b} in b")?;
    }
    if !args.only_common {
        let sides = [("a", &report.only_in_a), ("b", &report.only_in_b)];
        for (side, names) in sides {
            if !names.is_empty() {
                writeln!(app.out, "only in {side}: {}", printable(&names.join(", ")))?;
            }
        }
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
    let entries = count(report.compared_entries);
    if report.equal {
        writeln!(app.out, "equal: {columns}, {entries} entries compared")?;
    } else {
        writeln!(
            app.out,
            "different: {} of {columns}, {entries} entries compared",
            count(different)
        )?;
    }
    Ok(())
}
