//! Parses selections of entries: any text is an expression or an error.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz as _;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = nyssa_data::cut::Cut::parse(text);
    }
});
