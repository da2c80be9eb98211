//! Implements delta and split encoding for collection offsets: the first element comes first, and then the difference
//! of each element to the previous element.
//!
//! Sums wrap around at the width on storage. Elements in memory have 64 bits.

use super::split::{BLOCK, planes, split_u32, split_u64, unsplit_u32, unsplit_u64};

macro_rules! delta {
    ($decode:ident $encode:ident $word:ident $size:literal $unsplit:ident $split:ident) => {
        /// Joins the byte planes and sums up the differences into 64-bit elements.
        #[inline(always)]
        pub(super) fn $decode(packed: &[u8], out: &mut [[u8; 8]]) {
            let planes = planes::<$size>(packed);
            let mut block = [[0; $size]; BLOCK];
            let mut sum: $word = 0;
            for (index, out) in out.chunks_mut(BLOCK).enumerate() {
                let first = index * BLOCK;
                let block = &mut block[..out.len()];
                $unsplit(planes.map(|plane| &plane[first..first + out.len()]), block, |word| word);
                for (out, difference) in out.iter_mut().zip(block) {
                    sum = sum.wrapping_add($word::from_le_bytes(*difference));
                    *out = u64::from(sum).to_le_bytes();
                }
            }
        }

        /// Splits the differences of 64-bit elements, which fit in the width on storage.
        #[inline(always)]
        pub(super) fn $encode(elements: &[[u8; 8]], out: &mut Vec<u8>) {
            let mut previous: $word = 0;
            $split(elements.len(), out, |first, words| {
                for (word, element) in words.iter_mut().zip(&elements[first..]) {
                    let value = u64::from_le_bytes(*element) as $word;
                    *word = value.wrapping_sub(previous);
                    previous = value;
                }
            });
        }
    };
}

delta!(decode_index32 encode_index32 u32 4 unsplit_u32 split_u32);
delta!(decode_index64 encode_index64 u64 8 unsplit_u64 split_u64);
