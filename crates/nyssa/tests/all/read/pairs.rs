//! Tests every pair of field type and column type of the specification's table "Fundamental Types", with pages written
//! by hand.

use super::crafted::{craft, leaf};
use crate::support::reading::{context, hex, value};
use nyssa_data::Dataset;
use nyssa_rntuple::encoding::ColumnType as C;
use nyssa_root::{Kind, Result};
use serde_json::{Value, json};

/// The integer types: name, smallest and largest value.
const INTEGERS: [(&str, i128, i128); 10] = [
    ("bool", 0, 1),
    ("char", i8::MIN as i128, i8::MAX as i128),
    ("std::int8_t", i8::MIN as i128, i8::MAX as i128),
    ("std::uint8_t", 0, u8::MAX as i128),
    ("std::int16_t", i16::MIN as i128, i16::MAX as i128),
    ("std::uint16_t", 0, u16::MAX as i128),
    ("std::int32_t", i32::MIN as i128, i32::MAX as i128),
    ("std::uint32_t", 0, u32::MAX as i128),
    ("std::int64_t", i64::MIN as i128, i64::MAX as i128),
    ("std::uint64_t", 0, u64::MAX as i128),
];

/// Column types with bits, whether they have a sign, and whether signed numbers are zigzag-encoded.
const COLUMNS: [(C, u32, bool, bool); 16] = [
    (C::Bit, 1, false, false),
    (C::Char, 8, true, false),
    (C::Int8, 8, true, false),
    (C::UInt8, 8, false, false),
    (C::Int16, 16, true, false),
    (C::UInt16, 16, false, false),
    (C::Int32, 32, true, false),
    (C::UInt32, 32, false, false),
    (C::Int64, 64, true, false),
    (C::UInt64, 64, false, false),
    (C::SplitInt16, 16, true, true),
    (C::SplitUInt16, 16, false, false),
    (C::SplitInt32, 32, true, true),
    (C::SplitUInt32, 32, false, false),
    (C::SplitInt64, 64, true, true),
    (C::SplitUInt64, 64, false, false),
];

/// Reads one element; a page of one element has its bytes in order even in split columns.
fn read(type_name: &str, column: C, bytes: &[u8]) -> Result<Value> {
    let reader = craft(&leaf(type_name, column), vec![(1, vec![Some(vec![(1, bytes.to_vec())])])]);
    let arrays = reader.read(&["x"], 0..1, &context())?;
    Ok(value(arrays[0].as_ref(), 0))
}

#[test]
fn integers_read_from_every_column_that_holds_them() {
    let mut pairs = 0;
    for (type_name, least, most) in INTEGERS {
        for (column, bits, signed, zigzag) in COLUMNS {
            let (low, high) = match signed {
                true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
                false => (0, (1i128 << bits) - 1),
            };
            let values = [0, 1, low, high, least, most, least - 1, most + 1];
            for number in values.into_iter().filter(|number| (low..=high).contains(number)) {
                let stored = if zigzag { number << 1 ^ number >> 127 } else { number };
                let bytes = stored.to_le_bytes();
                let value = read(type_name, column, &bytes[..bits.div_ceil(8) as usize]);
                let what = format!("{number} from {column:?} into {type_name}");
                match value {
                    // Whatever is not 0 is true.
                    Ok(value) if type_name == "bool" => {
                        assert_eq!(value, json!(u8::from(number != 0)), "{what}");
                    }
                    Ok(value) => assert_eq!(value.to_string(), number.to_string(), "{what}"),
                    Err(error) => {
                        assert_eq!(error.kind(), Kind::OutOfSpecification, "{what}");
                        assert!(!(least..=most).contains(&number), "{what}: {error}");
                    }
                }
            }
            pairs += 1;
        }
    }
    assert_eq!(pairs, 160);
}

#[test]
fn reals_read_from_every_real_column() {
    let single = 1.5f32.to_le_bytes();
    let double = 1.5f64.to_le_bytes();
    // IEEE 754: 1.5 is 0x3E00 in half precision.
    for (column, bytes) in [
        (C::Real16, &[0x00, 0x3E][..]),
        (C::SplitReal16, &[0x00, 0x3E]),
        (C::Real32, &single),
        (C::SplitReal32, &single),
        (C::Real64, &double),
        (C::SplitReal64, &double),
    ] {
        for type_name in ["float", "double"] {
            assert_eq!(read(type_name, column, bytes).unwrap(), hex(1.5), "{column:?} {type_name}");
        }
    }
    // A double that single precision does not hold is rounded to the nearest.
    let value = read("float", C::Real64, &0.1f64.to_le_bytes()).unwrap();
    assert_eq!(value, hex(f64::from(0.1f32)));
}

#[test]
fn other_pairs_are_refused() {
    let wrong = [
        ("std::int32_t", C::Real32),
        ("float", C::Int32),
        ("std::byte", C::UInt8),
        ("std::uint8_t", C::Byte),
        ("bool", C::Index32),
    ];
    for (type_name, column) in wrong {
        let opened = std::panic::catch_unwind(|| craft(&leaf(type_name, column), vec![]));
        assert!(opened.is_err(), "{type_name} {column:?}");
    }
}
