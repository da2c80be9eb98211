//! Packs and unpacks bits, least significant bit first.

use nyssa_root::arrow::SPREAD;

/// Returns the size in bytes of `count` packed elements of `bits` bits.
pub(super) fn packed_size(count: usize, bits: u16) -> usize {
    (count as u128 * u128::from(bits)).div_ceil(8).try_into().unwrap_or(usize::MAX)
}

/// Unpacks integers of 1 to 32 `bits`. Each goes through `map`.
/// `packed` has [`packed_size`] bytes.
#[inline(always)]
pub(super) fn unpack(packed: &[u8], bits: u16, out: &mut [[u8; 4]], map: impl Fn(u32) -> u32) {
    let bits = usize::from(bits);
    let mask = u64::MAX >> (64 - bits);
    // An element starts in the first byte of an 8-byte load and ends in the fifth byte at the latest.
    let element = |bytes: &[u8], bit: usize| {
        let word = bytes.get(bit / 8..).and_then(|bytes| bytes.first_chunk::<8>());
        let word = u64::from_le_bytes(word.copied().unwrap_or_default());
        map((word >> (bit % 8) & mask) as u32).to_le_bytes()
    };
    let whole_loads = packed.len().saturating_sub(7).saturating_mul(8).div_ceil(bits);
    let (fast, slow) = out.split_at_mut(whole_loads.min(out.len()));
    for (index, out) in fast.iter_mut().enumerate() {
        *out = element(packed, index * bits);
    }
    // The elements of the last 7 bytes are loaded from a padded copy.
    let first_bit = fast.len() * bits;
    let mut tail = [0; 16];
    let rest = packed.get(first_bit / 8..).unwrap_or_default();
    for (to, from) in tail.iter_mut().zip(rest) {
        *to = *from;
    }
    for (index, out) in slow.iter_mut().enumerate() {
        *out = element(&tail, first_bit % 8 + index * bits);
    }
}

/// Appends integers that fit in `bits` bits, 1 to 32.
pub(super) fn pack(bits: u16, values: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    let (mut word, mut filled) = (0u64, 0);
    for value in values {
        word |= u64::from(value) << filled;
        filled += u32::from(bits);
        if filled >= 32 {
            out.extend_from_slice(&(word as u32).to_le_bytes());
            word >>= 32;
            filled -= 32;
        }
    }
    out.extend_from_slice(&word.to_le_bytes()[..filled.div_ceil(8) as usize]);
}

/// Unpacks bits into bytes of 0 or 1.
pub(super) fn unpack_bools(packed: &[u8], out: &mut [u8]) {
    for (bytes, &bits) in out.chunks_mut(8).zip(packed) {
        bytes.copy_from_slice(&SPREAD[usize::from(bits)][..bytes.len()]);
    }
}

/// Packs one bit for each byte. Every byte other than 0 is true.
#[inline(always)]
pub(super) fn pack_bools(elements: &[u8], out: &mut Vec<u8>) {
    let (bytes, rest) = elements.as_chunks::<8>();
    out.extend(bytes.iter().map(|bytes| pack_byte(bytes)));
    if !rest.is_empty() {
        out.push(pack_byte(rest));
    }
}

#[inline(always)]
fn pack_byte(bytes: &[u8]) -> u8 {
    bytes.iter().enumerate().fold(0, |bits, (bit, &byte)| bits | u8::from(byte != 0) << bit)
}
