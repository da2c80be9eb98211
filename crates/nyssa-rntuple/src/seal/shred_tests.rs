//! Compares the elements of arrays of every kind of field with elements that were computed by hand from the
//! specification.

use std::slice::from_ref;
use std::sync::Arc;

use arrow_array::builder::{Int32Builder, MapBuilder, StringBuilder};
use arrow_array::types::{Float16Type, Int32Type, Int64Type};
use arrow_array::*;
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field as ArrowField, UnionFields};

use super::column_data::ColumnData;
use super::shred::shred;
use crate::encoding::{ColumnType as C, switch_element};
use crate::schema::{Column, Field, FieldId, Schema, Structure};
use crate::write::RNTupleWriteOptions;

/// A field as (depth, name, type, structure, array size, columns).
type Row = (usize, &'static str, &'static str, Structure, Option<u64>, &'static [C]);

fn schema(rows: &[Row]) -> Schema {
    let mut schema = Schema::default();
    let mut open: Vec<FieldId> = Vec::new();
    for &(depth, name, type_name, structure, array_size, columns) in rows {
        open.truncate(depth);
        let field = Field::new(open.last().copied(), name, type_name, structure);
        let id = schema.add_field(Field { array_size, ..field });
        columns.iter().for_each(|&column| {
            schema.add_column(Column::new(id, column));
        });
        open.push(id);
    }
    schema.validate().unwrap();
    schema
}

/// Returns the native bytes of each column, for arrays that are written one after the other in a cluster.
fn elements(schema: &Schema, arrays: &[ArrayRef]) -> Vec<Vec<u8>> {
    let settings = RNTupleWriteOptions::default().seal_settings(schema);
    let mut columns: Vec<ColumnData> =
        schema.columns.iter().map(|_| ColumnData::default()).collect();
    for array in arrays {
        for shred in shred(schema, FieldId(0), array, &settings).unwrap() {
            columns[shred.column.0 as usize].push(shred.elements).unwrap();
        }
    }
    let native = |data: &ColumnData| data.native(0..data.len(), &mut Vec::new()).to_vec();
    columns.iter().map(native).collect()
}

fn refused(schema: &Schema, array: impl Array + 'static) -> String {
    let settings = RNTupleWriteOptions::default().seal_settings(schema);
    let array: ArrayRef = Arc::new(array);
    shred(schema, FieldId(0), &array, &settings).unwrap_err().to_string()
}

fn bytes<const N: usize, T: Copy>(values: &[T], of: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&value| of(value)).collect()
}

fn ends(ends: &[u64]) -> Vec<u8> {
    bytes(ends, u64::to_le_bytes)
}

fn ints(values: &[i32]) -> Vec<u8> {
    bytes(values, i32::to_le_bytes)
}

use Structure::{Collection, Leaf, Record, Streamer, Variant};

const INT: &str = "std::int32_t";

fn optional_int() -> Schema {
    schema(&[
        (0, "o", "std::optional<std::int32_t>", Collection, None, &[C::Index64]),
        (1, "_0", INT, Leaf, None, &[C::Int32]),
    ])
}

#[test]
fn optional_values_are_nulls_or_lists() {
    let schema = optional_int();
    let nulls: ArrayRef = Arc::new(Int32Array::from(vec![Some(9), Some(1), None, Some(3), None]));
    assert_eq!(elements(&schema, &[nulls.slice(1, 4)]), [ends(&[1, 1, 2, 2]), ints(&[1, 3])]);
    let lists: ArrayRef = Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1)]),
        Some(vec![]),
        Some(vec![Some(3)]),
        Some(vec![]),
    ]));
    assert_eq!(elements(&schema, &[lists]), [ends(&[1, 1, 2, 2]), ints(&[1, 3])]);
    let none: ArrayRef = Arc::new(NullArray::new(2));
    let all: ArrayRef = Arc::new(Int32Array::from(vec![5]));
    assert_eq!(elements(&schema, &[none, all]), [ends(&[0, 0, 1]), ints(&[5])]);
    let two =
        LargeListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1), Some(2)])]);
    assert_eq!(refused(&schema, two), "an optional value has more than one value (field o)");
}

/// Tests that a null list and an empty list differ. The list form of an optional of lists is one list deeper.
#[test]
fn optional_lists() {
    let schema = schema(&[
        (0, "o", "std::optional<std::vector<std::int32_t>>", Collection, None, &[C::Index64]),
        (1, "_0", "std::vector<std::int32_t>", Collection, None, &[C::Index64]),
        (2, "_0", INT, Leaf, None, &[C::Int32]),
    ]);
    let values = [Some(vec![Some(1), Some(2)]), None, Some(vec![]), Some(vec![Some(3)])];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(values);
    let expected = [ends(&[1, 1, 2, 3]), ends(&[2, 2, 3]), ints(&[1, 2, 3])];
    assert_eq!(elements(&schema, &[Arc::new(lists.clone())]), expected);
    let inner = lists.slice(0, 1);
    let item = Arc::new(ArrowField::new("item", inner.data_type().clone(), false));
    let offsets = OffsetBuffer::<i64>::from_lengths([0, 1]);
    let outer = LargeListArray::new(item, offsets, Arc::new(inner), None);
    assert_eq!(elements(&schema, &[Arc::new(outer)]), [ends(&[0, 1]), ends(&[2]), ints(&[1, 2])]);
}

fn variant() -> Schema {
    schema(&[
        (0, "v", "std::variant<std::int32_t,std::string>", Variant, None, &[C::Switch]),
        (1, "_0", INT, Leaf, None, &[C::Int32]),
        (1, "_1", "std::string", Leaf, None, &[C::Index64, C::Char]),
    ])
}

fn switches(parts: &[(u64, u32)]) -> Vec<u8> {
    parts.iter().flat_map(|&(index, tag)| switch_element(index, tag)).collect()
}

/// Tests that indexes count the values of each alternative in the cluster, over all its arrays.
#[test]
fn variants_of_dense_and_sparse_unions() {
    let child = |name: &str, data_type| ArrowField::new(name, data_type, true);
    let fields: UnionFields = [
        (0i8, Arc::new(child("none", DataType::Null))),
        (1, Arc::new(child("_0", DataType::Int32))),
        (2, Arc::new(child("_1", DataType::Utf8))),
    ]
    .into_iter()
    .collect();
    let children: Vec<ArrayRef> = vec![
        Arc::new(NullArray::new(1)),
        Arc::new(Int32Array::from(vec![10, 20, 30])),
        Arc::new(StringArray::from(vec!["a", "bc"])),
    ];
    let dense = UnionArray::try_new(
        fields,
        ScalarBuffer::from(vec![1i8, 2, 0, 1, 2, 1]),
        Some(ScalarBuffer::from(vec![0, 0, 0, 1, 1, 2])),
        children,
    );
    let dense: ArrayRef = Arc::new(dense.unwrap());
    let arrays = [dense.slice(1, 5), dense];
    let switch =
        [(0, 2), (0, 0), (0, 1), (1, 2), (1, 1), (2, 1), (2, 2), (0, 0), (3, 1), (3, 2), (4, 1)];
    assert_eq!(
        elements(&variant(), &arrays),
        [switches(&switch), ints(&[20, 30, 10, 20, 30]), ends(&[1, 3, 4, 6]), b"abcabc".to_vec()]
    );
    // Without a type for "none", the type ids can be any, and a null means none.
    let fields: UnionFields =
        [(7i8, Arc::new(child("n", DataType::Int32))), (3, Arc::new(child("s", DataType::Utf8)))]
            .into_iter()
            .collect();
    let children: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![Some(1), Some(0), None, Some(4)])),
        Arc::new(StringArray::from(vec!["", "x", "", ""])),
    ];
    let sparse = UnionArray::try_new(fields, vec![7i8, 3, 7, 7].into(), None, children).unwrap();
    assert_eq!(
        elements(&variant(), &[Arc::new(sparse)]),
        [switches(&[(0, 1), (0, 2), (0, 0), (1, 1)]), ints(&[1, 4]), ends(&[1]), b"x".to_vec()]
    );
    let fields: UnionFields = [(0i8, Arc::new(child("n", DataType::Int32)))].into_iter().collect();
    let number: ArrayRef = Arc::new(Int32Array::from(vec![1]));
    let union = UnionArray::try_new(fields, vec![0i8].into(), None, vec![number]).unwrap();
    // Types find their alternatives in any order. A single alternative does not need a union.
    let ones = [switches(&[(0, 1)]), ints(&[1]), ends(&[]), vec![]];
    assert_eq!(elements(&variant(), &[Arc::new(union)]), ones);
    assert_eq!(elements(&variant(), &[Arc::new(Int32Array::from(vec![1]))]), ones);
    let fields: UnionFields =
        [(0i8, Arc::new(child("s", DataType::Utf8))), (1, Arc::new(child("n", DataType::Int32)))]
            .into_iter()
            .collect();
    let children: Vec<ArrayRef> =
        vec![Arc::new(StringArray::from(vec!["x", ""])), Arc::new(Int32Array::from(vec![0, 4]))];
    let turned = UnionArray::try_new(fields, vec![0i8, 1].into(), None, children).unwrap();
    assert_eq!(
        elements(&variant(), &[Arc::new(turned)]),
        [switches(&[(0, 2), (0, 1)]), ints(&[4]), ends(&[1]), b"x".to_vec()]
    );
    let booleans: UnionFields =
        (0i8..3).map(|id| (id, Arc::new(child("b", DataType::Boolean)))).collect();
    let columns: Vec<ArrayRef> =
        (0..3).map(|_| Arc::new(BooleanArray::from(vec![true])) as ArrayRef).collect();
    let three = UnionArray::try_new(booleans, vec![0i8].into(), None, columns).unwrap();
    assert_eq!(
        refused(&variant(), three),
        "a union of 3 types cannot fill a variant of 2 (field v)"
    );
}

#[test]
fn maps_are_lists_of_pairs() {
    let schema = schema(&[
        (0, "m", "std::map<std::string,std::int32_t>", Collection, None, &[C::Index64]),
        (1, "_0", "std::pair<std::string,std::int32_t>", Record, None, &[]),
        (2, "_0", "std::string", Leaf, None, &[C::Index64, C::Char]),
        (2, "_1", INT, Leaf, None, &[C::Int32]),
    ]);
    let mut map = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    for (key, value) in [("a", 1), ("b", 2)] {
        map.keys().append_value(key);
        map.values().append_value(value);
    }
    map.append(true).unwrap();
    map.append(true).unwrap();
    assert_eq!(
        elements(&schema, &[Arc::new(map.finish())]),
        [ends(&[2, 2]), ends(&[1, 2]), b"ab".to_vec(), ints(&[1, 2])]
    );
}

/// Shreds a class with a base: members are found by name, members of the base under `:_0` or beside the other
/// members.
#[test]
fn classes() {
    let schema = schema(&[
        (0, "c", "Derived", Record, None, &[]),
        (1, ":_0", "Base", Record, None, &[]),
        (2, "x", INT, Leaf, None, &[C::Int32]),
        (1, "y", INT, Leaf, None, &[C::Int32]),
        (1, "e", "Empty", Record, None, &[]),
    ]);
    let int = |name: &str| Arc::new(ArrowField::new(name, DataType::Int32, false));
    let column = |value| Arc::new(Int32Array::from(vec![value])) as ArrayRef;
    let empty: ArrayRef = Arc::new(StructArray::new_empty_fields(1, None));
    let e = Arc::new(ArrowField::new("e", empty.data_type().clone(), false));
    let flat = StructArray::from(vec![
        (int("y"), column(2)),
        (int("x"), column(1)),
        (e.clone(), empty.clone()),
    ]);
    assert_eq!(elements(&schema, &[Arc::new(flat)]), [ints(&[1]), ints(&[2])]);
    let base: ArrayRef = Arc::new(StructArray::from(vec![(int("x"), column(1))]));
    let base_field = Arc::new(ArrowField::new(":_0", base.data_type().clone(), false));
    let nested = StructArray::from(vec![(base_field, base), (int("y"), column(2)), (e, empty)]);
    assert_eq!(elements(&schema, &[Arc::new(nested)]), [ints(&[1]), ints(&[2])]);
    let wrong = StructArray::from(vec![(int("x"), column(1)), (int("yy"), column(2))]);
    assert_eq!(
        refused(&schema, wrong),
        "the record has no member \"yy\"; did you mean \"y\"? (field c)"
    );
    let short = StructArray::from(vec![(int("x"), column(1))]);
    assert_eq!(refused(&schema, short), "the record has no member \"y\": it has [\"x\"] (field c)");
}

#[test]
fn bits_bytes_enums_and_streamed_objects() {
    let item = Arc::new(ArrowField::new("item", DataType::Boolean, false));
    let bits = BooleanArray::from(vec![true, true, false, false, true, true]);
    let lists: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, Arc::new(bits), None));
    let bitset = schema(&[(0, "b", "std::bitset<2>", Leaf, Some(2), &[C::Bit])]);
    assert_eq!(elements(&bitset, &[lists.slice(1, 2)]), [vec![0, 0, 1, 1]]);

    let array = schema(&[
        (0, "a", "std::array<std::byte,2>", Leaf, Some(2), &[]),
        (1, "_0", "std::byte", Leaf, None, &[C::Byte]),
    ]);
    let pairs: ArrayRef = Arc::new(FixedSizeBinaryArray::new(2, b"abcd".as_slice().into(), None));
    assert_eq!(elements(&array, &[pairs.slice(1, 1)]), [b"cd".to_vec()]);

    let color = schema(&[
        (0, "e", "Color", Leaf, None, &[]),
        (1, "_0", "std::int8_t", Leaf, None, &[C::Int8]),
    ]);
    let values = Int64Array::from(vec![-128, 127]);
    assert_eq!(elements(&color, &[Arc::new(values)]), [vec![0x80, 0x7F]]);
    assert_eq!(
        refused(&color, Int64Array::from(vec![0, 128])),
        "value 128 does not fit a column of type Int8 of a field of type std::int8_t \
         (field e._0, entry 1)"
    );

    let object = schema(&[(0, "s", "TObject", Streamer, None, &[C::Index64, C::Byte])]);
    let raw = LargeBinaryArray::from(vec![&b"xyz"[..], b"", b"w"]);
    assert_eq!(elements(&object, &[Arc::new(raw)]), [ends(&[3, 3, 4]), b"xyzw".to_vec()]);
}

/// Shreds arrays of records, of two dimensions, in vectors, and also from lists of fixed size.
#[test]
fn arrays_of_arrays_of_records() {
    let schema = schema(&[
        (0, "v", "std::vector<std::array<Hit,2>>", Collection, None, &[C::Index64]),
        (1, "_0", "std::array<Hit,2>", Leaf, Some(2), &[]),
        (2, "_0", "Hit", Record, None, &[]),
        (3, "x", INT, Leaf, None, &[C::Int32]),
    ]);
    let x = Arc::new(ArrowField::new("x", DataType::Int32, false));
    let hits: ArrayRef = Arc::new(StructArray::from(vec![(
        x,
        Arc::new(Int32Array::from_iter_values(0..8)) as ArrayRef,
    )]));
    let nest = |array: ArrayRef, size| {
        let item = Arc::new(ArrowField::new("item", array.data_type().clone(), false));
        Arc::new(FixedSizeListArray::new(item, size, array, None)) as ArrayRef
    };
    let lists = nest(nest(hits, 2), 2);
    assert_eq!(elements(&schema, &[lists.slice(1, 1)]), [ends(&[2]), ints(&[4, 5, 6, 7])]);
}

#[test]
fn dictionaries_are_decoded() {
    let schema = schema(&[(0, "s", "std::string", Leaf, None, &[C::Index64, C::Char])]);
    let values: DictionaryArray<Int32Type> = ["ab", "c", "ab"].into_iter().collect();
    assert_eq!(elements(&schema, &[Arc::new(values)]), [ends(&[2, 3, 5]), b"abcab".to_vec()]);
}

fn real(type_name: &'static str, column_type: C, bits: u16, range: Option<(f64, f64)>) -> Schema {
    let mut schema = Schema::default();
    let field = Field { type_name: type_name.to_owned(), ..optional_int().fields[1].clone() };
    let field = schema.add_field(Field {
        parent: None,
        name: "x".to_owned(),
        columns: Vec::new(),
        ..field
    });
    schema.add_column(Column { bits, value_range: range, ..Column::new(field, column_type) });
    schema
}

#[test]
fn reals_of_every_width() {
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.0, -0.1]));
    let floats: ArrayRef = Arc::new(Float32Array::from(vec![1.0, -0.1]));
    let single = bytes(&[1.0f32, -0.1], f32::to_le_bytes);
    let schema = real("double", C::SplitReal32, 32, None);
    assert_eq!(elements(&schema, from_ref(&doubles)), from_ref(&single));
    let schema = real("float", C::Real64, 64, None);
    let wide = bytes(&[1.0f64, f64::from(-0.1f32)], f64::to_le_bytes);
    assert_eq!(elements(&schema, from_ref(&floats)), from_ref(&wide));
    let schema = real("double", C::Real64, 64, None);
    assert_eq!(elements(&schema, from_ref(&floats)), [wide]);
    // IEEE 754: -0.1 is nearest to 0xAE66 as a half.
    let half = bytes(&[0x3C00u16, 0xAE66], u16::to_le_bytes);
    let schema = real("float", C::Real16, 16, None);
    assert_eq!(elements(&schema, from_ref(&floats)), from_ref(&half));
    let halves: ArrayRef = {
        let data = floats.as_any().downcast_ref::<Float32Array>().unwrap();
        let convert = |value: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value);
        Arc::new(data.unary::<_, Float16Type>(convert))
    };
    assert_eq!(elements(&schema, &[halves]), [half]);
    assert_eq!(
        refused(&schema, Float32Array::from(vec![1e5])),
        "value 100000 does not fit a column of type Real16 of a field of type float \
         (field x, entry 0)"
    );
    assert!(
        refused(&real("double", C::Real32, 32, None), Float64Array::from(vec![1e300]))
            .starts_with("value 1")
    );
    // Quantized doubles stay doubles until they are packed.
    let schema = real("double", C::Real32Quant, 8, Some((-1.0, 1.0)));
    assert_eq!(elements(&schema, &[doubles, floats]).remove(0).len(), 32);
    assert_eq!(
        refused(&schema, Float64Array::from(vec![0.0, f64::NAN])),
        "value NaN is outside the range -1 to 1 of its quantized column: widen the \
         range or clip the values (field x, entry 1)"
    );
    let integers: ArrayRef = Arc::new(Int64Array::from(vec![-(1 << 53)]));
    let schema = real("double", C::Real64, 64, None);
    assert_eq!(elements(&schema, &[integers]), [bytes(&[-(2f64.powi(53))], f64::to_le_bytes)]);
    assert!(refused(&schema, Int64Array::from(vec![(1 << 53) + 1])).starts_with("value 90071"));
}

#[test]
fn integers_in_other_columns() {
    let mut schema = real("std::int64_t", C::SplitInt16, 16, None);
    let values: ArrayRef = Arc::new(PrimitiveArray::<Int64Type>::from(vec![-5, 32767]));
    assert_eq!(elements(&schema, &[values]), [bytes(&[-5i16, 32767], i16::to_le_bytes)]);
    assert!(refused(&schema, Int64Array::from(vec![32768])).starts_with("value 32768"));
    schema.fields[0].type_name = "std::uint8_t".to_owned();
    assert!(refused(&schema, Int64Array::from(vec![256])).starts_with("value 256"));
    let mut schema = real("bool", C::UInt32, 32, None);
    let flags: ArrayRef = Arc::new(BooleanArray::from(vec![true, false]));
    assert_eq!(elements(&schema, &[flags]), [bytes(&[1u32, 0], u32::to_le_bytes)]);
    schema.fields[0].type_name = "std::int8_t".to_owned();
    // Booleans are the integers 0 and 1, as in the evolution of schemas.
    let flag: ArrayRef = Arc::new(BooleanArray::from(vec![true]));
    assert_eq!(elements(&schema, &[flag]), [bytes(&[1u32], u32::to_le_bytes)]);
    schema.fields[0].type_name = "float".to_owned();
    schema.columns[0].column_type = Some(C::Real32);
    assert!(refused(&schema, BooleanArray::from(vec![true])).starts_with("an array of type"));
}

#[test]
fn the_active_representation_is_filled() {
    let mut schema = real("std::int32_t", C::SplitInt32, 32, None);
    schema.add_representation(FieldId(0), [Column::new(FieldId(0), C::Int16)]).unwrap();
    let mut settings = RNTupleWriteOptions::default().seal_settings(&schema);
    settings.representations.insert(FieldId(0), 1);
    let values: ArrayRef = Arc::new(Int32Array::from(vec![7]));
    let shreds = shred(&schema, FieldId(0), &values, &settings).unwrap();
    assert_eq!((shreds.len(), shreds[0].column.0), (1, 1));
    assert_eq!(shreds[0].elements.native_width(), 2);
}
