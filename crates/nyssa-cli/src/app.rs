//! Defines the outputs, the terminal and the global options that every command uses.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use clap::Args;
use nyssa_io::OtherFilesAllowed;
use nyssa_io::cache::{CacheChoice, CacheOptions, Form, parse_age, parse_limit, set_process_cache};
use nyssa_observe::Monitor;
use nyssa_root::Context;
use nyssa_root::process;
use serde::Serialize;

use crate::document;
use crate::failure::{Failure, Result};
use crate::printable::printable;
use crate::progress::Bar;
use crate::signals::{self, Signals};
use crate::units::{parse_interval, parse_threads};

/// The value of `--io-stats` that means a table on standard error.
pub(crate) const TABLE: &str = "-";

/// The options of every command.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Print one JSON document instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but data and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Worker threads [default: $NYSSA_NUM_THREADS, else all cores]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = parse_threads)]
    pub threads: Option<usize>,
    /// Write the time, memory and bytes that the process uses over time to FILE, as prmon does, and a summary to
    /// the same name with the ending .json
    #[arg(long, global = true, value_name = "FILE")]
    pub monitor: Option<PathBuf>,
    /// Seconds between two rows of --monitor
    #[arg(long, global = true, value_name = "SECONDS", default_value = "1", value_parser = parse_interval)]
    pub monitor_interval: Duration,
    /// Print counts of opens and reads, at the end on standard error; or write them to FILE, as JSON
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = TABLE)]
    pub io_stats: Option<String>,
    /// Record all opens and reads in FILE, one JSON object on each line; `nyssa trace show` shows it
    #[arg(long, global = true, value_name = "FILE")]
    pub record: Option<PathBuf>,
    /// Keep the bytes that are read from remote files in the folder DIR, and read them from there later [default:
    /// $NYSSA_CACHE]
    #[arg(long, global = true, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Largest size of the cache, or none for no limit; files that were not used for longest are removed
    /// [default: $NYSSA_CACHE_SIZE, else 20GB]
    #[arg(long, global = true, value_name = "SIZE", requires = "cache", value_parser = parse_cache_size)]
    pub cache_size: Option<CacheSize>,
    /// Form in which the cache keeps pages and baskets: as they are stored, recompressed by LZ4, or raw
    /// (unpacked) [default: $NYSSA_CACHE_AS, else stored]
    #[arg(long, global = true, value_name = "stored|lz4|raw", requires = "cache")]
    pub cache_as: Option<Form>,
    /// Use files of the cache without asking their servers if a server has stated the version within this time
    /// (seconds, or such as 10min, 1h, 2d) [default: $NYSSA_CACHE_MAX_AGE, else 0]
    #[arg(long, global = true, value_name = "TIME", requires = "cache", value_parser = parse_age)]
    pub cache_max_age: Option<Duration>,
    /// Read the files of branches and friends that a file names wherever they are, and not only beside the file or on its
    /// server. Other servers get no credentials [default: $NYSSA_ALLOW_OTHER_FILES is 1]
    #[arg(long, global = true)]
    pub allow_other_files: bool,
}

/// The limit of a cache, if it has one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CacheSize(Option<u64>);

fn parse_cache_size(text: &str) -> std::result::Result<CacheSize, String> {
    parse_limit(text).map(CacheSize)
}

impl Global {
    /// Sets the cache of the process that the user requested, until the result is dropped.
    pub(crate) fn use_cache(&self) -> Result<Option<CacheInUse>> {
        let Some(folder) = &self.cache else { return Ok(None) };
        let failed = |error| {
            nyssa_io::Error::new(folder.display().to_string(), "use the cache folder", error)
        };
        let mut options =
            CacheOptions::from_env().map_err(failed).map_err(nyssa_root::Error::from)?;
        if let Some(CacheSize(limit)) = self.cache_size {
            options.limit = limit;
        }
        options.form = self.cache_as.unwrap_or(options.form);
        options.max_age = self.cache_max_age.unwrap_or(options.max_age);
        let choice = CacheChoice::of(folder, options).map_err(nyssa_root::Error::from)?;
        set_process_cache(choice);
        Ok(Some(CacheInUse))
    }

    /// Allows files to name other files, if the user requested it, until the result is dropped.
    pub(crate) fn allow_other_files(&self) -> Option<OtherFilesAllowed> {
        self.allow_other_files.then(OtherFilesAllowed::for_process)
    }

    /// Returns the cache folder that the user or the environment names.
    pub(crate) fn cache_folder(&self) -> Option<PathBuf> {
        self.cache.clone().or_else(nyssa_io::cache::folder_of_environment)
    }

    /// Starts the monitor that the user requested.
    pub(crate) fn start_monitor(&self) -> Result<Option<Monitor>> {
        let monitor = self.monitor.as_deref();
        Ok(monitor.map(|file| process::monitor(file, self.monitor_interval)).transpose()?)
    }
}

/// A guard that restores the cache of the environment when it is dropped.
pub(crate) struct CacheInUse;

impl Drop for CacheInUse {
    fn drop(&mut self) {
        set_process_cache(CacheChoice::OfProcess);
    }
}

/// The properties of the outputs as terminals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// The width of the terminal that data are printed to, or `None` if it is not a terminal.
    pub width: Option<u16>,
    /// Whether messages go to a terminal.
    pub interactive: bool,
}

impl Terminal {
    /// Returns the terminals of this process.
    pub fn detect() -> Self {
        let stdout = console::Term::stdout();
        let width = std::io::stdout().is_terminal().then(|| stdout.size_checked()).flatten();
        Self {
            width: width.map(|(_, columns)| columns),
            interactive: std::io::stderr().is_terminal(),
        }
    }
}

/// The command line while it runs.
pub(crate) struct App<'a> {
    /// The output for data.
    pub out: &'a mut dyn Write,
    /// The output for messages: progress, hints, warnings and errors.
    pub err: &'a mut dyn Write,
    /// The properties of the outputs as terminals.
    pub terminal: Terminal,
    /// Whether data are printed as one JSON document.
    pub json: bool,
    /// Whether only data and errors are printed.
    pub quiet: bool,
    /// The cache folder that the user or the environment names.
    pub cache_folder: Option<PathBuf>,
    threads: Option<usize>,
    cancel: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl<'a> App<'a> {
    pub(crate) fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        terminal: Terminal,
        global: &Global,
        signals: &Signals,
    ) -> Self {
        let Global { json, quiet, threads, .. } = *global;
        let cache_folder = global.cache_folder();
        let (cancel, signal) = (signals.flag(), signals.number());
        Self { out, err, terminal, json, quiet, cache_folder, threads, cancel, signal }
    }

    /// Returns the command line for a command that runs inside this command. Its options come first. Options that it
    /// does not state have the values of the surrounding command (`outer`).
    pub(crate) fn of_command(&mut self, global: &Global, outer: &Global) -> App<'_> {
        let Global { json, quiet, threads, .. } = *global;
        let quiet = quiet || outer.quiet;
        let cache_folder = global.cache.clone().or_else(|| self.cache_folder.clone());
        let threads = threads.or(outer.threads);
        App { json, quiet, threads, cache_folder, ..self.reborrowed() }
    }

    /// Returns the same command line with another output for data.
    pub(crate) fn with_output<'b>(&'b mut self, out: &'b mut dyn Write) -> App<'b> {
        App { out, ..self.reborrowed() }
    }

    fn reborrowed(&mut self) -> App<'_> {
        App {
            out: &mut *self.out,
            err: &mut *self.err,
            terminal: self.terminal,
            json: self.json,
            quiet: self.quiet,
            cache_folder: self.cache_folder.clone(),
            threads: self.threads,
            cancel: Arc::clone(&self.cancel),
            signal: Arc::clone(&self.signal),
        }
    }

    /// Returns a context whose threads stop when the user interrupts.
    pub(crate) fn context(&self) -> Result<Context> {
        Ok(Context::new(self.threads)?.with_cancel(Arc::clone(&self.cancel)))
    }

    /// Returns the exit code of a command that fails so.
    pub(crate) fn exit_code(&self, failure: &Failure) -> u8 {
        match failure.is_cancelled() {
            true => signals::exit_code(&self.signal),
            false => failure.exit_code(),
        }
    }

    /// Returns the flag that is set when the user interrupts.
    #[cfg(feature = "serve")]
    pub(crate) fn stop(&self) -> &AtomicBool {
        &self.cancel
    }

    /// Returns a progress bar, and a context that moves it. The bar is hidden if messages do not go to a
    /// terminal; then a line each minute says how much is done.
    pub(crate) fn progress(&self, context: &Context, what: &str) -> (Bar, Context) {
        let bar = Bar::new(what, self.terminal.interactive && !self.quiet);
        let progress = match self.terminal.interactive || self.quiet {
            true => bar.callback(),
            false => bar.heartbeat(),
        };
        let context = context.clone().with_progress(progress);
        (bar, context)
    }

    /// Prints a message, unless the user requested quiet.
    pub(crate) fn message(&mut self, text: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "{}", printable(text));
        }
    }

    /// Prints a warning, even if the user requested quiet.
    pub(crate) fn complain(&mut self, text: &str) {
        let _ = writeln!(self.err, "{}", printable(text));
    }

    /// Prints a JSON document, an object.
    pub(crate) fn print_json(&mut self, value: &impl Serialize) -> Result<()> {
        document::print(value, self.out)
    }
}
