//! The arguments of the command line.

use clap::{Args, Parser, Subcommand};

use crate::cmd;
use crate::units::parse_threads;

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

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Ls(cmd::ls::Ls),
    Schema(cmd::schema::Schema),
    Cat(cmd::cat::Cat),
    Inspect(cmd::inspect::Inspect),
    Convert(Box<cmd::convert::Convert>),
    Merge(Box<cmd::merge::Merge>),
    Rewrite(Box<cmd::rewrite::Rewrite>),
    Verify(cmd::verify::Verify),
    Digest(cmd::digest::Digest),
    Diff(cmd::diff::Diff),
}
