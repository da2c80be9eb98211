//! Plans requests within the limits of a source from the ranges of units. This module does no I/O.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::coalesce::coalesce;
use crate::Limits;

/// One vectored request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub ranges: Vec<Range<u64>>,
    pub bytes: u64,
    /// The number of its bytes that lie between the ranges of units.
    pub over_read: u64,
    /// The units that need it, in order.
    pub units: Vec<usize>,
}

/// The requests that fetch the bytes of units, and the places of the bytes in their answers.
#[derive(Debug, Default)]
pub(super) struct Requests {
    pub requests: Vec<Request>,
    pub units: Vec<Needs>,
    /// The ranges of all requests.
    parts: Vec<RequestRange>,
}

/// The requests and places of one unit.
#[derive(Debug, Default)]
pub(super) struct Needs {
    /// The requests, in order.
    pub requests: Vec<usize>,
    /// The place of the bytes of each of its ranges.
    places: Vec<Place>,
}

/// One range of a request.
#[derive(Debug)]
struct RequestRange {
    request: usize,
    index: usize,
    range: Range<u64>,
}

/// The place of the bytes of one range, in consecutive parts.
#[derive(Clone, Debug, Default)]
struct Place {
    parts: Range<usize>,
    range: Range<u64>,
}

impl Requests {
    /// Plans the requests for units that are used in this order. Neighbouring ranges are merged if their
    /// units are in one window of `window` bytes, in any order.
    pub(super) fn of(
        units: &[Vec<Range<u64>>],
        limits: &Limits,
        request: u64,
        window: u64,
    ) -> Self {
        let windows = windows(units, window);
        let gap = gap(&windows, limits);
        let mut plan = Self::default();
        for units in windows {
            plan.add(units, limits, request, gap);
        }
        plan
    }

    /// Returns whether a unit needs a request.
    pub(super) fn needs(&self, unit: usize, request: usize) -> bool {
        self.units.get(unit).is_some_and(|needs| needs.requests.binary_search(&request).is_ok())
    }

    /// Adds the requests for units. Gaps of at most `gap` bytes are read over.
    fn add(&mut self, units: &[Vec<Range<u64>>], limits: &Limits, request_bytes: u64, gap: u64) {
        let ranges = ranges_of(units);
        let first = self.requests.len();
        let most = limits.merged_bytes().min(request_bytes);
        let mut places = vec![Place::default(); ranges.len()];
        for merged in coalesce(&ranges, gap, most) {
            let start = self.parts.len();
            let over_read = length(&merged.range) - covered(&merged.members, &ranges);
            self.split(merged.range, limits, request_bytes, first);
            if let Some(request) = self.requests.last_mut() {
                request.over_read += over_read;
            }
            for index in merged.members {
                let range = ranges[index].clone();
                let all = &self.parts[start..];
                let from = all.partition_point(|part| part.range.end <= range.start);
                let to = all.partition_point(|part| part.range.start < range.end);
                places[index] = Place { parts: start + from..start + to, range };
            }
        }
        let mut places = places.into_iter();
        for unit in units {
            let number = self.units.len();
            let places: Vec<Place> = places.by_ref().take(unit.len()).collect();
            let parts = places.iter().flat_map(|place| place.parts.clone());
            let mut requests: Vec<usize> = parts.map(|part| self.parts[part].request).collect();
            requests.sort_unstable();
            requests.dedup();
            requests.iter().for_each(|&request| self.requests[request].units.push(number));
            self.units.push(Needs { requests, places });
        }
    }

    /// Adds a range, divided into parts within the limits of the source.
    fn split(&mut self, range: Range<u64>, limits: &Limits, request_bytes: u64, first: usize) {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start.saturating_add(limits.max_range_bytes.max(1)));
            let fits = |request: &Request| {
                request.ranges.len() < limits.max_ranges.max(1)
                    && request.bytes.saturating_add(end - start) <= request_bytes
            };
            if self.requests.len() == first || !self.requests.last().is_some_and(fits) {
                self.requests.push(Request::default());
            }
            let number = self.requests.len() - 1;
            let request = &mut self.requests[number];
            let part =
                RequestRange { request: number, index: request.ranges.len(), range: start..end };
            request.ranges.push(start..end);
            request.bytes += end - start;
            self.parts.push(part);
            start = end;
        }
    }

    /// Returns the bytes of the ranges of a unit from the answers to requests. Bytes inside one part are not
    /// copied. Returns `None` if an answer is missing.
    pub(super) fn bytes<'a>(
        &self,
        unit: usize,
        answer: impl Fn(usize) -> Option<&'a [Bytes]>,
    ) -> Option<Vec<Bytes>> {
        let piece = |part: &RequestRange, range: &Range<u64>| {
            let bytes = answer(part.request)?.get(part.index)?;
            let from = range.start.max(part.range.start) - part.range.start;
            let to = range.end.min(part.range.end) - part.range.start;
            let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
            (to <= bytes.len()).then(|| bytes.slice(from..to))
        };
        let whole = |place: &Place| match &self.parts[place.parts.clone()] {
            [] => Some(Bytes::new()),
            [part] => piece(part, &place.range),
            parts => {
                let length = place.range.end.saturating_sub(place.range.start);
                let mut whole = BytesMut::with_capacity(usize::try_from(length).ok()?);
                for part in parts {
                    whole.extend_from_slice(&piece(part, &place.range)?);
                }
                Some(whole.freeze())
            }
        };
        self.units.get(unit)?.places.iter().map(whole).collect()
    }
}

/// Divides units into windows of at most `window` bytes.
fn windows(units: &[Vec<Range<u64>>], window: u64) -> Vec<&[Vec<Range<u64>>]> {
    let mut windows = Vec::new();
    let mut rest = units;
    while !rest.is_empty() {
        let mut bytes = 0_u64;
        let fits = |unit: &&Vec<Range<u64>>| {
            bytes = bytes.saturating_add(unit.iter().map(length).sum());
            bytes <= window
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (now, later) = rest.split_at(count);
        windows.push(now);
        rest = later;
    }
    windows
}

/// Returns the largest gap that is read over in a plan. All gaps up to it have no more bytes than the limits allow
/// for the whole plan. The smallest gaps save a range for the fewest bytes.
fn gap(windows: &[&[Vec<Range<u64>>]], limits: &Limits) -> u64 {
    let most = limits.coalesce_gap();
    if limits.over_read.is_none() || most == 0 {
        return most;
    }
    let (mut needed, mut gaps) = (0_u64, Vec::new());
    for units in windows {
        let mut before: Option<Range<u64>> = None;
        for merged in coalesce(&ranges_of(units), 0, u64::MAX) {
            needed = needed.saturating_add(length(&merged.range));
            let gap = before.map(|before| merged.range.start - before.end);
            gaps.extend(gap.filter(|&gap| gap <= most));
            before = Some(merged.range);
        }
    }
    gaps.sort_unstable();
    let mut left = limits.over_read_bytes(needed);
    let mut largest = 0;
    for equal in gaps.chunk_by(|item, other| item == other) {
        let (gap, count) = (equal[0], equal.len() as u64);
        match left.checked_sub(gap.saturating_mul(count)) {
            Some(rest) => (left, largest) = (rest, gap),
            None => return largest,
        }
    }
    most
}

fn ranges_of(units: &[Vec<Range<u64>>]) -> Vec<Range<u64>> {
    units.iter().flatten().cloned().collect()
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Returns the number of bytes that are in at least one of some ranges, which are sorted by start.
fn covered(members: &[usize], ranges: &[Range<u64>]) -> u64 {
    let (mut end, mut bytes) = (0, 0);
    for range in members.iter().filter_map(|&index| ranges.get(index)) {
        bytes += range.end.saturating_sub(range.start.max(end));
        end = range.end.max(end);
    }
    bytes
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;
    use crate::Cost;

    fn ranges(plan: &Requests) -> Vec<Vec<Range<u64>>> {
        plan.requests.iter().map(|request| request.ranges.clone()).collect()
    }

    #[test]
    fn requests_keep_to_their_limits() {
        let units = [vec![0..10, 20..25], vec![10..20, 100..130], vec![200..205]];
        let limits = Limits { max_ranges: 2, max_range_bytes: 20, ..Limits::NONE };
        let plan = Requests::of(&units, &limits, 1000, 1000);
        // Ranges of several units are merged. A range that is too long is divided into two.
        assert_eq!(
            ranges(&plan),
            [[0..20, 20..25], [100..120, 120..130], [200..205, 0..0]]
                .map(|pair| pair.into_iter().filter(|range| !range.is_empty()).collect::<Vec<_>>())
        );
        assert_eq!(plan.units[1].requests, [0, 1]);
        assert_eq!(plan.requests[0].units, [0, 1]);
        assert_eq!(plan.requests[0].bytes, 25);
    }

    #[test]
    fn bytes_come_from_all_parts() {
        let data: Vec<u8> = (0..=255).collect();
        let units = [vec![3..50, 5..5, 40..41], vec![100..102]];
        let limits = Limits { max_ranges: 2, max_range_bytes: 10, ..Limits::NONE };
        let plan = Requests::of(&units, &limits, 1000, 1000);
        let answers: Vec<Vec<Bytes>> = plan
            .requests
            .iter()
            .map(|request| {
                let ranges = request.ranges.iter();
                ranges
                    .map(|r| Bytes::copy_from_slice(&data[r.start as usize..r.end as usize]))
                    .collect()
            })
            .collect();
        let answer = |request: usize| answers.get(request).map(Vec::as_slice);
        let bytes = plan.bytes(0, answer).unwrap();
        assert_eq!(bytes[0][..], data[3..50]);
        assert_eq!((bytes[1].len(), &bytes[2][..]), (0, &data[40..41]));
        assert_eq!(plan.bytes(1, answer).unwrap(), [&data[100..102]]);
        assert!(plan.bytes(0, |request| answer(request).filter(|_| request > 0)).is_none());
    }

    #[test]
    fn windows_keep_the_order_of_use() {
        let units = [vec![500..510], vec![0..10], vec![10..20], vec![510..520]];
        let plan = Requests::of(&units, &Limits::NONE, 1000, 20);
        assert_eq!(ranges(&plan), [vec![0..10, 500..510], vec![10..20, 510..520]]);
        let plan = Requests::of(&units, &Limits::NONE, 1000, 1000);
        assert_eq!(ranges(&plan), [vec![0..20, 500..520]]);
        let plan = Requests::of(&units, &Limits::NONE, 15, 1000);
        assert_eq!(ranges(&plan), [vec![0..10], vec![10..20], vec![500..510], vec![510..520]]);
    }

    #[test]
    fn little_is_read_over_in_the_whole_plan() {
        let cost = Cost {
            latency: std::time::Duration::from_secs(1),
            bandwidth: 1_000_000_000,
            ..Cost::NOTHING
        };
        let limits = Limits { max_ranges: 1, cost, over_read: Some(4), ..Limits::NONE };
        // Every fourth of a hundred gaps has 1,000 bytes, the others have 50,000; 1,000,000 bytes are needed.
        let (mut units, mut start) = (Vec::new(), 0);
        for unit in 0..101_u64 {
            units.push(vec![start..start + 9_901]);
            start += 9_901 + if unit % 4 == 0 { 1_000 } else { 50_000 };
        }
        let over_read = |limits: &Limits, window: u64| {
            let plan = Requests::of(&units, limits, 1 << 40, window);
            plan.requests.iter().map(|request| request.over_read).sum::<u64>()
        };
        for window in [100_000, 1 << 40] {
            let little = over_read(&limits, window);
            assert!((10_000..=26_000).contains(&little), "{little}");
        }
        assert_eq!(over_read(&limits, 1 << 40), 25_000);
        assert_eq!(over_read(&Limits { over_read: None, ..limits }, 1 << 40), 25_000 + 75 * 50_000);
        // Some of many equal gaps are not better than the others, and a small plan may read over a little.
        assert_eq!(over_read(&Limits { over_read: Some(2), ..limits }, 1 << 40), 0);
        let small = [vec![0..10, 4_000..4_010], vec![8_000..8_010, 90_000..90_010]];
        let plan = Requests::of(&small, &limits, 1 << 40, 1 << 40);
        assert_eq!(ranges(&plan), [[0..8_010], [90_000..90_010]]);
    }

    #[test]
    fn gaps_are_read_over_where_that_is_cheaper() {
        let cost = Cost {
            range: std::time::Duration::from_micros(1),
            bandwidth: 50_000_000,
            ..Cost::NOTHING
        };
        let limits = Limits { cost, ..Limits::NONE };
        let plan = Requests::of(&[vec![0..10, 60..70, 121..130]], &limits, 1000, 1000);
        assert_eq!(ranges(&plan), [vec![0..70, 121..130]]);
        assert_eq!(plan.requests[0].over_read, 50);
        let plan = Requests::of(&[vec![0..30, 10..20, 5..40, 40..50]], &limits, 1000, 1000);
        assert_eq!((plan.requests[0].bytes, plan.requests[0].over_read), (50, 0));
    }
}
