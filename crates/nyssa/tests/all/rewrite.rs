//! Tests rewriting of RNTuples: what stays the same, what changes, what is refused.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use crate::support::jobs::{files, ntuple, open, threads};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_buffer::BooleanBuffer;
use nyssa_data::cut::Cut;
use nyssa_data::dataset::Dataset;
use nyssa_data::view::{Selected, SelectedRange};
use nyssa_jobs::compare::diff;
use nyssa_jobs::job::{OutputOptions, StorageOptions};
use nyssa_jobs::rewrite::{EntryCut, RewriteOptions, RewriteReport, rewrite, rewrite_all};
use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_root::{Kind, Result};
use nyssa_testdata::data;

const NANO: &str =
    "rntuple/cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root";
const PHYSLITE: &str = "rntuple/uproot-physlite-rntuple_v1-0-0-0.root";
const STAFF: &str = "rntuple/ntpl001_staff_rntuple_v1-0-1-0.root";

fn verified() -> RewriteOptions {
    RewriteOptions {
        output: OutputOptions { verify: true, reproducible: true, ..OutputOptions::default() },
        ..RewriteOptions::default()
    }
}

fn clusters_of(bytes: u64) -> StorageOptions {
    StorageOptions { cluster_size: Some(bytes), ..StorageOptions::default() }
}

fn run(input: &Path, name: &str, folder: &Path, options: &RewriteOptions) -> Result<RewriteReport> {
    rewrite(&open(input), name, &folder.join("out.root"), options, &threads(2))
}

/// Returns the names, types, versions and all else that a field record says, without columns and ids.
fn described(schema: &Schema) -> Vec<String> {
    let ids = (0u32..).map(FieldId).zip(&schema.fields);
    let text = |(id, field): (FieldId, &nyssa_rntuple::schema::Field)| {
        let nyssa_rntuple::schema::Field {
            type_name,
            type_alias,
            description,
            field_version,
            type_version,
            structure,
            ..
        } = field;
        let source = field.source.map(|source| schema.path(source));
        format!(
            "{} {type_name:?} {type_alias:?} {description:?} {field_version} {type_version} \
             {structure:?} {:?} {source:?} {:?}",
            schema.path(id),
            field.array_size,
            field.type_checksum
        )
    };
    ids.map(text).collect()
}

fn same_entries(reader: &Reader, pieces: Vec<SelectedRange>, written: &Reader) {
    let selected = Selected::new(reader, pieces).unwrap();
    let report =
        diff::diff(&selected, written, &diff::DiffOptions::default(), &threads(2)).unwrap();
    assert!(report.only_in_b.is_empty() && report.incomparable.is_empty(), "{report:?}");
    assert_eq!(report.different().count(), 0);
    assert_eq!(report.entries_a, report.entries_b);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn everything_stays_but_the_encoding() {
    let input = data(NANO);
    for compression in ["none", "505"] {
        let folder = tempfile::tempdir().unwrap();
        let options = RewriteOptions {
            output: OutputOptions {
                compression: Some(compression.parse().unwrap()),
                ..verified().output
            },
            ..verified()
        };
        let report = run(&input, "Events", folder.path(), &options).unwrap();
        assert!(
            report.written.verified
                && report.dropped.is_empty()
                && report.reencoded.left_out.is_empty()
        );
        let (before, after) =
            (ntuple(&input, "Events"), ntuple(&folder.path().join("out.root"), "Events"));
        assert_eq!(described(before.schema()), described(after.schema()));
        let split = after.schema().columns.iter().any(|c| c.column_type.unwrap().is_split());
        assert_eq!(split, compression != "none");
        same_entries(
            &before,
            vec![SelectedRange { entries: 0..before.num_entries(), mask: None }],
            &after,
        );
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn the_same_bytes_for_any_number_of_threads() {
    let input = data(PHYSLITE);
    let outputs = [1, 2, 5].map(|count| {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("out.root");
        let chosen = OutputOptions {
            memory: Some(1 << 20),
            reproducible: true,
            compression: Some("zstd:1".parse().unwrap()),
            ..OutputOptions::default()
        };
        let mut options = RewriteOptions { output: chosen, ..RewriteOptions::default() };
        options.storage.cluster_size = Some(100_000);
        let report =
            rewrite(&open(&input), "EventData", &output, &options, &threads(count)).unwrap();
        assert!(report.written.clusters > 2, "{} clusters", report.written.clusters);
        std::fs::read(output).unwrap()
    });
    assert!(outputs[0] == outputs[1] && outputs[1] == outputs[2]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn clusters_have_the_size_that_was_asked_for() {
    let input = data(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let none = Some("none".parse().unwrap());
    let options = RewriteOptions {
        output: OutputOptions { compression: none, ..verified().output },
        storage: clusters_of(20_000),
        ..verified()
    };
    let report = run(&input, "Staff", folder.path(), &options).unwrap();
    let written = ntuple(&folder.path().join("out.root"), "Staff");
    let clusters = written.clusters_info().unwrap();
    assert_eq!(report.written.clusters, clusters.len() as u64);
    assert!(clusters.len() > 4, "{} clusters", clusters.len());
    for cluster in clusters {
        let pages = cluster.columns.iter().flat_map(|column| &column.pages);
        let bytes: u64 = pages.map(|page| page.locator.size).sum();
        assert!((14_000..26_000).contains(&bytes), "{bytes}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_range_of_entries() {
    let input = data(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let options = RewriteOptions { entries: Some((1000..1500).into()), ..verified() };
    let report = run(&input, "Staff", folder.path(), &options).unwrap();
    assert_eq!((report.written.entries, report.input_entries), (500, 3354));
    let written = ntuple(&folder.path().join("out.root"), "Staff");
    let pieces = vec![SelectedRange { entries: 1000..1500, mask: None }];
    same_entries(&ntuple(&input, "Staff"), pieces, &written);
    let options = RewriteOptions { entries: Some((5..9999).into()), ..verified() };
    let error = run(&input, "Staff", tempfile::tempdir().unwrap().path(), &options).unwrap_err();
    assert!(error.to_string().contains("entries 5..9999 are not within the 3354"), "{error}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn late_fields_become_ordinary_ones() {
    let input = data("rntuple/test_extension_columns_rntuple_v1-0-0-0.root");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let reports = rewrite_all(&open(&input), &output, &verified(), &threads(2)).unwrap();
    assert!(reports.iter().all(|report| report.written.verified));
    let before = ntuple(&input, &reports[0].source);
    assert!(!before.footer().extension.fields.is_empty());
    let after = ntuple(&output, &reports[0].written.ntuple);
    assert!(after.footer().extension.fields.is_empty());
    assert_eq!(described(before.schema()), described(after.schema()));
}

fn slim(fields: &[&str], drop: &[&str]) -> Result<(RewriteReport, Schema)> {
    let input = data(NANO);
    let folder = tempfile::tempdir().unwrap();
    let own = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect();
    let options = RewriteOptions { include: own(fields), exclude: own(drop), ..verified() };
    run(&input, "Events", folder.path(), &options).map(|report| {
        let schema = ntuple(&folder.path().join("out.root"), "Events").schema().clone();
        (report, schema)
    })
}

/// Returns the path, the type, and whether it is projected.
fn listed(schema: &Schema) -> Vec<(String, &str, bool)> {
    let top = schema.top_level();
    top.map(|(id, field)| (schema.path(id), field.type_name.as_str(), field.source.is_some()))
        .collect()
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn projections_bring_what_they_show_and_no_more() {
    let result = slim(&["nMuon", "Muon_pt", "Muon_eta", "run"], &[]);
    let (report, schema) = result.unwrap();
    let listed = listed(&schema);
    let (collections, fields): (Vec<_>, Vec<_>) =
        listed.iter().partition(|(name, ..)| name.starts_with("_collection"));
    assert_eq!(collections.len(), 1);
    let rvec = "ROOT::VecOps::RVec<float>";
    for (name, type_name, projected) in [
        ("run", "std::uint32_t", false),
        ("nMuon", "ROOT::RNTupleCardinality<std::uint32_t>", true),
        ("Muon_pt", rvec, true),
        ("Muon_eta", rvec, true),
    ] {
        assert!(fields.contains(&&(name.to_owned(), type_name, projected)), "{name} in {fields:?}");
    }
    assert_eq!(fields.len(), 4);
    let members = schema.fields.iter().filter(|field| field.name.starts_with("Muon_"));
    assert_eq!(members.count(), 4, "two projections, two members");
    assert!(report.written.notes.is_empty() && report.dropped.len() > 100);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn projections_without_their_source_get_data_of_their_own() {
    let globs = &["nMuon", "Muon_pt"];
    let result = slim(globs, &["_collection*"]);
    let (report, schema) = result.unwrap();
    assert_eq!(
        listed(&schema).iter().map(|(name, t, p)| (name.as_str(), *t, *p)).collect::<Vec<_>>(),
        [("Muon_pt", "ROOT::VecOps::RVec<float>", false), ("nMuon", "std::uint32_t", false)]
    );
    assert_eq!(report.written.notes.len(), 2, "{:?}", report.written.notes);
    let types: Vec<_> = schema.columns.iter().map(|c| c.column_type.unwrap()).collect();
    use ColumnType::{SplitIndex64, SplitReal32, SplitUInt32};
    assert_eq!(types, [SplitIndex64, SplitReal32, SplitUInt32]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn what_is_dropped_takes_its_data_along() {
    let result = slim(&[], &["Muon_*", "HLT_*"]);
    let (_, schema) = result.unwrap();
    let left: Vec<_> = schema.fields.iter().filter(|f| f.name.starts_with("Muon_")).collect();
    assert!(left.is_empty(), "{left:?}");
    let number = schema.field(schema.find("nMuon").unwrap());
    // It stays the size of a collection without members, so that it matches the field of files with members.
    assert_eq!(number.type_name, "ROOT::RNTupleCardinality<std::uint32_t>");
    assert!(number.source.is_some());
    assert!(schema.find("Jet_pt").is_some());
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn globs_that_match_nothing_name_what_is_near() {
    let result = slim(&["Muon_pz"], &[]);
    let error = result.unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    let text = error.to_string();
    assert!(text.contains("no field matches \"Muon_pz\"; did you mean \"Muon_"), "{text}");
    let error = slim(&["Muon_["], &[]).unwrap_err().to_string();
    assert!(error.contains("\"Muon_[\" is not a glob: "), "{error}");
    let error = slim(&["run"], &["*"]).unwrap_err().to_string();
    assert!(error.contains("no field is left to write"), "{error}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn members_of_records_are_selected_one_by_one() {
    let input = data("rntuple/test_nested_structs_rntuple_v1-0-0-0.root");
    let name = nyssa_jobs::open::datasets(&open(&input)).unwrap()[0].path.clone();
    let before = ntuple(&input, &name);
    let schema = before.schema();
    let (leaf, field) = (0u32..)
        .map(FieldId)
        .zip(&schema.fields)
        .find(|(_, field)| field.children.is_empty() && field.parent.is_some())
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let options = RewriteOptions { include: vec![schema.path(leaf)], ..verified() };
    let report = run(&input, &name, folder.path(), &options).unwrap();
    assert!(report.written.verified);
    let after = ntuple(&folder.path().join("out.root"), &name);
    let leaves: Vec<_> = after.schema().fields.iter().filter(|f| f.children.is_empty()).collect();
    assert_eq!(leaves.len(), 1);
    assert_eq!(leaves[0].name, field.name);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn pairs_stay_whole() {
    let input = data("rntuple-validation/write/types.pair.root");
    let folder = tempfile::tempdir().unwrap();
    let schema = ntuple(&input, "ntpl").schema().clone();
    let pair = schema.fields.iter().position(|f| f.type_name.starts_with("std::pair<")).unwrap();
    let member = schema.fields[pair].children[0];
    let options = RewriteOptions { include: vec![schema.path(member)], ..verified() };
    let error = run(&input, "ntpl", folder.path(), &options).unwrap_err().to_string();
    assert!(error.contains("stays whole or goes"), "{error}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn outputs_that_cannot_be() {
    let input = data(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("out.root");
    std::fs::copy(&input, &copy).unwrap();
    let forced =
        RewriteOptions { output: OutputOptions { force: true, ..verified().output }, ..verified() };
    let error = run(&copy, "Staff", folder.path(), &forced).unwrap_err().to_string();
    assert!(error.contains("the output is the input file"), "{error}");
    let error = run(&input, "Staff", folder.path(), &verified()).unwrap_err().to_string();
    assert!(error.contains("it exists already"), "{error}");
    let error = run(&input, "Stuff", folder.path(), &forced).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&input).unwrap());
    assert_eq!(files(folder.path()), ["out.root"]);
    run(&input, "Staff", folder.path(), &forced).unwrap();
    assert_ne!(std::fs::read(&copy).unwrap(), std::fs::read(&input).unwrap());
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn damage_is_named_and_leaves_nothing() {
    let input = data(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("in.root");
    let mut bytes = std::fs::read(&input).unwrap();
    let reader = ntuple(&input, "Staff");
    let page = reader.clusters_info().unwrap().get(0).unwrap().columns[3].pages[0];
    bytes[usize::try_from(page.locator.offset).unwrap() + 20] ^= 1;
    std::fs::write(&copy, bytes).unwrap();
    let error = run(&copy, "Staff", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), Kind::Checksum);
    let place = error.place();
    assert!(place.field.is_some() && place.page.is_some() && place.file.is_some(), "{error}");
    assert_eq!(files(folder.path()), ["in.root"]);
}

/// Rewrites Staff with a cut, and returns the report.
fn skim(cut: &str, folder: &Path, options: RewriteOptions) -> Result<RewriteReport> {
    let input = data(STAFF);
    let cut = Some(EntryCut::Expression(Cut::parse(cut)?));
    let output = OutputOptions { force: true, ..options.output };
    run(&input, "Staff", folder, &RewriteOptions { output, cut, ..options })
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_cut_takes_entries() {
    let input = data(STAFF);
    let before = ntuple(&input, "Staff");
    let context = threads(2);
    let arrays = before.read(&["Age", "Grade"], 0..before.num_entries(), &context).unwrap();
    let ages = arrays[0].as_primitive::<Int32Type>().values().to_vec();
    let grades = arrays[1].as_primitive::<Int32Type>().values().to_vec();
    let folder = tempfile::tempdir().unwrap();
    for (cut, keeps) in [
        ("Age > 60", (|age, _| age > 60) as fn(i32, i32) -> bool),
        ("Age % 2 == 0 || Grade >= 10", |age, grade| age % 2 == 0 || grade >= 10),
        ("Age > 1000", |age, _| age > 1000),
        ("Age > 0", |age, _| age > 0),
    ] {
        // Without the field that the cut looks at, in small clusters and with little memory.
        let drop = vec!["Grade".to_owned()];
        let options = RewriteOptions {
            output: OutputOptions { memory: Some(1 << 20), ..verified().output },
            storage: clusters_of(5_000),
            exclude: drop,
            ..verified()
        };
        let report = skim(cut, folder.path(), options).unwrap();
        let bits: Vec<_> = ages.iter().zip(&grades).map(|(a, g)| keeps(*a, *g)).collect();
        let count = bits.iter().filter(|bit| **bit).count() as u64;
        assert_eq!((report.written.entries, report.written.verified), (count, true), "{cut}");
        let after = ntuple(&folder.path().join("out.root"), "Staff");
        let left = after.read(&["Age"], 0..count, &context).unwrap();
        let left = left[0].as_primitive::<Int32Type>().values().to_vec();
        let expected = ages.iter().zip(&bits).filter(|(_, bit)| **bit).map(|(age, _)| *age);
        assert_eq!(left, expected.collect::<Vec<_>>(), "{cut}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn clusters_of_a_skim_fill_up() {
    let folder = tempfile::tempdir().unwrap();
    let none = Some("none".parse().unwrap());
    let options = RewriteOptions {
        output: OutputOptions { compression: none, ..verified().output },
        storage: clusters_of(20_000),
        ..verified()
    };
    let report = skim("Age % 5 == 0", folder.path(), options);
    let report = report.unwrap();
    let mean = report.reencoded.uncompressed_bytes / report.written.clusters;
    assert!((14_000..26_000).contains(&mean), "{mean} in {} clusters", report.written.clusters);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_mask_takes_entries() {
    let input = data(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let mask = BooleanBuffer::collect_bool(500, |index| index % 7 == 3);
    let cut = Some(EntryCut::Mask(mask.clone()));
    let options = RewriteOptions { entries: Some((1000..1500).into()), cut, ..verified() };
    run(&input, "Staff", folder.path(), &options).unwrap();
    let written = ntuple(&folder.path().join("out.root"), "Staff");
    let pieces = vec![SelectedRange { entries: 1000..1500, mask: Some(mask) }];
    same_entries(&ntuple(&input, "Staff"), pieces, &written);
    let options = RewriteOptions {
        output: OutputOptions { force: true, ..options.output },
        entries: Some((0..10).into()),
        ..options
    };
    let error = run(&input, "Staff", folder.path(), &options).unwrap_err().to_string();
    assert!(error.contains("a mask of 500 bits does not go with 10 entries"), "{error}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn cuts_that_cannot_be_leave_nothing() {
    for (cut, message) in [
        ("Agee > 1", "there is no field \"Agee\"; did you mean \"Age\"?\n  Agee > 1\n  ^"),
        ("Age >", "is missing before the end\n  Age >\n       ^"),
        ("Nation == 1", "text is only compared"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let result = skim(cut, folder.path(), verified());
        let error = result.unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
        assert!(files(folder.path()).is_empty());
    }
}

/// Tests that a cut selects the entries of lists, records, strings and all other types.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_kind_of_field_is_skimmed() {
    let input = data(PHYSLITE);
    let folder = tempfile::tempdir().unwrap();
    let cut = Some(EntryCut::Mask(BooleanBuffer::collect_bool(100, |index| index % 3 != 1)));
    let output = OutputOptions { memory: Some(1 << 20), ..verified().output };
    let storage = clusters_of(200_000);
    let options = RewriteOptions { output, storage, cut, ..verified() };
    let report = run(&input, "EventData", folder.path(), &options).unwrap();
    assert!(report.written.verified && report.written.clusters > 2);
    assert_eq!(report.written.entries, 67);
}
