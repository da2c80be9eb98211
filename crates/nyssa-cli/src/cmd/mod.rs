//! Contains the commands, one file each.

pub(crate) mod cache;
pub(crate) mod cat;
mod columns;
pub(crate) mod convert;
pub(crate) mod diff;
pub(crate) mod digest;
mod each;
pub(crate) mod in_python;
pub(crate) mod inspect;
mod job_report;
pub(crate) mod ls;
pub(crate) mod merge;
pub(crate) mod profile;
pub(crate) mod rewrite;
pub(crate) mod schema;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod skim;
pub(crate) mod trace;
pub(crate) mod tune;
pub(crate) mod verify;

use clap::Subcommand;

use crate::app::App;
use crate::failure::Result;

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ls(ls::Ls),
    Schema(schema::Schema),
    Cat(cat::Cat),
    /// Draw a histogram of an expression, for a first look (with the Python package)
    Draw(in_python::InPython),
    Inspect(inspect::Inspect),
    Tune(tune::Tune),
    Convert(Box<convert::Convert>),
    Merge(Box<merge::Merge>),
    Rewrite(Box<rewrite::Rewrite>),
    Skim(Box<skim::Skim>),
    Verify(verify::Verify),
    Digest(digest::Digest),
    Diff(diff::Diff),
    Profile(profile::Profile),
    Trace(trace::Trace),
    Cache(cache::CacheArgs),
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Write a dataset with every combination of some options, and measure each (with the Python package)
    Study(in_python::InPython),
    /// Convert, rewrite or merge whole datasets on many processes and machines (with the Python package)
    Campaign(in_python::InPython),
}

/// Runs a command and returns the exit code. `run` runs a command inside a command.
pub(crate) fn run(command: &Command, app: &mut App<'_>, run: &profile::Runner<'_>) -> Result<u8> {
    match command {
        Command::Ls(args) => ls::run(args, app),
        Command::Schema(args) => schema::run(args, app),
        Command::Cat(args) => cat::run(args, app),
        Command::Draw(args) => in_python::draw(args),
        Command::Inspect(args) => inspect::run(args, app),
        Command::Tune(args) => tune::run(args, app),
        Command::Convert(args) => convert::run(args, app),
        Command::Merge(args) => merge::run(args, app),
        Command::Rewrite(args) => rewrite::run(args, app),
        Command::Skim(args) => skim::run(args, app),
        Command::Verify(args) => verify::run(args, app),
        Command::Digest(args) => digest::run(args, app),
        Command::Diff(args) => diff::run(args, app),
        Command::Profile(args) => profile::run(args, app, run),
        Command::Trace(args) => trace::run(args, app),
        Command::Cache(args) => cache::run(args, app),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(args, app),
        Command::Study(args) => in_python::study(args),
        Command::Campaign(args) => in_python::campaign(args),
    }
}
