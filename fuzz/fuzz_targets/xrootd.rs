//! Parses the answers of an XRootD server, as every kind of answer, and as the answers to vectors and pages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_xrootd::wire::{check_all, join_pages, split_vector};

fuzz_target!(|data: &[u8]| {
    check_all(data);
    let body = data.to_vec().into();
    let _ = split_vector(&body, &[0..16, 5..7, 1000..5000]);
    let half = data.len() / 2;
    let _ = join_pages(&body, &[(4000, 0), (4000 + half as u64, half)], &(4000..9000));
});
