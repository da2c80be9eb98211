//! Implements split encoding: all first bytes of the elements come first, then all second bytes, and so on. Each group
//! is a byte plane.
//!
//! The compiler turns these loops into vector instructions. The tests compare each loop with a byte-by-byte
//! version.

/// The number of elements that are encoded at a time, on the stack.
pub(super) const BLOCK: usize = 128;

/// Returns the `N` byte planes of a page of `N`-byte elements.
#[inline(always)]
pub(super) fn planes<const N: usize>(packed: &[u8]) -> [&[u8]; N] {
    let count = packed.len() / N;
    std::array::from_fn(|plane| &packed[plane * count..(plane + 1) * count])
}

/// Joins two planes into 16-bit elements. Each goes through `map`.
#[inline(always)]
pub(super) fn unsplit_u16(planes: [&[u8]; 2], out: &mut [[u8; 2]], map: impl Fn(u16) -> u16) {
    let [p0, p1] = planes;
    for ((out, &b0), &b1) in out.iter_mut().zip(p0).zip(p1) {
        *out = map(u16::from_le_bytes([b0, b1])).to_le_bytes();
    }
}

/// Joins four planes into 32-bit elements. Each goes through `map`.
#[inline(always)]
pub(super) fn unsplit_u32(planes: [&[u8]; 4], out: &mut [[u8; 4]], map: impl Fn(u32) -> u32) {
    let [p0, p1, p2, p3] = planes;
    let bytes = p0.iter().zip(p1).zip(p2).zip(p3);
    for (out, (((&b0, &b1), &b2), &b3)) in out.iter_mut().zip(bytes) {
        *out = map(u32::from_le_bytes([b0, b1, b2, b3])).to_le_bytes();
    }
}

/// Joins eight planes into 64-bit elements. Each goes through `map`.
#[inline(always)]
pub(super) fn unsplit_u64(planes: [&[u8]; 8], out: &mut [[u8; 8]], map: impl Fn(u64) -> u64) {
    let [p0, p1, p2, p3, p4, p5, p6, p7] = planes;
    let low = p0.iter().zip(p1).zip(p2).zip(p3);
    let high = p4.iter().zip(p5).zip(p6).zip(p7);
    let bytes = low.zip(high);
    for (out, ((((&b0, &b1), &b2), &b3), (((&b4, &b5), &b6), &b7))) in out.iter_mut().zip(bytes) {
        let low = u32::from_le_bytes([b0, b1, b2, b3]);
        let high = u32::from_le_bytes([b4, b5, b6, b7]);
        *out = map(u64::from(low) | u64::from(high) << 32).to_le_bytes();
    }
}

macro_rules! split {
    ($($name:ident $word:ident;)*) => {$(
        #[doc = concat!("Appends the planes of `count` elements; `fill(first, block)` gives them ",
            "in blocks of up to [`BLOCK`].")]
        #[inline(always)]
        pub(super) fn $name(
            count: usize,
            out: &mut Vec<u8>,
            mut fill: impl FnMut(usize, &mut [$word]),
        ) {
            const SIZE: usize = size_of::<$word>();
            let start = out.len();
            out.resize(start + count * SIZE, 0);
            let mut rest = &mut out[start..];
            let mut planes: [&mut [u8]; SIZE] = std::array::from_fn(|_| {
                let (plane, after) = std::mem::take(&mut rest).split_at_mut(count);
                rest = after;
                plane
            });
            let mut block = [0; BLOCK];
            for first in (0..count).step_by(BLOCK) {
                let words = &mut block[..BLOCK.min(count - first)];
                fill(first, words);
                for (index, plane) in planes.iter_mut().enumerate() {
                    for (byte, word) in plane[first..].iter_mut().zip(&*words) {
                        *byte = (*word >> (8 * index)) as u8;
                    }
                }
            }
        }
    )*};
}

split! {
    split_u16 u16;
    split_u32 u32;
    split_u64 u64;
}
