//! Runs the `credential_process` of a profile.

use std::io::{self, ErrorKind, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::fetched::{Fetched, failed};

/// The longest time that the process may take.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The largest number of bytes of its output.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Runs the process, and reads the credentials that it prints.
///
/// # Errors
/// The process cannot be started; `TimedOut`; `Other` if it ends with an error.
pub(super) fn fetch(command: &str) -> io::Result<Fetched> {
    fetch_from("the credential_process of the profile", command)
}

/// Asks the command line of AWS for the keys of a profile that has another source: SSO, or another profile.
///
/// # Errors
/// The command `aws` cannot be started; `TimedOut`; `Other` if it ends with an error.
pub(super) fn fetch_by_aws(profile: &str) -> io::Result<Fetched> {
    let command =
        format!("aws configure export-credentials --profile '{profile}' --format process");
    let place = format!("`{command}`, which knows profiles with SSO or source_profile");
    fetch_from(&place, &command)
}

fn fetch_from(place: &str, command: &str) -> io::Result<Fetched> {
    let output = run(command, TIMEOUT).and_then(|output| Fetched::of_json(&output));
    output.map_err(|error| failed(place, &error))
}

/// Runs a command of the shell, and returns its output. Its error messages are shown as they come.
fn run(command: &str, timeout: Duration) -> io::Result<Vec<u8>> {
    let (shell, option) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut shell = Command::new(shell);
    let mut child =
        shell.args([option, command]).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        thread::Builder::new().spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(OUTPUT_BYTES).read_to_end(&mut output);
            // When the time is over, no thread receives the output.
            let _ = sender.send(read.map(|_| output));
        })?;
    }
    let Ok(output) = receiver.recv_timeout(timeout) else {
        // The process may have ended meanwhile.
        let _ = child.kill();
        let _ = child.wait();
        let why = format!("it has printed nothing for {} s", timeout.as_secs_f64());
        return Err(io::Error::new(ErrorKind::TimedOut, why));
    };
    let status = child.wait()?;
    match status.success() {
        true => output,
        false => Err(io::Error::other(format!("it ended with the {status}"))),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_process_prints_within_its_time_or_is_ended() {
        let second = Duration::from_secs(1);
        assert_eq!(run("echo 'a b' | cat", second).unwrap(), b"a b\n");
        let error = run("exit 3", second).unwrap_err();
        assert_eq!(error.to_string(), "it ended with the exit status: 3");
        let error = run("exec sleep 60", Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        assert_eq!(error.to_string(), "it has printed nothing for 0.1 s");
    }
}
