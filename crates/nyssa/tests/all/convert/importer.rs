//! Tests that the schema is that of ROOT's importer, field by field.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::support::jobs::{ntuple, open, run};
use nyssa_jobs::convert::{ToRNTuple, inputs};
use nyssa_jobs::job::OutputOptions;
use nyssa_rntuple::schema::{BACKING_PREFIX, FieldId, Schema};
use nyssa_root::effort::Effort;
use nyssa_testdata::data;
use nyssa_ttree as ttree;

/// Returns the part of a schema that an importer decides. Ids follow from the order. Collections that projected
/// fields show are called otherwise (`docs/decisions/0009`), and the importer does not keep the titles of branches.
fn description(schema: &Schema) -> Vec<String> {
    let all: Vec<FieldId> = schema.top_level().map(|(id, _)| id).collect();
    let backing = schema.backing(&all);
    assert_eq!(backing.len(), 22);
    let fields = (0u32..).map(FieldId).zip(&schema.fields).map(|(id, field)| {
        let hidden = backing.iter().any(|(other, _)| *other == id);
        format!(
            "{} {:?} parent {:?} {:?} array {:?} source {:?} versions {} {} flags {:?} alias {:?}",
            if hidden { BACKING_PREFIX } else { &field.name },
            field.type_name,
            field.parent,
            field.structure,
            field.array_size,
            field.source,
            field.field_version,
            field.type_version,
            field.type_checksum,
            field.type_alias
        )
    });
    let columns = schema.columns.iter().map(|column| {
        format!(
            "column {:?} {} bits of {:?}, {} {:?} {:?}",
            column.column_type,
            column.bits,
            column.field,
            column.representation,
            column.first_element,
            column.value_range
        )
    });
    let aliases = schema.aliases.iter().map(|alias| format!("{alias:?}"));
    fields.chain(columns).chain(aliases).collect()
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn nanoaod_maps_as_the_importer_did_it() {
    let imported = "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root";
    let tree = data("ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root");
    let imported = data(&format!("rntuple/{imported}"));
    let folder = tempfile::tempdir().unwrap();
    let options = ToRNTuple {
        output: OutputOptions { effort: Some(Effort::Full), ..OutputOptions::default() },
        ..ToRNTuple::default()
    };
    run(&tree, "Events", folder.path(), &options).unwrap();
    let ours = ntuple(&folder.path().join("out.root"), "Events");
    let theirs = ntuple(&imported, "Events");
    let (_, met) = ours.schema().top_level().find(|(_, field)| field.name == "MET_phi").unwrap();
    assert_eq!(met.description, "phi");
    let (ours, theirs) = (description(ours.schema()), description(theirs.schema()));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_branch_with_data_is_an_input() {
    let tree = data("ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root");
    let reader = ttree::Reader::open(&open(&tree), "Events").unwrap();
    assert_eq!(inputs(&reader).len(), 947);
}
