//! Implements `Real32Trunc`, which keeps the most significant bits of an IEEE-754 single precision float.

use super::bits;

/// The quiet bit of a NaN. A NaN with this bit stays a NaN after truncation to 10 bits.
const QUIET: u32 = 0x0040_0000;

/// Unpacks to 32-bit floats whose missing mantissa bits are zero.
#[inline(always)]
pub(super) fn decode(packed: &[u8], width: u16, out: &mut [[u8; 4]]) {
    bits::unpack(packed, width, out, |word| word << (32 - width));
}

/// Cuts off the low mantissa bits (towards zero, as ROOT does) and packs.
pub(super) fn encode(elements: &[[u8; 4]], width: u16, out: &mut Vec<u8>) {
    let words = elements.iter().map(|element| {
        let value = f32::from_le_bytes(*element);
        let word = if value.is_nan() { value.to_bits() | QUIET } else { value.to_bits() };
        word >> (32 - width)
    });
    bits::pack(width, words, out);
}
