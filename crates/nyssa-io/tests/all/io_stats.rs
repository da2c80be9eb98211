//! Tests counters of opens and reads.

use std::ops::Range;
use std::sync::{Arc, Barrier};

use bytes::Bytes;
use nyssa_io::testing::serve;
use nyssa_io::{IoCounts, IoStats, Limits, MemorySource, OpenOptions, Source, open_by, open_with};

fn served(name: &str, size: usize) -> String {
    let url = format!("test://io-stats/{name}");
    serve(Arc::new(MemorySource::new(url.clone(), vec![7; size])));
    url
}

#[test]
fn opens_and_reads_are_counted_by_the_names_of_jcache() {
    let (a, b) = (served("a", 1000), served("b", 500));
    let options = OpenOptions::default();
    let first = open_with(&a, &options).unwrap();
    let _again = open_with(&a, &options.clone()).unwrap();
    let other = open_with(&b, &options).unwrap();
    first.read_range(0..100).unwrap();
    first.read_ranges(&[0..10, 20..50, 60..70]).unwrap();
    other.read_ranges_again(&[0..500]).unwrap();
    assert!(first.read_range(0..2000).is_err());
    let counts = options.stats.counts();
    let IoCounts { open_files, open_unique_files, unique_files_bytes, .. } = counts;
    assert_eq!((open_files, open_unique_files, unique_files_bytes), (3, 2, 1500));
    let IoCounts { iops_read, iops_readv, iops_readvread, .. } = counts;
    assert_eq!((iops_read, iops_readv, iops_readvread), (2, 1, 3));
    assert_eq!((counts.bytes_read, counts.bytes_readv, counts.bytes()), (600, 50, 650));
    // Three opens and four requests, one after the other.
    assert_eq!(counts.round_trips, 7);
    assert_eq!((counts.over_read_bytes, counts.hit_rate), (0, Some(0.0)));
    assert!(counts.busy_seconds <= counts.request_seconds + 1e-9);
    assert!(counts.request_seconds <= counts.seconds);
    // Other options count in another place, the process counts all.
    let others = OpenOptions::default();
    open_with(&a, &others).unwrap().read_range(0..1).unwrap();
    assert_eq!(others.stats.counts().bytes_read, 1);
    assert_eq!(options.stats.counts().bytes_read, 600);
    assert!(IoStats::of_process().counts().bytes_read >= 601);
}

/// A source that answers when two requests are under way.
struct InPairs(Barrier);

impl Source for InPairs {
    fn name(&self) -> &'static str {
        "in pairs"
    }

    fn size(&self) -> u64 {
        100
    }

    fn limits(&self) -> Limits {
        Limits::NONE
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        self.0.wait();
        Ok(ranges.iter().map(|range| Bytes::from(vec![0; range.clone().count()])).collect())
    }
}

#[test]
fn requests_at_the_same_time_are_one_round_trip() {
    let options = OpenOptions::default();
    let source = open_by(&options, || Ok(Arc::new(InPairs(Barrier::new(2))))).unwrap();
    for _ in 0..3 {
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| source.read_range(0..10).unwrap());
            }
        });
    }
    let counts = options.stats.counts();
    assert_eq!((counts.iops_read, counts.bytes_read, counts.round_trips), (6, 60, 4));
    assert!(counts.busy_seconds < counts.request_seconds);
}

#[test]
fn what_a_cache_had_is_a_hit() {
    let stats = IoStats::default();
    assert_eq!(stats.counts().hit_rate, None);
    stats.add_hit(1, 30);
    stats.add_hit(4, 60);
    let counts = stats.counts();
    assert_eq!((counts.hit_bytes_read, counts.hit_bytes_readv), (30, 60));
    assert_eq!((counts.hit_bytes(), counts.hit_rate), (90, Some(1.0)));
}
