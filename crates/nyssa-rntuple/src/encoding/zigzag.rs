//! Implements zigzag encoding: the sign moves to the lowest bit, so that small negative numbers have small
//! codes (0, -1, 1, -2 become 0, 1, 2, 3).

macro_rules! zigzag {
    ($($decode:ident $encode:ident $word:ident;)*) => {$(
        /// Converts a code to two's complement.
        #[inline(always)]
        pub(super) fn $decode(code: $word) -> $word {
            (code >> 1) ^ (code & 1).wrapping_neg()
        }

        /// Converts two's complement to a code.
        #[inline(always)]
        pub(super) fn $encode(value: $word) -> $word {
            (value << 1) ^ (value >> ($word::BITS - 1)).wrapping_neg()
        }
    )*};
}

zigzag! {
    decode_u16 encode_u16 u16;
    decode_u32 encode_u32 u32;
    decode_u64 encode_u64 u64;
}
