//! `nyssa profile`: the forms of its output, and what it leaves as it is. Each command has a process of its own, since
//! a profile is of all threads. `python/tests/observe/test_profile.py` compares its numbers with ROOT and uproot.

use std::process::{Command, Output};

use nyssa_testdata::testdata;
use serde_json::Value;

fn profile(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_nyssa")).arg("profile").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn input(name: &str) -> String {
    testdata(name).to_str().unwrap().to_owned()
}

/// Returns the sum of the seconds of all objects in a list.
fn seconds(list: &Value) -> f64 {
    list.as_array().unwrap().iter().map(|one| one["seconds"].as_f64().unwrap()).sum()
}

#[test]
fn sums_agree() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let tree = input("ttree/events-zlib.root") + ":Events";
    let args = ["--json", "--threads", "2", "--", "convert", &tree, output.to_str().unwrap()];
    let ran = profile(&args);
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(0), ""));
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(report["version"], 1);
    let stages: Vec<_> = report["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["stage"].as_str().unwrap())
        .collect();
    for stage in
        ["open", "wait", "unzip", "decode", "assemble", "shred", "encode", "zip", "commit", "write"]
    {
        assert!(stages.contains(&stage), "{stage} is not in {stages:?}");
    }
    let (wall, busy) =
        (report["seconds"].as_f64().unwrap(), report["busy_seconds"].as_f64().unwrap());
    let threads = &report["threads"];
    let number: u64 =
        threads.as_array().unwrap().iter().map(|one| one["threads"].as_u64().unwrap()).sum();
    assert!(busy > 0.0 && busy <= wall * number as f64, "{busy} {wall} {number}");
    if cfg!(target_os = "linux") {
        let cpu = report["cpu_seconds"].as_f64().unwrap();
        assert!(cpu > 0.0 && cpu <= wall * (number + 2) as f64, "{cpu} {wall} {number}");
    }
    for sum in [seconds(&report["stages"]), seconds(threads)] {
        assert!((sum - busy).abs() < 1e-6, "{sum} {busy}");
    }
    assert!(seconds(&report["columns"]) <= busy, "{}", report["columns"]);
    for thread in threads.as_array().unwrap() {
        let share = thread["share"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&share), "{thread}");
    }
    // Everything that goes to the disk is seen, and a few bytes of the header are written twice.
    let stage = |name| {
        report["stages"].as_array().unwrap().iter().find(|one| one["stage"] == name).unwrap()
    };
    let size = std::fs::metadata(&output).unwrap().len();
    let written = stage("write")["bytes_in"].as_u64().unwrap();
    assert!((size..size + 1000).contains(&written), "{written} {size}");
    if cfg!(target_os = "linux") {
        let memory = &report["memory"];
        assert!(memory["peak_bytes"].as_u64() >= memory["begin_bytes"].as_u64(), "{memory}");
        assert!(memory["begin_bytes"].as_u64().unwrap() > 0, "{memory}");
    }
}

#[test]
fn the_data_of_the_command_stay_alone() {
    let tree = input("ttree/events-zlib.root") + ":Events";
    let plain = Command::new(env!("CARGO_BIN_EXE_nyssa")).args(["cat", &tree]).output().unwrap();
    let ran = profile(&["cat", &tree]);
    assert_eq!((ran.status.code(), ran.stdout == plain.stdout), (Some(0), true));
    let table = text(&ran.stderr);
    assert!(table.starts_with("time: ") && table.contains("\nstage "), "{table}");
    for header in ["\ncolumn ", "\nthread ", "\nunzip "] {
        assert!(table.contains(header), "{header}: {table}");
    }
    let ran = profile(&["--quiet", "cat", &tree]);
    assert_eq!((ran.stdout == plain.stdout, text(&ran.stderr)), (true, ""));
}

#[test]
fn trace_events_are_those_of_the_format() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trace.json");
    let tree = input("ttree/events-zlib.root") + ":Events";
    assert!(profile(&["--output", file.to_str().unwrap(), "cat", &tree]).status.success());
    let trace: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |ph: &str| events.iter().filter(|one| one["ph"] == ph).collect::<Vec<_>>();
    assert_eq!(of("M").len() + of("X").len() + of("C").len(), events.len());
    let threads: Vec<_> = of("M").iter().map(|one| one["tid"].as_u64().unwrap()).collect();
    assert!(
        of("M").iter().all(|one| one["name"] == "thread_name" && one["args"]["name"].is_string())
    );
    let spans = of("X");
    for one in &spans {
        assert!(one["ts"].as_f64().unwrap() >= 0.0 && one["dur"].as_f64().unwrap() >= 0.0, "{one}");
        assert!(one["pid"].is_u64() && threads.contains(&one["tid"].as_u64().unwrap()), "{one}");
        assert!(one["name"].is_string() && one["args"].is_object(), "{one}");
    }
    let unzip =
        spans.iter().find(|one| one["name"] == "unzip" && one["args"]["column"].is_string());
    assert!(unzip.is_some_and(|one| one["args"]["bytes_in"].as_u64() > Some(0)), "{unzip:?}");
}

#[test]
fn flame_graphs_are_those_of_speedscope() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("flames.json");
    let tree = input("ttree/events-zlib.root") + ":Events";
    let args = ["--format", "speedscope", "--output", file.to_str().unwrap(), "cat", &tree];
    assert!(profile(&args).status.success());
    let document: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(document["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let frames = document["shared"]["frames"].as_array().unwrap();
    assert!(frames.iter().any(|frame| frame["name"] == "unzip"), "{frames:?}");
    let profiles = document["profiles"].as_array().unwrap();
    assert!(!profiles.is_empty());
    for one in profiles {
        assert_eq!(
            (&one["type"], &one["unit"], one["startValue"].as_u64()),
            (&"evented".into(), &"nanoseconds".into(), Some(0))
        );
        // The viewer demands times that do not go back, and a stack.
        let (mut stack, mut last) = (Vec::new(), 0);
        for event in one["events"].as_array().unwrap() {
            let (frame, at) = (event["frame"].as_u64().unwrap(), event["at"].as_u64().unwrap());
            assert!(at >= last && (frame as usize) < frames.len(), "{event}");
            last = at;
            match event["type"].as_str().unwrap() {
                "O" => stack.push(frame),
                "C" => assert_eq!(stack.pop(), Some(frame)),
                other => panic!("{other}"),
            }
        }
        assert!(stack.is_empty() && last <= one["endValue"].as_u64().unwrap());
    }
}

#[test]
fn a_command_that_fails_keeps_its_exit_code() {
    let ran = profile(&["ls", "nothere.root"]);
    assert_eq!(ran.status.code(), Some(3));
    assert!(text(&ran.stderr).contains("error: cannot open nothere.root"), "{}", text(&ran.stderr));
    let ran = profile(&["--json", "ls", "nothere.root"]);
    let document: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!((ran.status.code(), &document["error"]["kind"]), (Some(3), &"NotFound".into()));
    // A file that cannot be made is refused before the command runs.
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let tree = input("ttree/events-zlib.root") + ":Events";
    let file = folder.path().join("none").join("trace.json");
    let args = ["--output", file.to_str().unwrap(), "convert", &tree, output.to_str().unwrap()];
    let ran = profile(&args);
    assert_eq!((ran.status.code(), output.exists()), (Some(3), false));
    assert!(text(&ran.stderr).contains("there is no folder"), "{}", text(&ran.stderr));
    let ran = profile(&["--output", "-", "ls", "nothere.root"]);
    assert_eq!(ran.status.code(), Some(2));
    let ran = profile(&["profile", "ls", "nothere.root"]);
    let expected =
        "error: a profile of a profile cannot be made\nhint: leave out the second `profile`\n";
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(2), expected));
    let ran = profile(&["--", "convrt", "a", "b"]);
    assert!(
        ran.status.code() == Some(2)
            && text(&ran.stderr).contains("unrecognized subcommand 'convrt'")
    );
}
