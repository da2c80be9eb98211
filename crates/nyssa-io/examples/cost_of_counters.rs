//! Measures what the counters of reads and the recorder cost, with many small reads of a file in the cache of the system.
//!
//! `cargo run --release -p nyssa-io --example cost_of_counters`
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use nyssa_io::{LocalSource, Source};

const READS: u64 = 2_000;
const BYTES: u64 = 4096;
const PAIRS: usize = 1001;

/// Returns the nanoseconds that each of many reads takes.
fn time(source: &dyn Source) -> f64 {
    let begin = Instant::now();
    for number in 0..READS {
        let start = number * 7919 % (source.size() / BYTES) * BYTES;
        source.read_range(start..start + BYTES).unwrap();
    }
    begin.elapsed().as_secs_f64() * 1e9 / READS as f64
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, vec![7; 64 << 20]).unwrap();
    let bare = LocalSource::open(&path).unwrap();
    let counted = nyssa_io::open(&path).unwrap();
    time(&bare);
    let (mut of_bare, mut of_counted, mut of_recorded) = (Vec::new(), Vec::new(), Vec::new());
    for pair in 0..PAIRS {
        // The order alternates, so that what else the machine does has no favourite.
        if pair % 2 == 0 {
            of_bare.push(time(&bare));
            of_counted.push(time(counted.as_ref()));
        } else {
            of_counted.push(time(counted.as_ref()));
            of_bare.push(time(&bare));
        }
        if pair % 4 == 0 {
            let recording = nyssa_observe::record(&folder.path().join("trace")).unwrap();
            of_recorded.push(time(counted.as_ref()));
            recording.finish().unwrap();
        }
    }
    let differences =
        of_counted.iter().zip(&of_bare).map(|(counted, other)| counted - other).collect();
    println!("a read of {BYTES} bytes without counters: {:.0} ns", median(of_bare));
    println!("with counters: {:.0} ns", median(of_counted));
    println!("the counters of a read: {:.0} ns (median of {PAIRS} pairs)", median(differences));
    println!("with counters and a recorder: {:.0} ns", median(of_recorded));
}
