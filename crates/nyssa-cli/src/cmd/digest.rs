//! `nyssa digest`: computes one number for the values of each column.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use nyssa_data::dataset::{Dataset, Filter};
use nyssa_data::view::{ChainOptions, ChainSchema};
use nyssa_jobs::compare::digest::{self, Comparison, DigestReport, Expected};
use nyssa_jobs::compare::files::{FileDataset, several_datasets};
use nyssa_jobs::compare::{MEMORY_BUDGET, Selection};
use nyssa_root::{Context, Error};
use serde::Serialize;
use serde_json::json;

use crate::app::App;
use crate::data;
use crate::exit_code::{FINE, PROBLEM, UNSUPPORTED};
use crate::failure::Result;
use crate::output::{Columns, printable};
use crate::units::{EntryRange, count, counted, parse_size};

/// Hash the values of every column
///
/// The digest of a column depends only on its values, and not on compression, baskets or clusters. A TTree, the
/// RNTuple made from it, and copies in other files have the same digests. --compare compares the digests with
/// those that `nyssa convert --report` or `nyssa digest --json` wrote; the exit code is 1 if any value has
/// changed.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  nyssa digest run3.root:Events --json > run3.json\n  \
    nyssa convert run3.root:Events out.root --report out.json\n  \
    nyssa digest out.root --compare out.json")]
pub(crate) struct Digest {
    /// FILE for all its datasets, or FILE:PATH for one; several, a glob in quotes, a folder, or @LIST are hashed as one
    #[arg(required = true)]
    data: Vec<String>,
    /// Compare with the report of a conversion, or with earlier digests; - reads standard input
    #[arg(long, value_name = "REPORT", conflicts_with = "filter")]
    compare: Option<PathBuf>,
    /// Hash only columns that match a glob (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Hash entries A up to, not including, B
    #[arg(long, value_name = "A:B", allow_hyphen_values = true)]
    entries: Option<EntryRange>,
    /// Largest size of the data that are in memory at the same time [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    memory: Option<u64>,
}

#[derive(Serialize)]
struct Document<'a> {
    report: String,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// The comparison of one dataset of whole files.
#[derive(Serialize)]
struct DatasetComparison<'a> {
    object: &'a str,
    #[serde(flatten)]
    comparison: Comparison,
}

pub(crate) fn run(args: &Digest, app: &mut App<'_>) -> Result<u8> {
    let filter = Filter::new(&args.filter, &[])?;
    let context = app.context()?;
    let all = several_datasets(&data::files(&args.data)?)?;
    if !all.is_empty() {
        return whole(args, &filter, &all, &context, app);
    }
    let datasets = data::open_datasets(&args.data, &of_several_files(), &context)?;
    let dataset = datasets.dataset();
    data::check_filter(&args.filter, &data::names(dataset), dataset.file())?;
    let memory_budget = args.memory.unwrap_or(MEMORY_BUDGET);
    if let Some(report) = &args.compare {
        let (name, bytes) = read(report)?;
        let expected = expected(args, (&bytes, &name), dataset)?;
        let comparison = compare(&expected, dataset, memory_budget, &context, app)?;
        if app.json {
            let report = nyssa_io::shown(report);
            app.print_json(&Document { report, comparison: &comparison })?;
        } else {
            tell(&comparison, app)?;
        }
        return Ok(if comparison.equal { FINE } else { PROBLEM });
    }
    let report = hash(args, filter, dataset, &context, app)?;
    if app.json {
        app.print_json(&report)?;
    } else {
        print(&report, app)?;
    }
    Ok(if report.undigested.is_empty() { FINE } else { UNSUPPORTED })
}

/// Hashes every dataset of whole files, or compares it with the report.
fn whole(
    args: &Digest,
    filter: &Filter,
    all: &[FileDataset],
    context: &Context,
    app: &mut App<'_>,
) -> Result<u8> {
    let memory_budget = args.memory.unwrap_or(MEMORY_BUDGET);
    let expects = args.compare.as_deref().map(read).transpose()?;
    let (mut reports, mut comparisons, mut code, mut takes_some) = (vec![], vec![], FINE, false);
    for item in all {
        let datasets = item.open(&of_several_files(), context)?;
        let dataset = datasets.dataset();
        if let Some((name, bytes)) = &expects {
            let expected = expected(args, (bytes, name), dataset)?;
            let comparison = compare(&expected, dataset, memory_budget, context, app)?;
            code = code.max(if comparison.equal { FINE } else { PROBLEM });
            if !app.json {
                writeln!(app.out, "{}:", printable(&item.path))?;
                tell(&comparison, app)?;
            }
            comparisons.push(DatasetComparison { object: &item.path, comparison });
            continue;
        }
        if data::names(dataset).into_iter().all(|name| !filter.takes(name)) {
            continue;
        }
        takes_some = true;
        let report = hash(args, filter.clone(), dataset, context, app)?;
        code = code.max(if report.undigested.is_empty() { FINE } else { UNSUPPORTED });
        if !app.json {
            writeln!(app.out, "{}:", printable(&item.path))?;
            print(&report, app)?;
        }
        reports.push(report);
    }
    if expects.is_none() && !takes_some && !args.filter.is_empty() {
        let message = "the filter matches none of the columns";
        return Err(Error::invalid_argument(message).into());
    }
    if app.json {
        match &args.compare {
            None => app.print_json(&json!({ "reports": reports }))?,
            Some(report) => app.print_json(&json!({
                "report": nyssa_io::shown(report),
                "equal": comparisons.iter().all(|item| item.comparison.equal),
                "datasets": comparisons,
            }))?,
        }
    }
    Ok(code)
}

/// Names columns that only some files have.
fn of_several_files() -> ChainOptions {
    ChainOptions { target: ChainSchema::Union, ..ChainOptions::default() }
}

/// Takes the digests for a dataset from the bytes of a report with a name.
fn expected(
    args: &Digest,
    (bytes, name): (&[u8], &str),
    dataset: &dyn Dataset,
) -> Result<Expected> {
    let expected = Expected::parse(bytes, name, dataset)?;
    Ok(match args.entries {
        Some(entries) => expected.with_entries(entries.within(dataset.num_entries())),
        None => expected,
    })
}

fn hash(
    args: &Digest,
    filter: Filter,
    dataset: &dyn Dataset,
    context: &Context,
    app: &mut App<'_>,
) -> Result<DigestReport> {
    let memory_budget = args.memory.unwrap_or(MEMORY_BUDGET);
    let entries = args.entries.map(|entries| entries.within(dataset.num_entries()));
    let selection = Selection { filter, entries, memory_budget, ..Selection::default() };
    let (bar, context) = app.progress(context, "hashing");
    let report = digest::digest(dataset, &selection, &context);
    drop(bar);
    Ok(report?)
}

/// Returns the name and the bytes of a report. The name `-` means standard input.
fn read(report: &Path) -> Result<(String, Vec<u8>)> {
    if report.as_os_str() != "-" {
        let bytes = nyssa_io::read(report).map_err(Error::from)?;
        return Ok((nyssa_io::shown(report), bytes));
    }
    let name = "standard input".to_owned();
    let mut bytes = Vec::new();
    let failed = |error| Error::from(nyssa_io::Error::new(&name, "read", error));
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(failed)?;
    Ok((name, bytes))
}

fn print(report: &DigestReport, app: &mut App<'_>) -> Result<()> {
    for column in &report.digests {
        writeln!(app.out, "{}  {}", column.digest, printable(&column.name))?;
    }
    for column in &report.undigested {
        app.message(&format!(
            "no digest of {}: {}",
            printable(&column.name),
            printable(&column.reason)
        ));
    }
    Ok(())
}

fn compare(
    expected: &Expected,
    dataset: &dyn Dataset,
    memory_budget: u64,
    context: &Context,
    app: &mut App<'_>,
) -> Result<Comparison> {
    let (bar, context) = app.progress(context, "hashing");
    let comparison = expected.compare(dataset, memory_budget, &context);
    drop(bar);
    Ok(comparison?)
}

fn tell(comparison: &Comparison, app: &mut App<'_>) -> Result<()> {
    for name in &comparison.missing {
        writeln!(app.out, "missing: {}", printable(name))?;
    }
    for column in &comparison.undigested {
        writeln!(
            app.out,
            "cannot compare {}: {}",
            printable(&column.name),
            printable(&column.reason)
        )?;
    }
    if !comparison.different.is_empty() {
        let mut table = Columns::new(&["column", "in the report", "found"]);
        for column in &comparison.different {
            table.row([column.name.clone(), column.expected.clone(), column.found.clone()]);
        }
        table.print(app)?;
    }
    if app.quiet {
        return Ok(());
    }
    let (columns, entries) =
        (counted(comparison.compared, "column"), counted(comparison.entries, "entry"));
    let extra = comparison.extra.len() as u64;
    if extra > 0 {
        writeln!(app.out, "not in the report: {}", counted(extra, "column"))?;
    }
    if comparison.equal {
        writeln!(app.out, "equal: {columns}, {entries} compared")?;
    } else {
        let different = count(comparison.different.len() as u64);
        writeln!(app.out, "different: {different} of {columns}, {entries} compared")?;
    }
    Ok(())
}
