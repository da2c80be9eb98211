//! Reads and writes `Switch` columns, which have the alternative of each variant and the position of its value.
//!
//! An element has 12 bytes on storage and in memory: an index (64 bits) and a tag (32 bits). The index counts
//! in the column of the alternative, from the start of the cluster. The tag is 0 for no value, or `n` for the
//! n-th alternative, counted from 1.

/// The size of an element in bytes.
pub const SWITCH_SIZE: usize = 12;

/// Splits an element into index and tag.
pub fn switch_parts(element: [u8; SWITCH_SIZE]) -> (u64, u32) {
    let [i0, i1, i2, i3, i4, i5, i6, i7, t0, t1, t2, t3] = element;
    (u64::from_le_bytes([i0, i1, i2, i3, i4, i5, i6, i7]), u32::from_le_bytes([t0, t1, t2, t3]))
}

/// Makes the element of an index and a tag.
pub fn switch_element(index: u64, tag: u32) -> [u8; SWITCH_SIZE] {
    let [i0, i1, i2, i3, i4, i5, i6, i7] = index.to_le_bytes();
    let [t0, t1, t2, t3] = tag.to_le_bytes();
    [i0, i1, i2, i3, i4, i5, i6, i7, t0, t1, t2, t3]
}
