//! Runs a test in a process of its own, with another environment.

use std::env;
use std::process::Command;

/// The variables that change how servers are accessed.
const CLEARED: [&str; 9] = [
    "BEARER_TOKEN",
    "BEARER_TOKEN_FILE",
    "NYSSA_TOKEN_HOSTS",
    "XDG_RUNTIME_DIR",
    "X509_CERT_DIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
];

/// Runs a test of this program again, with `environment`. The variables of tokens, certificates and proxies that
/// are not in it are removed.
///
/// # Panics
/// If there is no such test, or if it fails, with what it printed.
#[allow(clippy::panic, clippy::unwrap_used, reason = "a test that cannot run has failed")]
pub fn run_inside(test: &str, environment: &[(&str, &str)]) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored"]);
    for name in CLEARED {
        command.env_remove(name).env_remove(name.to_uppercase());
    }
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printed = text(&output.stdout);
    // A missing test does not fail.
    if !output.status.success() || !printed.contains("1 passed") {
        panic!("{test}: {printed}{}", text(&output.stderr));
    }
}
