//! The command line of nyssa as a library: `run(args, out, err) -> exit code`.
//!
//! Data go to `out`, messages (progress, hints, errors) to `err`. With `--json`, `out` gets one document, also
//! if the command fails. [`exit_code`] lists the exit codes.

#![deny(missing_docs, unreachable_pub)]

mod app;
mod args;
mod around;
mod cmd;
mod data;
mod document;
pub mod exit_code;
mod failure;
mod io_stats;
mod json_value;
mod output;
mod printable;
mod progress;
mod signals;
mod units;
mod web_page;

use std::cell::Cell;
use std::ffi::OsString;
use std::io::{BufWriter, ErrorKind, Write};

use nyssa_io::Stop;

pub use app::Terminal;
pub use around::AroundPython;
pub use cmd::inspect::page as inspect_page;
pub use cmd::profile::{body as profile_body, page as profile_page, table as profile_table};
pub use cmd::trace::{Plotter, plot_by};
pub use cmd::tune::{body as tune_body, page as tune_page, text as tune_text};
use exit_code::{FINE, SYSTEM};
pub use io_stats::lines as io_stats_lines;
use printable::Printable;

/// Runs one command on the terminals of this process. `args[0]` is the name of the program. Returns the exit
/// code.
pub fn run(args: Vec<OsString>, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    run_on(args, out, err, Terminal::detect())
}

/// Runs a command line like [`run`]. `out` and `err` are terminals of the given kinds.
pub fn run_on(
    args: Vec<OsString>,
    out: &mut dyn Write,
    err: &mut dyn Write,
    terminal: Terminal,
) -> u8 {
    let (out, err) = (&mut Printable(out), &mut Printable(err));
    let cli = match args::Cli::of_words(&args) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let failure = match error.kind() {
                clap::error::ErrorKind::InvalidUtf8 => not_utf8(&args),
                _ => failure::Failure::Arguments(error.render().to_string()),
            };
            let json = args.iter().any(|argument| argument == "--json");
            return failed(&failure, json, out, err);
        }
        Err(error) => return help(&error, out, err),
    };
    let signals = match signals::Signals::install() {
        Ok(signals) => signals,
        Err(error) => {
            let _ = writeln!(err, "error: cannot set the handlers of signals: {error}");
            return SYSTEM;
        }
    };
    let _stop = Stop::of(signals.flag()).for_process();
    let has_begun = Cell::new(false);
    let mut buffered = WatchedOutput { inner: BufWriter::new(out), has_begun: &has_begun };
    let mut app = app::App::new(&mut buffered, err, terminal, &cli.global, &signals);
    let result = observed(&cli, &mut app);
    let result = result.and_then(|code| match app.out.flush() {
        // The result of a check is valid even if no program reads the output.
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(code),
    });
    match result {
        Ok(code) => code,
        Err(failure) if failure.is_broken_pipe() => FINE,
        Err(failure) if failure.is_cancelled() => {
            app.message("stopped");
            let code = app.exit_code(&failure);
            if app.json && !has_begun.get() {
                print_document(&failure, code, app.out);
            }
            code
        }
        Err(failure) => {
            // Data that were printed before the failure come before its message.
            let _ = app.out.flush();
            failed(&failure, app.json && !has_begun.get(), app.out, app.err)
        }
    }
}

/// An output that knows whether anything was written to it.
struct WatchedOutput<'a, W> {
    inner: W,
    has_begun: &'a Cell<bool>,
}

impl<W: Write> Write for WatchedOutput<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.has_begun.set(true);
        self.inner.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// Prints a failure for people, and also as a JSON document if that is wanted. Returns the exit code.
fn failed(failure: &failure::Failure, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    failure.print(err);
    let code = failure.exit_code();
    if json {
        print_document(failure, code, out);
    }
    code
}

/// Prints the JSON document of a failure. If the output is gone, the exit code still tells the failure.
fn print_document(failure: &failure::Failure, code: u8, out: &mut dyn Write) {
    let _ = document::print(&failure.document(code), out).and_then(|()| Ok(out.flush()?));
}

/// Runs the command with the options of every command. Returns the exit code of the command.
fn observed(cli: &args::Cli, app: &mut app::App<'_>) -> failure::Result<u8> {
    // A command about a cache does not use it.
    let is_about_cache = matches!(cli.command, cmd::Command::Cache(_));
    let around = around::Around::start(&cli.global, !is_about_cache)?;
    let result = cmd::run(&cli.command, app, &|command, app| inner(command, &cli.global, app));
    let finished = around.finish(app.err);
    result.and_then(|code| finished.map(|()| code))
}

/// Runs a command inside another one, which has the options `outer`.
fn inner(command: &[OsString], outer: &app::Global, app: &mut app::App<'_>) -> failure::Result<u8> {
    let words = [&[OsString::from("nyssa")], command].concat();
    match args::Cli::of_words(&words) {
        Ok(cli) => observed(&cli, &mut app.of_command(&cli.global, outer)),
        Err(error) if error.use_stderr() => {
            Err(failure::Failure::Arguments(error.render().to_string()))
        }
        Err(error) => Ok(help(&error, app.out, app.err)),
    }
}

/// Returns the failure for arguments that must be text and are not UTF-8.
fn not_utf8(args: &[OsString]) -> failure::Failure {
    let name = args.iter().find(|argument| argument.to_str().is_none());
    let name = name.map(|item| item.to_string_lossy()).unwrap_or_default();
    failure::Failure::Usage(
        format!("the name {} is not UTF-8", output::printable(&name)),
        Some("give the file another name, or make a link to it, as with ln -s".to_owned()),
    )
}

/// Prints the help or the version, which are data.
fn help(error: &clap::Error, out: &mut dyn Write, err: &mut dyn Write) -> u8 {
    let text = error.render().to_string();
    match write!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            failed(&error.into(), false, out, err)
        }
        _ => FINE,
    }
}
