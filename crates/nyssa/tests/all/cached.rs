//! Reading through a cache: the values are the same, in whatever form pages and baskets are kept.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_data::Dataset;
use nyssa_io::cache::{Cache, CacheOptions, Form};
use nyssa_io::testing::SlowSource;
use nyssa_io::{LocalSource, MemorySource, Source};
use nyssa_jobs::open::{datasets, open_dataset};
use nyssa_root::rootfile::RootFile;
use nyssa_testdata::testdata;

use crate::round_trips::{context, far, ntuple};
use crate::support::reading::{read_all, readable};

const FORMS: [Form; 3] = [Form::Stored, Form::Lz4, Form::Raw];
const URL: &str = "https://host/file.root";

fn cache(folder: &Path, form: Form) -> Cache {
    let mut options = CacheOptions::default();
    options.form = form;
    Cache::open(folder, options).unwrap()
}

/// Returns the values of all readable columns of all datasets of a file.
fn values(source: Arc<dyn Source>) -> Vec<(String, Vec<ArrayRef>)> {
    let file = RootFile::open(source).unwrap();
    let arrays_of = |path: String| {
        let dataset = open_dataset(&file, Some(&path)).ok()?;
        let names = readable(dataset.as_ref());
        let arrays = read_all(dataset.as_ref(), &names);
        Some((path, arrays))
    };
    let keys = datasets(&file).unwrap().into_iter();
    keys.filter_map(|key| arrays_of(format!("{};{}", key.path, key.cycle))).collect()
}

/// Compares what is read through a cold and a warm cache with what is read without one.
fn check_files(files: &[&str]) {
    let mut unpacked = 0;
    for file in files {
        let file = testdata(file);
        let local = || Arc::new(LocalSource::open(&file).unwrap());
        let expected = values(local());
        for form in FORMS {
            let folder = tempfile::tempdir().unwrap();
            for state in ["cold", "warm"] {
                let source = cache(folder.path(), form).source(URL, local());
                assert!(values(source) == expected, "{} {form:?} {state}", file.display());
            }
            let cache = Cache::find(folder.path()).unwrap();
            assert!(cache.verify().unwrap().iter().all(|resource| resource.is_sound()));
            let bytes = cache.report().unwrap().resources[0].unpacked_bytes;
            assert!(bytes == 0 || form != Form::Stored);
            unpacked += bytes;
        }
    }
    assert!(unpacked > 10_000, "{unpacked} bytes of pages or baskets were kept unpacked");
}

#[test]
fn rntuples_have_the_same_values_through_a_cache() {
    check_files(&[
        "rntuple/codec-lz4.root",
        "rntuple/codec-none.root",
        "rntuple/codec-zstd.root",
        "rntuple/keys-600-0.root",
        "rntuple/keys-600-505.root",
        "rntuple/late.root",
        "rntuple/projections.root",
        "rntuple/representations.root",
        "rntuple/structures.root",
        "rntuple/types.root",
    ]);
}

#[test]
fn ttrees_have_the_same_values_through_a_cache() {
    check_files(&[
        "ttree/baskets.root",
        "ttree/events-lz4.root",
        "ttree/events-none.root",
        "ttree/events-zstd.root",
        "ttree/friends.root",
        "ttree/leaves.root",
        "ttree/objects1.root",
        "ttree/old_branches.root",
    ]);
}

/// Opens a dataset through a cache. Returns it with the source whose requests are counted.
fn open(folder: &Path, form: Form, bytes: &[u8]) -> (Arc<SlowSource>, Arc<dyn Dataset>) {
    let memory = Arc::new(MemorySource::new(URL, bytes.to_vec()));
    let origin = Arc::new(SlowSource::new(memory, far(1024)));
    let source = cache(folder, form).source(URL, origin.clone());
    let dataset = open_dataset(&RootFile::open(source).unwrap(), None).unwrap();
    (origin, dataset)
}

fn read(dataset: &dyn Dataset, step: usize) -> Vec<ArrayRef> {
    let names: Vec<String> = (0..100).step_by(step).map(|column| format!("c{column}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    dataset.read(&names, 0..dataset.num_entries(), &context()).unwrap()
}

#[test]
fn a_warm_cache_asks_the_origin_for_nothing() {
    let bytes = ntuple(0..5);
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let (_, dataset) = open(folder.path(), form, &bytes);
        let expected = read(dataset.as_ref(), 1);
        let (origin, dataset) = open(folder.path(), form, &bytes);
        assert!(read(dataset.as_ref(), 1) == expected, "{form:?}");
        assert!(read(dataset.as_ref(), 7) == read(dataset.as_ref(), 7));
        assert_eq!(origin.observed().requests, 0, "{form:?}");
        // Another form finds what is there, and fetches the rest.
        for other in FORMS {
            let (_, dataset) = open(folder.path(), other, &bytes);
            assert!(read(dataset.as_ref(), 1) == expected, "{form:?} and {other:?}");
        }
    }
}

#[test]
fn a_partly_warm_cache_takes_few_round_trips() {
    let bytes = ntuple(0..10);
    for form in FORMS {
        let folder = tempfile::tempdir().unwrap();
        let (_, dataset) = open(folder.path(), form, &bytes);
        let some = read(dataset.as_ref(), 10);
        let (origin, dataset) = open(folder.path(), form, &bytes);
        let all = read(dataset.as_ref(), 1);
        assert!(some.iter().zip(all.iter().step_by(10)).all(|(some, other)| some == other));
        let seen = origin.observed();
        assert!(seen.round_trips <= 3 && seen.requests <= 12, "{form:?} {seen:?}");
        assert!(seen.bytes <= bytes.len() as u64, "{form:?} {seen:?}");
    }
}

#[test]
fn a_damaged_unpacked_page_is_fetched_anew() {
    let bytes = ntuple(0..2);
    for form in [Form::Lz4, Form::Raw] {
        let folder = tempfile::tempdir().unwrap();
        let (_, dataset) = open(folder.path(), form, &bytes);
        let expected = read(dataset.as_ref(), 1);
        let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let data = entries.map(|path| path.join("data")).find(|path| path.exists()).unwrap();
        let mut damaged = fs::read(&data).unwrap();
        damaged.iter_mut().step_by(30_000).for_each(|byte| *byte ^= 1);
        fs::write(&data, damaged).unwrap();
        let (origin, dataset) = open(folder.path(), form, &bytes);
        assert!(read(dataset.as_ref(), 1) == expected, "{form:?}");
        assert!(origin.observed().requests > 0);
    }
}
