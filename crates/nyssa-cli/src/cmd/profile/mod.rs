//! `nyssa profile`: runs another command, and shows where its time and memory go.

mod cells;
mod html;
mod table;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use nyssa_observe::{ProfileReport, Profiler};
use nyssa_root::Error;

pub use html::{body, page};
pub use table::table;

use crate::app::App;
use crate::data::{check_text_output, create_text, write_text};
use crate::failure::{Failure, Result};

/// Run a command, and show where its time and memory go: by stage, column and thread
///
/// The table is printed to standard error when the command has ended. The exit code is the exit code of the command.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  \
    nyssa profile convert run3.root:Events out.root\n  \
    nyssa profile --output run3.html -- convert run3.root:Events out.root --verify\n  \
    nyssa profile --output trace.json -- digest out.root    (open it at https://ui.perfetto.dev)")]
pub(crate) struct Profile {
    /// Also write the profile to FILE: a page if it ends in .html, else trace events for Perfetto
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Form of FILE [default: by its ending]
    #[arg(long, requires = "output")]
    format: Option<Format>,
    /// The command of nyssa with its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// The forms of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// The table that is printed
    Table,
    /// A page that any browser shows without a network
    Html,
    /// Trace events (JSON), for <https://ui.perfetto.dev>
    Perfetto,
}

/// A function that parses and runs a command.
pub(crate) type Runner<'r> = dyn Fn(&[OsString], &mut App<'_>) -> Result<u8> + 'r;

pub(crate) fn run(args: &Profile, app: &mut App<'_>, run: &Runner<'_>) -> Result<u8> {
    if args.command.first().is_some_and(|name| name == "profile") {
        let hint = Some("leave out the second `profile`".to_owned());
        return Err(Failure::Usage("a profile of a profile cannot be made".to_owned(), hint));
    }
    check_text_output("--output", args.output.as_deref())?;
    // A file that cannot be made is refused before the command runs.
    let output = create_text(args.output.as_deref(), true)?;
    let profiler = Profiler::start().map_err(Error::from)?;
    let result = match app.json {
        // The data of the command would be a second document.
        true => run(&args.command, &mut app.with_output(&mut std::io::sink())),
        false => run(&args.command, app),
    };
    let report = profiler.finish();
    if let Some(file) = &args.output {
        write_text(output, || text(&report, args.format.unwrap_or_else(|| of_ending(file))))?;
    }
    let code = result.inspect_err(|_| show(&report, app))?;
    match app.json {
        true => app.print_json(&report)?,
        false => show(&report, app),
    }
    Ok(code)
}

fn show(report: &ProfileReport, app: &mut App<'_>) {
    if !app.json {
        table(report).trim_end().lines().for_each(|line| app.message(line));
    }
}

fn of_ending(file: &Path) -> Format {
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("html" | "htm") => Format::Html,
        Some("txt") => Format::Table,
        _ => Format::Perfetto,
    }
}

fn text(report: &ProfileReport, format: Format) -> Result<String> {
    Ok(match format {
        Format::Table => table(report),
        Format::Html => page(report),
        Format::Perfetto => report.to_perfetto().map_err(Error::from)?,
    })
}
