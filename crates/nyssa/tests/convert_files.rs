//! Real files, converted and verified value by value, in both layouts.
#![allow(clippy::unwrap_used, clippy::panic)]

mod convert_support;

use convert_support::{data, ntuple, open, run, threads, verified};
use nyssa::compare::diff;
use nyssa::convert::{Layout, Options, convert_all};
use nyssa::dataset::Dataset;
use nyssa::job::OutputOptions;
use nyssa::rntuple::write::Effort;
use nyssa::ttree;

/// (file, tree, entries, branches converted): plain trees of many writers and compressions.
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

fn convert_and_verify(options: &Options) {
    for &(file, tree, entries, branches) in PLAIN {
        let Some(input) = data(&format!("ttree/{file}")) else { return };
        let folder = tempfile::tempdir().unwrap();
        let report =
            run(&input, tree, folder.path(), options).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(report.verified, "{file}");
        assert_eq!(report.entries, entries, "{file}");
        assert_eq!(report.fields.len(), branches, "{file}");
        assert_eq!(ntuple(&folder.path().join("out.root"), tree).num_entries(), entries, "{file}");
    }
}

#[test]
fn plain_trees_keep_their_values_in_the_layout_of_the_importer() {
    convert_and_verify(&verified());
}

#[test]
fn plain_trees_keep_their_values_as_vectors() {
    convert_and_verify(&Options {
        output: OutputOptions { effort: Effort::Full, ..verified().output },
        layout: Layout::Vectors,
        ..verified()
    });
}

#[test]
fn plain_trees_keep_their_values_in_small_clusters_without_compression() {
    let compression = "none".parse().unwrap();
    convert_and_verify(&Options {
        output: OutputOptions {
            cluster_size: 20_000,
            page_size: 4096,
            compression,
            ..verified().output
        },
        ..verified()
    });
}

#[test]
fn small_clusters_are_many() {
    let Some(input) = data("ttree/uproot-HZZ.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        output: OutputOptions { cluster_size: 10_000, ..verified().output },
        ..verified()
    };
    let report = run(&input, "events", folder.path(), &options).unwrap();
    let ntuple = ntuple(&folder.path().join("out.root"), "events");
    assert_eq!(report.clusters, ntuple.clusters().len() as u64);
    assert!(report.clusters > 8, "{} clusters", report.clusters);
}

#[test]
fn a_range_of_entries_is_converted() {
    let Some(input) = data("ttree/uproot-HZZ.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = Options {
        output: OutputOptions { cluster_size: 50_000, ..verified().output },
        entries: Some(100..1234),
        ..verified()
    };
    let report = run(&input, "events", folder.path(), &options).unwrap();
    assert!(report.verified);
    assert_eq!(report.entries, 1134);
    let beyond = Options {
        output: OutputOptions { force: true, ..options.output },
        entries: Some(5..9999),
        ..options
    };
    let error = run(&input, "events", folder.path(), &beyond).unwrap_err();
    assert!(error.to_string().contains("entries 5..9999 are not within the 2421"), "{error}");
}

#[test]
fn branches_are_chosen_by_globs() {
    let Some(input) = data("ttree/uproot-HZZ.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let include = vec!["Jet_P*".to_owned(), "MET_*".to_owned()];
    let options = Options { include, exclude: vec!["*_Pz".to_owned()], ..verified() };
    let report = run(&input, "events", folder.path(), &options).unwrap();
    let names: Vec<_> = report.fields.iter().map(|field| field.field.as_str()).collect();
    assert_eq!(names, ["NJet", "Jet_Px", "Jet_Py", "MET_px", "MET_py"]);
}

#[test]
fn unsupported_branches_are_all_named_or_skipped() {
    let Some(input) = data("ttree/roottest/meta__MakeProject__alice_ESDs.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let error = run(&input, "esdTree", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), nyssa::Kind::Unsupported);
    assert!(error.to_string().contains("\n  ESDfriend./"), "{error}");
    assert!(error.to_string().contains("its baskets are in another file"));
    assert!(convert_support::files(folder.path()).is_empty());
    let options = Options { skip_unsupported: true, ..verified() };
    let report = run(&input, "esdTree", folder.path(), &options).unwrap();
    assert!(report.verified && !report.skipped.is_empty() && !report.fields.is_empty());
    assert!(report.skipped.iter().all(|skipped| skipped.branch.starts_with("ESDfriend./")));
    let streamed: Vec<_> = report.products.iter().map(|product| product.branch.as_str()).collect();
    let objects = ["PHOSTrigger", "EMCALTrigger", "Tracks"];
    assert_eq!(streamed, objects, "branches of TObjects, and a TClonesArray with such");
}

#[test]
fn all_trees_of_a_file_keep_their_paths() {
    let Some(input) = data("ttree/uproot-from-geant4.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("all.root");
    let reports = convert_all(&open(&input), &output, &verified(), &threads(2)).unwrap();
    let mut names: Vec<_> = reports.iter().map(|report| report.ntuple.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Details", "GeneratedTracks", "HitStrips", "TrackedRays"]);
    for name in names {
        let tree = ttree::Reader::open(&open(&input), name).unwrap();
        let ntuple = ntuple(&output, name);
        let report = diff::diff(&tree, &ntuple, &diff::Options::default(), &threads(2)).unwrap();
        assert!(report.only_in_a.is_empty() && report.different().count() == 0, "{name}");
    }
}

#[test]
fn trees_in_directories_keep_their_paths() {
    let Some(input) = data("ttree/uproot-issue64.root") else { return };
    let folder = tempfile::tempdir().unwrap();
    let options = Options { skip_unsupported: true, ..verified() };
    let report = run(&input, "events/events", folder.path(), &options).unwrap();
    assert_eq!(report.ntuple, "events/events");
    assert_eq!(ntuple(&folder.path().join("out.root"), "events/events").num_entries(), 500);
}
