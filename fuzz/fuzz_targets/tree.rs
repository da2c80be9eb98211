//! Reads a file with a TTree: its metadata and its baskets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz::{open, read_all};

fuzz_target!(|data: &[u8]| {
    let Ok(file) = open(data) else { return };
    for key in nyssa_jobs::open::datasets(&file).unwrap_or_default() {
        if key.class != nyssa_rntuple::read::CLASS
            && let Ok(reader) = nyssa_ttree::Reader::open(&file, &key.path)
        {
            read_all(&reader);
        }
    }
});
