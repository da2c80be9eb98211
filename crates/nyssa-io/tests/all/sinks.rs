//! Tests sinks: all or nothing is under the final name.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;

use nyssa_io::{LocalSink, MemorySink, Sink};
use proptest::prelude::*;

fn names(folder: &tempfile::TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_visible_before_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut sink = LocalSink::create(&path, false).unwrap();
    sink.write_at(0, b"root").unwrap();
    assert!(!path.exists());
    Box::new(sink).commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"root");
    assert_eq!(names(&folder), ["out.root"]);
}

#[test]
fn bytes_on_the_disk_are_not_visible_before_the_commit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut sink = LocalSink::create(&path, false).unwrap();
    sink.write_at(0, b"root").unwrap();
    sink.sync_early().unwrap();
    // What was collected is in the file now.
    let partial = folder.path().join(&names(&folder)[0]);
    assert_eq!(fs::read(partial).unwrap(), b"root");
    assert!(!path.exists());
    sink.write_at(2, b"m of ROOT").unwrap();
    Box::new(sink).commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"rom of ROOT");
}

#[test]
fn a_dropped_sink_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut sink = LocalSink::create(folder.path().join("out.root"), false).unwrap();
    sink.write_at(0, &vec![1; 3 << 20]).unwrap();
    assert_eq!(names(&folder).len(), 1);
    drop(sink);
    assert_eq!(names(&folder), [""; 0]);

    let (mut sink, handle) = MemorySink::new("memory");
    sink.write_at(0, b"root").unwrap();
    drop(sink);
    assert!(!handle.is_ready());
    assert_eq!(handle.take(), b"");
}

#[test]
fn an_existing_file_is_replaced_only_by_force() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    fs::write(&path, "old").unwrap();
    let error = LocalSink::create(&path, false).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
    assert_eq!(error.to_string(), format!("cannot create {}: it exists already", path.display()));

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let mut sink = LocalSink::create(&path, true).unwrap();
    sink.write_at(0, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    Box::new(sink).commit().unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(names(&folder), ["out.root"]);
}

#[test]
fn a_file_that_appeared_meanwhile_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut sink = LocalSink::create(&path, false).unwrap();
    sink.write_at(0, b"ours").unwrap();
    fs::write(&path, "theirs").unwrap();
    let error = (Box::new(sink) as Box<dyn Sink>).commit().unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
    assert_eq!(
        error.to_string(),
        format!("cannot finish writing {}: it exists already", path.display())
    );
    assert_eq!(fs::read(&path).unwrap(), b"theirs");
    assert_eq!(names(&folder), ["out.root"]);
}

#[test]
fn only_files_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let error = LocalSink::create(folder.path(), true).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    assert!(error.to_string().ends_with("it is a folder, not a file"), "{error}");
    let missing = folder.path().join("missing/out.root");
    let error = LocalSink::create(&missing, true).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with(&format!("cannot create {}: ", missing.display())));
}

#[cfg(unix)]
#[test]
fn permissions_are_those_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let path = folder.path().join("out.root");
    Box::new(LocalSink::create(&path, false).unwrap()).commit().unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&path), mode(&plain));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("file"), folder.path().join("link"));
    fs::write(&file, "old").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let mut sink = LocalSink::create(&link, true).unwrap();
    sink.write_at(0, b"new").unwrap();
    Box::new(sink).commit().unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
}

#[test]
fn a_relative_name_is_beside_the_working_folder() {
    let name = format!("sink-test-{}.part-of-test", std::process::id());
    let mut sink = LocalSink::create(&name, false).unwrap();
    sink.write_at(0, b"x").unwrap();
    Box::new(sink).commit().unwrap();
    let content = fs::read(&name);
    fs::remove_file(&name).unwrap();
    assert_eq!(content.unwrap(), b"x");
}

/// An offset no file system takes stands in for a full disk.
#[cfg(target_os = "linux")]
#[test]
fn a_failed_write_names_the_file_and_cannot_be_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut sink = LocalSink::create(&path, false).unwrap();
    let far = i64::MAX as u64 - 10;
    let error = sink.write_at(far, &vec![0; 2 << 20]).unwrap_err();
    assert!(
        error.to_string().starts_with(&format!(
            "cannot write 2097152 bytes at byte {far} of {}: ",
            path.display()
        )),
        "{error}"
    );
    let reason = error.to_string().rsplit_once(": ").unwrap().1.to_owned();
    let error = Box::new(sink).commit().unwrap_err();
    let expected = format!("an earlier write to it failed: {reason}");
    assert!(error.to_string().ends_with(&expected), "{error}");
    assert_eq!(names(&folder), [""; 0]);
}

/// Other threads write beside the sink, and their errors fail its commit.
#[cfg(target_os = "linux")]
#[test]
fn other_threads_write_beside_a_sink() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let mut local = LocalSink::create(&path, false).unwrap();
    let (mut memory, handle) = MemorySink::new("memory");
    for sink in [&mut local as &mut dyn Sink, &mut memory] {
        sink.write_at(0, b"ab").unwrap();
        let beside = sink.beside().unwrap();
        std::thread::spawn(move || beside.write_at(4, b"ef").unwrap()).join().unwrap();
        sink.write_at(2, b"cd").unwrap();
    }
    Box::new(local).commit().unwrap();
    Box::new(memory).commit().unwrap();
    assert_eq!((fs::read(&path).unwrap(), handle.take()), (b"abcdef".to_vec(), b"abcdef".to_vec()));

    // Bytes behind the old content of a file that is changed are removed without a commit.
    let add = || {
        let mut sink = nyssa_io::update(&path).unwrap().into_sink(6);
        sink.write_at(6, b"gh").unwrap();
        let beside = sink.beside().unwrap();
        std::thread::spawn(move || beside.write_at(8, b"ij").unwrap()).join().unwrap();
        sink
    };
    drop(add());
    assert_eq!(fs::read(&path).unwrap(), b"abcdef");
    add().commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"abcdefghij");
    // A file to which nothing was added keeps its time, so that those who read it may go on.
    let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
    fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    drop(nyssa_io::update(&path).unwrap());
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), time);
    // Another program has changed it meanwhile.
    let sink = add();
    fs::write(&path, b"ABCDEFGHIJ").unwrap();
    let error = sink.beside().unwrap().write_at(8, b"ij").unwrap_err();
    assert!(error.to_string().ends_with("another program has changed it since it was opened"));
    drop(sink);
    assert_eq!(fs::read(&path).unwrap(), b"ABCDEFGHIJ");

    let local = Box::new(LocalSink::create(&path, true).unwrap());
    let changed = nyssa_io::update(&path).unwrap().into_sink(10);
    let memory = Box::new(MemorySink::new("memory").0);
    for sink in [local as Box<dyn Sink>, changed, memory] {
        let error = sink.beside().unwrap().write_at(i64::MAX as u64 - 1, b"abc").unwrap_err();
        let reason = error.to_string().rsplit_once(": ").unwrap().1.to_owned();
        let error = sink.commit().unwrap_err();
        let expected = format!("an earlier write to it failed: {reason}");
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"ABCDEFGHIJ");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Buffering changes nothing: both sinks hold what a plain byte vector would.
    #[test]
    fn writes_land_where_they_belong(
        writes in prop::collection::vec(
            (
                prop_oneof![Just(None), (0u64..3_000_000).prop_map(Some)],
                prop_oneof![8 => 0usize..2_000, 2 => 0usize..2_500_000],
            ),
            0..40,
        ),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.root");
        let mut local = LocalSink::create(&path, false).unwrap();
        let (mut memory, handle) = MemorySink::new("memory");
        let mut expected = Vec::new();
        let mut end = 0;
        for (index, (offset, len)) in writes.into_iter().enumerate() {
            // Mostly in sequence, as files are written.
            let start = offset.unwrap_or(end);
            let data = vec![index as u8 + 1; len];
            local.write_at(start, &data).unwrap();
            memory.write_at(start, &data).unwrap();
            end = start + len as u64;
            if !data.is_empty() {
                expected.resize(expected.len().max(end as usize), 0);
                expected[start as usize..end as usize].copy_from_slice(&data);
            }
        }
        Box::new(local).commit().unwrap();
        Box::new(memory).commit().unwrap();
        prop_assert!(fs::read(&path).unwrap() == expected);
        prop_assert!(handle.take() == expected);
    }
}

#[test]
fn a_staged_file_is_readable_before_it_has_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let (mut sink, staging) = LocalSink::staged(&path, false).unwrap();
    assert!(staging.open().is_err(), "nothing is there before the commit");
    sink.write_at(0, b"content").unwrap();
    Box::new(sink).commit().unwrap();
    assert!(!path.exists());
    assert_eq!(staging.open().unwrap().read_range(0..7).unwrap(), "content");
    staging.publish().unwrap();
    assert!(staging.open().is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"content");
}

#[test]
fn a_staged_file_that_is_not_published_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    let (sink, staging) = LocalSink::staged(folder.path().join("out"), false).unwrap();
    Box::new(sink).commit().unwrap();
    drop(staging);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn publishing_does_not_replace_a_file_that_has_appeared() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out");
    let (sink, staging) = LocalSink::staged(&path, false).unwrap();
    Box::new(sink).commit().unwrap();
    std::fs::write(&path, "other").unwrap();
    let error = staging.publish().unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).unwrap(), b"other");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
