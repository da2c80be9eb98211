//! Tracks the largest part of the data that a job has in memory at once, such as one large entry: before the job
//! begins, from the metadata of the input, and while it runs.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, ArrayRef};

use super::report::Written;
use crate::heuristics::job;

/// The copies of its largest part that a job has in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Copies {
    /// The part is in memory in the form in which it was read, and in the form in which it is written.
    Twice,
    /// The part is in memory in the form in which it was read. It is written to the file in pieces.
    Once,
}

/// The largest part of the data, by the metadata before anything is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DataPart {
    /// The entries of the basket or of the cluster.
    pub entries: Range<u64>,
    /// The bytes that are decompressed at once for one entry: the bytes of the entry, or of its basket or page if
    /// that is larger.
    pub unpacked: u64,
    /// The minimum size in bytes of the largest of these entries. It is exact if there is only one entry.
    pub entry: u64,
}

impl DataPart {
    /// Makes a part of `entries` that have `bytes` together. They lie in units (baskets or pages) of at most `unit` bytes.
    pub(crate) fn new(entries: Range<u64>, bytes: u64, unit: u64) -> Self {
        let entry = bytes.div_ceil(entries.end.saturating_sub(entries.start).max(1));
        Self { entries, unpacked: unit.max(entry), entry }
    }

    fn bytes(&self, copies: Copies) -> u64 {
        match copies {
            Copies::Twice => self.unpacked.saturating_add(self.entry),
            Copies::Once => self.unpacked,
        }
    }

    /// Returns the part that needs more memory.
    #[must_use]
    pub(crate) fn or_larger(self, other: Self) -> Self {
        if other.bytes(Copies::Twice) > self.bytes(Copies::Twice) { other } else { self }
    }

    /// Returns the memory that the part of `what` needs.
    pub(crate) fn need(&self, what: &str, copies: Copies) -> Need {
        let Self { entries, unpacked, entry } = self;
        let single = entries.end.saturating_sub(entries.start) == 1;
        let named = entries_of(entries, what);
        let reason = match (single, unpacked > entry) {
            (true, false) => held(&named, *entry, copies),
            (false, false) => held(&format!("one or more of {named}"), *entry, copies),
            _ => format!(
                "{named} are unpacked in a piece of {unpacked} bytes, and the largest entry of them takes at least {entry} bytes more"
            ),
        };
        Need { bytes: self.bytes(copies), reason }
    }
}

/// Returns the reason why values are held in memory.
fn held(name: &str, bytes: u64, copies: Copies) -> String {
    let written = match copies {
        Copies::Twice => " and as they are written",
        Copies::Once => "",
    };
    format!("{name} take {bytes} bytes, and are held as they are read{written}")
}

/// The minimum memory that a job needs, and the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Need {
    pub bytes: u64,
    pub reason: String,
}

/// The largest part until now.
#[derive(Debug)]
pub(crate) struct LargestPart {
    memory: u64,
    copies: Copies,
    needs: Mutex<Needs>,
}

#[derive(Debug, Default)]
struct Needs {
    /// The need by the metadata.
    planned: Need,
    /// The need by the data that were read.
    measured: Need,
    /// Whether the user was warned.
    is_said: bool,
}

impl LargestPart {
    /// Starts without a part. `memory` is the budget of the job in bytes.
    pub(crate) fn new(memory: u64, copies: Copies) -> Self {
        Self { memory, copies, needs: Mutex::default() }
    }

    /// Adds the statements of the metadata of a `file` about the part of `what`, before it is read. The user is
    /// warned of the first part that does not fit, unless the name of the file is empty because an earlier attempt
    /// has warned.
    pub(crate) fn plan(&self, part: &DataPart, what: &str, file: &str) {
        let need = part.need(what, self.copies);
        let mut needs = self.needs();
        if need.bytes > self.memory && !needs.is_said && !file.is_empty() {
            needs.is_said = true;
            nyssa_io::warn(&format!("{file}: {}", self.note_on(&need)));
        }
        if need.bytes > needs.planned.bytes {
            needs.planned = need;
        }
    }

    /// Adds the arrays of a part. `name` is called only for the largest part.
    pub(crate) fn add(&self, arrays: &[ArrayRef], name: impl FnOnce() -> String) {
        let bytes = |array: &ArrayRef| array.to_data().get_slice_memory_size().unwrap_or(0) as u64;
        let bytes = arrays.iter().map(bytes).fold(0, u64::saturating_add);
        let needed = DataPart::new(0..1, bytes, 0).bytes(self.copies);
        let mut needs = self.needs();
        if needed > needs.measured.bytes {
            needs.measured = Need { bytes: needed, reason: held(&name(), bytes, self.copies) };
        }
    }

    /// Adds the available and the needed memory to a report, and a note if more was needed.
    pub(crate) fn report(&self, written: &mut Written) {
        let needs = self.needs();
        let Needs { planned, measured, .. } = &*needs;
        let measured_more = measured.bytes
            > self.memory.saturating_add(self.memory / job::NOTE_DIVISOR)
            && measured.bytes > planned.bytes;
        let need = if measured_more { measured } else { planned };
        written.memory_bytes = self.memory;
        written.needed_memory_bytes = need.bytes;
        if need.bytes > self.memory {
            written.notes.push(self.note_on(need));
        }
    }

    fn needs(&self) -> MutexGuard<'_, Needs> {
        self.needs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_on(&self, need: &Need) -> String {
        format!(
            "at least {} bytes of memory are needed, more than the {} bytes that were given: {}",
            need.bytes, self.memory, need.reason
        )
    }
}

/// Returns the name of some entries, for a note.
pub(crate) fn entries_of(entries: &Range<u64>, what: &str) -> String {
    match entries.end.saturating_sub(entries.start) {
        1 => format!("the values of entry {} of {what}", entries.start),
        _ => format!("the entries {} to {} of {what}", entries.start, entries.end),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::Int64Array;

    use super::*;

    fn reported(largest: &LargestPart) -> (u64, u64, Vec<String>) {
        let mut written = Written::default();
        largest.report(&mut written);
        (written.memory_bytes, written.needed_memory_bytes, written.notes)
    }

    #[test]
    fn a_part_that_does_not_fit_is_named() {
        let array = |count: usize| vec![Arc::new(Int64Array::from(vec![0; count])) as ArrayRef];
        let of = |memory| {
            let largest = LargestPart::new(memory, Copies::Twice);
            largest.add(&array(10), || "small".to_owned());
            largest.add(&array(100), || entries_of(&(3..4), "x"));
            largest.add(&array(50), || "medium".to_owned());
            reported(&largest)
        };
        assert_eq!(of(1280), (1280, 0, Vec::new()));
        let note = "at least 1600 bytes of memory are needed, more than the 1279 bytes that were given: the values of \
                    entry 3 of x take 800 bytes, and are held as they are read and as they are written";
        assert_eq!(of(1279), (1279, 1600, vec![note.to_owned()]));
        // A slice counts only its own bytes.
        let slice = array(1_000_000)[0].slice(5, 2);
        let largest = LargestPart::new(100, Copies::Twice);
        largest.add(&[slice], || "slice".to_owned());
        assert_eq!(reported(&largest), (100, 0, Vec::new()));
        assert_eq!(entries_of(&(3..9), "x"), "the entries 3 to 9 of x");
    }

    #[test]
    fn what_the_metadata_say_comes_first() {
        // One entry in a basket of its own.
        let part = DataPart::new(3..4, 1000, 1000);
        let need = part.need("x", Copies::Twice);
        assert_eq!(need.bytes, 2000);
        let planned = |memory| {
            let largest = LargestPart::new(memory, Copies::Twice);
            largest.plan(&part, "x", "");
            let (_, needed, notes) = reported(&largest);
            (needed, notes.len())
        };
        assert_eq!((planned(2000), planned(1999)), ((2000, 0), (2000, 1)));
        assert_eq!(part.need("x", Copies::Once).bytes, 1000);
        // Ten entries in one basket, and in pages that are smaller than the entries.
        let basket = DataPart::new(0..10, 1000, 1000).need("x", Copies::Twice);
        assert_eq!(basket.bytes, 1100);
        assert!(basket.reason.contains("in a piece of 1000 bytes"), "{}", basket.reason);
        let pages = DataPart::new(0..10, 1000, 20).need("x", Copies::Twice);
        assert_eq!(pages.bytes, 200);
        assert!(pages.reason.starts_with("one or more of the entries 0 to 10 of x take 100"));
        let larger = DataPart::new(0..10, 1000, 20).or_larger(part.clone());
        assert_eq!(larger, part);
    }
}
