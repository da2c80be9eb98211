//! `nyssa verify`: checks everything in a file.

use clap::Args;
use nyssa_jobs::tune::listing::with_cycle;
use nyssa_jobs::verify::{Checksums, DatasetReport, VerifyReport, verify};
use nyssa_root::{Kind, Problem};

use super::each::each;
use crate::app::App;
use crate::data::open_source;
use crate::exit_code::{FINE, PROBLEM, UNSUPPORTED};
use crate::failure::{Failure, Result};
use crate::output::{Columns, printable};
use crate::units::{count, counted, size};

/// Check every checksum and every rule of the format
///
/// Reads and decodes every page of every RNTuple, every basket of every TTree, and every other object,
/// including the members of streamed objects. Lists all problems with their places, and counts the pages and
/// baskets without a checksum, such as baskets that ROOT compresses with zstd: a changed value in them may
/// remain unseen (`nyssa digest` can compare values with earlier ones). Of a Parquet or Arrow IPC file, reads and decodes
/// every page or record batch; Arrow IPC has no checksums, and not every Parquet file has them. Notes name the keys that lie in a local file and
/// that no directory lists, such as those that a deleted directory leaves. The exit code is 1 if there are
/// problems, and 4 if something could not be checked or decoded.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  nyssa verify run3.root\n  nyssa verify run3.root:Events --json"
)]
pub(crate) struct Verify {
    /// FILE to check the whole file, or FILE:PATH to check one object; several, a glob in quotes, a folder, or @LIST
    #[arg(required = true)]
    data: Vec<String>,
}

pub(crate) fn run(args: &Verify, app: &mut App<'_>) -> Result<u8> {
    each(&args.data, app, verify_data, |report, app| print(&report, app))
}

fn verify_data(data: &str, app: &mut App<'_>) -> Result<(VerifyReport, u8)> {
    let (source, path) = open_source(data)?;
    let file = source.name().to_owned();
    let (bar, context) = app.progress(&app.context()?, "verifying");
    let report = verify(source, path, &context).map_err(|error| match error.kind() {
        Kind::NotFound => {
            Failure::from(error).hint(format!("`nyssa ls {file}` shows what the file holds"))
        }
        _ => error.into(),
    })?;
    drop(bar);
    let code = match (report.problems.is_empty(), report.is_complete()) {
        (false, _) => PROBLEM,
        (true, false) => UNSUPPORTED,
        (true, true) => FINE,
    };
    Ok((report, code))
}

/// Returns the place of a problem as text.
fn place(problem: &Problem) -> String {
    let number = |name: &str, value: Option<u64>| value.map(|value| format!("{name} {value}"));
    let parts = [
        problem.object.clone(),
        problem.field.clone(),
        number("column", problem.column),
        number("cluster", problem.cluster),
        number("page", problem.page),
        number("basket", problem.basket),
        number("entry", problem.entry),
        number("byte", problem.offset),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn print(report: &VerifyReport, app: &mut App<'_>) -> Result<()> {
    if !report.datasets.is_empty() && !app.quiet {
        let header = [
            "name",
            "class",
            ">entries",
            ">parts",
            ">decoded",
            ">checksums",
            ">size",
            ">unreadable",
        ];
        let mut table = Columns::new(&header);
        for DatasetReport { path, cycle, class, check } in &report.datasets {
            table.row([
                with_cycle(path, *cycle),
                class.clone(),
                count(check.entries),
                count(check.parts),
                count(check.decoded),
                count(check.checksummed),
                size(check.bytes),
                count(check.unreadable.len() as u64),
            ]);
        }
        table.print(app)?;
    }
    for problem in &report.problems {
        let (message, place) = (printable(&problem.message), printable(&place(problem)));
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        writeln!(app.out, "problem: {message}{place}")?;
    }
    for unchecked in &report.unchecked {
        writeln!(app.out, "not checked: {}", printable(unchecked))?;
    }
    for undecoded in report.not_decoded() {
        writeln!(app.out, "not decoded: {}", printable(&undecoded))?;
    }
    if app.quiet {
        return Ok(());
    }
    for note in &report.notes {
        writeln!(app.out, "note: {}", printable(note))?;
    }
    let keys = checked(report);
    let problems = report.problems.len() as u64;
    match (problems, report.is_complete()) {
        (0, true) => sound(report, &keys, app),
        (0, _) => Ok(writeln!(app.out, "no problem found in what was checked: {keys}")?),
        _ => {
            let (problems, file) = (counted(problems, "problem"), printable(&report.file));
            Ok(writeln!(app.out, "damaged: {problems} in {keys} of {file}")?)
        }
    }
}

/// Returns how much was checked: the keys of a ROOT file, or the parts of a table.
fn checked(report: &VerifyReport) -> String {
    match report.datasets.first() {
        Some(table) if report.keys == 0 => {
            format!("{} {}", count(table.check.parts), report.parts())
        }
        _ => counted(report.keys as u64, "key"),
    }
}

/// Prints how much was checked in a file without problems, and what the check cannot find.
fn sound(report: &VerifyReport, keys: &str, app: &mut App<'_>) -> Result<()> {
    let Checksums { present, absent } = report.checksums;
    if absent == 0 {
        return Ok(writeln!(app.out, "sound: {keys} checked")?);
    }
    let (all, absent, parts) = (count(present + absent), count(absent), report.parts());
    writeln!(app.out, "no problem found: {keys} checked")?;
    writeln!(
        app.out,
        "note: {absent} of {all} {parts} have no checksum, so damage to their values may stay \
         unseen"
    )?;
    Ok(())
}
