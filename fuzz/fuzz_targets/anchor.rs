//! Parses the anchor of an RNTuple with a corrected checksum.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let mut payload = data.to_vec();
    nyssa_fuzz::repair::repair_anchor(&mut payload);
    if let Ok(anchor) = nyssa_rntuple::format::Anchor::parse(&payload) {
        assert!(
            nyssa_rntuple::format::Anchor::parse(&anchor.serialize())
                .is_ok_and(|same| same == anchor)
        );
    }
});
