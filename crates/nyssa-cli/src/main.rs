//! Defines the `nyssa` program. All its code is in the library, so that tests and Python run the same code.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = std::env::args_os().collect();
    ExitCode::from(nyssa_cli::run(args, &mut std::io::stdout(), &mut std::io::stderr()))
}
