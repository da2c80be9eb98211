//! Tests the conversion of RNTuples to TTrees.
#![allow(clippy::unwrap_used, clippy::panic)]

use nyssa_data::dataset::Dataset;
use nyssa_jobs::convert::{To, ToTTree, convert_file};
use nyssa_root::Kind;
use nyssa_testdata::testdata;
use nyssa_ttree::Reader;

use crate::support::jobs::{files, open, run, threads, verified};

fn to_tree() -> ToTTree {
    let mut options = ToTTree::default();
    options.output.verify = true;
    options
}

#[test]
fn every_tree_of_an_ntuple_is_verified() {
    let folder = tempfile::tempdir().unwrap();
    let ntuple = folder.path().join("ntuple.root");
    let input = open(&testdata("ttree/events-zlib.root"));
    let made = convert_file(&input, &ntuple, &verified(), &threads(2)).unwrap();
    let tree = folder.path().join("tree.root");
    let mut options = to_tree();
    options.input.skip_unsupported = true;
    let back = convert_file(&open(&ntuple), &tree, &options, &threads(2)).unwrap();
    assert_eq!(back.len(), made.len());
    for (report, made) in back.iter().zip(&made) {
        assert!(report.written.verified && report.to == To::TTree);
        assert_eq!(report.tree, made.written.ntuple);
        let read = Reader::open(&open(&tree), &report.tree).unwrap();
        assert_eq!(read.num_entries(), made.written.entries);
        let known: Vec<_> = read.columns().iter().map(|column| column.name.as_str()).collect();
        assert!(report.fields.iter().all(|field| known.contains(&field.branch.as_str())));
    }
}

#[test]
fn a_tree_does_not_become_a_tree() {
    let folder = tempfile::tempdir().unwrap();
    let input = testdata("ttree/events-zlib.root");
    let error = run(&input, "Events", folder.path(), &to_tree()).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert!(error.to_string().contains("it is a TTree already"), "{error}");
    assert!(files(folder.path()).is_empty());
}
