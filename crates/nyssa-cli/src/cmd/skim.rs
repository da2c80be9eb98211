//! `nyssa skim`: writes some columns of the entries that pass cuts, and new columns, in any format.

use std::path::PathBuf;

use clap::Args;
use nyssa_jobs::skim::{self, SkimOptions, SkimReport};

use crate::app::App;
use crate::cmd::job_report;
use crate::data::check_output;
use crate::exit_code::{FINE, PROBLEM};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted, size};

/// Write some columns of the entries that pass cuts, and new columns, as RNTuple, TTree, Parquet or Arrow
///
/// Several inputs are read one after the other, as one dataset; they may be globs, folders, lists (@LIST) and URLs. The
/// columns of the cuts are read first, and the others only where entries pass. The report has the number of entries after
/// each cut. Other objects of the files are not copied; `nyssa rewrite` and `nyssa merge` do that.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nyssa skim 'run3/*.root:Events' -o muons.root --columns 'Muon_*' --cut 'nMuon >= 2'\n  \
    nyssa skim run3.root:Events -o jets.parquet --define 'ht=sum(Jet_pt[Jet_pt > 30])' --columns 'Jet_*' --columns ht \
    --cut 'trigger=HLT_IsoMu24' --cut 'jets=ht > 200'\n  \
    nyssa skim table.parquet -o ntuple.root --format rntuple"
)]
pub(crate) struct Skim {
    /// FILE, FILE:PATH, globs, folders or lists (@LIST)
    #[arg(value_name = "INPUT", required = true, num_args = 1..)]
    inputs: Vec<String>,
    /// File to write
    #[arg(long, short)]
    output: PathBuf,
    #[command(flatten)]
    options: SkimOptions,
}

pub(crate) fn run(args: &Skim, app: &mut App<'_>) -> Result<u8> {
    check_output(&args.output)?;
    let (bar, context) = app.progress(&app.context()?, "skimming");
    let report = skim::skim(&args.inputs, &args.output, &args.options, &context);
    drop(bar);
    let report = report.map_err(Failure::from)?;
    if app.json {
        app.print_json(&report)?;
    } else if !app.quiet {
        print(&report, app)?;
    }
    Ok(if report.skipped.iter().any(|item| item.unreadable) { PROBLEM } else { FINE })
}

fn print(report: &SkimReport, app: &mut App<'_>) -> Result<()> {
    let inputs = match report.inputs.as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    let written = &report.written;
    let (output, name) = (&written.output, &written.ntuple);
    let line = format!("{inputs}:{} -> {output}:{name} ({})", report.dataset, report.format);
    writeln!(app.out, "{}\n", printable(&line))?;
    if !report.cut_flow.is_empty() {
        let mut table = Columns::new(&["cut", ">entries", ">of all", ">of the last"]);
        let percent = |part: u64, of: u64| match of {
            0 => "-".to_owned(),
            of => format!("{:.2} %", 100.0 * part as f64 / of as f64),
        };
        let all = report.input_entries;
        table.row(["all entries".to_owned(), count(all), percent(all, all), String::new()]);
        let mut last = all;
        for row in &report.cut_flow {
            let name = printable(&row.name).to_string();
            table.row([
                name,
                count(row.entries),
                percent(row.entries, all),
                percent(row.entries, last),
            ]);
            last = row.entries;
        }
        table.print(app)?;
        writeln!(app.out)?;
    }
    let line = format!(
        "{} of {}, {}, file {}, {:.2} s, {}",
        count(written.entries),
        counted(report.input_entries, "entry"),
        counted(report.columns.len() as u64, "column"),
        size(written.output_bytes),
        written.seconds,
        counted(report.threads as u64, "thread"),
    );
    writeln!(app.out, "{line}{}", if written.verified { ", every value verified" } else { "" })?;
    for item in &report.skipped {
        let line = format!("left out {}: {}", item.name, item.reason);
        writeln!(app.out, "{}", printable(&line))?;
    }
    if !report.left_out.is_empty() {
        let line = format!("not copied: {}", report.left_out.join(", "));
        writeln!(app.out, "{}", printable(&line))?;
    }
    job_report::notes(written, app)
}
