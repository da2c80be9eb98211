//! Converts real files and verifies them value by value, in both layouts.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;

use crate::support::jobs::{ntuple, open, run, threads, verified};
use nyssa_data::dataset::Dataset;
use nyssa_jobs::compare::diff;
use nyssa_jobs::convert::{InputOptions, Layout, ToRNTuple, convert_file};
use nyssa_jobs::job::{OutputOptions, StorageOptions};
use nyssa_rntuple::choose::Encodings;
use nyssa_root::effort::Effort;
use nyssa_testdata::{data, testdata};
use nyssa_ttree as ttree;

/// (file, tree, entries, branches converted) of plain trees of many writers and compressions.
const PLAIN: &[(&str, &str, u64, usize)] = &[
    ("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events", 200, 947),
    ("uproot-HZZ.root", "events", 2421, 51),
    ("uproot-HZZ-lz4.root", "events", 2421, 51),
    ("uproot-HZZ-lzma.root", "events", 2421, 51),
    ("uproot-HZZ-zlib.root", "events", 2421, 51),
    ("uproot-HZZ-zstd.root", "events", 2421, 51),
    ("uproot-Zmumu.root", "events", 2304, 20),
    ("uproot-Zmumu-lz4.root", "events", 2304, 20),
    ("uproot-foriter.root", "foriter", 46, 1),
    ("uproot-foriter2.root", "foriter2", 31, 1),
    ("uproot-simple.root", "tree", 4, 3),
    ("uproot-small-flat-tree.root", "tree", 100, 20),
    ("uproot-hepdata-example.root", "ntuple", 75000, 5),
    ("uproot-leaflist.root", "tree", 5, 1),
    ("uproot-empty.root", "tree", 0, 3),
    ("uproot-from-geant4.root", "HitStrips", 4808, 3),
    ("uproot-sample-5.23.02-uncompressed.root", "sample", 30, 35),
    ("uproot-sample-5.30.00-lzma.root", "sample", 30, 35),
    ("uproot-sample-6.20.04-zlib.root", "sample", 30, 35),
    ("uproot-sample-6.20.04-lz4.root", "sample", 30, 35),
];

/// The same of files in `testdata`.
const OWN: &[(&str, &str, u64, usize)] = &[
    ("events-none.root", "Events", 250, 16),
    ("events-zlib.root", "Events", 250, 16),
    ("events-lzma.root", "Events", 250, 16),
    ("events-lz4.root", "Events", 250, 16),
    ("events-zstd.root", "Events", 250, 16),
    ("leaves.root", "leaves", 12, 15),
    ("leaves.root", "deep/er/tree", 3, 1),
    ("objects0.root", "Numbers", 10, 1),
    ("objects99.root", "Numbers", 10, 1),
    ("objects0.root", "Stl", 9, 1),
    ("members99.root", "vector_Derived", 7, 1),
];

fn all_options() -> [ToRNTuple; 3] {
    let compression = Some("none".parse().unwrap());
    let (cluster_size, page_size) = (Some(20_000), Some(4096));
    [
        verified(),
        ToRNTuple {
            output: OutputOptions { effort: Some(Effort::Full), ..verified().output },
            layout: Layout::Vectors,
            ..verified()
        },
        ToRNTuple {
            output: OutputOptions { compression, ..verified().output },
            storage: StorageOptions { cluster_size, page_size, ..StorageOptions::default() },
            ..verified()
        },
    ]
}

fn convert_and_verify(
    input: &Path,
    tree: &str,
    entries: u64,
    branches: usize,
    options: &ToRNTuple,
) {
    let folder = tempfile::tempdir().unwrap();
    let file = input.display();
    let report = run(input, tree, folder.path(), options).unwrap_or_else(|e| panic!("{file}: {e}"));
    assert!(report.written.verified, "{file}");
    assert_eq!(report.written.entries, entries, "{file} {tree}");
    assert_eq!(report.fields.len(), branches, "{file} {tree}");
    assert_eq!(ntuple(&folder.path().join("out.root"), tree).num_entries(), entries, "{file}");
}

#[test]
fn own_trees_keep_their_values() {
    for options in all_options() {
        for &(file, tree, entries, branches) in OWN {
            let input = testdata(&format!("ttree/{file}"));
            convert_and_verify(&input, tree, entries, branches, &options);
        }
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn real_trees_keep_their_values() {
    for options in all_options() {
        for &(file, tree, entries, branches) in PLAIN {
            let input = data(&format!("ttree/{file}"));
            convert_and_verify(&input, tree, entries, branches, &options);
        }
    }
}

#[test]
fn small_clusters_are_many() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let mut options = verified();
    options.storage.cluster_size = Some(1_000);
    let report = run(&input, "Events", folder.path(), &options).unwrap();
    let ntuple = ntuple(&folder.path().join("out.root"), "Events");
    assert_eq!(report.written.clusters, ntuple.clusters().len() as u64);
    assert!(report.written.clusters > 3, "{} clusters", report.written.clusters);
}

#[test]
fn a_range_of_entries_is_converted() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let mut options = verified();
    options.storage.cluster_size = Some(5_000);
    options.input.entries = Some((50..184).into());
    let report = run(&input, "Events", folder.path(), &options).unwrap();
    assert!(report.written.verified);
    assert_eq!(report.written.entries, 134);
    options.output.force = true;
    options.input.entries = Some((5..9999).into());
    let error = run(&input, "Events", folder.path(), &options).unwrap_err();
    assert!(error.to_string().contains("entries 5..9999 are not within the 250"), "{error}");
}

#[test]
fn branches_are_chosen_by_globs() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let include = vec!["Muon_*".to_owned(), "t*".to_owned()];
    let input_options =
        InputOptions { include, exclude: vec!["*_eta".to_owned()], ..InputOptions::default() };
    let options = ToRNTuple { input: input_options, ..verified() };
    let report = run(&input, "Events", folder.path(), &options).unwrap();
    let names: Vec<_> = report.fields.iter().map(|field| field.field.as_str()).collect();
    assert_eq!(names, ["nMuon", "Muon_pt", "Muon_charge", "Muon_tight", "trigger", "text"]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn unsupported_branches_are_all_named_or_skipped() {
    let input = data("ttree/roottest/meta__MakeProject__alice_ESDs.root");
    let folder = tempfile::tempdir().unwrap();
    let error = run(&input, "esdTree", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), nyssa_root::Kind::Unsupported);
    assert!(error.to_string().contains("\n  ESDfriend./"), "{error}");
    assert!(error.to_string().contains("its baskets are in another file"));
    assert!(crate::support::jobs::files(folder.path()).is_empty());
    let mut options = verified();
    options.input.skip_unsupported = true;
    let report = run(&input, "esdTree", folder.path(), &options).unwrap();
    assert!(report.written.verified && !report.skipped.is_empty() && !report.fields.is_empty());
    assert!(report.skipped.iter().all(|skipped| skipped.branch.starts_with("ESDfriend./")));
    let streamed: Vec<_> =
        report.streamer_fields.iter().map(|field| field.branch.as_str()).collect();
    let objects = ["PHOSTrigger", "EMCALTrigger", "Tracks"];
    assert_eq!(streamed, objects, "branches of TObjects, and a TClonesArray with such");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn all_trees_of_a_file_keep_their_paths() {
    let input = data("ttree/uproot-from-geant4.root");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("all.root");
    let reports = convert_file(&open(&input), &output, &verified(), &threads(2)).unwrap();
    let mut names: Vec<_> = reports.iter().map(|report| report.written.ntuple.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Details", "GeneratedTracks", "HitStrips", "TrackedRays"]);
    for name in names {
        let tree = ttree::Reader::open(&open(&input), name).unwrap();
        let ntuple = ntuple(&output, name);
        let report =
            diff::diff(&tree, &ntuple, &diff::DiffOptions::default(), &threads(2)).unwrap();
        assert!(report.only_in_a.is_empty() && report.different().count() == 0, "{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn trees_in_directories_keep_their_paths() {
    let input = data("ttree/uproot-issue64.root");
    let folder = tempfile::tempdir().unwrap();
    let mut options = verified();
    options.input.skip_unsupported = true;
    let report = run(&input, "events/events", folder.path(), &options).unwrap();
    assert_eq!(report.written.ntuple, "events/events");
    assert_eq!(ntuple(&folder.path().join("out.root"), "events/events").num_entries(), 500);
}

#[test]
fn effort_is_chosen_for_every_column_of_a_branch() {
    // The branch becomes an untyped collection, whose members are not units of their own.
    let folder = tempfile::tempdir().unwrap();
    let file = testdata("ttree/objects99.root");
    let mut options = verified();
    options.storage.encoding = Some(Encodings::Default);
    let report = run(&file, "TClonesArray_vectors", folder.path(), &options).unwrap();
    let columns = &report.reencoded.columns;
    assert!(columns.len() > 5, "{columns:?}");
    for column in columns {
        let chosen = (column.effort.as_str(), column.reason.as_str());
        assert_eq!(chosen, ("fast", "too little data to choose"), "{}", column.field);
    }
}
