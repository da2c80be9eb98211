//! Tests keys, directories, cycles and objects.

use std::sync::Arc;

use nyssa_io::testing::RecordingSource;
use nyssa_root::Kind;
use nyssa_root::rootfile::RootFile;

use crate::support::container::{data, hash, open, root_files};

/// Files without a list of keys: ROOT cannot open them either.
const NOT_CLOSED: [&str; 1] = ["dataframe__input2.root"];

/// File, version of ROOT, keys of all directories with cycle and class, as ROOT lists them.
const KEYS: &[(&str, i32, &[&str])] = &[
    ("uproot-sample-5.23.02-uncompressed.root", 52302, &["sample;1 TTree"]),
    ("uproot-sample-6.20.04-zlib.root", 62004, &["sample;1 TTree"]),
    ("uproot-histograms.root", 60804, &["one;1 TH1F", "two;1 TH1F", "three;1 TH1F"]),
    (
        "uproot-hepdata-example.root",
        53411,
        &["hpx;1 TH1F", "hpxpy;1 TH2F", "hprof;1 TProfile", "ntuple;1 TNtuple"],
    ),
    (
        "uproot-issue-607.root",
        60410,
        &["IsBlindingActive;1 TParameter<int>", "MGTree;1 TTree", "run;1 MGTRun"],
    ),
    ("uproot-issue413.root", 61804, &["dir-1;1 TDirectory", "mytree;1 TTree"]),
    (
        "roottest/io__directory__objstring.root",
        53401,
        &["Lumi;1 TDirectory", "Lumi/physics;2 TObjString", "Lumi/physics;1 TObjString"],
    ),
    (
        "roottest/treeformula__array__CaloTowers.root",
        40302,
        &[
            "Events;3 TTree",
            "Events;2 TTree",
            "##Params;3 TTree",
            "##Params;2 TTree",
            "##Shapes;3 TTree",
            "##Shapes;2 TTree",
            "##Links;3 TTree",
            "##Links;2 TTree",
        ],
    ),
    ("roottest/io__arrayobject__Event.3.2.0.root", 30302, &["T;1 TTree"]),
    (
        "roottest/treeformula__formulaio__hsimple.31000.root",
        31000,
        &["hpx;1 TH1F", "hpxpy;1 TH2F", "hprof;1 TProfile", "ntuple;1 TNtuple"],
    ),
    ("roottest/io__stdpair__ab02.root", 62701, &[]),
];

/// (file, number of keys, XXH64 of their lines) of files with nested directories and many keys.
const MANY_KEYS: &[(&str, usize, u64)] = &[
    ("uproot-from-geant4.root", 19, 0x9ab8_939f_f603_8091),
    ("uproot-issue64.root", 522, 0x56db_1a8d_35b8_99de),
];

fn lines(file: &RootFile) -> Vec<String> {
    let keys = file.walk().unwrap();
    // ROOT 5 wrote TDirectory, ROOT 6 writes TDirectoryFile; they are one class.
    let class = |name: &str| name.replace("TDirectoryFile", "TDirectory");
    keys.iter().map(|key| format!("{};{} {}", key.path, key.cycle, class(&key.class))).collect()
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn keys_are_those_that_root_lists() {
    let folder = data();
    for (name, version, expected) in KEYS {
        let file = open(&folder.join(name)).unwrap();
        assert_eq!(file.header().version, *version, "{name}");
        assert_eq!(lines(&file), *expected, "{name}");
    }
    for (name, count, expected) in MANY_KEYS {
        let lines = lines(&open(&folder.join(name)).unwrap());
        assert_eq!((lines.len(), hash(&lines)), (*count, *expected), "{name}");
    }
}

/// Tests that every object of every file is read to its last byte, or that the file does not describe its class.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_object_reads() {
    let folder = data();
    let mut read = 0;
    for path in root_files(&folder) {
        let file = match open(&path) {
            Ok(file) => file,
            Err(error) => {
                let name = error.place().file.clone().unwrap_or_default();
                assert!(NOT_CLOSED.contains(&name.as_str()), "{error}");
                continue;
            }
        };
        file.free_segments().unwrap();
        for key in file.walk().unwrap().iter().filter(|key| !key.is_directory()) {
            match file.object(key) {
                Ok(_) => read += 1,
                Err(error) => {
                    assert_eq!(error.kind(), Kind::Unsupported, "{error}");
                    assert_eq!(
                        error.message(),
                        format!("the file has no streamer info of class {}", key.class)
                    );
                }
            }
        }
    }
    eprintln!("{read} objects read");
    assert!(read > 5000);
}

/// Tests that opening takes two requests, and loading a tree one more.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn requests_are_few() {
    let folder = data();
    let path = folder.join("nanoAOD_2015_CMS_Open_Data_ttbar.root");
    // The requests are those for a file in the cache of the system.
    std::fs::read(&path).unwrap();
    let source = Arc::new(RecordingSource::new(nyssa_io::open(path).unwrap()));
    let file = RootFile::open(source.clone()).unwrap();
    assert_eq!(source.counters().requests, 2);
    let key = file.find("Events").unwrap();
    nyssa_ttree::load(&file, &key).unwrap();
    assert_eq!(source.counters().requests, 3);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn cycles_and_directories() {
    let folder = data();
    let file = open(&folder.join("roottest/io__directory__objstring.root")).unwrap();
    for (path, cycle, text) in [
        ("Lumi/physics", 2, "one"),
        ("Lumi/physics;1", 1, "two"),
        ("/Lumi/physics;2", 2, "one"),
        ("Lumi;1/physics", 2, "one"),
    ] {
        let key = file.find(path).unwrap();
        assert_eq!((key.path.as_str(), key.cycle), ("Lumi/physics", cycle), "{path}");
        let object = file.object(&key).unwrap();
        assert_eq!(object.root().str("fString").unwrap(), text, "{path}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn what_is_not_there_is_named() {
    let folder = data();
    let file = open(&folder.join("roottest/io__directory__objstring.root")).unwrap();
    for (path, kind, message) in [
        (
            "physics",
            Kind::NotFound,
            "no \"physics\" in this file; did you mean \"Lumi/physics\"? (file \
             io__directory__objstring.root)",
        ),
        (
            "Lumi/phys",
            Kind::NotFound,
            "no \"Lumi/phys\" in this file; did you mean \"Lumi/physics\" or \"Lumi\"? (file \
             io__directory__objstring.root)",
        ),
        (
            "Events",
            Kind::NotFound,
            "no \"Events\" in this file; it has \"Lumi\", \"Lumi/physics\" (file \
             io__directory__objstring.root)",
        ),
        (
            "Lumi/physics;3",
            Kind::NotFound,
            "\"Lumi/physics\" has no cycle 3, only 2, 1 (file io__directory__objstring.root)",
        ),
        (
            "Lumi/physics;x",
            Kind::InvalidArgument,
            "\"x\" in \"Lumi/physics;x\" is not a cycle: write name or name;number (file \
             io__directory__objstring.root)",
        ),
    ] {
        let error = file.find(path).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (kind, message), "{path}");
    }
}

/// Compares with the values that ROOT prints for objects of other classes than trees.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn objects_by_member() {
    let folder = data();
    let file = open(&folder.join("uproot-hepdata-example.root")).unwrap();
    let histogram = file.object(&file.find("hpx").unwrap()).unwrap();
    let histogram = histogram.root();
    assert_eq!(histogram.class(), "TH1F");
    assert!(histogram.is_a("TH1") && histogram.is_a("TNamed") && histogram.is_a("TObject"));
    assert_eq!(histogram.str("fTitle").unwrap(), "This is the px distribution");
    assert_eq!(histogram.f64("fEntries").unwrap(), 75000.0);
    assert_eq!(histogram.i64("fNcells").unwrap(), 102);
    let axis = histogram.view("fXaxis").unwrap().unwrap();
    assert_eq!(axis.i64("fNbins").unwrap(), 100);
    assert_eq!((axis.f64("fXmin").unwrap(), axis.f64("fXmax").unwrap()), (-4.0, 4.0));
    let error = histogram.i64("fTitle").unwrap_err();
    assert_eq!(error.to_string(), "TH1F::fTitle is a string, not an integer");
    let error = histogram.i64("fNothing").unwrap_err();
    assert_eq!(error.to_string(), "class TH1F version 1 has no member fNothing");
}
