//! Keeps the ends of files that were closed, in case they are opened again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use nyssa_net::PerProcess;

use super::ends_wanted::Ends;
use crate::heuristics::fetch;
use crate::known::Known;

/// The ends of files that were opened by the same options. A chain of many files opens each of them twice: once for its
/// columns, and again to read it. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptEnds(Arc<PerProcess<Mutex<EndsOfFiles>>>);

#[derive(Debug, Default)]
struct EndsOfFiles {
    files: HashMap<String, KeptFile>,
    bytes: u64,
    next: u64,
}

#[derive(Debug)]
struct KeptFile {
    size: u64,
    version: String,
    known: Known,
    /// The number of the file in the order in which files were closed.
    number: u64,
}

impl KeptEnds {
    /// Returns what to request when a file is opened whose source is not known yet.
    pub(crate) fn wanted(&self, name: &str) -> Ends {
        match self.0.lock().files.contains_key(name) {
            // Size and version come with any byte.
            true => Ends { first: fetch::LEAST_OF_END, last: 0 },
            false => Ends::wanted(name, fetch::MOST_OF_END),
        }
    }

    /// Returns the ends of a file if they are of this size and version. They are taken out.
    pub(crate) fn take(&self, name: &str, size: u64, version: &str) -> Option<Known> {
        let mut ends = self.0.lock();
        let file = ends.files.remove(name)?;
        ends.bytes -= file.known.bytes();
        (file.size == size && file.version == version).then_some(file.known)
    }

    /// Keeps the ends of a file that is closed. The ends of files that were closed long ago make room for them.
    pub(crate) fn keep(&self, name: &str, size: u64, version: String, known: Known) {
        let mut ends = self.0.lock();
        let ends = &mut *ends;
        ends.bytes += known.bytes();
        let number = ends.next;
        ends.next += 1;
        let file = KeptFile { size, version, known, number };
        if let Some(before) = ends.files.insert(name.to_owned(), file) {
            ends.bytes -= before.known.bytes();
        }
        while ends.bytes > fetch::KEPT_BYTES {
            let oldest = ends.files.iter().min_by_key(|(_, file)| file.number);
            let Some(oldest) = oldest.map(|(name, _)| name.clone()) else { return };
            ends.bytes -= ends.files.remove(&oldest).map_or(0, |file| file.known.bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    #[test]
    fn the_oldest_ends_make_room() {
        let ends = KeptEnds::default();
        let third = fetch::KEPT_BYTES / 3;
        let known = || Known::new([(0..third, Bytes::from(vec![0; third as usize]))]);
        for name in ["a", "b", "c", "b", "d"] {
            ends.keep(name, 10, "one".to_owned(), known());
        }
        assert!(ends.take("a", 10, "one").is_none(), "it was removed");
        assert!(ends.take("b", 11, "one").is_none() && ends.take("b", 10, "one").is_none());
        assert!(ends.take("c", 10, "two").is_none() && ends.take("d", 10, "one").is_some());
        assert_eq!(ends.0.lock().bytes, 0);
    }
}
