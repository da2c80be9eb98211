//! What needs a process of its own: environment, pipes, signals.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use crate::common::{STAFF, ZMUMU, file};

fn nyssa(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyssa"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_bad_number_of_threads() {
    let Some(file) = file(STAFF) else { return };
    for (value, message) in [
        ("some", "error: NYSSA_NUM_THREADS is \"some\", not a number of threads\n"),
        ("0", "error: the number of threads must be at least 1\n"),
    ] {
        let ran = nyssa(&["cat", &file]).env("NYSSA_NUM_THREADS", value).output().unwrap();
        assert_eq!(ran.status.code(), Some(2));
        assert_eq!(String::from_utf8(ran.stderr).unwrap(), message);
    }
    let ran = nyssa(&["cat", &file, "--threads", "1"]).env("NYSSA_NUM_THREADS", "some").output();
    assert_eq!(ran.unwrap().status.code(), Some(0), "--threads is stronger");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let Some(file) = file(ZMUMU) else { return };
    let mut child = nyssa(&["cat", &file, "--entries", ":"]).spawn().unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert!(line.starts_with("{\"Type\":"), "{line}");
    drop(out);
    let mut err = String::new();
    child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""));
}

#[cfg(unix)]
#[test]
fn a_signal_stops_the_work() {
    let Some(file) = file(ZMUMU) else { return };
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        // It cannot end by itself: nobody reads the rest of its output.
        let mut child = nyssa(&["cat", &file, "--entries", ":"]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
    }
}
