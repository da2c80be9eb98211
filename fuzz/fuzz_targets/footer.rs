//! Parses a footer envelope with a corrected checksum.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_rntuple::format::Footer;

fuzz_target!(|data: &[u8]| {
    let _ = Footer::parse(&nyssa_fuzz::repair::wrap(2, data));
});
