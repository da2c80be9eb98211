//! Records where the numbers of processes (`TProcessID`) are in the entries of a basket.

/// Where the entries of a basket state the numbers of processes.
#[derive(Debug, Default)]
pub(super) struct ProcessPlaces {
    /// The byte where the entry starts that is decoded.
    pub start: usize,
    /// The bytes where numbers are.
    pub places: Vec<usize>,
    /// Whether bytes were not decoded, which may have more.
    pub hidden: bool,
}

impl ProcessPlaces {
    /// Adds a byte of the entry.
    pub(super) fn add(&mut self, at: usize) {
        self.places.push(self.start + at);
    }
}
