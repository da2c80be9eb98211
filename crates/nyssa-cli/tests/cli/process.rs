//! Tests that need a process of their own: environment, pipes, signals.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::common::{STAFF, ZMUMU, file};

fn nyssa(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nyssa"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_bad_number_of_threads() {
    let file = file(STAFF);
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
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_reader_that_has_seen_enough_is_no_error() {
    let file = file(ZMUMU);
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

#[test]
fn what_was_found_counts_though_nobody_reads_it() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.root");
    std::fs::write(&empty, "").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = nyssa(&["verify", empty.to_str().unwrap()]).stdout(writer).output().unwrap();
    assert_eq!((ran.status.code(), &*String::from_utf8_lossy(&ran.stderr)), (Some(1), ""));
}

#[cfg(target_os = "linux")]
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_full_disk_is_an_error() {
    let file = file(STAFF);
    for command in ["ls", "schema", "cat", "inspect", "verify", "digest", "--help"] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let args = if command == "--help" { vec![command] } else { vec![command, &file] };
        let ran = nyssa(&args).stdout(full).output().unwrap();
        let err = String::from_utf8(ran.stderr).unwrap();
        let expected = "error: cannot write the output: No space left on device (os error 28)\n";
        assert_eq!((ran.status.code(), err.as_str()), (Some(6), expected), "{command}");
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;

    let name = std::ffi::OsStr::from_bytes(b"bad\xff.root");
    let ran = Command::new(env!("CARGO_BIN_EXE_nyssa")).arg("ls").arg(name).output().unwrap();
    let expected = "error: the name bad\u{fffd}.root is not UTF-8\n\
                    hint: give the file another name, or make a link to it, as with ln -s\n";
    assert_eq!(
        (ran.status.code(), String::from_utf8(ran.stderr).unwrap().as_str()),
        (Some(2), expected)
    );
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn digests_from_standard_input() {
    let file = file(STAFF);
    let report = nyssa(&["digest", &file, "--json"]).output().unwrap().stdout;
    let mut child =
        nyssa(&["digest", &file, "--compare", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&report).unwrap();
    let ran = child.wait_with_output().unwrap();
    let out = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(
        (ran.status.code(), &*out),
        (Some(0), "equal: 11 columns, 3,354 entries compared\n")
    );
}

#[cfg(unix)]
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_signal_stops_the_work() {
    let file = file(ZMUMU);
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
