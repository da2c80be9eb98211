//! Tests what a conversion refuses, and that it leaves nothing behind then.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::jobs::{files, open, run, threads, verified};
use nyssa_jobs::convert::{ToRNTuple, convert};
use nyssa_jobs::job::OutputOptions;
use nyssa_root::Kind;
use nyssa_testdata::{data, testdata};
use nyssa_ttree as ttree;

#[test]
fn an_existing_output_is_replaced_only_by_force() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("out.root"), "precious").unwrap();
    let error = run(&input, "Events", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), Kind::AlreadyExists);
    assert!(error.to_string().contains("it exists already"), "{error}");
    assert_eq!(std::fs::read(folder.path().join("out.root")).unwrap(), b"precious");
    run(
        &input,
        "Events",
        folder.path(),
        &ToRNTuple { output: OutputOptions { force: true, ..verified().output }, ..verified() },
    )
    .unwrap();
    assert_eq!(files(folder.path()), ["out.root"]);
    assert_ne!(std::fs::read(folder.path().join("out.root")).unwrap(), b"precious");
}

/// Converts a copy of a file to `output(copy)`, which is the same file by another way.
fn refuses_itself(output: impl Fn(&Path) -> std::path::PathBuf) {
    let original = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("in.root");
    std::fs::copy(&original, &copy).unwrap();
    let output = output(&copy);
    let before = files(folder.path());
    let options =
        ToRNTuple { output: OutputOptions { force: true, ..verified().output }, ..verified() };
    let error = convert(&open(&copy), "Events", &output, &options, &threads(1)).unwrap_err();
    assert!(error.to_string().contains("the output is the input file"), "{error}");
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&original).unwrap());
    assert_eq!(files(folder.path()), before);
}

#[test]
fn the_input_is_never_overwritten() {
    refuses_itself(Path::to_owned);
    refuses_itself(|copy| copy.parent().unwrap().join(".").join("in.root"));
}

#[cfg(unix)]
#[test]
fn the_input_is_never_overwritten_by_way_of_links() {
    refuses_itself(|copy| {
        let link = copy.with_file_name("symbolic.root");
        std::os::unix::fs::symlink(copy, &link).unwrap();
        link
    });
    refuses_itself(|copy| {
        let link = copy.with_file_name("hard.root");
        std::fs::hard_link(copy, &link).unwrap();
        link
    });
}

#[test]
fn stopping_leaves_nothing() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out.root");
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let context = threads(2)
        .with_cancel(Arc::clone(&stop))
        .with_progress(Arc::new(move |_, _| seen.store(true, Ordering::Relaxed)));
    let error = convert(&open(&input), "Events", &output, &verified(), &context).unwrap_err();
    assert_eq!(error.kind(), Kind::Cancelled);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn progress_ends_with_all_bytes() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let last = Arc::new(std::sync::Mutex::new((0, 1)));
    let seen = Arc::clone(&last);
    let context = threads(2)
        .with_progress(Arc::new(move |done, total| *seen.lock().unwrap() = (done, total)));
    let output = folder.path().join("out.root");
    convert(&open(&input), "Events", &output, &ToRNTuple::default(), &context).unwrap();
    let (done, total) = *last.lock().unwrap();
    assert!(done == total && total > 10_000, "{done} of {total}");
}

#[test]
fn no_branch_is_an_error() {
    let input = testdata("ttree/events-zlib.root");
    let folder = tempfile::tempdir().unwrap();
    let mut options = verified();
    options.input.include = vec!["nothing*".to_owned()];
    let error = run(&input, "Events", folder.path(), &options).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(error.to_string().contains("no branch matches \"nothing*\""), "{error}");
    let mut options = verified();
    options.input.exclude = vec!["*".to_owned()];
    let error = run(&input, "Events", folder.path(), &options).unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidArgument);
    assert!(error.to_string().contains("no branch is left to convert"), "{error}");
    let mut options = verified();
    options.input.exclude = vec!["Jett*".to_owned()];
    let error = run(&input, "Events", folder.path(), &options).unwrap_err();
    assert!(error.to_string().contains("no branch matches \"Jett*\""), "{error}");
    let error = run(&input, "absent", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), Kind::NotFound);
    assert!(files(folder.path()).is_empty());
}

/// Tests a counter that says something else than the baskets of what it counts.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn a_counter_that_disagrees_is_refused() {
    let original = data("ttree/uproot-sample-6.20.04-uncompressed.root");
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("in.root");
    let reader = ttree::Reader::open(&open(&original), "sample").unwrap();
    let counter = reader.branch("n").unwrap();
    let mut bytes = std::fs::read(&original).unwrap();
    // Key: 4 bytes size, 2 version, 4 object size, 4 time, 2 key length; then 32-bit counts.
    let key = usize::try_from(counter.baskets[0].seek).unwrap();
    let length = usize::from(u16::from_be_bytes([bytes[key + 14], bytes[key + 15]]));
    let third = key + length + 2 * 4 + 3;
    assert!(bytes[third] < 5, "a small count");
    bytes[third] += 1;
    std::fs::write(&copy, bytes).unwrap();
    let error = run(&copy, "sample", folder.path(), &verified()).unwrap_err();
    assert_eq!(error.kind(), Kind::OutOfSpecification, "{error}");
    assert!(error.place().field.is_some() && error.place().object.is_some(), "{error}");
    assert_eq!(files(folder.path()), ["in.root"]);
}
