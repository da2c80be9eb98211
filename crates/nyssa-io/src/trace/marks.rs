//! Computes which bytes were read at which time, as the rectangles of a drawing.

use std::collections::HashMap;

use nyssa_observe::{Event, Pair, Request};
use serde::Serialize;

use super::recorded::Trace;
use super::summary::Summary;

/// The largest number of marks. A drawing of more shows no more.
const MOST: usize = 20_000;

/// The ranges of requests, over time and over the bytes of the files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Marks {
    /// The sum of the sizes of the different files. Each file begins where the one before it ends.
    pub bytes: u64,
    /// The number of ranges. Some of them have no mark if there are too many.
    pub ranges: u64,
    /// The marks.
    pub marks: Vec<Mark>,
}

/// A range of a request.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mark {
    /// The begin of the request, in seconds since the recording began.
    pub start: f64,
    /// The end of the request, in seconds since the recording began.
    pub end: f64,
    /// The first byte, counted through all files.
    pub offset: u64,
    /// The number of bytes.
    pub length: u64,
}

impl Trace {
    /// Returns the marks of the trace, whose summary is `summary`.
    pub fn marks(&self, summary: &Summary) -> Marks {
        let mut starts: HashMap<&str, u64> = HashMap::new();
        let mut all = Marks::default();
        for file in &summary.by_file {
            starts.insert(&file.name, all.bytes);
            all.bytes = all.bytes.saturating_add(file.size);
        }
        let mut places: HashMap<u64, u64> = HashMap::new();
        for event in &self.events {
            if let Event::Open { file, name, .. } = event {
                places.insert(*file, starts.get(name.as_str()).copied().unwrap_or_default());
            }
            let Some(Request { file, ranges, start, end, .. }) = event.request() else { continue };
            let place = places.get(&file).copied().unwrap_or_default();
            all.ranges += ranges.len() as u64;
            let room = MOST.saturating_sub(all.marks.len());
            all.marks.extend(ranges.into_iter().take(room).map(|Pair(offset, length)| Mark {
                start,
                end,
                offset: place.saturating_add(offset),
                length,
            }));
        }
        all
    }
}
