//! Converts booleans, which are bits in Arrow, to bytes.

use arrow_buffer::BooleanBuffer;

/// `SPREAD[byte]` holds the eight bits of `byte` as eight bytes, lowest first.
pub static SPREAD: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut bit = 0;
        while bit < 8 {
            table[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    table
};

/// Returns one byte (0 or 1) per bit.
pub fn bytes_of_bits(bits: &BooleanBuffer) -> Vec<u8> {
    let aligned = bits.sliced();
    let mut bytes = Vec::with_capacity(bits.len().next_multiple_of(8));
    for &byte in aligned.as_slice() {
        bytes.extend_from_slice(&SPREAD[usize::from(byte)]);
    }
    bytes.truncate(bits.len());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_become_bytes() {
        for (bits, bytes) in (0..=u8::MAX).zip(SPREAD) {
            assert_eq!(bytes, std::array::from_fn(|bit| bits >> bit & 1));
        }
        let bools: Vec<bool> = (0..3000).map(|i: u32| i.count_ones() % 2 == 1).collect();
        let bytes: Vec<u8> = bools.iter().map(|&bool| u8::from(bool)).collect();
        for range in [0..3000, 5..2999, 1..64, 7..8, 9..9] {
            let bits = BooleanBuffer::from(bools.clone()).slice(range.start, range.len());
            assert_eq!(bytes_of_bits(&bits), bytes[range]);
        }
    }
}
