//! Tests that every source must pass.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::SlowSource;
use crate::fetch::{AHEAD_BYTES, Fetcher, read_all};
use crate::{Cost, Limits, Result, Source};

/// The size of the [`content`] in bytes.
const SIZE: u64 = 1_200_000;
/// The number of ranges that are read at once to test large requests.
const MANY: u64 = 3_000;

/// Returns the bytes to check a source with. All places have different bytes.
pub fn content() -> Vec<u8> {
    (0..SIZE as u32 / 4).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect()
}

/// Checks a source of [`content`] that has not been read before.
///
/// # Panics
/// If the source fails a test.
pub fn check_source(source: &Arc<dyn Source>) {
    let content = content();
    assert_eq!(source.size(), SIZE, "the size");
    let limits = source.limits();
    assert!(limits.max_ranges > 0 && limits.max_range_bytes > 0 && limits.concurrency > 0);
    assert!(limits.cost.bandwidth > 0, "{limits:?}");
    check_order(source, &content);
    check_bounds(source);
    check_threads(source, &content);
    check_fetched(source, &content);
}

fn slice<'c>(content: &'c [u8], range: &Range<u64>) -> &'c [u8] {
    &content[range.start as usize..range.end as usize]
}

/// Reads ranges in the given order, with requests within the limits.
fn ask(source: &Arc<dyn Source>, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
    let limits = source.limits();
    let short = |range: &Range<u64>| {
        range.start..range.end.min(range.start.saturating_add(limits.max_range_bytes))
    };
    let ranges: Vec<Range<u64>> = ranges.iter().map(short).collect();
    let mut answers = Vec::new();
    for ranges in ranges.chunks(limits.max_ranges) {
        answers.extend(source.read_ranges(ranges)?);
    }
    Ok(answers)
}

fn check_order(source: &Arc<dyn Source>, content: &[u8]) {
    let requests: [&[Range<u64>]; 6] = [
        &[],
        &[0..SIZE, 5..6],
        &[SIZE..SIZE, 0..0, 7..7],
        &[900_000..900_100, 10..20, 15..30, 12..14, 10..20],
        &[0..1, 20_000..20_001, SIZE - 1..SIZE, 1..20_000],
        &[100..100_000, 0..50, 99_000..99_001],
    ];
    for ranges in requests {
        let answers = ask(source, ranges);
        assert!(answers.is_ok(), "{ranges:?}: {answers:?}");
        let answers = answers.unwrap_or_default();
        assert_eq!(answers.len(), ranges.len(), "{ranges:?}");
        for (answer, range) in answers.iter().zip(ranges) {
            let most = source.limits().max_range_bytes;
            let range = range.start..range.end.min(range.start.saturating_add(most));
            assert!(answer[..] == *slice(content, &range), "bytes {range:?} of {ranges:?}");
        }
    }
    let answer = source.read_range(5..9);
    assert!(answer.is_ok_and(|bytes| bytes[..] == content[5..9]), "one range");
}

fn check_bounds(source: &Arc<dyn Source>) {
    let name = source.name();
    #[allow(clippy::reversed_empty_ranges)]
    let table = [
        (SIZE - 10..SIZE + 1, ErrorKind::UnexpectedEof, "it has only 1200000 bytes"),
        (SIZE + 1..SIZE + 1, ErrorKind::UnexpectedEof, "it has only 1200000 bytes"),
        (u64::MAX - 1..u64::MAX, ErrorKind::UnexpectedEof, "it has only 1200000 bytes"),
        (9..5, ErrorKind::InvalidInput, "the end comes before the start"),
    ];
    for (range, kind, reason) in table {
        let expected =
            format!("cannot read bytes {} to {} of {name}: {reason}", range.start, range.end);
        for read in [
            source.read_range(range.clone()).map(|_| ()),
            source.read_ranges(std::slice::from_ref(&range)).map(|_| ()),
            read_all(source, &[0..10, range.clone()]).map(|_| ()),
        ] {
            assert!(read.is_err(), "{range:?} was read");
            let Err(error) = read else { continue };
            assert_eq!((error.source.kind(), error.to_string()), (kind, expected.clone()));
        }
    }
}

fn check_threads(source: &Arc<dyn Source>, content: &[u8]) {
    let length = source.limits().max_range_bytes.min(3_000);
    std::thread::scope(|scope| {
        for thread in 0..8_u64 {
            scope.spawn(move || {
                for step in 0..50 {
                    let start = (thread * 7919 + step * 4_001) % 1_100_000;
                    let range = start..start + length;
                    let bytes = source.read_range(range.clone());
                    let same = bytes.is_ok_and(|bytes| bytes[..] == *slice(content, &range));
                    assert!(same, "bytes {range:?}, read by several threads");
                }
            });
        }
    });
}

/// Checks that the fetcher keeps to the limits of the source and returns the requested bytes.
fn check_fetched(source: &Arc<dyn Source>, content: &[u8]) {
    let many: Vec<Range<u64>> = (0..MANY).rev().map(|i| i * 400..i * 400 + i % 300).collect();
    let units: Vec<Vec<Range<u64>>> = many.chunks(7).map(<[_]>::to_vec).collect();
    let cost = Cost { latency: Duration::from_micros(200), ..source.limits().cost };
    let strict =
        Limits { cost, concurrency: source.limits().concurrency.max(2), ..source.limits() };
    let harsh = Limits { max_ranges: 3, max_range_bytes: 100, ..strict };
    let mut sources = vec![Arc::clone(source)];
    for limits in [strict, harsh] {
        let limits = Limits {
            max_ranges: limits.max_ranges.min(source.limits().max_ranges),
            max_range_bytes: limits.max_range_bytes.min(source.limits().max_range_bytes),
            ..limits
        };
        // It panics for a request beyond its limits.
        sources.push(Arc::new(SlowSource::new(Arc::clone(source), limits)));
    }
    for source in &sources {
        let all = read_all(source, &many);
        assert!(all.is_ok(), "{all:?}");
        for (bytes, range) in all.unwrap_or_default().iter().zip(&many) {
            assert!(bytes[..] == *slice(content, range), "bytes {range:?}, fetched");
        }
        for ahead_bytes in [AHEAD_BYTES, 1_000] {
            let fetcher = Fetcher::new(source, units.clone(), ahead_bytes);
            let mut seen = vec![false; units.len()];
            while let Some(fetched) = fetcher.next(&|| false) {
                assert!(fetched.is_ok(), "{:?}", fetched.err());
                let Ok(fetched) = fetched else { continue };
                assert!(!std::mem::replace(&mut seen[fetched.unit], true), "a unit came twice");
                for (bytes, range) in fetched.bytes.iter().zip(&units[fetched.unit]) {
                    assert!(bytes[..] == *slice(content, range), "bytes {range:?}, as a unit");
                }
            }
            assert!(seen.iter().all(|&seen| seen), "a unit did not come");
        }
    }
}

/// Closes a source and checks that it then refuses to read if it has system resources (`holds`).
///
/// # Panics
/// If a closed source can still be read, or if `check_open` does not report that it is closed.
pub fn check_closed(source: &Arc<dyn Source>, holds: bool) {
    assert!(source.check_open().is_ok(), "it is open");
    source.close();
    source.close();
    assert_eq!(source.check_open().is_err(), holds, "what it says once it is closed");
    assert_eq!(source.read_range(0..1).is_err(), holds, "reading once it is closed");
    assert_eq!(source.size(), SIZE, "the size once it is closed");
}
