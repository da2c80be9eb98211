//! Remembers the largest part of the data that a job had to hold at once, such as one large entry.

use std::sync::{Mutex, PoisonError};

use arrow_array::{Array, ArrayRef};

/// The number of times that the data of a part are in memory: as they were read, and as they are written.
const COPIES: u64 = 2;
/// The memory divided by this is how much more a part may take than was planned, before a note says it.
const SLACK_DIVISOR: u64 = 4;

/// The largest part so far: its bytes, and its name for people.
#[derive(Debug, Default)]
pub(crate) struct LargestPart(Mutex<(u64, String)>);

impl LargestPart {
    /// Adds the arrays of a part. `name` is called only for the largest one.
    pub(crate) fn add(&self, arrays: &[ArrayRef], name: impl FnOnce() -> String) {
        let bytes = |array: &ArrayRef| array.to_data().get_slice_memory_size().unwrap_or(0) as u64;
        let bytes = arrays.iter().map(bytes).fold(0, u64::saturating_add);
        let mut largest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if bytes > largest.0 {
            *largest = (bytes, name());
        }
    }

    /// Returns a note if the largest part does not fit into a memory of so many bytes.
    pub(crate) fn note(&self, memory: u64) -> Option<String> {
        let (bytes, name) = &*self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = bytes.saturating_mul(COPIES);
        (needed > memory.saturating_add(memory / SLACK_DIVISOR)).then(|| {
            format!(
                "more memory was needed than the {memory} bytes that were given: {name} take {bytes} \
                 bytes, and are held as they are read and as they are written"
            )
        })
    }
}

/// Returns the name of some entries, for a note.
pub(crate) fn entries_of(entries: &std::ops::Range<u64>, what: &str) -> String {
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

    #[test]
    fn a_part_that_does_not_fit_is_named() {
        let array = |count: usize| vec![Arc::new(Int64Array::from(vec![0; count])) as ArrayRef];
        let largest = LargestPart::default();
        largest.add(&array(10), || "small".to_owned());
        largest.add(&array(100), || entries_of(&(3..4), "x"));
        largest.add(&array(50), || "medium".to_owned());
        assert_eq!(largest.note(1280), None);
        assert_eq!(
            largest.note(1279).unwrap(),
            "more memory was needed than the 1279 bytes that were given: the values of entry 3 of x take 800 \
             bytes, and are held as they are read and as they are written"
        );
        // A slice counts alone.
        let slice = array(1_000_000)[0].slice(5, 2);
        let largest = LargestPart::default();
        largest.add(&[slice], || "slice".to_owned());
        assert_eq!(largest.note(100), None);
        assert_eq!(entries_of(&(3..9), "x"), "the entries 3 to 9 of x");
    }
}
