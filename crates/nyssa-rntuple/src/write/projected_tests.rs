use std::sync::Arc;

use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef, Float32Array, Int32Array, LargeListArray};
use nyssa_root::compression::Compression;

use super::rows;
use crate::schema::{FieldType, Leaf, Schema, SchemaBuilder};

/// Makes a schema with `run`, and with jets in the form of ROOT's importer.
fn schema() -> Schema {
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    builder.field(None, "run", &FieldType::Leaf(Leaf::Int32)).unwrap();
    let member = |name: &str, leaf| (name.to_owned(), FieldType::Leaf(leaf));
    let members = vec![member("Jet_pt", Leaf::Float), member("Jet_hits", Leaf::Int32)];
    let record = FieldType::vector(FieldType::Record(members));
    builder.field(None, "_collection_nJet", &record).unwrap();
    builder.project_path("Jet_pt", "_collection_nJet.Jet_pt").unwrap();
    builder.project_path("Jet_hits", "_collection_nJet.Jet_hits").unwrap();
    builder.project_path("nJet", "#_collection_nJet").unwrap();
    builder.finish()
}

fn numbers(values: &[i32]) -> ArrayRef {
    Arc::new(Int32Array::from(values.to_vec()))
}

fn floats(lists: &[&[f32]]) -> ArrayRef {
    let lists = lists.iter().map(|list| Some(list.iter().copied().map(Some)));
    Arc::new(LargeListArray::from_iter_primitive::<Float32Type, _, _>(lists))
}

fn integers(lists: &[&[i32]]) -> ArrayRef {
    let lists = lists.iter().map(|list| Some(list.iter().copied().map(Some)));
    Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(lists))
}

fn made(given: &[(&str, ArrayRef)]) -> Result<Vec<ArrayRef>, String> {
    made_of(&schema(), given, usize::MAX)
}

fn made_of(
    schema: &Schema,
    given: &[(&str, ArrayRef)],
    needed: usize,
) -> Result<Vec<ArrayRef>, String> {
    let given: Vec<_> =
        given.iter().map(|(name, array)| ((*name).to_owned(), Arc::clone(array))).collect();
    rows(schema, "Events", &given, needed).map_err(|error| error.to_string())
}

#[test]
fn lists_become_records() {
    let given = [
        ("Jet_hits", integers(&[&[9], &[], &[8, 7]]).slice(1, 2)),
        ("nJet", numbers(&[0, 2])),
        ("run", numbers(&[5, 6])),
        ("Jet_pt", floats(&[&[], &[1.5, 2.5]])),
    ];
    let rows = made(&given).unwrap();
    assert_eq!(rows.len(), 2);
    assert_eq!(&rows[0], &given[2].1);
    let jets = rows[1].as_any().downcast_ref::<LargeListArray>().unwrap();
    assert_eq!(jets.offsets().to_vec(), [0, 0, 2]);
    let record = jets.values().as_any().downcast_ref::<arrow_array::StructArray>().unwrap();
    let pt: ArrayRef = Arc::new(Float32Array::from(vec![1.5, 2.5]));
    assert_eq!(record.column_by_name("Jet_pt"), Some(&pt));
    assert_eq!(record.column_by_name("Jet_hits"), Some(&numbers(&[8, 7])));
    // The collection itself may be given, alone or together with the fields that show it.
    let stored = ("_collection_nJet", Arc::clone(&rows[1]));
    assert_eq!(made(&[given[2].clone(), stored.clone()]).unwrap(), rows);
    let both = [given[2].clone(), stored, given[3].clone()];
    assert_eq!(made(&both).unwrap()[1].len(), 2);
}

/// Fields after the needed ones may be left out, but not those before a field that is given.
#[test]
fn late_fields_may_be_left_out() {
    let mut builder = SchemaBuilder::extending(schema(), Compression::DEFAULT);
    for name in ["late", "later"] {
        builder.field(None, name, &FieldType::Leaf(Leaf::Int32)).unwrap();
    }
    let schema = builder.finish();
    let (run, late) = (("run", numbers(&[5])), ("late", numbers(&[7])));
    let (pt, hits) = (("Jet_pt", floats(&[&[1.5]])), ("Jet_hits", integers(&[&[9]])));
    let early = [pt, run.clone(), hits];
    let made = |given: &[(&str, ArrayRef)], needed| made_of(&schema, given, needed);
    assert_eq!(made(&early, 2).unwrap().len(), 2);
    let with_late = made(&[&early[..], std::slice::from_ref(&late)].concat(), 2).unwrap();
    assert_eq!((with_late.len(), &with_late[2]), (3, &late.1));
    let missing = |given: &[(&str, ArrayRef)], needed, names: &str| {
        let error = made(given, needed).unwrap_err();
        assert!(error.contains(&format!("missing [{names}]")), "{error}");
    };
    missing(&early, 3, "'late'");
    missing(&early, usize::MAX, "'late', 'later'");
    missing(&[&early[..], &[("later", late.1.clone())]].concat(), 2, "'late'");
    missing(&[run], 2, "'Jet_pt', 'Jet_hits'");
}

#[test]
fn what_does_not_agree_is_refused() {
    let run = ("run", numbers(&[5, 6]));
    let pt = ("Jet_pt", floats(&[&[1.5], &[2.5, 3.5]]));
    let hits = ("Jet_hits", integers(&[&[1], &[2]]));
    let error = made(&[run.clone(), pt.clone(), hits]).unwrap_err();
    assert_eq!(
        error,
        "Jet_hits has 1 items and Jet_pt has 2: fields of one collection have the same number \
         (field Jet_hits, entry 1)"
    );
    let hits = ("Jet_hits", integers(&[&[1], &[2, 3]]));
    let size = ("nJet", numbers(&[1, 3]));
    let error = made(&[run.clone(), pt.clone(), hits, size]).unwrap_err();
    assert!(error.starts_with("nJet has 3 items and Jet_pt has 2: "), "{error}");
    let error = made(&[run.clone(), pt, ("x", numbers(&[0, 0]))]).unwrap_err();
    assert_eq!(
        error,
        "the data do not have the fields of 'Events': missing ['Jet_hits'], unknown ['x']"
    );
    let error = made(&[run]).unwrap_err();
    assert!(error.ends_with("missing ['Jet_pt', 'Jet_hits'], unknown none"), "{error}");
}
