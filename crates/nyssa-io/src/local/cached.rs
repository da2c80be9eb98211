//! Finds whether the bytes of a local file are in the cache of the system.

use std::fs::File;
use std::ops::Range;

use super::lock::is_on_this_machine;
use crate::heuristics::local;

/// The place of a byte of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Cache,
    Disk,
    /// A place that the system or the file system does not report.
    Unknown,
}

/// Returns whether nearly all bytes of a plan are in the cache of the system. If this is not known, the bytes
/// of a file system of this machine count as cached, and the bytes of a network file system do not. Systems other
/// than Linux never report it; all bytes count as cached there.
pub(crate) fn is_cached(file: &File, units: &[Vec<Range<u64>>]) -> bool {
    let unknown = || cfg!(not(target_os = "linux")) || is_on_this_machine(file);
    all_cached(units, |offset| place(file, offset)).unwrap_or_else(unknown)
}

/// Checks some bytes of a plan. Returns `None` if their place is not known.
fn all_cached(units: &[Vec<Range<u64>>], place: impl Fn(u64) -> Place) -> Option<bool> {
    let ranges = || units.iter().flatten().filter(|range| !range.is_empty());
    let count = ranges().count();
    if count == 0
        || count == 1 && ranges().all(|range| range.end - range.start < local::LEAST_BYTES)
    {
        return Some(true);
    }
    // Each of a few long ranges is checked in several places.
    let each = local::SAMPLES.div_ceil(count) as u64;
    let places = |range: &Range<u64>| {
        let (start, last) = (range.start, range.end - 1);
        let step = ((range.end - range.start) / each).max(1);
        (0..each).map(move |number| start.saturating_add(number * step).min(last))
    };
    let offsets: Vec<u64> =
        ranges().step_by(count.div_ceil(local::SAMPLES)).flat_map(places).collect();
    let mut allowed = offsets.len() / local::PART;
    for offset in offsets {
        match place(offset) {
            Place::Cache => {}
            Place::Unknown => return None,
            Place::Disk if allowed == 0 => return Some(false),
            Place::Disk => allowed -= 1,
        }
    }
    Some(true)
}

/// Returns the place of a byte: reads it if that needs no waiting.
#[cfg(target_os = "linux")]
fn place(file: &File, offset: u64) -> Place {
    use rustix::io::{Errno, ReadWriteFlags, preadv2};
    let mut byte = [0];
    let mut buffers = [std::io::IoSliceMut::new(&mut byte)];
    match preadv2(file, &mut buffers, offset, ReadWriteFlags::NOWAIT) {
        Ok(_) => Place::Cache,
        Err(Errno::AGAIN) => Place::Disk,
        Err(_) => Place::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
fn place(_: &File, _: u64) -> Place {
    Place::Unknown
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Returns the result if the bytes from `start` on are on disk, and the number of checked bytes.
    fn look(units: &[Vec<Range<u64>>], start: u64) -> (Option<bool>, usize) {
        let seen = Cell::new(0);
        let cached = all_cached(units, |offset| {
            assert!(units.iter().flatten().any(|range| range.contains(&offset)), "byte {offset}");
            seen.set(seen.get() + 1);
            if offset < start { Place::Cache } else { Place::Disk }
        });
        (cached, seen.get())
    }

    #[test]
    fn few_bytes_of_a_plan_are_looked_at() {
        let many: Vec<Vec<Range<u64>>> = (0..1000)
            .map(|i| vec![i * 1000..i * 1000 + 10, i * 1000 + 20..i * 1000 + 20])
            .collect();
        assert_eq!(look(&many, u64::MAX), (Some(true), 32));
        // One in eight may be on the disk.
        assert_eq!(look(&many, 900_000), (Some(true), 32));
        assert_eq!(look(&many, 800_000).0, Some(false));
        assert_eq!(look(&many, 0), (Some(false), 5));
        let unit = [vec![0..1 << 20]];
        assert_eq!(look(&unit, u64::MAX), (Some(true), 32));
        assert_eq!(look(&unit, 1 << 19).0, Some(false));
        assert_eq!(look(&[vec![5..6, 8..9], vec![u64::MAX - 1..u64::MAX]], 7).0, Some(false));
    }

    #[test]
    fn one_short_range_needs_no_look() {
        assert_eq!(look(&[], 0), (Some(true), 0));
        assert_eq!(look(&[vec![7..7], vec![]], 0), (Some(true), 0));
        assert_eq!(look(&[vec![0..local::LEAST_BYTES - 1]], 0), (Some(true), 0));
        assert_eq!(look(&[vec![0..local::LEAST_BYTES]], 0).0, Some(false));
    }

    #[test]
    fn a_file_system_may_not_tell() {
        assert_eq!(all_cached(&[vec![0..1, 5..6]], |_| Place::Unknown), None);
    }
}
