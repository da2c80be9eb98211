//! Compares the encodings with bytes that were computed by hand from the specification, and every fast loop with a
//! slow loop.

use ColumnType as T;
use nyssa_root::error::Kind;
use proptest::prelude::*;

use super::*;

fn decode(encoding: Encoding, packed: &[u8], elements: usize) -> Vec<u8> {
    let mut out = vec![0xAA; elements * encoding.native_size()];
    encoding.decode(packed, elements, &mut out).unwrap();
    out
}

fn encode(encoding: Encoding, elements: &[u8]) -> Vec<u8> {
    let mut out = vec![0x55];
    encoding.encode(elements, elements.len() / encoding.native_size(), &mut out).unwrap();
    assert_eq!(out.remove(0), 0x55, "appends");
    out
}

fn bytes<const N: usize, V>(values: &[V], to: fn(V) -> [u8; N]) -> Vec<u8>
where
    V: Copy,
{
    values.iter().flat_map(|value| to(*value)).collect()
}

/// Tests both directions of a lossless encoding.
fn both_ways(encoding: impl Into<Encoding>, elements: &[u8], packed: &[u8]) {
    let encoding = encoding.into();
    let name = encoding.column_type.name();
    assert_eq!(encode(encoding, elements), packed, "encode {name}");
    let count = elements.len() / encoding.native_size();
    assert_eq!(encoding.packed_size(count), packed.len(), "size of {name}");
    assert_eq!(decode(encoding, packed, count), elements, "decode {name}");
}

#[test]
fn bits_come_least_significant_first() {
    both_ways(T::Bit, &[1, 0, 1, 1, 0, 0, 0, 0, 1, 1], &[0b0000_1101, 0b11]);
    both_ways(T::Bit, &[0, 0, 0, 0, 0, 0, 0, 1], &[0x80]);
    assert_eq!(encode(T::Bit.into(), &[2, 0, 255]), [0b101], "any byte but 0 is true");
}

#[test]
fn plain_types_are_little_endian() {
    both_ways(T::Int16, &bytes(&[-2, 258], i16::to_le_bytes), &[0xFE, 0xFF, 2, 1]);
    both_ways(T::Real32, &bytes(&[1.0], f32::to_le_bytes), &[0, 0, 0x80, 0x3F]);
    both_ways(T::Real16, &[0x00, 0x3C], &[0x00, 0x3C]);
    both_ways(
        T::Index64,
        &bytes(&[3, 5], u64::to_le_bytes),
        &[3, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0],
    );
}

#[test]
fn index32_widens() {
    both_ways(
        T::Index32,
        &bytes(&[3, 0xFFFF_FFFF], u64::to_le_bytes),
        &[3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF],
    );
}

#[test]
fn split_gathers_the_bytes_of_equal_weight() {
    // 1.0 is 3F800000, -2.5 is C0200000.
    both_ways(
        T::SplitReal32,
        &bytes(&[1.0, -2.5], f32::to_le_bytes),
        &[0, 0, 0, 0, 0x80, 0x20, 0x3F, 0xC0],
    );
    both_ways(
        T::SplitUInt16,
        &bytes(&[0x0102, 0x0304, 0x0506], u16::to_le_bytes),
        &[2, 4, 6, 1, 3, 5],
    );
    both_ways(
        T::SplitUInt64,
        &bytes(&[0x0807_0605_0403_0201, 0x1817_1615_1413_1211], u64::to_le_bytes),
        &[1, 0x11, 2, 0x12, 3, 0x13, 4, 0x14, 5, 0x15, 6, 0x16, 7, 0x17, 8, 0x18],
    );
    both_ways(T::SplitReal16, &[0x00, 0x3C, 0x00, 0xC0], &[0x00, 0x00, 0x3C, 0xC0]);
    // 1.0 is 3FF0000000000000.
    both_ways(T::SplitReal64, &bytes(&[1.0], f64::to_le_bytes), &[0, 0, 0, 0, 0, 0, 0xF0, 0x3F]);
}

#[test]
fn zigzag_puts_the_sign_last() {
    // 1, -1, 256, -2 are 2, 1, 512, 3.
    both_ways(
        T::SplitInt32,
        &bytes(&[1, -1, 256, -2], i32::to_le_bytes),
        &[2, 1, 0, 3, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
    // -32768, 32767 are 65535, 65534.
    both_ways(
        T::SplitInt16,
        &bytes(&[i16::MIN, i16::MAX], i16::to_le_bytes),
        &[0xFF, 0xFE, 0xFF, 0xFF],
    );
    both_ways(T::SplitInt64, &bytes(&[i64::MIN], i64::to_le_bytes), &[0xFF; 8]);
    both_ways(T::SplitInt64, &bytes(&[-3], i64::to_le_bytes), &[5, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn delta_keeps_differences() {
    // 3, 3, 300 are 3, 0, 297 = 0x129.
    let offsets = bytes(&[3, 3, 300], u64::to_le_bytes);
    both_ways(T::SplitIndex32, &offsets, &[3, 0, 0x29, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
    both_ways(
        T::SplitIndex64,
        &offsets,
        &[3, 0, 0x29, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    );
}

#[test]
fn switches_are_index_and_tag() {
    let element = switch_element(0x0102, 3);
    assert_eq!(element, [2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0]);
    assert_eq!(switch_parts(element), (0x0102, 3));
    both_ways(T::Switch, &element, &element);
}

#[test]
fn truncated_floats_keep_their_first_bits() {
    // 1.0 is 3F800000, its first 10 bits FE; -2.0 is C0000000, its first 10 bits 300.
    let encoding = Encoding::of(T::Real32Trunc, 10, None).unwrap();
    both_ways(encoding, &bytes(&[1.0, -2.0], f32::to_le_bytes), &[0xFE, 0x00, 0x0C]);
    // 1.75 has two mantissa bits. One bit is stored, which gives 1.5.
    assert_eq!(
        decode(encoding, &encode(encoding, &1.75f32.to_le_bytes()), 1),
        1.5f32.to_le_bytes()
    );
    let signalling = 0x7F80_0001u32.to_le_bytes();
    let back = decode(encoding, &encode(encoding, &signalling), 1);
    assert!(f32::from_le_bytes(back.try_into().unwrap()).is_nan(), "NaN stays NaN");
}

#[test]
fn quantized_reals_are_steps_in_a_range() {
    // Three bits from -1 to 6: steps of 1. -1, 0, 6 are 0, 1, 7: 0 | 1 << 3 | 7 << 6 = 0x1C8.
    let encoding = Encoding::of(T::Real32Quant, 3, Some((-1.0, 6.0))).unwrap();
    both_ways(encoding, &bytes(&[-1.0, 0.0, 6.0], f32::to_le_bytes), &[0xC8, 0x01]);
    assert_eq!(encode(encoding, &bytes(&[0.4, 0.6], f32::to_le_bytes)), [1 | 2 << 3]);
    let wide = Encoding::of(T::Real32Quant, 32, Some((0.0, 1.0))).unwrap();
    both_ways(wide, &bytes(&[0.0, 1.0], f32::to_le_bytes), &[0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
    // -1 + 5 * (3 / 7), as Python computes it.
    let sevenths = Encoding::of(T::Real32Quant, 3, Some((-1.0, 2.0))).unwrap();
    let mut double = [0; 8];
    sevenths.decode_f64(&[5], 1, &mut double).unwrap();
    assert_eq!(f64::from_le_bytes(double), 1.142_857_142_857_142_8);
    assert_eq!(decode(sevenths, &[5], 1), 1.142_857_142_857_142_8f64.to_f32_bytes());
}

trait ToF32Bytes {
    fn to_f32_bytes(self) -> [u8; 4];
}

impl ToF32Bytes for f64 {
    fn to_f32_bytes(self) -> [u8; 4] {
        (self as f32).to_le_bytes()
    }
}

#[test]
fn floats_widen_to_double() {
    let values = [1.5f32, -0.1, f32::MAX];
    let wide = bytes(&values.map(f64::from), f64::to_le_bytes);
    for column_type in [T::Real32, T::SplitReal32] {
        let encoding = Encoding::from(column_type);
        let packed = encode(encoding, &bytes(&values, f32::to_le_bytes));
        let mut out = vec![0; 24];
        encoding.decode_f64(&packed, 3, &mut out).unwrap();
        assert_eq!(out, wide, "{}", column_type.name());
    }
    let packed = encode(T::SplitReal64.into(), &wide);
    let mut out = vec![0; 24];
    Encoding::from(T::SplitReal64).decode_f64(&packed, 3, &mut out).unwrap();
    assert_eq!(out, wide);
    let error = Encoding::from(T::Int32).decode_f64(&[0; 4], 1, &mut [0; 8]).unwrap_err();
    assert_eq!(error.to_string(), "Int32 column does not hold floats of 32 or 64 bits");
}

#[test]
fn impossible_encodings_are_refused() {
    for (column_type, bits, range, expected) in [
        (T::Int32, 31, None, "Int32 column has 31 bits on storage where 32 is allowed"),
        (
            T::Real32Trunc,
            9,
            None,
            "Real32Trunc column has 9 bits on storage where 10 to 31 are allowed",
        ),
        (
            T::Real32Quant,
            0,
            None,
            "Real32Quant column has 0 bits on storage where 1 to 32 are allowed",
        ),
        (
            T::Real32Quant,
            33,
            None,
            "Real32Quant column has 33 bits on storage where 1 to 32 are allowed",
        ),
        (T::Real32Quant, 8, None, "Real32Quant column has no range of values"),
        (
            T::Real32Quant,
            8,
            Some((1.0, 1.0)),
            "Real32Quant column has 1 to 1 as its range of values",
        ),
        (
            T::Real32Quant,
            8,
            Some((0.0, f64::INFINITY)),
            "Real32Quant column has 0 to inf as its range of values",
        ),
    ] {
        let error = Encoding::of(column_type, bits, range).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification);
        assert_eq!(error.to_string(), expected);
        let literal = Encoding { column_type, bits, range };
        assert_eq!(literal.decode(&[], 0, &mut []).unwrap_err().to_string(), expected);
        assert_eq!(literal.encode(&[], 0, &mut vec![]).unwrap_err().to_string(), expected);
    }
}

#[test]
fn wrong_sizes_are_refused() {
    let encoding = Encoding::from(T::SplitReal32);
    let error = encoding.decode(&[0; 11], 3, &mut [0; 12]).unwrap_err();
    assert_eq!(error.kind(), Kind::OutOfSpecification);
    assert_eq!(
        error.to_string(),
        "page of 3 SplitReal32 elements has 11 bytes where 12 are needed"
    );
    let error = encoding.decode(&[0; 12], 3, &mut [0; 11]).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(error.to_string(), "11 bytes of room given for 3 elements of 4 bytes");
    let error = encoding.encode(&[0; 11], 3, &mut vec![]).unwrap_err();
    assert_eq!(error.to_string(), "11 bytes given for 3 elements of 4 bytes");
    assert_eq!(Encoding::from(T::Int64).packed_size(usize::MAX), usize::MAX);
    assert!(encoding.decode(&[], usize::MAX, &mut []).is_err());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    for column_type in [T::Index32, T::SplitIndex32] {
        let mut out = vec![7];
        let offsets = bytes(&[1, 1 << 32], u64::to_le_bytes);
        let error = Encoding::from(column_type).encode(&offsets, 2, &mut out).unwrap_err();
        assert_eq!(error.kind(), Kind::InvalidArgument);
        assert_eq!(
            error.to_string(),
            "collection offset 4294967296 does not fit a 32-bit index column: use a 64-bit one or \
             smaller clusters"
        );
        assert_eq!(out, [7]);
    }
    let encoding = Encoding::of(T::Real32Quant, 8, Some((0.0, 1.0))).unwrap();
    for value in [1.5, -0.25, f32::NAN] {
        let mut out = vec![7];
        let elements = bytes(&[0.5, value], f32::to_le_bytes);
        let error = encoding.encode(&elements, 2, &mut out).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "value {value} of element 1 is outside the range 0 to 1 of its quantized column"
            )
        );
        assert_eq!(out, [7]);
    }
}

/// Returns the bit `index` of packed bytes.
fn bit(packed: &[u8], index: usize) -> u64 {
    u64::from(packed[index / 8] >> (index % 8) & 1)
}

/// Decodes elements one by one, bytes or bits one by one, directly from the specification.
fn reference(encoding: Encoding, packed: &[u8], count: usize) -> Vec<u8> {
    let name = encoding.column_type.name();
    let size = usize::from(encoding.bits) / 8;
    let bits = usize::from(encoding.bits);
    let mut out = Vec::new();
    let mut sum = 0u64;
    for index in 0..count {
        let mut word: u64 = match encoding.column_type {
            T::Bit | T::Real32Trunc | T::Real32Quant => {
                (0..bits).map(|b| bit(packed, index * bits + b) << b).sum()
            }
            T::Switch => {
                out.extend_from_slice(&packed[12 * index..12 * index + 12]);
                continue;
            }
            _ if name.starts_with("Split") => {
                (0..size).map(|b| u64::from(packed[b * count + index]) << (8 * b)).sum()
            }
            _ => (0..size).map(|b| u64::from(packed[index * size + b]) << (8 * b)).sum(),
        };
        if name.starts_with("SplitInt") {
            let value = (word >> 1) as i64;
            word = if word & 1 == 0 { value } else { -value - 1 } as u64;
        }
        if name.starts_with("SplitIndex") {
            sum = sum.wrapping_add(word);
            word = if bits == 32 { sum & 0xFFFF_FFFF } else { sum };
        }
        if let (T::Real32Quant, Some((min, max))) = (encoding.column_type, encoding.range) {
            let value = min + word as f64 * ((max - min) / ((1u64 << bits) - 1) as f64);
            word = u64::from((value.min(max) as f32).to_bits());
        }
        if encoding.column_type == T::Real32Trunc {
            word <<= 32 - bits;
        }
        out.extend_from_slice(&word.to_le_bytes()[..encoding.native_size()]);
    }
    out
}

fn any_encoding() -> impl Strategy<Value = Encoding> {
    prop_oneof![
        6 => prop::sample::select(ColumnType::ALL)
            .prop_filter("needs a range", |t| *t != T::Real32Quant)
            .prop_map(Encoding::from),
        1 => (10u16..=31).prop_map(|bits| Encoding::of(T::Real32Trunc, bits, None).unwrap()),
        2 => (1u16..=32, -1e6..1e6, 1e-3..1e6).prop_map(|(bits, min, width)| {
            Encoding::of(T::Real32Quant, bits, Some((min, min + width))).unwrap()
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn fast_loops_decode_as_the_slow_one(
        encoding in any_encoding(),
        count in 0usize..600,
        noise in prop::collection::vec(any::<u8>(), 600 * 12),
    ) {
        let packed = &noise[..encoding.packed_size(count)];
        prop_assert_eq!(decode(encoding, packed, count), reference(encoding, packed, count));
        if encoding.column_type == T::Real32Quant {
            let mut doubles = vec![0; 8 * count];
            encoding.decode_f64(packed, count, &mut doubles).unwrap();
            let rounded: Vec<u8> = doubles.as_chunks().0.iter()
                .flat_map(|double| f64::from_le_bytes(*double).to_f32_bytes()).collect();
            prop_assert_eq!(rounded, decode(encoding, packed, count));
        }
    }

    #[test]
    fn what_is_encoded_the_slow_loop_decodes(
        encoding in any_encoding(),
        count in 0usize..600,
        mut elements in prop::collection::vec(any::<u8>(), 600 * 12),
    ) {
        elements.truncate(count * encoding.native_size());
        match encoding.column_type {
            T::Bit => elements.iter_mut().for_each(|byte| *byte &= 1),
            T::Index32 | T::SplitIndex32 => {
                elements.as_chunks_mut::<8>().0.iter_mut().for_each(|e| e[4..].fill(0));
            }
            T::Real32Trunc => {
                for element in elements.as_chunks_mut::<4>().0 {
                    let word = u32::from_le_bytes(*element);
                    let quiet = if f32::from_bits(word).is_nan() { 1 << 22 } else { 0 };
                    let cut = 32 - encoding.bits;
                    *element = ((word | quiet) >> cut << cut).to_le_bytes();
                }
            }
            T::Real32Quant => return Ok(()),
            _ => {}
        }
        let packed = encode(encoding, &elements);
        prop_assert_eq!(packed.len(), encoding.packed_size(count));
        prop_assert_eq!(reference(encoding, &packed, count), elements);
    }

    /// Tests that values come back unchanged if the steps are much wider than the precision of the floats.
    #[test]
    fn quantized_values_on_steps_stay(
        bits in 1u16..=10,
        min in -100f32..100.0,
        width in 1f32..1000.0,
        count in 0usize..300,
        noise in prop::collection::vec(any::<u8>(), 375),
    ) {
        let range = (f64::from(min), f64::from(min + width));
        let encoding = Encoding::of(T::Real32Quant, bits, Some(range)).unwrap();
        let mut packed = noise[..encoding.packed_size(count)].to_vec();
        if let Some(last) = packed.last_mut() {
            *last &= 0xFF >> (7 - (count * usize::from(bits) + 7) % 8);
        }
        prop_assert_eq!(encode(encoding, &reference(encoding, &packed, count)), packed);
    }
}
