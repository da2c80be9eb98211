//! Tests that a profiler works in a program that has a subscriber of `tracing` of its own.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::atomic::{AtomicU64, Ordering};

use nyssa_observe::{Profiler, stage};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// The number of spans that the subscriber got.
static SPANS: AtomicU64 = AtomicU64::new(0);

/// The subscriber of the program.
struct Own;

impl Subscriber for Own {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(SPANS.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Does some work in stages, in two threads.
fn work() {
    let page = |bytes: u64| {
        let _page = stage!("page", column = "pt");
        let _own = tracing::info_span!("own").entered();
        let mut unzip = stage!("unzip", bytes_in = bytes);
        unzip.set_bytes_out(|| 4 * bytes);
    };
    page(10);
    std::thread::scope(|scope| drop(scope.spawn(|| page(20))));
}

#[test]
fn a_program_keeps_its_own_subscriber() {
    tracing::subscriber::set_global_default(Own).unwrap();
    let early = stage!("open");
    let profiler = Profiler::start().unwrap();
    let error = Profiler::start().err().unwrap().to_string();
    assert_eq!(error, "a profiler runs already in this process; there can be one at a time");
    work();
    drop(early);
    let late = stage!("write");
    let report = profiler.finish();
    drop(late);
    let stages =
        report.stages.iter().map(|stage| (stage.stage.as_str(), stage.calls, stage.bytes_out));
    assert_eq!(stages.collect::<Vec<_>>(), [("unzip", 2, 120), ("page", 2, 0), ("write", 0, 0)]);
    assert_eq!((report.columns[0].column.as_str(), report.columns.len()), ("pt", 1));
    assert_eq!(report.threads.iter().map(|group| group.threads).sum::<u64>(), 2);
    assert_eq!(SPANS.load(Ordering::Relaxed), 2);
    // While no profile runs, nothing is computed.
    let mut idle = stage!("zip");
    idle.set_bytes_out(|| panic!("no one asked"));
    work();
    drop(idle);
    assert_eq!(SPANS.load(Ordering::Relaxed), 4);
    // A stage that began during an earlier profile is not in a later one.
    let first = Profiler::start().unwrap();
    let begun_before = stage!("zip");
    drop(first.finish());
    let second = Profiler::start().unwrap();
    let seal = stage!("seal");
    drop(begun_before);
    drop(seal);
    let stages: Vec<_> =
        second.finish().stages.into_iter().map(|stage| (stage.stage, stage.calls)).collect();
    assert_eq!(stages, [("seal".to_owned(), 1)]);
}
