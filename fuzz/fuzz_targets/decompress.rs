//! Decompresses blocks of every algorithm.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz as _;

fuzz_target!(|data: &[u8]| {
    let Some((size, input)) = data.split_first_chunk::<2>() else { return };
    let mut out = vec![0; usize::from(u16::from_le_bytes(*size))];
    let _ = nyssa_root::compression::decompress(input, &mut out);
});
