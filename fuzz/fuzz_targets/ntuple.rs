//! Opens, plans, reads and verifies a file with one uncompressed RNTuple and corrected checksums, with its
//! attribute sets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_data::Dataset;
use nyssa_fuzz::{context, open, read_all, repair};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader};

fuzz_target!(|data: &[u8]| {
    let Some(name) = open(data).ok().and_then(|file| repair::first_name(&file)) else { return };
    let mut bytes = data.to_vec();
    repair::repair(&mut bytes, &name);
    let Ok(file) = open(&bytes) else { return };
    let options = RNTupleReadOptions { verify_checksums: false, ..RNTupleReadOptions::default() };
    let Ok(reader) = Reader::open_with(&file, &name, options) else { return };
    read_all(&reader);
    for link in reader.attribute_links() {
        if let Ok(set) = reader.open_attribute_set(&link.name) {
            read_all(&set);
            if set.num_entries() <= nyssa_fuzz::MAX_ENTRIES {
                let _ = set.attribute_ranges(context());
            }
        }
    }
    let _ = nyssa_rntuple::read::verify(&reader, context());
});
