//! `nyssa trace`: shows recordings of opens and reads, and repeats them.

mod html;
mod plot;
mod replay;
mod show;
mod totals;

pub use plot::{Plotter, plot_by};

use clap::{Args, Subcommand};

use crate::app::App;
use crate::failure::Result;

/// Show recordings of opens and reads, or repeat them
///
/// A recording is what --record of every command writes, or the CSV file of the recorder plug-in of XRootD's
/// client.
#[derive(Args, Debug)]
pub(crate) struct Trace {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Show(show::Show),
    Replay(replay::Replay),
}

pub(crate) fn run(args: &Trace, app: &mut App<'_>) -> Result<u8> {
    match &args.command {
        Command::Show(args) => show::run(args, app),
        Command::Replay(args) => replay::run(args, app),
    }
}
