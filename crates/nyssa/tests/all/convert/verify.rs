//! Tests that verification finds differences.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use crate::support::jobs::{ntuple, open, run, threads};
use nyssa_data::dataset::Filter;
use nyssa_jobs::convert::{
    Classes, Failures, Layout, Rules, StreamerBranches, ToRNTuple, check, compare, inputs, map,
};
use nyssa_root::Kind;
use nyssa_testdata::data;
use nyssa_ttree as ttree;

/// Compares with the other half of the entries, which has the same names and types, but other values.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn other_values_are_named() {
    let input = data("ttree/uproot-Zmumu.root");
    let folder = tempfile::tempdir().unwrap();
    let mut options = ToRNTuple::default();
    options.input.entries = Some((1152..2304).into());
    run(&input, "events", folder.path(), &options).unwrap();
    let written = ntuple(&folder.path().join("out.root"), "events");
    let tree = ttree::Reader::open(&open(&input), "events").unwrap();
    let inputs = inputs(&tree);
    let classes = Classes::default();
    let checks: Vec<_> =
        inputs.iter().map(|input| check(input.branch, Layout::Importer, &classes)).collect();
    let rules = Rules {
        layout: Layout::Importer,
        compression: options.output.compression(),
        filter: &Filter::default(),
        skip_unsupported: false,
        skip_unreadable: false,
        checks: &checks,
        streamed_branches: &StreamerBranches::default(),
        failures: &Failures::default(),
    };
    let fields = map(&inputs, rules).unwrap().fields;
    let compared = |entries| {
        let report =
            compare(&tree, entries, &written, &fields, &HashMap::new(), 1 << 20, &threads(2))
                .unwrap();
        report.require_equal("the tree", "the RNTuple")
    };
    compared(1152..2304).unwrap();
    let error = compared(0..1152).unwrap_err();
    assert_eq!(error.kind(), Kind::OutOfSpecification);
    let text = error.to_string();
    assert!(text.contains("no output is left") && text.contains("\n  Event: "), "{text}");
    let error = compared(1153..2304).unwrap_err().to_string();
    assert!(error.contains("the tree has 1151 entries, the RNTuple 1152"), "{error}");
}
