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
    list.as_array().unwrap().iter().map(|row| row["seconds"].as_f64().unwrap()).sum()
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
        .map(|row| row["stage"].as_str().unwrap())
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
        threads.as_array().unwrap().iter().map(|group| group["threads"].as_u64().unwrap()).sum();
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
        report["stages"].as_array().unwrap().iter().find(|row| row["stage"] == name).unwrap()
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
    let of = |ph: &str| events.iter().filter(|event| event["ph"] == ph).collect::<Vec<_>>();
    assert_eq!(of("M").len() + of("X").len() + of("C").len(), events.len());
    let threads: Vec<_> = of("M").iter().map(|event| event["tid"].as_u64().unwrap()).collect();
    assert!(
        of("M")
            .iter()
            .all(|event| event["name"] == "thread_name" && event["args"]["name"].is_string())
    );
    let spans = of("X");
    for span in &spans {
        assert!(
            span["ts"].as_f64().unwrap() >= 0.0 && span["dur"].as_f64().unwrap() >= 0.0,
            "{span}"
        );
        assert!(span["pid"].is_u64() && threads.contains(&span["tid"].as_u64().unwrap()), "{span}");
        assert!(span["name"].is_string() && span["args"].is_object(), "{span}");
    }
    // Viewers demand that a span ends before the span around it. Times are rounded to nanoseconds.
    for thread in &threads {
        let of_thread = spans.iter().filter(|span| span["tid"] == *thread);
        let times =
            of_thread.map(|span| (span["ts"].as_f64().unwrap(), span["dur"].as_f64().unwrap()));
        let mut times: Vec<_> = times.map(|(start, took)| (start, start + took)).collect();
        times.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut around: Vec<f64> = Vec::new();
        for (start, end) in times {
            around.retain(|outer| *outer > start + 1e-3);
            assert!(around.iter().all(|outer| end <= outer + 1e-3), "{start} {end} {around:?}");
            around.push(end);
        }
    }
    let unzip =
        spans.iter().find(|span| span["name"] == "unzip" && span["args"]["column"].is_string());
    assert!(unzip.is_some_and(|span| span["args"]["bytes_in"].as_u64() > Some(0)), "{unzip:?}");
}

#[test]
fn a_recording_of_a_profile_has_its_stages() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (record, output) = (path("all.jsonl"), path("out.root"));
    let tree = input("ttree/events-zlib.root") + ":Events";
    let mut args = vec!["--json", "--record", &record];
    let table = path("prmon.txt");
    if cfg!(target_os = "linux") {
        args.extend(["--monitor", &table]);
    }
    args.extend(["--", "convert", &tree, &output]);
    let ran = profile(&args);
    assert_eq!((ran.status.code(), text(&ran.stderr)), (Some(0), ""));
    let recorded = std::fs::read_to_string(&record).unwrap();
    let events: Vec<Value> =
        recorded.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |op: &str| events.iter().filter(|event| event["op"] == op).collect::<Vec<_>>();
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    for stage in report["stages"].as_array().unwrap() {
        let runs = of("stage").iter().filter(|event| event["stage"] == stage["stage"]).count();
        assert_eq!(stage["calls"], runs, "{stage}");
    }
    assert!(!of("read").is_empty() && of("end").len() == 1, "{recorded}");
    if cfg!(target_os = "linux") {
        assert!(!of("memory").is_empty() && of("usage").len() >= 2, "{recorded}");
    }
    let shown = Command::new(env!("CARGO_BIN_EXE_nyssa")).args(["trace", "show", &record]).output();
    assert!(text(&shown.unwrap().stdout).starts_with("Sampled Runtime"));
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
