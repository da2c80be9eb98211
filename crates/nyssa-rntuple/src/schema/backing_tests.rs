use nyssa_root::compression::Compression;

use super::align;
use crate::schema::{FieldType, Leaf, Schema, SchemaBuilder};

/// Each collection: its name, the field that shows its size, and its members.
type Collections<'a> = &'a [(&'a str, &'a str, &'a [&'a str])];

/// Returns a schema in the form of ROOT's importer: collections by name, each with the field of its size and its
/// members.
fn schema(collections: Collections<'_>) -> Schema {
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    builder.field(None, "run", &FieldType::Leaf(Leaf::Int32)).unwrap();
    for (name, _, members) in collections {
        let member = |member: &&str| ((*member).to_owned(), FieldType::Leaf(Leaf::Float));
        let record = FieldType::Record(members.iter().map(member).collect());
        builder.field(None, name, &FieldType::vector(record)).unwrap();
    }
    for (name, size, members) in collections {
        for member in *members {
            builder.project_path(member, &format!("{name}.{member}")).unwrap();
        }
        if !size.is_empty() {
            builder.project_path(size, &format!("#{name}")).unwrap();
        }
    }
    builder.finish()
}

fn names(schema: &Schema) -> Vec<String> {
    let physical = schema.top_level().filter(|(_, field)| field.source.is_none());
    physical.map(|(_, field)| field.name.clone()).collect()
}

fn aligned(schemas: &[Collections<'_>]) -> Vec<Vec<String>> {
    let mut schemas: Vec<Schema> = schemas.iter().map(|item| schema(item)).collect();
    align(&mut schemas.iter_mut().collect::<Vec<_>>());
    schemas.iter().map(names).collect()
}

fn hidden(schema: &Schema) -> Vec<String> {
    let all: Vec<_> = schema.top_level().map(|(id, _)| id).collect();
    let backing = schema.backing(&all);
    backing.iter().map(|(id, _)| schema.field(*id).name.clone()).collect()
}

#[test]
fn collections_of_the_same_counter_are_the_same() {
    let first: Collections<'_> =
        &[("_collection0", "nJet", &["Jet_pt"]), ("_collection1", "nMuon", &["mu"])];
    let second: Collections<'_> = &[
        ("_collection0", "nElectron", &["e"]),
        ("_collection1", "nJet", &["Jet_pt", "Jet_area"]),
        ("_collection2", "nMuon", &["mu"]),
    ];
    assert_eq!(
        aligned(&[first, second]),
        [["run", "_collection0", "_collection1"].map(str::to_owned).to_vec(), {
            ["run", "_collection2", "_collection0", "_collection1"].map(str::to_owned).to_vec()
        }]
    );
}

#[test]
fn a_member_tells_where_a_size_is_not_shown() {
    let first: Collections<'_> =
        &[("_collection0", "nJet", &["Jet_pt"]), ("_collection1", "", &["mu", "x"])];
    let second: Collections<'_> =
        &[("_collection0", "nMuon", &["mu"]), ("_collection1", "", &["Jet_pt"])];
    assert_eq!(
        aligned(&[first, second]),
        [["run", "_collection0", "_collection1"], ["run", "_collection1", "_collection0"]]
    );
}

#[test]
fn other_counters_and_two_of_one_file_are_not_the_same() {
    // The lists of these collections have other lengths.
    let (a, b): (Collections<'_>, Collections<'_>) =
        (&[("_collection0", "nJet", &["pt"])], &[("_collection0", "nFatJet", &["pt"])]);
    assert_eq!(aligned(&[a, b]), [["run", "_collection0"], ["run", "_collection1"]]);
    let split: Collections<'_> = &[("_collection0", "", &["x"]), ("_collection1", "", &["y"])];
    let whole: Collections<'_> = &[("_collection0", "", &["x", "y"])];
    assert_eq!(
        aligned(&[whole, split])[1],
        ["run", "_collection0", "_collection1"],
        "the first that fits"
    );
}

#[test]
fn what_is_not_shown_whole_or_has_a_name_of_its_own_is_not_hidden() {
    assert_eq!(hidden(&schema(&[("_collection_nJet", "nJet", &["a", "b"])])), ["_collection_nJet"]);
    assert_eq!(hidden(&schema(&[("jets", "nJet", &["a", "b"])])), [""; 0]);
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    let members = ["a", "b"].map(|name| (name.to_owned(), FieldType::Leaf(Leaf::Float)));
    let record = FieldType::vector(FieldType::Record(members.to_vec()));
    builder.field(None, "_collection0", &record).unwrap();
    builder.project_path("a", "_collection0.a").unwrap();
    assert_eq!(hidden(&builder.finish()), [""; 0]);
}
