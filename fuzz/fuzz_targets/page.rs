//! Opens a page of any column type, compressed or not, with any number of elements.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz as _;
use nyssa_rntuple::encoding::{ColumnType, Encoding};

/// The maximum number of elements. The target tests the decoder, not the allocator.
const MAX_ELEMENTS: usize = 1 << 14;

fuzz_target!(|data: &[u8]| {
    let Some((&[code, bits, few, many], stored)) = data.split_first_chunk::<4>() else { return };
    let Some(column_type) = ColumnType::from_code(u16::from(code)) else { return };
    let range = Some((-1.5, f64::from(few)));
    let Ok(encoding) = Encoding::of(column_type, u16::from(bits), range) else { return };
    let elements = usize::from(u16::from_le_bytes([few, many])).min(MAX_ELEMENTS);
    let mut scratch = Vec::new();
    let mut out = vec![0; elements * encoding.native_size()];
    let _ = nyssa_rntuple::page::unseal(stored, None, &encoding, elements, &mut out, &mut scratch);
    let mut out = vec![0; elements * 8];
    let _ =
        nyssa_rntuple::page::unseal_f64(stored, None, &encoding, elements, &mut out, &mut scratch);
});
