//! Declares the arguments of the command line.

use clap::Parser;

use crate::app::Global;
use crate::cmd::Command;

/// Read, check and convert CERN's TTree and RNTuple data, without ROOT.
#[derive(Debug, Parser)]
#[command(name = "nyssa", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "DATA is FILE or FILE:PATH, such as run3.root:dir/Events or run3.root:Events;2. \
    The path may be left out when the file has one dataset.\n\
    \nExamples:\n  \
      nyssa ls run3.root\n  \
      nyssa convert run3.root:Events out.root --verify\n  \
      nyssa cat out.root -n 3 --filter 'Muon_*'"
)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}
