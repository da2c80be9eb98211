//! Tests copying of other objects: every object of the real files, and what is refused. That ROOT reads them
//! is tested from Python.

use nyssa_io::MemorySink;
use nyssa_rntuple::write::reserve_blob;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::values::Value;
use nyssa_root::streamer::{ObjectCopy, Refused, StreamerList, View};

use crate::support::container::{data, open, open_bytes, root_files};

fn options() -> FileOptions {
    FileOptions { uuid: Some([7; 16]), time: Some(1_700_000_000), ..FileOptions::default() }
}

/// Returns the objects of `files`, in turn, in a new file.
fn carried(files: &[&RootFile], exclude: &[&str]) -> (RootFile, Vec<Refused>) {
    let (sink, bytes) = MemorySink::new("out.root");
    let mut out = RootFileWriter::create(Box::new(sink), options()).unwrap();
    let refused = carry_into(&mut out, files, exclude);
    out.finish().unwrap();
    let bytes = bytes.take();
    (open_bytes("out.root", bytes).unwrap(), refused)
}

fn carry_into(out: &mut RootFileWriter, files: &[&RootFile], exclude: &[&str]) -> Vec<Refused> {
    let mut refused = Vec::new();
    for file in files {
        let carry = ObjectCopy::plan(file, exclude).unwrap();
        refused.extend(carry.refused().to_vec());
        refused.extend(carry.write(out).unwrap());
    }
    refused
}

/// Returns the parts of a key that have to stay the same.
fn same(key: &KeyEntry) -> impl PartialEq + std::fmt::Debug {
    let key = key.clone();
    let class = if key.is_directory() { "TDirectory".to_owned() } else { key.class };
    (key.path, key.cycle, class, key.title, key.datime)
}

/// Returns all that an object says, with what its pointers refer to.
fn values(view: View<'_>, depth: usize) -> Vec<String> {
    let mut out = vec![view.class().to_owned()];
    for (name, value) in view.members().filter(|_| depth < 9) {
        match value {
            Value::Object(_) => out.extend(values(view.view(name).unwrap().unwrap(), depth + 1)),
            Value::List(items) if items.iter().any(|item| matches!(item, Value::Object(_))) => {
                for item in view.list(name).unwrap().into_iter().flatten() {
                    out.extend(values(item, depth + 1));
                }
            }
            other => out.push(format!("{name} {other:?}")),
        }
    }
    out
}

fn refused_paths(refused: &[Refused]) -> Vec<&str> {
    refused.iter().map(|refused| &*refused.path).collect()
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn every_object_of_the_real_files_arrives() {
    let data = data();
    let (mut objects, mut trees) = (0, 0);
    for path in root_files(&data) {
        let Ok(file) = open(&path) else { continue };
        let (out, refused) = carried(&[&file], &[]);
        for refused in &refused {
            assert!(["TTree", "TNtuple"].contains(&&*refused.class), "{path:?}: {refused:?}");
        }
        trees += refused.len();
        let refused = refused_paths(&refused);
        let mut copied = out.walk().unwrap();
        for key in file.walk().unwrap() {
            if refused.contains(&&*format!("{};{}", key.path, key.cycle)) {
                continue;
            }
            let index = copied.iter().position(|other| same(other) == same(&key));
            let index = index.unwrap_or_else(|| panic!("{path:?} has lost {key:?}"));
            let copy = copied.remove(index);
            if !key.is_directory() {
                assert_eq!((copy.keylen, copy.objlen), (key.keylen, key.objlen));
                assert_eq!(out.stored(&copy).unwrap(), file.stored(&key).unwrap());
                objects += 1;
            }
        }
        assert!(copied.is_empty(), "{path:?} has gained {copied:?}");
        if refused.len() < file.walk().unwrap().len() {
            let classes = file.streamer_infos().unwrap().classes().to_vec();
            let copied = out.streamer_infos().unwrap().classes().to_vec();
            assert!(classes.iter().all(|class| copied.contains(class)), "{path:?}");
        }
    }
    assert!(objects > 2500 && trees > 200, "{objects} objects, {trees} trees");
}

/// The list of every file is taken apart and put together to the same bytes.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn lists_of_streamer_infos_round_trip() {
    let data = data();
    let mut entries = 0;
    for path in root_files(&data) {
        let Ok(file) = open(&path) else { continue };
        let list = file.streamer_list().unwrap_or_else(|error| panic!("{error}"));
        entries += list.len();
        let bytes = list.serialize(64).unwrap();
        assert_eq!(StreamerList::parse(&bytes, 64).unwrap(), list, "{path:?}");
        let mut twice = list.clone();
        twice.merge(&list);
        assert_eq!(twice, list, "{path:?}");
    }
    assert!(entries > 2000, "{entries}");
}

/// Tests that keys behind 2 GB grow by 8 bytes, which moves all that objects refer to inside themselves.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn references_move_with_the_size_of_the_key() {
    let data = data();
    for (name, least) in [
        ("uproot-histograms.root", 3),
        ("uproot-issue-513.root", 4),
        ("uproot-hepdata-example.root", 3),
        ("uproot-issue-240.root", 1),
    ] {
        let file = open(&data.join(name)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("far.root");
        let sink = nyssa_io::create(&path, true).unwrap();
        let mut out = RootFileWriter::create(sink, options()).unwrap();
        for _ in 0..2 {
            reserve_blob(&mut out, 1 << 30).unwrap();
        }
        let refused = carry_into(&mut out, &[&file], &["tree"]);
        let tree = |refused: &Refused| ["TTree", "TNtuple"].contains(&&*refused.class);
        assert!(refused.iter().all(tree), "{name}: {refused:?}");
        out.finish().unwrap();
        let out = RootFile::open(nyssa_io::open(&path).unwrap());
        let out = out.unwrap();
        let mut seen = 0;
        for key in out.walk().unwrap().iter().filter(|key| !key.is_directory()) {
            let old = file.find(&key.path).unwrap();
            assert_eq!(key.keylen, old.keylen + 8, "{}", key.path);
            let (object, old) = (out.object(key).unwrap(), file.object(&old).unwrap());
            assert!(values(object.root(), 0) == values(old.root(), 0), "{}", key.path);
            seen += 1;
        }
        assert!(seen >= least, "{name}: {seen}");
    }
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn names_that_are_excluded_or_taken() {
    let data = data();
    let file = open(&data.join("uproot-issue64.root")).unwrap();
    let all = file.walk().unwrap();
    let directory = all.iter().find(|key| key.is_directory()).unwrap();
    let below = format!("{}/", directory.path);
    let (out, _) = carried(&[&file], &[&directory.path]);
    let copied = out.walk().unwrap();
    assert!(copied.iter().all(|key| key.path != directory.path && !key.path.starts_with(&below)));
    assert!(!copied.is_empty());
    // The second time everything is there already.
    let (again, refused) = carried(&[&file, &file], &[]);
    let (once, few) = carried(&[&file], &[]);
    assert_eq!(again.walk().unwrap().len(), once.walk().unwrap().len());
    let objects = once.walk().unwrap().iter().filter(|key| !key.is_directory()).count();
    assert_eq!(refused.len(), 2 * few.len() + objects);
    assert_eq!(refused.last().unwrap().reason, "an object of that name is there already");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn rntuples_stay() {
    let data = data();
    let path = data.join("../rntuple/ntpl001_staff_rntuple_v1-0-0-0.root");
    let (out, refused) = carried(&[&open(&path).unwrap()], &[]);
    assert!(out.walk().unwrap().is_empty());
    assert_eq!(refused_paths(&refused), ["Staff;1"]);
    assert_eq!(refused[0].class, "ROOT::RNTuple");
    assert!(refused[0].reason.starts_with("it holds positions in its file"));
}
