//! Tests that trees have the branches, leaves and baskets that ROOT and uproot see.

use std::collections::BTreeMap;

use nyssa_root::arrow::Number;
use nyssa_root::rootfile::KeyEntry;
use nyssa_root::{Error, Kind};
use nyssa_ttree::{Branch, CountSource, Element, Plain, Shape, Tree, load};

use crate::support::VERSIONS_OF_SAMPLE;
use crate::support::container::{data, hash, open, root_files};

/// File, tree, entries, branches of all depths, XXH64 of their paths, baskets that hold entries.
type Row = (&'static str, &'static str, u64, usize, u64, usize);

const TREES: &[Row] = &[
    ("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events", 200, 947, 0x9af5_ff37_ee64_a98a, 949),
    ("uproot-HZZ.root", "events", 2421, 51, 0x6ccb_1615_ef0b_9453, 57),
    ("uproot-HZZ-lz4.root", "events", 2421, 51, 0x6ccb_1615_ef0b_9453, 57),
    ("uproot-HZZ-lzma.root", "events", 2421, 51, 0x6ccb_1615_ef0b_9453, 57),
    ("uproot-HZZ-zlib.root", "events", 2421, 51, 0x6ccb_1615_ef0b_9453, 57),
    ("uproot-HZZ-zstd.root", "events", 2421, 51, 0x6ccb_1615_ef0b_9453, 57),
    ("uproot-leaflist.root", "tree", 5, 1, 0x212e_a6eb_31df_3595, 1),
    ("uproot-from-geant4.root", "Details", 1, 7, 0x6e76_d9c4_79a9_5407, 7),
    ("uproot-from-geant4.root", "HitStrips", 4808, 3, 0x3cae_68e1_f45f_2549, 3),
    ("uproot-from-geant4.root", "GeneratedTracks", 1000, 7, 0xa9d9_4364_3f75_d08d, 7),
    ("uproot-from-geant4.root", "TrackedRays", 224, 5, 0x783b_540c_a2f9_0566, 5),
    ("uproot-foriter.root", "foriter", 46, 1, 0xb711_9b48_552d_1da3, 8),
    ("uproot-simple.root", "tree", 4, 3, 0xb7f1_3f73_8e5a_0bce, 3),
    ("uproot-small-evnt-tree-fullsplit.root", "tree", 100, 43, 0xbd3a_6503_8113_d867, 41),
    ("uproot-issue413.root", "mytree", 5, 6, 0x2b6d_cac1_6d69_7499, 6),
    ("uproot-issue-214.root", "E", 10, 119, 0xc787_ecd2_0738_9822, 115),
    (
        "roottest/tree__selectorreader__trees__TreeArray.root",
        "TreeArray",
        10,
        1,
        0x870d_c73d_b172_58d0,
        1,
    ),
];

const SAMPLE: (u64, usize, u64, usize) = (30, 35, 0x5391_4511_9062_ff8c, 411);

fn is_tree(key: &KeyEntry) -> bool {
    matches!(key.class.as_str(), "TTree" | "TNtuple" | "TNtupleD")
}

fn tree(file: &str, path: &str) -> Tree {
    let file = open(&data().join(file)).unwrap();
    load(&file, &file.find(path).unwrap()).unwrap()
}

/// Visits all branches with their paths, a branch before those below it.
fn visit<'t>(branches: &'t [Branch], prefix: &str, each: &mut dyn FnMut(String, &'t Branch)) {
    for branch in branches {
        let path = format!("{prefix}{}", branch.name);
        each(path.clone(), branch);
        visit(&branch.branches, &format!("{path}/"), each);
    }
}

fn summary(tree: &Tree) -> (u64, usize, u64, usize) {
    let (mut paths, mut baskets) = (Vec::new(), 0);
    visit(&tree.branches, "", &mut |path, branch| {
        paths.push(path);
        baskets += branch.baskets.len();
    });
    (tree.entries, paths.len(), hash(&paths), baskets)
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn trees_are_those_that_uproot_sees() {
    for (file, path, entries, branches, names, baskets) in TREES {
        let tree = tree(file, path);
        let expected = (*entries, *branches, *names, *baskets);
        assert_eq!(summary(&tree), expected, "{file} {path}");
    }
    for version in VERSIONS_OF_SAMPLE {
        let tree = tree(&format!("uproot-sample-{version}.root"), "sample");
        assert_eq!(summary(&tree), SAMPLE, "{version}");
    }
}

/// Tests that every tree of every file loads, and that an unreadable branch has a reason in plain words.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_tree_loads() {
    let folder = data();
    let (mut trees, mut readable) = (0, 0);
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for path in root_files(&folder) {
        let Ok(file) = open(&path) else { continue };
        for key in file.walk().unwrap().iter().filter(|key| is_tree(key)) {
            let tree = load(&file, key).unwrap();
            trees += 1;
            visit(&tree.branches, "", &mut |path, branch| match &branch.shape {
                Ok(_) => {
                    readable += 1;
                    check_baskets(&path, branch);
                }
                Err(reason) => {
                    let general = general(reason);
                    *reasons.entry(general).or_default() += 1;
                }
            });
        }
    }
    eprintln!("{trees} trees, {readable} readable branches; others because");
    for (reason, count) in &reasons {
        eprintln!("{count:6} {reason}");
    }
    assert_eq!(trees, TREES_IN_ALL);
}

/// Returns a reason without the names in it.
fn general(reason: &str) -> String {
    let mut words = Vec::new();
    let mut inside = false;
    for word in reason.split(' ') {
        let before = words.last().copied().unwrap_or_default();
        let name = matches!(before, "class" | "member" | "leaf" | "counter" | "title");
        inside |= word.starts_with('(');
        if !inside {
            words.push(if name { "*" } else { word });
        }
        inside &= !word.contains(')');
    }
    words.join(" ")
}

/// Tests that baskets cover all entries of a readable branch without gaps.
fn check_baskets(path: &str, branch: &Branch) {
    let mut next = 0;
    for basket in &branch.baskets {
        assert_eq!(basket.first_entry, next, "{path}");
        next += basket.entries;
    }
    assert_eq!(next, branch.entries, "{path}");
}

/// The number of trees in the test data, as ROOT counts them.
const TREES_IN_ALL: usize = 271;

fn shape(tree: &Tree, name: &str) -> Result<Shape, String> {
    let mut shape_of_branch = Err(format!("no branch {name}"));
    visit(&tree.branches, "", &mut |path, branch| {
        if path == name {
            shape_of_branch = branch.shape.clone();
        }
    });
    shape_of_branch
}

fn plain(element: impl Into<Element>, dimensions: &[u64]) -> Result<Shape, String> {
    Ok(Shape::Plain(Plain {
        element: element.into(),
        dimensions: dimensions.to_vec(),
        counter: None,
    }))
}

fn jagged(element: impl Into<Element>, counter: &str) -> Result<Shape, String> {
    let counter = CountSource { branch: counter.to_owned(), leaf: counter.to_owned() };
    Ok(Shape::Plain(Plain {
        element: element.into(),
        dimensions: Vec::new(),
        counter: Some(counter),
    }))
}

/// Compares the types with what the branch titles of ROOT's `TTree::Print` say.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn shapes_of_leaves() {
    let tree = tree("uproot-sample-6.20.04-zlib.root", "sample");
    for (name, expected) in [
        ("n", plain(Number::Int32, &[])),
        ("b", plain(Number::Bool, &[])),
        ("ab", plain(Number::Bool, &[3])),
        ("Ab", jagged(Number::Bool, "n")),
        ("i1", plain(Number::Int8, &[])),
        ("au1", plain(Number::UInt8, &[3])),
        ("Au2", jagged(Number::UInt16, "n")),
        ("i4", plain(Number::Int32, &[])),
        ("u4", plain(Number::UInt32, &[])),
        ("Ai8", jagged(Number::Int64, "n")),
        ("u8", plain(Number::UInt64, &[])),
        ("af4", plain(Number::Float32, &[3])),
        ("Af8", jagged(Number::Float64, "n")),
        ("str", plain(Element::CString, &[])),
    ] {
        assert_eq!(shape(&tree, name), expected, "{name}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn shapes_of_other_branches() {
    let no = |reason: &str| Err(reason.to_owned());
    for (file, path, branch, expected) in [
        (
            "nanoAOD_2015_CMS_Open_Data_ttbar.root",
            "Events",
            "Jet_pt",
            jagged(Number::Float32, "nJet"),
        ),
        ("uproot-leaflist.root", "tree", "leaflist", Ok(Shape::LeafList)),
        ("uproot-small-evnt-tree-fullsplit.root", "tree", "evt/I16", plain(Number::Int16, &[])),
        (
            "uproot-small-evnt-tree-fullsplit.root",
            "tree",
            "evt/ArrayF64[10]",
            plain(Number::Float64, &[10]),
        ),
        (
            "roottest/meta__MakeProject__alice_ESDs.root",
            "esdTree",
            "ESDfriend.",
            no(
                "its baskets are in another file, \"AliESDfriends.root\": only the tree was requested",
            ),
        ),
    ] {
        let tree = tree(file, path);
        assert_eq!(shape(&tree, branch), expected, "{file} {branch}");
    }
}

/// Compares the cluster starts with the starts in ROOT's `TTree::GetClusterIterator`.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn clusters_of_flushed_trees() {
    let check = tree(
        "roottest/python__distrdf__data__ttree__distrdf_roottest_check_backend_1.root",
        "tree_1",
    );
    assert_eq!(check.cluster_starts, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    let jagged = tree("roottest/tree__cache__jagged.root", "t");
    assert_eq!(jagged.cluster_starts, (0..60).map(|i| 100 * i).collect::<Vec<u64>>());
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn other_objects_are_no_trees() {
    let folder = data();
    let file = open(&folder.join("uproot-histograms.root")).unwrap();
    let error: Error = load(&file, &file.find("one").unwrap()).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert_eq!(
        error.to_string(),
        "a TH1F is not a TTree (file uproot-histograms.root, object one)"
    );
}
