//! Tests conversions. The expected values follow ROOT's table of automatic schema evolution.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int32Array, Int64Array,
    LargeListArray, NullArray, StructArray, UInt8Array, UnionArray,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, UnionMode};
use nyssa_root::arrow::field;

use super::*;

const EXACT: EvolutionOptions = EvolutionOptions { missing: Missing::Error, narrowing: false };
const NARROW: EvolutionOptions = EvolutionOptions { missing: Missing::Error, narrowing: true };
const FILL: EvolutionOptions = EvolutionOptions { missing: Missing::Default, narrowing: false };

fn list(item: Field) -> DataType {
    DataType::LargeList(Arc::new(item.with_name("item")))
}

fn record(members: &[(&str, DataType)]) -> DataType {
    DataType::Struct(members.iter().map(|(name, of)| field(name, of.clone())).collect())
}

fn convert(array: ArrayRef, to: &Field, options: EvolutionOptions) -> Result<ArrayRef> {
    let from = field("x", array.data_type().clone()).with_nullable(array.is_nullable());
    let converted = evolve(&from, to, options)?.apply(&array)?;
    assert_eq!(converted.data_type(), to.data_type());
    assert_eq!(converted.len(), array.len());
    Ok(converted)
}

#[test]
fn numbers_widen_and_never_lose() {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![-1, 0, 1 << 24, i32::MAX]));
    let wide = convert(Arc::clone(&ints), &field("x", DataType::Int64), EXACT).unwrap();
    assert_eq!(wide.as_primitive::<Int64Type>().values(), &[-1, 0, 1 << 24, 2_147_483_647]);
    let double = convert(Arc::clone(&ints), &field("x", DataType::Float64), EXACT).unwrap();
    assert_eq!(
        double.as_primitive::<Float64Type>().values(),
        &[-1.0, 0.0, 16777216.0, 2147483647.0]
    );
    for to in [DataType::Float32, DataType::Int16, DataType::UInt64, DataType::Boolean] {
        let error = convert(Arc::clone(&ints), &field("x", to.clone()), EXACT).unwrap_err();
        let expected = format!(
            "Int32 may not fit into {to}; allow it with narrowing, which checks each value (field x)"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn messages_do_not_show_all_members_of_a_large_class() {
    let names: Vec<String> = (0..2000).map(|number| format!("member_{number}")).collect();
    let members: Vec<_> = names.iter().map(|name| (name.as_str(), DataType::Float64)).collect();
    let large = field("x", record(&members));
    let none = field("x", record(&[]));
    for (from, to) in
        [(&large, &field("x", DataType::Int32)), (&field("x", DataType::Int32), &large)]
    {
        let error = evolve(from, to, EXACT).unwrap_err().to_string();
        assert!(error.contains("member_1") && error.len() < 1100, "{} bytes", error.len());
    }
    let outer = |inner: &Field| field("o", DataType::Struct(vec![inner.clone()].into()));
    let error = evolve(&none, &outer(&large), EXACT).unwrap_err().to_string();
    assert!(error.contains("there is no \"x\"") && error.len() < 800, "{} bytes", error.len());
}

#[test]
fn narrowing_checks_each_value() {
    let ints: ArrayRef = Arc::new(Int64Array::from(vec![0, 1, 300]));
    let short = convert(Arc::clone(&ints), &field("x", DataType::Int16), NARROW).unwrap();
    assert_eq!(short.as_primitive::<Int16Type>().values(), &[0, 1, 300]);
    for (to, message) in [
        (DataType::UInt8, "the value 300 is not a UInt8"),
        (DataType::Boolean, "the value 300 is not a Boolean"),
    ] {
        let error = convert(Arc::clone(&ints), &field("x", to), NARROW).unwrap_err();
        assert_eq!(error.message(), message);
    }
    let odd: ArrayRef = Arc::new(Int64Array::from(vec![(1 << 24) + 1]));
    let error = convert(odd, &field("x", DataType::Float32), NARROW).unwrap_err();
    assert_eq!(error.message(), "the value 16777217 is not a Float32");
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![0.1]));
    let float = convert(Arc::clone(&doubles), &field("x", DataType::Float32), NARROW).unwrap();
    assert_eq!(float.as_primitive::<Float32Type>().values(), &[0.1f32]);
    let error = convert(doubles, &field("x", DataType::Int64), NARROW).unwrap_err();
    assert_eq!(error.message(), "Float64 cannot become Int64");
}

#[test]
fn booleans_are_numbers() {
    let bits: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
    let bytes = convert(Arc::clone(&bits), &field("x", DataType::UInt8), EXACT).unwrap();
    assert_eq!(bytes.as_primitive::<UInt8Type>().values(), &[1, 0, 1]);
    let back = convert(bytes, &field("x", DataType::Boolean), NARROW).unwrap();
    assert_eq!(&back, &bits);
}

#[test]
fn members_match_by_name_inside_lists() {
    let members = record(&[("a", DataType::Int32), ("b", DataType::Int16)]);
    let items: ArrayRef = Arc::new(StructArray::new(
        match &members {
            DataType::Struct(fields) => fields.clone(),
            _ => unreachable!(),
        },
        vec![
            Arc::new(Int32Array::from(vec![1, 2])),
            Arc::new(arrow_array::Int16Array::from(vec![10, 20])),
        ],
        None,
    ));
    let lists: ArrayRef = Arc::new(LargeListArray::new(
        Arc::new(field("item", members)),
        OffsetBuffer::from_lengths([0, 2]),
        items,
        None,
    ));
    let wanted = record(&[
        ("b", DataType::Int64),
        ("c", list(field("", DataType::Float32))),
        ("a", DataType::Int32),
    ]);
    let to = field("jets", list(field("", wanted)));
    let error = convert(Arc::clone(&lists), &to, EXACT).unwrap_err().to_string();
    assert!(error.starts_with("there is no \"c\", of type LargeList"), "{error}");
    assert!(error.ends_with("(field jets.c)"), "{error}");

    let converted = convert(lists, &to, FILL).unwrap();
    let converted = converted.as_list::<i64>();
    assert_eq!(converted.value_offsets(), &[0, 0, 2]);
    let items = converted.values().as_struct();
    assert_eq!(items.column(0).as_primitive::<Int64Type>().values(), &[10, 20]);
    assert_eq!(items.column(1).as_list::<i64>().value_offsets(), &[0, 0, 0]);
    assert_eq!(items.column(2).as_primitive::<Int32Type>().values(), &[1, 2]);
}

#[test]
fn what_is_equal_is_shared() {
    let ints: ArrayRef = Arc::new(Int32Array::from(vec![1, 2]));
    let conversion =
        evolve(&field("x", DataType::Int32), &field("x", DataType::Int32), EXACT).unwrap();
    assert!(conversion.keeps());
    assert!(Arc::ptr_eq(&ints, &conversion.apply(&ints).unwrap()));
}

#[test]
fn arrays_and_optionals_become_lists() {
    let values: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3, 4]));
    let item = Arc::new(field("item", DataType::Int32));
    let pairs: ArrayRef = Arc::new(FixedSizeListArray::new(item, 2, values, None));
    let to = field("x", list(field("", DataType::Int64)));
    let lists = convert(pairs.slice(1, 1), &to, EXACT).unwrap();
    let lists = lists.as_list::<i64>();
    assert_eq!(lists.value(0).as_primitive::<Int64Type>().values(), &[3, 4]);

    let optional: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None, Some(8)]));
    let lists = convert(optional, &to, EXACT).unwrap();
    let lists = lists.as_list::<i64>();
    assert_eq!(lists.value_offsets(), &[0, 1, 1, 2]);
    assert_eq!(lists.values().as_primitive::<Int64Type>().values(), &[7, 8]);
}

#[test]
fn nulls_are_refused_where_there_are_none() {
    let to = field("x", DataType::Int64);
    let full: ArrayRef =
        Arc::new(Int32Array::new(vec![1, 2].into(), Some(NullBuffer::from(vec![true, true]))));
    assert_eq!(convert(full, &to, EXACT).unwrap().as_primitive::<Int64Type>().values(), &[1, 2]);
    let holes: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), None]));
    let error = convert(Arc::clone(&holes), &to, EXACT).unwrap_err();
    assert_eq!(
        error.to_string(),
        "value 1 of those read is null, but the target type is not nullable (field x)"
    );
    let nullable = to.with_nullable(true);
    assert!(convert(holes, &nullable, EXACT).unwrap().is_null(1));
}

#[test]
fn defaults_of_all_kinds() {
    let nested = record(&[
        ("text", DataType::LargeBinary),
        ("flag", DataType::Boolean),
        ("pair", DataType::FixedSizeList(Arc::new(field("item", DataType::Int16)), 2)),
    ]);
    let array = default_array(&field("x", nested.clone()), 3).unwrap();
    assert_eq!(array.data_type(), &nested);
    let record = array.as_struct();
    assert_eq!(record.column(0).as_binary::<i64>().value(2), b"");
    assert!(!record.column(1).as_boolean().value(2));
    assert_eq!(
        record.column(2).as_fixed_size_list().values().as_primitive::<Int16Type>().values(),
        &[0; 6]
    );
    let optional = default_array(&field("x", DataType::Int32).with_nullable(true), 2).unwrap();
    assert_eq!(optional.null_count(), 2);
    let huge = DataType::FixedSizeList(Arc::new(field("item", DataType::Float64)), i32::MAX);
    assert!(default_array(&field("x", huge.clone()), 1 << 40).is_err());
    assert!(default_array(&field("x", huge).with_nullable(true), 1 << 40).is_err());
}

#[test]
fn common_types_hold_both() {
    use DataType::{Boolean, Float32, Float64, Int16, Int32, Int64, LargeBinary, UInt32, UInt64};
    for (a, b, expected) in [
        (Int16, Int32, Some(Int32)),
        (Int32, UInt32, Some(Int64)),
        (Int64, UInt64, None),
        (Float32, Float64, Some(Float64)),
        (Int16, Float32, Some(Float32)),
        (Int32, Float32, Some(Float64)),
        (Int64, Float64, None),
        (Boolean, UInt32, Some(UInt32)),
        (LargeBinary, Int32, None),
    ] {
        for (a, b) in [(&a, &b), (&b, &a)] {
            let common_field = common(&field("x", a.clone()), &field("x", b.clone()), false);
            assert_eq!(common_field.map(|field| field.data_type().clone()), expected, "{a} {b}");
        }
    }
    let a = field("x", record(&[("a", Int16), ("b", Int16)]));
    let b = field("x", record(&[("c", Int16), ("b", Int32)])).with_nullable(true);
    let all = record(&[("a", Int16), ("b", Int32), ("c", Int16)]);
    assert_eq!(common(&a, &b, false), Some(field("x", all).with_nullable(true)));
    assert_eq!(common(&a, &b, true).unwrap().data_type(), &record(&[("b", Int32)]));
}

#[test]
fn aliases_rename_at_any_depth() {
    let aliases =
        Aliases::new([("met", "MET"), ("jets.pt", "pT"), ("jets.in.b", "jets.in.a")]).unwrap();
    let inner = record(&[("a", DataType::Int32)]);
    let jets = list(field("", record(&[("pT", DataType::Int32), ("in", inner)])));
    let expected = list(field(
        "",
        record(&[("pt", DataType::Int32), ("in", record(&[("b", DataType::Int32)]))]),
    ));
    let renamed = aliases.rename(&field("jets", jets), |_| false);
    assert_eq!(renamed, field("jets", expected));
    let met = field("MET", DataType::Int32);
    assert_eq!(aliases.rename(&met, |_| false).name(), "met");
    assert_eq!(aliases.rename(&met, |name| name == "met").name(), "MET");
    let error = Aliases::new([("a.x", "b.y")]).unwrap_err();
    assert_eq!(
        error.message(),
        "the alias \"a.x\" for \"b.y\" moves a member to another record; only its name may change"
    );
    assert!(Aliases::new([("", "b")]).is_err());
}

#[test]
fn types_that_only_changed_names_share_their_data() {
    let old = record(&[("a", DataType::Int32)]);
    let new = field("x", record(&[("b", DataType::Int32)]));
    let DataType::Struct(fields) = old else { unreachable!() };
    let values: ArrayRef = Arc::new(Int32Array::from(vec![5, 6]));
    let array: ArrayRef = Arc::new(StructArray::new(fields, vec![values], None));
    let conversion = evolve(&new, &new, EXACT).unwrap();
    let renamed = conversion.apply(&array).unwrap();
    assert_eq!(renamed.data_type(), new.data_type());
    assert_eq!(renamed.as_struct().column(0).as_primitive::<Int32Type>().values(), &[5, 6]);
    let bytes: ArrayRef = Arc::new(UInt8Array::from(vec![1]));
    assert!(convert(bytes, &field("x", DataType::LargeBinary), NARROW).is_err());
}

/// Returns a union of pointers to objects of classes, each with the type of its objects.
fn pointers(classes: &[(&str, DataType)]) -> Field {
    let children = [("none", DataType::Null)].into_iter().chain(classes.iter().cloned());
    let children = children.map(|(name, of)| Arc::new(Field::new(name, of, name == "none")));
    let union = DataType::Union((0_i8..).zip(children).collect(), UnionMode::Dense);
    Field::new("x", union, true)
}

#[test]
fn pointers_lead_to_the_classes_of_all_files() {
    let (a, b) = (("A", record(&[("x", DataType::Int32)])), ("B", DataType::Int32));
    let (first, second) = (pointers(&[a.clone(), b.clone()]), pointers(std::slice::from_ref(&b)));
    let third = pointers(&[("C", DataType::Int64), ("A", DataType::Int8)]);
    assert_eq!(common(&second, &first, false), Some(pointers(&[b.clone(), a.clone()])));
    assert_eq!(with_classes(&second, &first), pointers(&[b.clone(), a]));
    // Objects of the class A can be in one of the files only.
    assert_eq!(common(&first, &third, false), None);
    let all = with_classes(&second, &third);
    assert_eq!(all, pointers(&[b, ("C", DataType::Int64), ("A", DataType::Int8)]));
    let objects = |ids: Vec<i8>, offsets: Vec<i32>| -> ArrayRef {
        let DataType::Union(classes, _) = first.data_type() else { unreachable!() };
        let record = StructArray::from(vec![(
            Arc::new(field("x", DataType::Int32)),
            Arc::new(Int32Array::from(vec![7])) as ArrayRef,
        )]);
        let children: Vec<ArrayRef> = vec![
            Arc::new(NullArray::new(1)),
            Arc::new(record),
            Arc::new(Int32Array::from(vec![1, 2])),
        ];
        let (ids, offsets) = (ids.into(), Some(offsets.into()));
        Arc::new(UnionArray::try_new(classes.clone(), ids, offsets, children).unwrap())
    };
    let array = objects(vec![2, 0, 2], vec![1, 0, 0]);
    let converted = convert(array, &all, EXACT).unwrap();
    let union = converted.as_union();
    assert_eq!(union.type_ids()[..], [1, 0, 1]);
    assert_eq!(union.value(0).as_primitive::<Int32Type>().value(0), 2);
    let refused = convert(objects(vec![2, 1], vec![0, 0]), &all, EXACT).unwrap_err();
    assert_eq!(refused.message(), "Struct(x: Int32) cannot become Int8 (field A)");
}
