//! Opening whatever dataset a file has.

use crate::support::reading::{context, open, value};
use nyssa_data::dataset::Format;
use nyssa_jobs::open::{datasets, format_of, open_dataset, split_path};
use nyssa_root::Kind;
use nyssa_testdata::data;
use serde_json::json;

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn the_only_dataset_needs_no_name() {
    let root = open("rntuple/test_int_float_rntuple_v1-0-0-0.root");
    let dataset = open_dataset(&root, None).unwrap();
    assert_eq!((dataset.format(), dataset.name()), (Format::RNTuple, "ntuple"));
    let root = open("ttree/uproot-Zmumu.root");
    let dataset = open_dataset(&root, Some("events")).unwrap();
    assert_eq!((dataset.format(), dataset.num_entries()), (Format::TTree, 2304));
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn several_datasets_are_named() {
    let root = open("rntuple/uproot-physlite-rntuple_v1-0-0-0.root");
    let names = ["DataHeader", "DataHeaderForm", "EventData", "EventTag"];
    let keys = datasets(&root).unwrap();
    let ntuples = keys.iter().filter(|key| format_of(key) == Some(Format::RNTuple));
    let mut ntuples = ntuples.map(|key| key.path.as_str()).collect::<Vec<_>>();
    ntuples.sort_unstable();
    assert_eq!(ntuples, names);
    let error = open_dataset(&root, None).err().unwrap();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    for name in names {
        assert!(error.message().contains(name), "{error}");
        assert_eq!(open_dataset(&root, Some(name)).unwrap().name(), name);
    }
    let error = open_dataset(&root, Some("EventDat")).err().unwrap();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.suggestions().contains(&"EventData".to_owned()), "{error}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn other_objects_are_no_datasets() {
    let root = open("ttree/uproot-hepdata-example.root");
    let error = open_dataset(&root, Some("hpx")).err().unwrap();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(error.message(), "hpx is a TH1F, neither a TTree nor an RNTuple");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_path_with_an_object_reads() {
    let path = data("rntuple/test_int_float_rntuple_v1-0-0-0.root");
    let path = format!("{}:ntuple", path.display());
    let (file, object) = split_path(&path);
    let source = nyssa_io::open(&*file).unwrap();
    let root = nyssa_root::rootfile::RootFile::open(source).unwrap();
    let dataset = open_dataset(&root, object).unwrap();
    let array = dataset.read(&["one_integers"], 0..1, &context()).unwrap();
    // As uproot shows it.
    assert_eq!(value(&array[0], 0), json!(9));
}
