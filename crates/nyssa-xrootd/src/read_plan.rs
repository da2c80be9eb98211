//! Turns ranges into requests, and answers into bytes. It does no I/O.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use bytes::{Bytes, BytesMut};

use super::connection::{Body, VectorLimits};
use super::wire::{
    Handle, Malformed, Request, join_pages, pages_length, split_vector, vector_length,
};

/// The number of bytes from which on a range is read by itself. Shorter ranges share a vector, for which the
/// server copies the bytes once more.
const ALONE: u64 = 256 << 10;
/// The largest number of bytes of a range of one request.
pub const READ_BYTES: u64 = 8 << 20;

/// One request, with the ranges that it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReadRequest {
    /// A request for one range.
    Read(Range<u64>),
    /// A request for many short ranges.
    Vector(Vec<Range<u64>>),
}

/// The places of the bytes of a range: in these answers, one after the other.
type Places = Vec<(usize, usize)>;

/// The requests for some ranges.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub parts: Vec<ReadRequest>,
    ranges: Vec<Places>,
}

impl Plan {
    /// Plans requests for ranges, none of which ends before it starts.
    pub(crate) fn new(ranges: &[Range<u64>], limits: VectorLimits) -> Self {
        let mut plan = Self::default();
        let alone = ALONE.min(limits.range_bytes);
        let mut vector: Option<usize> = None;
        // A range that is requested twice is in a vector once, because proxies refuse repeated ranges ("bad
        // message").
        let mut known: HashMap<(u64, u64), (usize, usize)> = HashMap::new();
        let count = ranges.iter().filter(|range| !range.is_empty()).count();
        for range in ranges {
            let length = range.end - range.start;
            let mut places = Places::new();
            if length == 0 {
            } else if length > alone || count == 1 || limits.ranges < 2 {
                let mut start = range.start;
                while start < range.end {
                    let end = range.end.min(start + READ_BYTES);
                    places.push((plan.parts.len(), 0));
                    plan.parts.push(ReadRequest::Read(start..end));
                    start = end;
                }
            } else if let Some(&place) = known.get(&(range.start, range.end)) {
                places.push(place);
            } else {
                let is_full = |index: &usize| match &plan.parts[*index] {
                    ReadRequest::Vector(inside) => {
                        inside.len() >= limits.ranges || vector_length(inside) + length > READ_BYTES
                    }
                    ReadRequest::Read(_) => true,
                };
                let index = vector.filter(|index| !is_full(index)).unwrap_or(plan.parts.len());
                if index == plan.parts.len() {
                    plan.parts.push(ReadRequest::Vector(Vec::new()));
                }
                vector = Some(index);
                if let ReadRequest::Vector(inside) = &mut plan.parts[index] {
                    let place = (index, inside.len());
                    known.insert((range.start, range.end), place);
                    places.push(place);
                    inside.push(range.clone());
                }
            }
            plan.ranges.push(places);
        }
        plan
    }

    /// Returns the bytes of all ranges from the bytes of all parts.
    pub(crate) fn bytes(&self, answers: &[Vec<Bytes>]) -> Vec<Bytes> {
        let find = |&(part, index): &(usize, usize)| {
            answers.get(part).and_then(|part| part.get(index)).cloned().unwrap_or_default()
        };
        let whole = |places: &Places| match places.as_slice() {
            [answer] => find(answer),
            several => {
                let mut whole = BytesMut::new();
                several.iter().for_each(|place| whole.extend_from_slice(&find(place)));
                whole.freeze()
            }
        };
        self.ranges.iter().map(whole).collect()
    }
}

impl ReadRequest {
    /// Returns the request, and the number of bytes that its answer may have. A single range comes with
    /// checksums if the server has them.
    pub(crate) fn request(&self, handle: Handle, has_checksums: bool) -> (Request, u64) {
        match self {
            Self::Read(range) => {
                let length = range.end - range.start;
                // The length is at most `READ_BYTES`.
                let short = length as u32;
                match has_checksums {
                    true => (Request::pgread(handle, range.start, short), pages_length(range)),
                    false => (Request::read(handle, range.start, short), length),
                }
            }
            Self::Vector(ranges) => (Request::readv(handle, ranges), vector_length(ranges)),
        }
    }

    /// Returns the bytes of each range.
    pub(crate) fn decode(&self, body: &Body) -> Result<Vec<Bytes>, Wrong> {
        match self {
            Self::Read(range) => {
                let bytes = match body.parts.as_slice() {
                    [] => body.bytes.clone(),
                    parts => join_pages(&body.bytes, parts, range).map_err(Wrong::Malformed)?,
                };
                let (came, wanted) = (bytes.len() as u64, range.end - range.start);
                match came.cmp(&wanted) {
                    Ordering::Equal => Ok(vec![bytes]),
                    Ordering::Less => Err(Wrong::EndsAt(range.start + came)),
                    Ordering::Greater => {
                        let what = format!("{came} bytes where {wanted} were requested");
                        Err(Wrong::Malformed(Malformed(what)))
                    }
                }
            }
            Self::Vector(ranges) => split_vector(&body.bytes, ranges).map_err(Wrong::Malformed),
        }
    }
}

/// The error of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrong {
    /// The answer is not for the request.
    Malformed(Malformed),
    /// The file ends at this byte.
    EndsAt(u64),
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn short_ranges_share_vectors_and_long_ones_are_read_alone() {
        let limits = VectorLimits { ranges: 2, range_bytes: 1000 };
        let ranges = [0..10, 5..5, 2000..4000, 20..30, 40..50, 0..READ_BYTES + 1];
        let plan = Plan::new(&ranges, limits);
        let expected = [
            ReadRequest::Vector(vec![0..10, 20..30]),
            ReadRequest::Read(2000..4000),
            ReadRequest::Vector(vec![40..50]),
            ReadRequest::Read(0..READ_BYTES),
            ReadRequest::Read(READ_BYTES..READ_BYTES + 1),
        ];
        assert_eq!(plan.parts, expected);
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        let answers = [
            vec![bytes("a"), bytes("b")],
            vec![bytes("c")],
            vec![bytes("d")],
            vec![bytes("e")],
            vec![bytes("f")],
        ];
        assert_eq!(plan.bytes(&answers), ["a", "", "c", "b", "d", "ef"]);
        let twice = Plan::new(&[0..10, 20..30, 0..10, 40..50], limits);
        let expected =
            [ReadRequest::Vector(vec![0..10, 20..30]), ReadRequest::Vector(vec![40..50])];
        assert_eq!(twice.parts, expected);
        let answers = [vec![bytes("a"), bytes("b")], vec![bytes("c")]];
        assert_eq!(twice.bytes(&answers), ["a", "b", "a", "c"]);
        let single = Plan::new(&[7..9], limits);
        assert_eq!(single.parts, [ReadRequest::Read(7..9)]);
    }
}
