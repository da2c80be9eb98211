//! Tests that a recording has all that is observed while it runs.
#![allow(clippy::unwrap_used, clippy::panic, clippy::single_range_in_vec_init)]

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use nyssa_observe::{
    Event, IoStats, Monitor, ObservedFile, Opened, Pair, Profiler, interval, parse_events, record,
    stage,
};

fn opened() -> Opened {
    Opened { name: "a.root".to_owned(), size: 100, known: vec![0..10] }
}

/// Opens a resource, reads two ranges and closes it, in stages.
fn work(stats: &IoStats) {
    let _field = stage!("field", column = "pt");
    let open = || Ok::<_, io::Error>(());
    let (file, ()) = ObservedFile::open(stats, open, |()| opened()).unwrap();
    for bytes in [10, 20] {
        let mut stage = stage!("wait", bytes_in = bytes);
        let ranges = [Pair(50, bytes), Pair(80, bytes)];
        file.read(opened, ranges.into_iter(), open).unwrap();
        stage.set_bytes_out(|| 2 * bytes);
    }
    file.read(opened, std::iter::empty(), open).unwrap();
    file.close(|| ());
}

fn events(path: &Path) -> Vec<Event> {
    parse_events(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the names of the events of reads.
fn reads(events: &[Event]) -> Vec<&str> {
    let name = |event: &Event| match event {
        Event::Open { .. } => Some("open"),
        Event::Readv { .. } => Some("readv"),
        Event::Read { .. } => Some("read"),
        Event::Close { .. } => Some("close"),
        _ => None,
    };
    events.iter().filter_map(name).collect()
}

#[test]
fn a_recording_has_all_that_is_observed() {
    let folder = tempfile::tempdir().unwrap();
    let stats = IoStats::default();
    // Only reads are recorded while nothing else is observed.
    let path = folder.path().join("reads");
    let recording = record(&path).unwrap();
    work(&stats);
    recording.finish().unwrap();
    let alone = events(&path);
    assert_eq!(reads(&alone), ["open", "readv", "readv", "close"]);
    assert_eq!(alone.len(), 6);
    let [Event::Trace { version: 1, .. }, Event::Open { known, thread, .. }, ..] = &alone[..]
    else {
        panic!("{alone:?}")
    };
    assert_eq!(known, &[Pair(0, 10)]);

    let path = folder.path().join("all");
    let recording = record(&path).unwrap();
    let profiler = Profiler::start().unwrap();
    let table = folder.path().join("prmon.txt");
    let monitor =
        cfg!(target_os = "linux").then(|| Monitor::start(&table, interval(0.01).unwrap()).unwrap());
    work(&stats);
    std::thread::sleep(Duration::from_millis(30));
    let summary = monitor.map(|monitor| monitor.finish().unwrap());
    let report = profiler.finish();
    recording.finish().unwrap();
    let all = events(&path);
    assert_eq!(reads(&all), reads(&alone));

    // The recorded stages are the stages of the report.
    let mut stages: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
    for event in &all {
        let Event::Stage { stage, column, bytes_in, bytes_out, .. } = event else { continue };
        let sums = stages.entry(stage).or_default();
        *sums = (sums.0 + 1, sums.1 + bytes_in, sums.2 + bytes_out);
        assert_eq!(column.as_deref(), Some("pt"));
        let (by, start, end) = event.span().unwrap();
        assert!(by == *thread && 0.0 <= start && start <= end, "{event:?}");
    }
    let of_report = report
        .stages
        .iter()
        .map(|stage| (stage.stage.as_str(), (stage.calls, stage.bytes_in, stage.bytes_out)));
    assert_eq!(stages, of_report.collect());
    assert_eq!(stages["wait"], (2, 30, 60));

    // So are the memory and the rows of the monitor.
    let memory: Vec<u64> = all
        .iter()
        .filter_map(|event| match event {
            Event::Memory { bytes, .. } => Some(*bytes),
            _ => None,
        })
        .collect();
    let used = report.memory.as_ref();
    assert!(used.is_none_or(|used| memory.contains(&used.peak_bytes)), "{memory:?} {used:?}");
    assert_eq!(used.is_some(), cfg!(target_os = "linux"));
    let rows: Vec<_> = all
        .iter()
        .filter_map(|event| match event {
            Event::Usage { values, .. } => Some(values),
            _ => None,
        })
        .collect();
    let lines = summary
        .as_ref()
        .map_or(0, |_| std::fs::read_to_string(&table).unwrap().lines().count() - 1);
    assert_eq!(rows.len(), lines);
    let largest = rows.iter().map(|row| row["rss"]).fold(0.0, f64::max);
    assert_eq!(summary.map_or(0.0, |summary| summary.largest("rss").unwrap()), largest);

    // What was opened and read counts with and without a recording.
    let counts = stats.counts();
    assert_eq!(
        (counts.open_files, counts.open_unique_files, counts.unique_files_bytes),
        (2, 1, 100)
    );
    assert_eq!((counts.iops_read, counts.iops_readv, counts.bytes_readv), (2, 4, 120));
    let twice = counts.plus(&counts);
    assert_eq!((twice.bytes_readv, twice.round_trips), (240, counts.round_trips));
    assert!((twice.request_seconds - 2.0 * counts.request_seconds).abs() < 1e-12);
    assert_eq!((twice.seconds, twice.hit_rate), (counts.seconds, Some(0.0)));
}
