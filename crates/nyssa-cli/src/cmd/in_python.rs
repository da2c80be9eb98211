//! Answers for the commands that the Python package has. Its `nyssa` runs them before this program sees them.

use std::ffi::OsString;

use clap::Args;

use crate::failure::{Failure, Result};

/// The arguments of a command of the Python package.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct InPython {
    /// See the `--help` of this command in the Python package
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Returns the error that says where `nyssa campaign` is.
///
/// # Errors
/// Always an error of wrong usage.
pub(crate) fn campaign(args: &InPython) -> Result<u8> {
    let job = args.arguments.first().map_or(String::new(), |job| format!(" {}", job.display()));
    elsewhere(&format!("campaign{job}"), "nyssa[dask]")
}

/// Returns the error that says where `nyssa draw` is.
///
/// # Errors
/// Always an error of wrong usage.
pub(crate) fn draw(_: &InPython) -> Result<u8> {
    elsewhere("draw", "nyssa")
}

/// Returns the error that says where `nyssa study` is.
///
/// # Errors
/// Always an error of wrong usage.
pub(crate) fn study(_: &InPython) -> Result<u8> {
    elsewhere("study", "nyssa")
}

fn elsewhere(command: &str, package: &str) -> Result<u8> {
    Err(Failure::Usage(
        format!("`nyssa {command}` is a command of the Python package"),
        Some(format!("pip install '{package}', and run the `nyssa` of that package")),
    ))
}
