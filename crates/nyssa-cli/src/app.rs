//! What every command has at hand: outputs, terminal, global options.

use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use nyssa::Context;
use serde::Serialize;

use crate::failure::Result;
use crate::printable::printable;
use crate::progress::Bar;
use crate::units::parse_threads;

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Print one JSON document instead of tables
    #[arg(long, global = true)]
    pub json: bool,
    /// Print nothing but data and errors
    #[arg(long, short, global = true)]
    pub quiet: bool,
    /// Worker threads [default: $NYSSA_NUM_THREADS, else all cores]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = parse_threads)]
    pub threads: Option<usize>,
}

/// What kind of terminal the outputs are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Columns of the terminal that data goes to; `None` when it is not one.
    pub width: Option<u16>,
    /// Whether messages go to a terminal.
    pub interactive: bool,
}

impl Terminal {
    /// That of this process.
    pub fn detect() -> Self {
        let stdout = console::Term::stdout();
        let width = std::io::stdout().is_terminal().then(|| stdout.size_checked()).flatten();
        Self {
            width: width.map(|(_, columns)| columns),
            interactive: std::io::stderr().is_terminal(),
        }
    }
}

/// The running command line.
pub struct App<'a> {
    /// Data.
    pub out: &'a mut dyn Write,
    /// Messages for people: progress, hints, warnings and errors.
    pub err: &'a mut dyn Write,
    /// What the outputs are.
    pub terminal: Terminal,
    /// Data is one JSON document.
    pub json: bool,
    /// Only errors are printed, besides data.
    pub quiet: bool,
    threads: Option<usize>,
    cancel: Arc<AtomicBool>,
}

impl<'a> App<'a> {
    pub fn new(
        out: &'a mut dyn Write,
        err: &'a mut dyn Write,
        terminal: Terminal,
        global: &Global,
        cancel: Arc<AtomicBool>,
    ) -> Self {
        let Global { json, quiet, threads } = *global;
        Self { out, err, terminal, json, quiet, threads, cancel }
    }

    /// Threads that stop when the user asks.
    pub fn context(&self) -> Result<Context> {
        Ok(Context::new(self.threads)?.with_cancel(Arc::clone(&self.cancel)))
    }

    /// A progress bar and the context that moves it. The bar is hidden where nobody would see it.
    pub fn progress(&self, context: &Context, what: &str) -> (Bar, Context) {
        let bar = Bar::new(what, self.terminal.interactive && !self.quiet);
        let context = context.clone().with_progress(bar.callback());
        (bar, context)
    }

    /// Says something to the user, unless asked to be quiet.
    pub fn message(&mut self, text: &str) {
        if !self.quiet {
            let _ = writeln!(self.err, "{text}");
        }
    }

    /// Says what is wrong, however quiet it is to be.
    pub fn complain(&mut self, text: &str) {
        let _ = writeln!(self.err, "{}", printable(text));
    }

    /// Prints a JSON document.
    pub fn print_json(&mut self, value: &impl Serialize) -> Result<()> {
        serde_json::to_writer_pretty(&mut *self.out, value)?;
        Ok(writeln!(self.out)?)
    }
}
