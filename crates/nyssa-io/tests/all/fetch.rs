//! The fetcher: what it asks of sources, and when.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use nyssa_io::cache::{Cache, CacheOptions};
use nyssa_io::fetch::{
    AHEAD_BYTES, Fetcher, HedgeCounts, ReadAhead, coalesce, hedge_counts, read_all, with_ends,
};
use nyssa_io::testing::{RecordingSource, SlowSource, WithVersion, content, serve};
use nyssa_io::{Cost, Limits, MemorySource, OpenOptions, Result, Source, open_with};
use nyssa_xrootd::testing::{DATA_SERVER, Reply, ScriptedXrootd};
use proptest::prelude::*;

/// Makes sources that need 20 ms for a request, answer 8 requests at the same time, and bring so few bytes a
/// second that no gap is read over.
fn far() -> Limits {
    let latency = Duration::from_millis(20);
    let cost = Cost { latency, range: Duration::ZERO, bandwidth: 1_000 };
    Limits { max_ranges: 1024, max_range_bytes: 1 << 30, concurrency: 8, cost, ..Limits::NONE }
}

fn slow(limits: Limits) -> (Arc<SlowSource>, Arc<dyn Source>) {
    let memory = Arc::new(MemorySource::new("memory", content()));
    let slow = Arc::new(SlowSource::new(memory, limits));
    (Arc::clone(&slow), slow)
}

/// Makes units of four ranges each, which lie far from each other.
fn units(count: u64) -> Vec<Vec<Range<u64>>> {
    let range = |unit: u64, i: u64| {
        let start = i * 300_000 + unit * 1_000;
        start..start + 500
    };
    (0..count).map(|unit| (0..4).map(|i| range(unit, i)).collect()).collect()
}

/// The number of the request `read` of XRootD.
const READ: u16 = 3013;

fn never() -> bool {
    false
}

#[test]
fn requests_are_in_flight_together() {
    let (slow, source) = slow(Limits { max_ranges: 10, ..far() });
    // 800 ranges too far apart to be merged, in 80 requests.
    let units = units(200);
    let fetcher = Fetcher::new(&source, units.clone(), AHEAD_BYTES);
    let mut order = Vec::new();
    while let Some(fetched) = fetcher.next(&never) {
        order.push(fetched.unwrap().unit);
    }
    assert_eq!(order.len(), units.len());
    let seen = slow.observed();
    assert_eq!((seen.requests, seen.in_flight, seen.bytes), (80, 8, 800 * 500));
    assert!(seen.round_trips <= 12, "{seen:?}");
}

#[test]
fn all_requests_that_fit_in_memory_are_sent_at_once() {
    // All threads have begun long before the first answer comes.
    let cost = Cost { latency: Duration::from_millis(500), ..far().cost };
    let (slow, source) = slow(Limits { max_ranges: 10, concurrency: 64, cost, ..far() });
    // 80 requests of 5,000 bytes each; 60 of them fit.
    let fetcher = Fetcher::new(&source, units(200), 300_000);
    let first = fetcher.next(&never).unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let seen = slow.observed();
    assert_eq!((seen.requests, seen.in_flight, seen.round_trips), (60, 60, 1), "{seen:?}");
    drop(first);
    assert_eq!(std::iter::from_fn(|| fetcher.next(&never)).count(), 199);
    assert_eq!(slow.observed().requests, 80);
}

#[test]
fn a_connection_of_xrootd_has_many_requests_under_way() {
    const TOGETHER: usize = 8;
    let withheld = Mutex::new((0, Vec::new()));
    // The server keeps the answers until so many requests have come.
    let server = ScriptedXrootd::start(vec![7; 40 << 20], DATA_SERVER, move |request, sound| {
        if request.id != READ {
            return Reply::Send(sound);
        }
        let mut withheld = withheld.lock().unwrap();
        withheld.0 += 1;
        withheld.1.extend_from_slice(&sound);
        match withheld.0 < TOGETHER {
            true => Reply::Send(Vec::new()),
            false => Reply::Send(std::mem::take(&mut withheld.1)),
        }
    });
    let server = server.unwrap();
    let source = open_with(server.url("/data"), &OpenOptions::default()).unwrap();
    let units: Vec<_> = (0..20_u64).map(|i| vec![i << 21..(i << 21) + (1 << 20)]).collect();
    let fetcher = Fetcher::new(&source, units, AHEAD_BYTES);
    let fetched = std::iter::from_fn(|| fetcher.next(&never));
    let bytes: usize = fetched.map(|unit| unit.unwrap().bytes[0].len()).sum();
    assert_eq!(bytes, 20 << 20);
    let reads = server.requests().iter().filter(|request| request.id == READ).count();
    assert_eq!(reads, 20);
}

#[test]
fn one_request_is_enough_where_it_may_have_all_ranges() {
    let (slow, source) = slow(far());
    let fetcher = Fetcher::new(&source, units(200), AHEAD_BYTES);
    assert_eq!(std::iter::from_fn(|| fetcher.next(&never)).count(), 200);
    assert_eq!((slow.observed().requests, slow.observed().round_trips), (1, 1));
}

#[test]
fn no_more_is_fetched_than_may_wait() {
    let (slow, source) = slow(Limits { max_ranges: 1, ..far() });
    let units: Vec<_> = (0..20_u64).map(|i| vec![i * 50_000..i * 50_000 + 1_000]).collect();
    let fetcher = Fetcher::new(&source, units, 4_000);
    let first = fetcher.take(0, &never).unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    // The first is not decoded yet.
    assert_eq!(slow.observed().bytes, 4_000);
    drop(first);
    let second = fetcher.take(1, &never).unwrap().unwrap();
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(slow.observed().bytes, 5_000);
    drop(fetcher);
    drop(second);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(slow.observed().bytes, 5_000, "nothing is fetched once nobody wants it");
}

#[test]
fn a_unit_that_is_larger_than_the_room_comes_alone() {
    let (_, source) = slow(far());
    let units = vec![vec![0..600_000], vec![600_000..1_200_000], vec![5..5]];
    let fetcher = Fetcher::new(&source, units, 1_000);
    // Both are held at once: who waits gets what it waits for.
    let all: Vec<_> =
        std::iter::from_fn(|| fetcher.next(&never)).map(|unit| unit.unwrap()).collect();
    let mut sizes: Vec<_> = all.iter().map(|unit| (unit.unit, unit.bytes[0].len())).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [(0, 600_000), (1, 600_000), (2, 0)]);
}

#[test]
fn what_a_thread_waits_for_comes_in_one_round_trip() {
    let (slow, source) = slow(Limits { max_range_bytes: 100_000, max_ranges: 1, ..far() });
    let units = vec![vec![0..600_000], vec![600_000..1_200_000]];
    // There is memory for one request.
    let fetcher = Fetcher::new(&source, units, 100_000);
    for unit in 0..2 {
        slow.reset();
        assert_eq!(fetcher.take(unit, &never).unwrap().unwrap().bytes[0].len(), 600_000);
        let seen = slow.observed();
        assert!(seen.requests >= 5 && seen.round_trips <= 2, "{seen:?}");
    }
}

#[test]
fn bytes_of_one_request_are_not_copied() {
    let data = Bytes::from(content());
    let memory: Arc<dyn Source> = Arc::new(MemorySource::new("memory", data.clone()));
    let far: Arc<dyn Source> = Arc::new(SlowSource::new(Arc::clone(&memory), far()));
    for source in [memory, far] {
        let bytes = read_all(&source, &[100..200, 150..160, 200..300]).unwrap();
        let place = data.as_ptr() as usize;
        let places = bytes.iter().map(|bytes| bytes.as_ptr() as usize - place);
        assert_eq!(places.collect::<Vec<_>>(), [100, 150, 200]);
    }
}

/// A source with a hole.
struct Broken(MemorySource);

impl Source for Broken {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size()
    }

    fn limits(&self) -> Limits {
        Limits { max_ranges: 1, ..far() }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let hit = |at: u64| ranges.iter().any(|range| range.contains(&at));
        if hit(500_000) {
            let lost = std::io::Error::other("the connection is lost");
            return Err(nyssa_io::Error::new("memory", "read bytes of", lost));
        }
        assert!(!hit(700_000), "a source that dies");
        let mut answers = self.0.read_ranges(ranges)?;
        if hit(900_000) {
            answers.pop();
        }
        Ok(answers)
    }
}

#[test]
fn the_unit_that_fails_is_named() {
    let source: Arc<dyn Source> = Arc::new(Broken(MemorySource::new("memory", content())));
    for (at, reason) in [
        (500_000, "cannot read bytes of memory: the connection is lost"),
        (
            700_000,
            "cannot read memory: a thread of nyssa ended unexpectedly; this is a bug of \
                   nyssa, please report it",
        ),
        (900_000, "cannot read memory: it answered with fewer bytes than were requested"),
        (1_300_000, "cannot read bytes 1300000 to 1300010 of memory: it has only 1200000 bytes"),
    ] {
        let units = vec![vec![0..10], vec![100_000..100_010, at..at + 10], vec![300_000..300_010]];
        let fetcher = Fetcher::new(&source, units, AHEAD_BYTES);
        let fetched: Vec<_> = std::iter::from_fn(|| fetcher.next(&never)).collect();
        let failed: Vec<_> = fetched.into_iter().filter_map(std::result::Result::err).collect();
        assert_eq!(failed.len(), 1);
        assert_eq!((failed[0].unit, failed[0].error.to_string()), (1, reason.to_owned()));
        assert!(fetcher.next(&never).is_none(), "nothing comes after an error");
    }
}

#[test]
fn waiting_ends_when_it_is_stopped() {
    let slowly = Cost { latency: Duration::from_secs(3), ..far().cost };
    let (_, source) = slow(Limits { cost: slowly, ..far() });
    let start = std::time::Instant::now();
    let fetcher = Fetcher::new(&source, units(10), AHEAD_BYTES);
    let is_checked = AtomicBool::new(false);
    assert!(fetcher.next(&|| is_checked.swap(true, Ordering::Relaxed)).is_none());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| fetcher.next(&never).is_none());
        std::thread::sleep(Duration::from_millis(20));
        fetcher.stop();
        assert!(waiting.join().unwrap());
    });
    drop(fetcher);
    assert!(start.elapsed() < Duration::from_secs(2), "nobody waits for a request in flight");
}

/// A source whose requests for some bytes are stuck.
struct Stuck {
    memory: MemorySource,
    /// The number of bytes at the start whose requests are stuck.
    bytes: u64,
    /// The milliseconds that the first and the second request for these bytes take, and whether they then fail.
    first: (u64, bool),
    second: (u64, bool),
}

impl Stuck {
    fn source(name: &str, bytes: u64, first: (u64, bool), second: (u64, bool)) -> Arc<dyn Source> {
        Arc::new(Self { memory: MemorySource::new(name, content()), bytes, first, second })
    }

    fn read(&self, ranges: &[Range<u64>], (time, fails): (u64, bool)) -> Result<Vec<Bytes>> {
        if ranges[0].start < self.bytes {
            std::thread::sleep(Duration::from_millis(time));
            if fails {
                let lost = std::io::Error::other(format!("lost after {time} ms"));
                return Err(nyssa_io::Error::new(self.name(), "read", lost));
            }
        }
        self.memory.read_ranges(ranges)
    }
}

impl Source for Stuck {
    fn name(&self) -> &str {
        self.memory.name()
    }

    fn size(&self) -> u64 {
        self.memory.size()
    }

    fn limits(&self) -> Limits {
        let cost = Cost { bandwidth: 1_000_000, ..far().cost };
        Limits { max_ranges: 1, cost, ..far() }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, self.first)
    }

    fn read_ranges_again(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read(ranges, self.second)
    }
}

/// Reads 16 ranges that are far from each other, and returns the error or the milliseconds that this took.
fn read_sixteen(source: &Arc<dyn Source>) -> std::result::Result<u128, String> {
    let ranges: Vec<_> = (0..16_u64).map(|i| i * 70_000..i * 70_000 + 100).collect();
    let begin = std::time::Instant::now();
    let all = read_all(source, &ranges).map_err(|error| error.to_string())?;
    let time = begin.elapsed().as_millis();
    let content = content();
    for (range, bytes) in ranges.iter().zip(all) {
        assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
    }
    Ok(time)
}

#[test]
fn a_request_that_is_stuck_is_made_once_more() {
    let time =
        read_sixteen(&Stuck::source("far://stuck/a", 1, (10_000, false), (0, false))).unwrap();
    assert!((1_000..1_700).contains(&time), "{time} ms");
    let expected = HedgeCounts { requests: 16, repeated: 1, won: 1 };
    assert_eq!(hedge_counts("far://stuck/b"), expected);
    // A single range, such as metadata, is not different.
    let next = Stuck::source("far://next/a", 1, (10_000, false), (0, false));
    assert_eq!(read_all(&next, &[0..5]).unwrap(), [&content()[..5]]);
}

#[test]
fn the_attempt_that_succeeds_counts() {
    for (name, first, second, won) in [
        ("far://first/a", (1_300, true), (600, false), 1),
        ("far://second/a", (1_300, false), (0, true), 0),
    ] {
        read_sixteen(&Stuck::source(name, 1, first, second)).unwrap();
        assert_eq!(hedge_counts(name), HedgeCounts { requests: 16, repeated: 1, won });
    }
    let both = Stuck::source("far://both/a", 1, (1_300, true), (600, true));
    assert_eq!(read_sixteen(&both).unwrap_err(), "cannot read far://both/a: lost after 600 ms");
}

#[test]
fn a_server_that_is_slow_for_all_gets_one_request_more() {
    let slow = Stuck::source("far://slow/a", 560_000, (1_300, false), (1_300, false));
    let time = read_sixteen(&slow).unwrap();
    assert!(time < 2_000, "{time} ms");
    let expected = HedgeCounts { requests: 16, repeated: 1, won: 0 };
    // The second attempt ends after the plan.
    assert_eq!(hedge_counts("far://slow/a"), expected);
}

#[test]
fn a_near_source_is_read_by_who_asks() {
    let source = Arc::new(RecordingSource::new(Arc::new(MemorySource::new("memory", content()))));
    let shared: Arc<dyn Source> = source.clone();
    let fetcher = Fetcher::new(&shared, vec![vec![20..30, 0..10, 10..20], vec![50..60]], 1);
    assert_eq!(source.counters().requests, 0);
    assert_eq!(fetcher.next(&never).unwrap().unwrap().unit, 0);
    assert_eq!(source.trace(), [vec![0..30]]);
    assert_eq!(fetcher.next(&never).unwrap().unwrap().bytes, [&content()[50..60]]);
    assert!(fetcher.next(&never).is_none());
    let error = fetcher.take(2, &never);
    assert!(error.is_none());
}

#[test]
fn the_ends_of_a_far_file_come_at_once() {
    let (slow, source) = slow(far());
    let ends = with_ends(source).unwrap();
    let data = content();
    let last = data.len() as u64;
    let ranges = [0..10, last - 100..last, 5_000..6_000, 3..3];
    for (range, bytes) in ranges.iter().zip(read_all(&ends, &ranges).unwrap()) {
        assert_eq!(bytes[..], data[range.start as usize..range.end as usize]);
    }
    assert_eq!(slow.observed().requests, 1);
    let bytes = read_all(&ends, &[600_000..600_010, 0..10]).unwrap();
    assert_eq!((&bytes[0][..], &bytes[1][..]), (&data[600_000..600_010], &data[..10]));
    assert_eq!(slow.observed().requests, 2);
    let error = ends.read_range(last - 1..last + 1).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
    // A near source is left as it is.
    let memory: Arc<dyn Source> = Arc::new(MemorySource::new("memory", data));
    assert!(Arc::ptr_eq(&memory, &with_ends(Arc::clone(&memory)).unwrap()));
}

#[test]
fn later_files_of_a_server_get_the_ends_that_earlier_ones_used() {
    let cost = Cost { bandwidth: 1_000_000_000, ..far().cost };
    let data = content();
    let size = data.len() as u64;
    let open = |file: &str| {
        let name = format!("root://host-of-this-test//{file}");
        let memory = Arc::new(MemorySource::new(name, content()));
        let slow = Arc::new(SlowSource::new(memory, Limits { cost, ..far() }));
        let ends = with_ends(Arc::clone(&slow) as _).unwrap();
        (slow, ends)
    };
    let (slow, ends) = open("first.root");
    assert_eq!((slow.observed().requests, slow.observed().bytes), (1, 96 << 10));
    ends.read_ranges(&[0..20_000, size - 30_000..size]).unwrap();
    // The data of columns may lie at an end, but are no metadata. When they are read, the metadata are known.
    ends.read_ranges(&[200_000..201_000, 600_000..600_100]).unwrap();
    ends.read_ranges(&[0..40_000]).unwrap();
    let (slow, ends) = open("second.root");
    assert_eq!((slow.observed().requests, slow.observed().bytes), (1, 22_500 + 33_750));
    let bytes = ends.read_ranges(&[size - 39_000..size - 38_000]).unwrap();
    assert_eq!(bytes[0][..], data[data.len() - 39_000..data.len() - 38_000]);
    assert_eq!(slow.observed().requests, 2, "this file needs more");
    drop(ends);
    // More counts at once, less counts as one of several files.
    let (slow, _) = open("third.root");
    assert_eq!(slow.observed().bytes, 16_875 + 43_875);
}

#[test]
fn no_more_is_asked_for_than_the_ends_that_a_cache_has() {
    let size = content().len() as u64;
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::open(folder.path(), CacheOptions::default()).unwrap();
    let file = |name: &str| {
        let memory = Arc::new(MemorySource::new(format!("test://cached-ends/{name}"), content()));
        let slow = Arc::new(SlowSource::new(memory, far()));
        let origin: Arc<dyn Source> = Arc::new(WithVersion::new(slow.clone(), "one"));
        (slow, origin)
    };
    let open_cached = || {
        let (slow, origin) = file("small.root");
        (slow, with_ends(cache.source("test://cached-ends/small.root", origin)).unwrap())
    };
    // After this file, the first request of the next one is small.
    with_ends(file("first.root").1).unwrap().read_ranges(&[0..9, size - 9..size]).unwrap();
    let (slow, ends) = open_cached();
    ends.read_ranges(&[0..9, size - 9..size]).unwrap();
    assert_eq!((slow.observed().requests, slow.observed().bytes), (1, 2 * 4096));
    // After this file, it is large.
    with_ends(file("large.root").1).unwrap().read_ranges(&[0..40_000, size - 9..size]).unwrap();
    let (slow, ends) = open_cached();
    ends.read_ranges(&[0..9, size - 9..size]).unwrap();
    assert_eq!(slow.observed().requests, 0);
    ends.read_range(5_000..5_001).unwrap();
    assert_eq!(slow.observed().requests, 1);
}

#[test]
fn a_file_that_is_opened_again_has_its_ends() {
    let name = "test://opened-again/a.root";
    let serve_as = |version: &'static str, data: Vec<u8>| {
        let memory = Arc::new(MemorySource::new(name, data));
        let slow = Arc::new(SlowSource::new(memory, far()));
        serve(Arc::new(WithVersion::new(slow.clone(), version)));
        slow
    };
    let (data, options) = (content(), OpenOptions::default());
    let size = data.len() as u64;
    let slow = serve_as("one", data.clone());
    let open = |options: &OpenOptions| with_ends(open_with(name, options).unwrap()).unwrap();
    let first = open(&options);
    first.read_ranges(&[0..12_000, size - 10_000..size]).unwrap();
    drop(first);
    slow.reset();
    let again = open(&options.clone());
    let ends = again.read_ranges(&[5..12_000, size - 10_000..size - 1]).unwrap();
    assert_eq!((&ends[0][..], ends[1].len()), (&data[5..12_000], 9_999));
    assert_eq!(slow.observed().requests, 0);
    // What was not needed is not kept.
    assert_eq!(again.read_range(11_999..12_001).unwrap(), data[11_999..12_001]);
    assert_eq!(slow.observed().requests, 1);
    drop(again);
    // A reader that does not know of this reads it, as do all readers if it has changed.
    open(&OpenOptions::default());
    assert_eq!(slow.observed().requests, 2);
    let changed = serve_as("two", data.iter().map(|byte| !byte).collect());
    assert_eq!(open(&options).read_range(0..1).unwrap()[0], !data[0]);
    assert_eq!(changed.observed().requests, 1);
}

#[test]
fn what_is_announced_is_read_without_a_request() {
    let (slow, source) = slow(far());
    let data = content();
    let ahead = ReadAhead::new(source);
    let source: Arc<dyn Source> = Arc::clone(&ahead) as _;
    assert!(source.limits().is_near());
    let read = |range: Range<u64>| {
        let bytes = source.read_range(range.clone()).unwrap();
        assert_eq!(bytes[..], data[range.start as usize..range.end as usize]);
        slow.observed().requests
    };
    // Two units share a range; pieces of one lie side by side, and one piece lies inside another.
    let units = vec![vec![100..200, 200..260, 900..1_000], vec![900..1_000, 120..130], vec![5..6]];
    let announced = ahead.announce(units, AHEAD_BYTES);
    let first = announced.hold(0, &never).unwrap();
    assert_eq!(slow.observed().requests, 1);
    for range in [100..200, 120..130, 150..260, 200..201, 900..1_000, 7..7] {
        assert_eq!(read(range), 1);
    }
    let second = announced.hold(1, &never).unwrap();
    drop(first);
    assert_eq!(read(900..950), 1, "the other unit holds it");
    assert_eq!(read(122..130), 1);
    assert_eq!(read(122..131), 2, "only a part of it is held");
    drop(second);
    assert_eq!(read(900..950), 3);
    assert!(announced.hold(1, &never).is_none(), "it was held before");
    let third = announced.hold(2, &never).unwrap();
    let copy = announced.keep(&(5..6)).unwrap();
    assert!(announced.keep(&(5..7)).is_none(), "only a part of it is held");
    drop(third);
    assert_eq!(read(5..6), 3, "a copy is held");
    drop(copy);
    assert_eq!(read(5..6), 4);
    let error = source.read_range(1..2_000_000).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
    // A unit that cannot be fetched is not held: reading it says why.
    assert!(ahead.announce(vec![vec![0..2_000_000]], AHEAD_BYTES).hold(0, &never).is_none());
}

#[test]
fn near_ranges_merge() {
    let merged = |gap, max| -> Vec<_> {
        let ranges = [40..50, 0..10, 12..20, 13..15, 60..60, 100..300];
        coalesce(&ranges, gap, max).into_iter().map(|m| (m.range, m.members)).collect()
    };
    assert_eq!(
        merged(0, 100),
        [(0..10, vec![1]), (12..20, vec![2, 3]), (40..50, vec![0]), (100..300, vec![5]),]
    );
    assert_eq!(merged(20, 100), [(0..50, vec![1, 2, 3, 0]), (100..300, vec![5])]);
    assert_eq!(merged(20, 20), [(0..20, vec![1, 2, 3]), (40..50, vec![0]), (100..300, vec![5])]);
}

proptest! {
    /// Every range is served once, by a read that covers it, and reads never exceed their limits.
    #[test]
    fn merged_reads_cover_their_ranges(
        ranges in prop::collection::vec((0u64..2_000, 0u64..200), 0..40),
        gap in 0u64..100,
        max in 1u64..500,
    ) {
        let ranges: Vec<_> = ranges.into_iter().map(|(start, len)| start..start + len).collect();
        let merged = coalesce(&ranges, gap, max);
        let mut served = vec![0; ranges.len()];
        for read in &merged {
            let longest = read.members.iter().map(|&i| ranges[i].end - ranges[i].start).max();
            prop_assert!(read.range.end - read.range.start <= max.max(longest.unwrap()));
            for &member in &read.members {
                served[member] += 1;
                prop_assert!(read.range.start <= ranges[member].start);
                prop_assert!(ranges[member].end <= read.range.end);
            }
        }
        for (range, served) in ranges.iter().zip(served) {
            prop_assert_eq!(served, usize::from(!range.is_empty()));
        }
        prop_assert!(merged.is_sorted_by_key(|read| read.range.start));
    }
}
