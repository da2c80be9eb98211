//! Parses a header envelope with a corrected checksum, and checks the rules of the schema.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_rntuple::format::{Footer, Header};

fuzz_target!(|data: &[u8]| {
    let envelope = nyssa_fuzz::repair::wrap(1, data);
    if let Ok(header) = Header::parse(&envelope) {
        let _ = header.schema(&Footer::default().extension);
    }
});
