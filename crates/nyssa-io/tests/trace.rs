//! Tests recordings of opens and reads: they are compared with the requests that a server received.
#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init, clippy::panic)]

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use nyssa_io::fetch::{AHEAD_BYTES, Fetcher, with_ends};
use nyssa_io::testing::{SlowSource, WebServer};
use nyssa_io::trace::{
    Event, Link, LinkProtocol, Pair, ReplayOptions, Replayed, Trace, read, replay,
};
use nyssa_io::{Cost, Limits, MemorySource, OpenOptions, Source, open_by, open_with};
use nyssa_observe::{RequestFacts, record};

const SIZE: usize = 4 << 20;

/// A process has one recorder.
static ONE: Mutex<()> = Mutex::new(());

/// Returns the trace of what `work` does.
fn recorded(work: impl FnOnce()) -> Trace {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let file = tempfile::NamedTempFile::new().unwrap();
    let recording = record(file.path()).unwrap();
    work();
    recording.finish().unwrap();
    read(file.path()).unwrap()
}

/// Does a trace again while nothing is recorded.
fn replayed(trace: &Trace, options: &ReplayOptions) -> nyssa_io::Result<Replayed> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    replay(trace, options)
}

fn content() -> Vec<u8> {
    (0..SIZE).map(|at| (at % 251) as u8).collect()
}

fn units() -> Vec<Vec<Range<u64>>> {
    // After more short requests the server is facts whether it knows requests for several ranges.
    (1..8_u64)
        .map(|i| vec![i * 500_000..i * 500_000 + 300, i * 500_000 + 600..i * 500_000 + 700])
        .collect()
}

#[test]
fn a_recording_has_what_the_server_saw() {
    let server = WebServer::of(content()).unwrap();
    let url = server.url("/a.root");
    let trace = recorded(|| {
        let source = with_ends(open_with(&url, &OpenOptions::default()).unwrap()).unwrap();
        let fetcher = Fetcher::new(&source, units(), AHEAD_BYTES);
        let fetched = std::iter::from_fn(|| fetcher.next(&|| false));
        assert_eq!(fetched.map(|unit| unit.unwrap().bytes.len()).sum::<usize>(), 2 * 7);
        source.close();
    });
    let mut seen: Vec<Range<u64>> = Vec::new();
    for request in server.requests() {
        match request.ranges(SIZE as u64) {
            Some(several) => seen.extend(several),
            None => seen.extend(request.range(SIZE as u64)),
        }
    }
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for event in &trace.events {
        match event {
            Event::Open { name, size, known, .. } => {
                assert_eq!((name, *size), (&url, SIZE as u64));
                ranges.extend(known.iter().map(|pair| pair.range()));
            }
            Event::Read { facts, .. } | Event::Readv { facts, .. } => {
                assert!(facts.plan.is_some());
                ranges.extend(event.request().unwrap().ranges.iter().map(|pair| pair.range()));
            }
            _ => {}
        }
    }
    let key = |range: &Range<u64>| (range.start, range.end);
    seen.sort_by_key(key);
    ranges.sort_by_key(key);
    assert!(ranges.len() > 2, "{ranges:?}");
    assert_eq!(ranges, seen);
}

#[test]
fn plans_waits_and_closes_are_recorded_in_their_order() {
    let memory = || Ok(Arc::new(MemorySource::new("a.root", content())) as _);
    let earlier = {
        let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        open_by(&OpenOptions::default(), memory).unwrap()
    };
    let trace = recorded(|| {
        let fetcher = Fetcher::new(&earlier, vec![vec![10..20, 10..15], vec![30..40]], 1234);
        for unit in [0, 1] {
            assert_eq!(fetcher.take(unit, &|| false).unwrap().unwrap().unit, unit);
        }
        assert!(earlier.read_range(0..2 * SIZE as u64).is_err());
        earlier.close();
        open_by(&OpenOptions::default(), memory).unwrap();
    });
    let names: Vec<&str> = trace
        .events
        .iter()
        .map(|event| match event {
            Event::Trace { version: 1, .. } => "trace",
            Event::Open { .. } => "open",
            Event::Plan { ahead: 1234, .. } => "plan",
            Event::Read {
                length: 10,
                facts: RequestFacts { error: None, plan: Some(_), .. },
                ..
            } => "read",
            Event::Read { facts: RequestFacts { error: Some(_), plan: None, .. }, .. } => "failed",
            Event::Wait { .. } => "wait",
            Event::Close { .. } => "close",
            Event::End { cpu: Some(_), .. } => "end",
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        names,
        ["trace", "open", "plan", "read", "wait", "read", "wait", "failed", "close", "open", "end"]
    );
    let Event::Plan { units, .. } = &trace.events[2] else { panic!("a plan") };
    assert_eq!(units, &[vec![Pair(10, 10), Pair(10, 5)], vec![Pair(30, 10)]]);
    for event in &trace.events {
        let Some((_, start, end)) = event.span() else { continue };
        assert!(0.0 <= start && start <= end);
    }
    let spans: Vec<f64> = trace.events.iter().filter_map(Event::span).map(|span| span.2).collect();
    assert!(spans.windows(2).all(|pair| pair[0] <= pair[1]), "{spans:?}");
}

#[test]
fn a_process_records_once_at_a_time() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first"), folder.path().join("second"));
    let recording = record(&first).unwrap();
    let error = record(&second).unwrap_err().to_string();
    let expected = format!(
        "cannot record to {}: this process already records to {}; end that recording first",
        second.display(),
        first.display()
    );
    assert_eq!(error, expected);
    drop(recording);
    drop(record(&second).unwrap());
    // The first line and the last.
    assert_eq!(read(&second).unwrap().events.len(), 2);
}

#[test]
fn files_that_are_no_traces_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let first = "{\"op\":\"trace\",\"version\":1,\"nyssa\":\"\",\"time\":\"\",\"process\":1}\n";
    for (text, reason) in [
        ("hello\n", "line 1 is neither a line of a trace nor a line of a recording of XrdCl"),
        ("{\"op\":\"trace\"}\n", "line 1 is not a line of a trace: missing field `version`"),
        (
            &first.replace(":1,\"n", ":7,\"n"),
            "it is a trace of version 7, and this nyssa reads version 1",
        ),
        ("7,VectorRead,1,a;b;0,2,[SUCCESS] ,\n", "no file is opened"),
    ] {
        std::fs::write(&path, text).unwrap();
        match read(&path) {
            Ok(trace) => assert_eq!((trace.events.len(), reason), (1, "no file is opened")),
            Err(error) => {
                assert_eq!(error.to_string(), format!("cannot read {}: {reason}", path.display()));
            }
        }
    }
    // The last line of a process that was killed.
    std::fs::write(&path, format!("{first}{{\"op\":\"re")).unwrap();
    assert_eq!(read(&path).unwrap().events.len(), 1);
}

/// The folder of the recordings that the recorder plug-in of XRootD's client wrote: 6.40 of ROOT read a tree
/// through its cache, and `xrdcp` of XRootD 5.5.3 copied a file.
const XRDCL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");

#[test]
fn a_recording_of_xrdcp_is_what_xrdreplay_prints() {
    // `xrdreplay -p` prints: Sampled Runtime 0.022205 s, IOPS 1, Datasize 1.17 MB, Synchronicity 100.00%.
    let all = read(format!("{XRDCL}/xrdcl_of_xrdcp.csv")).unwrap().summary();
    assert_eq!(format!("{:.6}", all.runtime), "0.022205");
    assert_eq!((all.iops_read, all.bytes_read, all.datasize), (1, 1_174_445, 1_174_445));
    assert_eq!((all.synchronicity, all.errors, all.opens), (100.0, 0, 1));
}

#[test]
fn a_recording_of_root_has_its_reads() {
    let trace = read(format!("{XRDCL}/xrdcl_of_root.csv")).unwrap();
    let all = trace.summary();
    assert_eq!((all.iops_read, all.bytes_read), (5, 42_004));
    assert_eq!((all.iops_readv, all.iops_readvread, all.bytes_readv), (5, 5, 3_039_193));
    // The list of keys was read twice.
    assert_eq!((all.distinct_bytes, all.datasize), (3_061_655, 3_062_720));
    assert_eq!((all.over_read_bytes, all.in_flight), (None, 1));
    assert_eq!(all.by_file[0].name, "root://localhost:23171//tree.root");
    let sum: f64 = all.profile.bytes_per_second.iter().map(|rate| rate * all.profile.seconds).sum();
    assert!((sum - all.bytes() as f64).abs() < 1.0, "{sum}");
    let [first, ..] = &all.sizes[..] else { panic!("sizes") };
    assert_eq!((first.bytes, first.requests, first.ranges), (256, 2, 2));
}

#[test]
fn a_summary_tells_over_read_sparseness_and_synchronicity() {
    let line = |text: &str| serde_json::from_str(text).unwrap();
    let events = vec![
        line(
            r#"{"op":"open","file":1,"name":"a","size":1000,"known":[[0,10]],"start":0,"end":1,"thread":1}"#,
        ),
        line(
            r#"{"op":"plan","plan":2,"file":1,"units":[[[100,10],[120,10]],[[130,20]]],"ahead":9,"start":1,"thread":1}"#,
        ),
        line(
            r#"{"op":"readv","file":1,"ranges":[[100,50],[400,100]],"plan":2,"start":1,"end":3,"thread":2}"#,
        ),
        line(r#"{"op":"read","file":1,"offset":100,"length":10,"start":2,"end":3,"thread":3}"#),
        line(
            r#"{"op":"read","file":1,"offset":900,"length":0,"start":3,"end":4,"thread":3,"error":"no"}"#,
        ),
        line(r#"{"op":"read","file":1,"offset":500,"length":100,"start":5,"end":6,"thread":3}"#),
        line(r#"{"op":"wait","plan":2,"unit":0,"start":1.5,"end":3.5,"released":4,"thread":1}"#),
    ];
    let mut trace = Trace { events };
    let all = trace.summary();
    // The plan has bytes 100 to 110 and 120 to 150.
    assert_eq!(all.over_read_bytes, Some(110));
    // 0 to 10, 100 to 150 and 400 to 600, of 0 to 600.
    assert_eq!((all.distinct_bytes, all.bytes_open, all.bytes()), (260, 10, 270));
    assert!((all.sparseness - (1.0 - 260.0 / 600.0)).abs() < 1e-12);
    // The second request began while the first was under way.
    assert_eq!((all.synchronicity, all.in_flight, all.errors), (75.0, 2, 1));
    assert_eq!((all.runtime, all.open_seconds, all.request_seconds), (6.0, 1.0, 5.0));
    assert_eq!((all.busy_seconds, all.wait_seconds), (5.0, 2.0));
    // From 0 to 1, to 3, to 4, and from 5 to 6.
    assert_eq!((all.busy_periods, all.cpu_seconds), (4, None));
    assert_eq!((all.profile.seconds, all.profile.iops[20]), (0.1, 10.0));
    assert!((all.profile.bytes_per_second[15] - 75.0).abs() < 1e-9);
    // The job computed after its last read.
    trace.events.push(line(r#"{"op":"end","end":8,"cpu":2.5}"#));
    let ended = trace.summary();
    assert_eq!((ended.runtime, ended.cpu_seconds), (8.0, Some(2.5)));
    assert_eq!((ended.busy_seconds, ended.profile.seconds), (5.0, 8.0 / 60.0));
}

/// Reads the units of a plan in order, and computes 10 ms after each.
fn work(source: Arc<dyn Source>) {
    let source = with_ends(source).unwrap();
    for _ in 0..2 {
        let fetcher = Fetcher::new(&source, units(), AHEAD_BYTES);
        for unit in 0..units().len() {
            fetcher.take(unit, &|| false).unwrap().unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn link(latency: Duration, bandwidth: u64, protocol: LinkProtocol) -> Link {
    let (window, seek) = (4 << 20, Duration::ZERO);
    Link { latency, bandwidth, protocol, connections: None, window, seek, servers: 1 }
}

#[test]
fn a_replay_over_a_simulated_link_predicts_the_real_run() {
    let memory = Arc::new(MemorySource::new("a.root", content()));
    let near = memory.clone();
    let trace = recorded(|| work(open_by(&OpenOptions::default(), || Ok(near)).unwrap()));
    let latency = Duration::from_millis(300);
    let (bandwidth, seek) = (100_000_000, Duration::from_micros(2));
    let link = link(latency, bandwidth, LinkProtocol::Ideal);
    let mut options = ReplayOptions::default();
    options.link = Some(link);
    let predicted = replayed(&trace, &options).unwrap();
    // A real run where each request takes as long as the link does.
    let cost = Cost { latency, range: seek, bandwidth };
    let limits =
        Limits { max_ranges: 1024, max_range_bytes: 2 << 20, concurrency: 8, cost, ..Limits::NONE };
    let slow = SlowSource::new(memory, limits);
    let begin = Instant::now();
    // The request that opens the file.
    std::thread::sleep(latency);
    work(Arc::new(slow));
    let real = begin.elapsed().as_secs_f64();
    let ratio = predicted.seconds / real;
    assert!((0.8..1.2).contains(&ratio), "{predicted:?}, in fact {real}");
    assert!(predicted.recorded_seconds < 0.8 * predicted.seconds);
    // The time that was computed can be left out.
    options.fast = true;
    assert!(replayed(&trace, &options).unwrap().seconds < predicted.seconds);
}

#[test]
fn connections_take_the_round_trips_of_tcp_and_of_logins() {
    const MIB: u64 = 1 << 20;
    let line = |text: String| serde_json::from_str(&text).unwrap();
    let plan = |units: String| {
        Trace {
        events: vec![
            line(r#"{"op":"open","file":1,"name":"a","size":100000000,"start":0,"end":0,"thread":1}"#.into()),
            line(format!(
                r#"{{"op":"plan","plan":2,"file":1,"units":[[{units}]],"ahead":64000000,"start":0,"thread":1}}"#
            )),
            line(r#"{"op":"wait","plan":2,"unit":0,"start":0,"end":0,"released":0,"thread":1}"#.into()),
        ],
    }
    };
    // Connecting, login and opening take 3 round trips, the ends of the file one and 2 windows: 10 * 1460 * (2 + 4)
    // bytes are less than 96 KiB, which are less than 10 * 1460 * (1 + 2 + 4).
    let latency = Duration::from_millis(40);
    let ends = |rest: f64| (3.0 + 1.0 + 2.0 + rest) * latency.as_secs_f64();
    // A busy machine takes longer, never shorter.
    let check = |trace: &Trace, link: Link, expected: Range<f64>| {
        let mut options = ReplayOptions::default();
        options.link = Some(link);
        let mut runs = (0..10).map(|_| replayed(trace, &options).unwrap().seconds);
        let fitting = runs.find(|seconds| *seconds < expected.end);
        assert!(
            fitting.is_some_and(|seconds| expected.contains(&seconds)),
            "{fitting:?}, not {expected:?}"
        );
    };
    let near = |seconds: f64| seconds..1.1 * seconds;
    let root = link(latency, 10_000_000_000, LinkProtocol::Root);
    // A short range takes one round trip more.
    check(&plan(format!("[{MIB},10]")), root, near(ends(1.0)));
    // The window has 4 * 14,600 bytes after the ends. 1 MiB takes 1 + 4 round trips, since 58,400 * (2^4 - 1) are less
    // than 1 MiB, and 58,400 * (2^5 - 1) are more.
    let trace = plan(format!("[{MIB},{MIB}]"));
    check(&trace, root, near(ends(5.0)));
    // Without connections and windows, there are three requests: for the file, its ends and the range.
    let ideal = Link { protocol: LinkProtocol::Ideal, ..root };
    check(&trace, ideal, near(3.0 * latency.as_secs_f64()));
    // With at most 100,000 bytes in a round trip, it takes 10 round trips at least.
    check(&trace, Link { window: 100_000, ..root }, near(ends(11.0)));
    // All connections share the bandwidth: 40 MiB at 80 MB/s.
    let ranges: Vec<String> = (1..21).map(|n| format!("[{},{}]", n * 4 * MIB, 2 * MIB)).collect();
    let slow = Link { bandwidth: 80_000_000, ..root };
    check(&plan(ranges.join(",")), slow, 0.52 + ends(0.0)..0.52 + ends(12.0));
}

/// Returns a trace of a file by the name `name`, with the JSON lines `more`.
fn written(name: &str, more: &[String]) -> Trace {
    let open = format!(
        r#"{{"op":"open","file":1,"name":"{name}","size":{SIZE},"start":0.1,"end":0.1,"thread":1}}"#
    );
    let lines = std::iter::once(&open).chain(more);
    Trace { events: lines.map(|line| serde_json::from_str(line).unwrap()).collect() }
}

#[test]
fn a_replay_takes_the_time_of_the_job_before_and_after_its_reads() {
    let read = r#"{"op":"read","file":1,"offset":9,"length":9,"start":0.2,"end":0.3,"thread":1}"#;
    let end = r#"{"op":"end","end":0.6}"#;
    let job = written("root://host//a.root", &[read.to_owned(), end.to_owned()]);
    let mut options = ReplayOptions::default();
    options.link = Some(link(Duration::from_millis(1), 1 << 30, LinkProtocol::Ideal));
    let replay = replayed(&job, &options).unwrap();
    // 0.1 s before the file is opened, 0.1 s until the read, and 0.3 s after it.
    assert!(replay.seconds >= 0.5, "{replay:?}");
    assert_eq!((replay.recorded_seconds, &replay.warnings[..]), (0.6, &[][..]));
    assert_eq!(job.summary().runtime, 0.6);
    options.fast = true;
    assert!(replayed(&job, &options).unwrap().seconds < replay.seconds);
    // The process was killed.
    let killed = written("root://host//a.root", &[read.to_owned()]);
    let replay = replayed(&killed, &options).unwrap();
    let unknown = "the end of the job is not recorded: its work after the last event is not known, and is in neither time";
    assert_eq!((replay.recorded_seconds, &replay.warnings[..]), (0.3, &[unknown.to_owned()][..]));
    // Another thread decodes the last unit for 0.3 s, after which the first thread begins a plan.
    let plan = |plan: u64, start: f64| {
        format!(
            r#"{{"op":"plan","plan":{plan},"file":1,"units":[[[9,9]]],"ahead":9,"start":{start},"thread":1}}"#
        )
    };
    let wait = |plan: u64, start: f64, released: f64| {
        format!(
            r#"{{"op":"wait","plan":{plan},"unit":0,"start":{start},"end":{start},"released":{released},"thread":2}}"#
        )
    };
    let lines = [plan(2, 0.1), wait(2, 0.1, 0.4), plan(3, 0.4), wait(3, 0.4, 0.5)];
    options.fast = false;
    let replay = replayed(&written("root://host//a.root", &lines), &options).unwrap();
    assert!(replay.seconds >= 0.5, "{replay:?}");
    assert_eq!(replay.recorded_seconds, 0.5);
}

#[test]
fn a_replay_of_local_files_over_a_link_says_so() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content()).unwrap();
    let name = file.path().display().to_string();
    let job = written(&name, &[r#"{"op":"end","end":0.1}"#.to_owned()]);
    let mut options = ReplayOptions::default();
    assert_eq!(replayed(&job, &options).unwrap().warnings.len(), 0);
    options.link = Some(link(Duration::from_millis(1), 1 << 30, LinkProtocol::Ideal));
    let [warning] = &replayed(&job, &options).unwrap().warnings[..] else { panic!("a warning") };
    assert!(warning.starts_with("1 of 1 opened files were local "), "{warning}");
    options.link = None;
    let server = WebServer::of(content()).unwrap();
    options.url = Some(server.url("/a.root"));
    assert_eq!(replayed(&job, &options).unwrap().warnings, [warning.as_str()]);
}

/// Returns the lines of a plan of `ranges` ranges, each in a unit of its own, which are far from each other and from
/// the ends of the file.
fn short_ranges(plan: u64, ranges: u64) -> Vec<String> {
    let units = (0..ranges).map(|n| format!("[[{},100]]", (n + 1) * 60_000));
    let units: Vec<String> = units.collect();
    let mut lines = vec![format!(
        r#"{{"op":"plan","plan":{plan},"file":1,"units":[{}],"ahead":64000000,"start":0.1,"thread":1}}"#,
        units.join(",")
    )];
    lines.extend((0..ranges).map(|unit| {
        format!(
            r#"{{"op":"wait","plan":{plan},"unit":{unit},"start":0.1,"end":0.1,"released":0.1,"thread":1}}"#
        )
    }));
    lines
}

#[test]
fn a_simulated_server_of_http_gets_the_requests_of_a_real_one() {
    let latency = Duration::from_millis(20);
    let counted = |trace: &Trace, options: &ReplayOptions| {
        let io = replayed(trace, options).unwrap().io;
        (io.iops_read, io.iops_readv, io.iops_readvread)
    };
    // Both ends of the file come first, each with a request.
    for (plans, several, single) in [
        // The plan has 24 short ranges or more: the server proves first that it answers several, at most 32.
        (vec![40], (2, 2, 40), (42, 0, 0)),
        (vec![20], (22, 0, 0), (22, 0, 0)),
        // The sixteenth request for a short range was followed by the proof.
        (vec![20, 20], (22, 1, 20), (42, 0, 0)),
    ] {
        let lines = plans.iter().zip(2..).flat_map(|(ranges, plan)| short_ranges(plan, *ranges));
        let trace = written("root://host//a.root", &lines.collect::<Vec<_>>());
        let server = WebServer::of(content()).unwrap();
        let mut options = ReplayOptions::default();
        options.url = Some(server.url("/a.root"));
        options.fast = true;
        assert_eq!(counted(&trace, &options), several, "{plans:?}");
        options.url = None;
        options.link = Some(link(latency, 125_000_000, LinkProtocol::Http));
        assert_eq!(counted(&trace, &options), several, "{plans:?}");
        options.link = Some(link(latency, 125_000_000, LinkProtocol::S3));
        assert_eq!(counted(&trace, &options), single, "{plans:?}");
    }
    // The connection, the ends with two more windows of TCP (48 KiB are more than 10 * 1460 * (1 + 2) bytes), the
    // proof, and the requests.
    let trace = written("root://host//a.root", &short_ranges(2, 40));
    let mut options = ReplayOptions::default();
    options.link = Some(link(latency, 125_000_000, LinkProtocol::Http));
    options.fast = true;
    let seconds = replayed(&trace, &options).unwrap().seconds;
    assert!(seconds >= 6.0 * latency.as_secs_f64(), "{seconds}");
}

#[test]
fn vectored_reads_of_xrdcl_are_vectored_over_http() {
    // ROOT 6.40 wrote such lines. The response begins with the number of bytes.
    let ranges: Vec<String> = (1..41).map(|n| format!("{};100", n * 60_000)).collect();
    let ranges = ranges.join(";");
    let text = format!(
        r#""9","Open","1.0","root://host//a.root;16;0;0","1.1","[SUCCESS]",""
"9","Stat","1.1","false;0","1.1","[SUCCESS]","{SIZE};16;1795703613;1795705450;1795705451;rw-r--r--;root;root;"
"9","VectorRead","1.2","{ranges};0","1.3","[SUCCESS]","4000;{ranges}"
"9","Close","1.4","0","1.5","[SUCCESS]",""
"#
    );
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let trace = read(file.path()).unwrap();
    let all = trace.summary();
    assert_eq!((all.iops_readv, all.iops_readvread, all.bytes_readv), (1, 40, 4000));
    let mut options = ReplayOptions::default();
    options.link = Some(link(Duration::from_millis(1), 125_000_000, LinkProtocol::Http));
    options.fast = true;
    let io = replayed(&trace, &options).unwrap().io;
    assert_eq!((io.iops_read, io.iops_readv, io.iops_readvread), (2, 2, 40));
}

#[test]
fn a_replay_reads_the_same_bytes_of_another_file() {
    let memory = Arc::new(MemorySource::new("a.root", content()));
    let trace = recorded(|| {
        let source = open_by(&OpenOptions::default(), || Ok(memory)).unwrap();
        let fetcher = Fetcher::new(&source, units(), AHEAD_BYTES);
        assert_eq!(std::iter::from_fn(|| fetcher.next(&|| false)).count(), units().len());
        source.read_range(5..15).unwrap();
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), content()).unwrap();
    let mut options = ReplayOptions::default();
    options.url = Some(file.path().display().to_string());
    let replay = replayed(&trace, &options).unwrap();
    let wanted: u64 = units().iter().flatten().map(|range| range.end - range.start).sum();
    assert_eq!(replay.io.bytes() - replay.io.over_read_bytes, wanted + 10);
    options.url = Some("/does/not/exist".to_owned());
    let error = replayed(&trace, &options).unwrap_err().to_string();
    assert!(error.starts_with("cannot open /does/not/exist: "), "{error}");
}

#[test]
fn a_replay_names_files_that_are_gone_and_files_that_became_one() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a", "b"].map(|name| folder.path().join(name));
    paths.iter().for_each(|path| std::fs::write(path, content()).unwrap());
    let trace = recorded(|| {
        for path in &paths {
            let source = open_with(path, &OpenOptions::default()).unwrap();
            source.read_ranges(&[0..10]).unwrap();
            source.close();
        }
    });
    let mut options = ReplayOptions::default();
    assert_eq!(replayed(&trace, &options).unwrap().warnings, Vec::<String>::new());
    options.url = Some(paths[0].to_string_lossy().into_owned());
    let [warning] = <[String; 1]>::try_from(replayed(&trace, &options).unwrap().warnings).unwrap();
    let shown = paths[0].display();
    assert_eq!(
        warning,
        format!("the recorded job read 2 files, and {shown} was read in place of each of them")
    );
    std::fs::remove_file(&paths[1]).unwrap();
    let error = replayed(&trace, &ReplayOptions::default()).unwrap_err().to_string();
    assert!(error.contains(&paths[1].display().to_string()), "{error}");
    assert!(error.contains("record the job without --verify"), "{error}");
}
