//! One conformance suite for all sources, and the I/O traces that recording gives.

#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use nyssa_io::{Counters, LocalSource, MemorySource, RecordingSource, Source, coalesce};
use proptest::prelude::*;

fn content() -> Vec<u8> {
    (0..300_000u32).flat_map(|i| (i.wrapping_mul(2_654_435_761) >> 7).to_le_bytes()).collect()
}

/// Every source over the same bytes, with the file that must outlive them.
fn sources(data: &[u8]) -> (Vec<Arc<dyn Source>>, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(data).unwrap();
    let local: Arc<dyn Source> = Arc::new(LocalSource::open(file.path()).unwrap());
    let memory: Arc<dyn Source> = Arc::new(MemorySource::new("memory", data.to_vec()));
    let recording = Arc::new(RecordingSource::new(local.clone()));
    (vec![local, memory, recording], file)
}

#[test]
fn every_source_answers_in_the_order_asked() {
    let data = content();
    let (sources, _file) = sources(&data);
    let end = data.len() as u64;
    let requests: [&[std::ops::Range<u64>]; 6] = [
        &[],
        &[0..end],
        &[end..end, 0..0, 7..7],
        &[900_000..900_100, 10..20, 15..30, 12..14, 10..20],
        &[0..1, 20_000..20_001, end - 1..end, 1..20_000],
        &[100..100_000, 0..50, 99_000..99_001],
    ];
    for source in &sources {
        assert_eq!(source.size(), end);
        for ranges in requests {
            let answers = source.read_ranges(ranges).unwrap();
            assert_eq!(answers.len(), ranges.len());
            for (answer, range) in answers.iter().zip(ranges) {
                assert_eq!(answer[..], data[range.start as usize..range.end as usize]);
            }
        }
        assert_eq!(source.read_range(5..9).unwrap()[..], data[5..9]);
    }
}

#[test]
fn every_source_refuses_what_lies_beyond_its_end() {
    let data = content();
    let (sources, _file) = sources(&data);
    for source in &sources {
        let name = source.name().to_owned();
        let error = source.read_ranges(&[0..10, 1_199_990..1_200_001]).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
        assert_eq!(
            error.to_string(),
            format!("cannot read bytes 1199990 to 1200001 of {name}: it has only 1200000 bytes")
        );
        let huge = source.read_range(u64::MAX - 1..u64::MAX).unwrap_err();
        assert_eq!(huge.source.kind(), ErrorKind::UnexpectedEof);
        #[allow(clippy::reversed_empty_ranges)]
        let turned = source.read_range(9..5).unwrap_err();
        assert_eq!(turned.source.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            turned.to_string(),
            format!("cannot read bytes 9 to 5 of {name}: the end comes before the start")
        );
    }
}

#[test]
fn every_source_serves_many_threads() {
    let data = content();
    let (sources, _file) = sources(&data);
    for source in &sources {
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (source, data) = (source.clone(), &data);
                scope.spawn(move || {
                    for step in 0..200 {
                        let start = (thread * 7919 + step * 4_001) % 1_100_000;
                        let bytes = source.read_range(start..start + 3_000).unwrap();
                        assert!(bytes[..] == data[start as usize..start as usize + 3_000]);
                    }
                });
            }
        });
    }
}

#[test]
fn a_file_keeps_the_size_it_was_opened_with() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[1; 100]).unwrap();
    let source = LocalSource::open(file.path()).unwrap();
    file.write_all(&[2; 100]).unwrap();
    assert_eq!(source.size(), 100);
    let error = source.read_range(90..110).unwrap_err();
    assert!(error.to_string().ends_with("it has only 100 bytes"), "{error}");

    file.as_file().set_len(50).unwrap();
    let error = source.read_range(40..90).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
    assert!(
        error.to_string().ends_with("it ends at byte 50 now, it was cut after it was opened"),
        "{error}"
    );
}

#[test]
fn what_is_not_a_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let error = LocalSource::open(folder.path()).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    assert!(error.to_string().ends_with("it is a folder, not a file"), "{error}");
    let missing = LocalSource::open(folder.path().join("missing.root")).unwrap_err();
    assert_eq!(missing.source.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().starts_with("cannot open "), "{missing}");
    assert!(missing.to_string().contains("missing.root: "), "{missing}");
}

#[test]
fn recording_sees_every_request() {
    let source = RecordingSource::new(Arc::new(MemorySource::new("memory", vec![0; 100])));
    assert_eq!(source.counters(), Counters::default());
    source.read_ranges(&[0..10, 50..60]).unwrap();
    source.read_range(99..100).unwrap();
    source.read_range(99..101).unwrap_err();
    assert_eq!(source.counters(), Counters { requests: 3, ranges: 4, bytes: 23 });
    assert_eq!(source.trace(), [vec![0..10, 50..60], vec![99..100], vec![99..101]]);
    source.reset();
    assert_eq!(source.counters(), Counters::default());
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
