//! Compares real files with sums that uproot 5.7 computed over the same branches.
//!
//! A digest is (entries, position-weighted sum of the list lengths, elements, position-weighted sum of
//! the elements' bit patterns), all modulo 2^64: a wrong, missing or displaced element changes it.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use nyssa_data::Dataset;
use nyssa_io::Source;
use nyssa_io::testing::RecordingSource;
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;
use nyssa_testdata::data;
use nyssa_ttree::Reader;

use crate::support::VERSIONS_OF_SAMPLE;

type Digest = (u64, u64, u64, u64);

fn source(path: &str) -> Arc<dyn Source> {
    nyssa_io::open(data(&format!("ttree/{path}"))).unwrap()
}

fn open(path: &str, tree: &str) -> Reader {
    let file = RootFile::open(source(path)).unwrap();
    Reader::open(&file, tree).unwrap()
}

fn context() -> Context {
    Context::new(Some(2)).unwrap()
}

fn weighted(values: impl Iterator<Item = u64>) -> u64 {
    values.zip(1_u64..).fold(0, |sum, (value, at)| sum.wrapping_add(value.wrapping_mul(at)))
}

fn digest(array: &ArrayRef) -> Digest {
    let rows = array.len() as u64;
    if let Some(strings) = array.as_binary_opt::<i64>() {
        let lengths = strings.offsets().lengths().map(|length| length as u64);
        let bytes = strings.value_data().iter().map(|&byte| u64::from(byte));
        return (rows, weighted(lengths), strings.value_data().len() as u64, weighted(bytes));
    }
    let (mut array, mut lengths) = (Arc::clone(array), 0);
    if let Some(list) = array.clone().as_list_opt::<i64>() {
        lengths = weighted(list.offsets().lengths().map(|length| length as u64));
        array = Arc::clone(list.values());
    }
    while let Some(list) = array.clone().as_fixed_size_list_opt() {
        array = Arc::clone(list.values());
    }
    (rows, lengths, array.len() as u64, weighted(bits(&array).into_iter()))
}

/// Returns the bit patterns of primitives.
fn bits(array: &ArrayRef) -> Vec<u64> {
    if *array.data_type() == DataType::Boolean {
        return array.as_boolean().values().iter().map(u64::from).collect();
    }
    let width = array.data_type().primitive_width().unwrap();
    let data = array.to_data();
    let bytes = &data.buffers()[0].as_slice()[..array.len() * width];
    let number =
        |chunk: &[u8]| chunk.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte));
    bytes.chunks(width).map(number).collect()
}

fn check(reader: &Reader, expected: &[(&str, Digest)]) {
    let names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
    let arrays = reader.read(&names, 0..reader.num_entries(), &context()).unwrap();
    for ((name, digest_expected), array) in expected.iter().zip(&arrays) {
        assert_eq!(digest(array), *digest_expected, "{name}");
        let item = reader.columns().iter().find(|item| item.name == *name).unwrap();
        assert_eq!(item.field.as_ref().unwrap().data_type(), array.data_type(), "{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn nanoaod_branches() {
    let reader = open("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events");
    assert_eq!(reader.num_entries(), 200);
    check(
        &reader,
        &[
            ("run", (200, 0, 200, 20100)),
            ("event", (200, 0, 200, 4_568_564_421_390)),
            ("nJet", (200, 0, 200, 55265)),
            ("Jet_pt", (200, 55265, 537, 159_588_421_509_120)),
            ("Jet_btagCSVV2", (200, 55265, 537, 311_732_611_563_520)),
            ("GenPart_pdgId", (200, 470_716, 4639, 16_554_582_166_171_060)),
            ("LHEPdfWeight", (200, 2_050_200, 20400, 222_490_095_868_734_464)),
            ("Muon_charge", (200, 4447, 41, 1_584_842_932_347)),
            ("Muon_isGlobal", (200, 4447, 41, 811)),
            ("PV_npvs", (200, 0, 200, 215_214)),
            ("HLT_Mu50", (200, 0, 200, 451)),
        ],
    );
    let type_name =
        |name: &str| &reader.columns().iter().find(|item| item.name == name).unwrap().type_name;
    assert_eq!(type_name("Jet_pt"), "float[nJet]");
    assert_eq!(type_name("nJet"), "std::uint32_t");
    assert_eq!(type_name("HLT_Mu50"), "bool");
}

/// Returns all readable branches as one: number of them, summed list lengths, elements, and digests of the
/// elements weighted by the branch's position.
fn total(reader: &Reader) -> Digest {
    let names: Vec<&str> = reader.columns().iter().map(|item| item.name.as_str()).collect();
    let arrays = reader.read(&names, 0..reader.num_entries(), &context()).unwrap();
    let digests: Vec<Digest> = arrays.iter().map(digest).collect();
    let sum = |part: fn(&Digest) -> u64| digests.iter().map(part).fold(0, u64::wrapping_add);
    (names.len() as u64, sum(|d| d.1), sum(|d| d.2), weighted(digests.iter().map(|d| d.3)))
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn nanoaod_in_full() {
    let reader = open("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events");
    assert_eq!(total(&reader), (947, 11_131_601, 230_546, 4_441_382_630_241_271_135));
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn hzz_by_every_compression() {
    for name in ["", "-lz4", "-lzma", "-zlib", "-zstd"] {
        let reader = open(&format!("uproot-HZZ{name}.root"), "events");
        let expected = (51, 50_478_210, 109_502, 1_565_242_142_337_479_707);
        assert_eq!(total(&reader), expected, "HZZ{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn zmumu_with_strings() {
    for name in ["", "-lz4", "-zlib"] {
        let reader = open(&format!("uproot-Zmumu{name}.root"), "events");
        let expected = (20, 5_310_720, 48384, 13_478_876_427_343_770_522);
        assert_eq!(total(&reader), expected, "Zmumu{name}");
        let types = reader.read(&["Type"], 0..3, &context()).unwrap();
        let types = types[0].as_binary::<i64>();
        assert_eq!([types.value(0), types.value(1), types.value(2)], [b"GT", b"TT", b"GT"]);
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn sample_by_every_version_and_compression() {
    for version in VERSIONS_OF_SAMPLE {
        let reader = open(&format!("uproot-sample-{version}.root"), "sample");
        assert_eq!(total(&reader), (35, 13625, 2180, 3_640_545_650_934_781_197), "{version}");
    }
    let reader = open("uproot-sample-6.20.04-zlib.root", "sample");
    check(
        &reader,
        &[
            ("ab", (30, 0, 90, 2070)),
            ("Ab", (30, 990, 60, 765)),
            ("ai1", (30, 0, 90, 226_366)),
            ("Au2", (30, 990, 60, 35537)),
            ("af8", (30, 0, 90, 14_780_025_847_095_174_717)),
            ("str", (30, 2735, 170, 1_148_555)),
        ],
    );
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn strings_of_many_baskets() {
    let reader = open("uproot-foriter2.root", "foriter2");
    check(&reader, &[("data", (31, 4224, 220, 2_594_598))]);
    let reader = open("uproot-foriter.root", "foriter");
    check(&reader, &[("data", (46, 0, 46, 32430))]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn parts_of_every_branch_equal_the_whole() {
    let reader = open("uproot-HZZ.root", "events");
    let names: Vec<&str> = reader.columns().iter().map(|item| item.name.as_str()).collect();
    let whole = reader.read(&names, 0..2421, &context()).unwrap();
    for range in [0..1, 100..101, 700..2000, 2420..2421, 1000..1000] {
        let part = reader.read(&names, range.clone(), &context()).unwrap();
        for ((name, part), whole) in names.iter().zip(&part).zip(&whole) {
            let expected = whole.slice(range.start as usize, (range.end - range.start) as usize);
            assert_eq!(part.as_ref(), expected.as_ref(), "{name} of {range:?}");
        }
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn requests_are_few() {
    let requests = |path: &str, tree: &str, names: Option<&[&str]>| {
        let local = source(path);
        // The requests are those for a file in the cache of the system.
        local.read_range(0..local.size()).unwrap();
        let recording = Arc::new(RecordingSource::new(local));
        let file = RootFile::open(recording.clone()).unwrap();
        let reader = Reader::open(&file, tree).unwrap();
        let all: Vec<&str> = reader.columns().iter().map(|item| item.name.as_str()).collect();
        let before = recording.counters().requests;
        reader.read(names.unwrap_or(&all), 0..reader.num_entries(), &context()).unwrap();
        recording.counters().requests - before
    };
    let hzz = |names| requests("uproot-HZZ.root", "events", names);
    let trips = hzz(Some(&["MET_px"]));
    assert_eq!(trips, 1);
    assert_eq!(hzz(Some(&["Muon_Px"])), 2, "the counter, then both baskets of the branch");
    assert_eq!(hzz(Some(&["Muon_Px", "Muon_Py", "Muon_Pz", "NMuon"])), 2);
    assert!(hzz(None) <= 3, "51 branches in 57 baskets");
    assert_eq!(requests("uproot-foriter.root", "foriter", None), 1, "8 baskets");
    let nanoaod = "nanoAOD_2015_CMS_Open_Data_ttbar.root";
    let jets: &[&str] = &["Jet_pt", "Jet_eta"];
    assert_eq!(requests(nanoaod, "Events", Some(jets)), 0, "baskets inside the tree");
    assert!(requests(nanoaod, "Events", None) <= 2, "947 branches, two with baskets outside");
}

/// Leaf lists by what uproot reads of them: entries, numbers in all, and the digests of the members
/// weighted by their position.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn leaf_lists_are_structs() {
    let files = [
        ("roottest/tree__addresses__prova2.root", "Eventi", "br", (11, 264, 24_146_686_774_973)),
        (
            "roottest/tree__selectorreader__trees__TreeStruct.root",
            "TreeStruct",
            "simple",
            (10, 40, 373_002_515_160),
        ),
        ("uproot-issue-513.root", "TrkAnaNeg/trkana", "evtinfo.", (101, 404, 301_498_291_849)),
        ("uproot-issue-513.root", "TrkAnaNeg/trkana", "hcnt.", (101, 808, 96_317_385)),
        ("uproot-issue-75.root", "stuff", "stuffy", (3, 6, 9_205_807_998_308_030_873)),
        ("uproot-leaflist.root", "tree", "leaflist", (5, 15, 13_889_664_200_764_035_571)),
    ];
    for (path, tree, name, expected) in files {
        let reader = open(path, tree);
        let array = reader.read(&[name], 0..reader.num_entries(), &context()).unwrap().remove(0);
        let members: Vec<Digest> = array.as_struct().columns().iter().map(digest).collect();
        let numbers: u64 = members.iter().map(|member| member.2).sum();
        let digest = weighted(members.iter().map(|member| member.3));
        assert_eq!((array.len() as u64, numbers, digest), expected, "{path} {name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn empty_strings_of_old_versions() {
    // Values as ROOT 6.40 prints them; empty strings take no bytes at all in this file.
    let reader = open("roottest/tree__string__badleafc.root", "T");
    let array = reader.read(&["name"], 0..4, &context()).unwrap().remove(0);
    let strings: Vec<_> = array.as_binary::<i64>().iter().map(Option::unwrap).collect();
    assert_eq!(strings, [&b"test1"[..], b"", b"test2", b""]);
}
