//! Reads the bytes of records from a data file. Records that lie together are read by one call, and each is
//! checked.

use std::fs::File;
use std::ops::Range;

use bytes::Bytes;

use super::record::Record;
use crate::heuristics::cache;
use crate::local::{Buffer, read_exact_at};

/// The bytes of some records.
#[derive(Default)]
pub(super) struct Blocks {
    /// The records in the order of their places, with the numbers of their runs and their places in them.
    records: Vec<(Record, usize, usize)>,
    runs: Vec<Bytes>,
    damaged: Vec<Record>,
}

impl Blocks {
    /// Reads and checks the bytes of `records`.
    pub(super) fn read(data: &File, mut records: Vec<Record>) -> Self {
        records.sort_unstable_by_key(|record| (record.place, record.offset));
        records.dedup();
        let mut blocks = Self::default();
        if records.is_empty() {
            return blocks;
        }
        let end = data.metadata().map_or(0, |metadata| metadata.len());
        let mut rest = records.as_slice();
        while let Some(first) = rest.first() {
            let mut places = first.places();
            let joins = |record: &&Record| {
                let joined = places.start..places.end.max(record.places().end);
                let fits = record.place <= places.end.saturating_add(cache::GAP)
                    && joined.end - joined.start <= cache::RUN_BYTES;
                if fits {
                    places = joined;
                }
                fits
            };
            let count = rest.iter().take_while(joins).count().max(1);
            let (run, later) = rest.split_at(count);
            rest = later;
            // No memory is allocated for bytes that are not there.
            let bytes = if places.end <= end { read(data, &places) } else { None };
            match bytes {
                Some(bytes) => blocks.push(run, &places, bytes),
                None => blocks.damaged.extend_from_slice(run),
            }
        }
        blocks
    }

    /// Returns the records whose bytes are damaged.
    pub(super) fn damaged(&self) -> &[Record] {
        &self.damaged
    }

    /// Finds the bytes of a record: the bytes that were read by one call, and where the bytes of the record start
    /// in them. Returns `None` if they are damaged or were not read.
    pub(super) fn find(&self, record: &Record) -> Option<(&Bytes, usize)> {
        let first = self.records.partition_point(|(other, ..)| other.place < record.place);
        let (_, run, start) = self.records[first..]
            .iter()
            .take_while(|(other, ..)| other.place == record.place)
            .find(|(other, ..)| other == record)?;
        Some((self.runs.get(*run)?, *start))
    }

    fn push(&mut self, records: &[Record], places: &Range<u64>, bytes: Bytes) {
        let run = self.runs.len();
        for record in records {
            // Both numbers are at most the length of bytes in memory.
            let start = (record.place - places.start) as usize;
            match record.fits(&bytes[start..start + record.bytes as usize]) {
                true => self.records.push((*record, run, start)),
                false => self.damaged.push(*record),
            }
        }
        self.runs.push(bytes);
    }
}

fn read(data: &File, places: &Range<u64>) -> Option<Bytes> {
    let mut buffer = Buffer::new(usize::try_from(places.end - places.start).ok()?);
    read_exact_at(data, buffer.bytes_mut(), places.start).ok()?;
    Some(Bytes::from_owner(buffer))
}
