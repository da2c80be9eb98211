//! `nyssa campaign`: runs many jobs on many machines. The Python package has this command.

use std::ffi::OsString;

use clap::Args;

use crate::failure::{Failure, Result};

/// Convert, rewrite or merge whole datasets on many processes and machines (with the Python package)
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub struct Campaign {
    /// See `nyssa campaign --help` of the Python package
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Returns the error that says where the command is. The `nyssa` of the Python package runs the command before
/// this program sees it.
///
/// # Errors
/// Always an error of wrong usage.
pub fn run(args: &Campaign) -> Result<u8> {
    let job = args.arguments.first().map_or(String::new(), |job| format!(" {}", job.display()));
    Err(Failure::Usage(
        format!("`nyssa campaign{job}` is a command of the Python package"),
        Some("pip install 'nyssa[dask]', and run the `nyssa` of that package".to_owned()),
    ))
}
