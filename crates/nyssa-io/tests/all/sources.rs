//! Runs one conformance suite for all sources, and tests the I/O traces that recording gives.

use std::fs;
use std::io::{ErrorKind, Write};
use std::sync::Arc;

use nyssa_io::testing::{Counters, RecordingSource, check_closed, check_source, content};
use nyssa_io::{LocalSource, MemorySource, Source};

/// Returns every source over the same bytes, with the file that must outlive them.
fn sources(data: &[u8]) -> (Vec<Arc<dyn Source>>, tempfile::NamedTempFile) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(data).unwrap();
    let local = nyssa_io::open(file.path()).unwrap();
    let memory: Arc<dyn Source> = Arc::new(MemorySource::new("memory", data.to_vec()));
    let recording = Arc::new(RecordingSource::new(local.clone()));
    // The file of its own: it is closed.
    let other = nyssa_io::open(file.path()).unwrap();
    (vec![other, memory, recording], file)
}

#[test]
fn every_source_keeps_its_promises() {
    let (sources, _file) = sources(&content());
    sources.iter().for_each(check_source);
    for (source, holds) in sources.iter().zip([true, false, true]) {
        check_closed(source, holds);
    }
}

#[test]
fn a_file_keeps_the_size_it_was_opened_with() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[1; 100]).unwrap();
    let source = LocalSource::open(file.path()).unwrap();
    file.write_all(&[2; 100]).unwrap();
    assert_eq!(source.size(), 100);
    let error = source.read_range(90..110).unwrap_err();
    assert!(error.to_string().ends_with("it has only 100 bytes"), "{error}");

    file.as_file().set_len(50).unwrap();
    for range in [40..90, 60..90, 40..50] {
        let error = source.read_range(range.clone()).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
        let expected = format!(
            "cannot read bytes {} to {} of {}: it ends at byte 50 now, because it was truncated \
             after it was opened",
            range.start,
            range.end,
            source.name()
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn old_and_new_bytes_of_a_file_are_never_mixed() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[1; 100]).unwrap();
    let source = LocalSource::open(file.path()).unwrap();
    assert_eq!(source.read_range(0..50).unwrap()[..], [1; 50]);
    // Another program writes as many bytes, in place. The time of the change must be another one.
    std::thread::sleep(std::time::Duration::from_millis(30));
    fs::OpenOptions::new().write(true).open(file.path()).unwrap().write_all(&[2; 100]).unwrap();
    let error = source.read_range(50..100).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::InvalidData);
    let expected = format!(
        "cannot read bytes 50 to 100 of {}: it was changed after it was opened; open it again",
        file.path().display()
    );
    assert_eq!(error.to_string(), expected);
    // A file that gets the name of another one changes nothing.
    let source = LocalSource::open(file.path()).unwrap();
    let other = tempfile::NamedTempFile::new_in(file.path().parent().unwrap()).unwrap();
    fs::rename(other.path(), file.path()).unwrap();
    assert_eq!(source.read_range(0..100).unwrap()[..], [2; 100]);
}

#[test]
fn what_is_not_a_file_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let error = LocalSource::open(folder.path()).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    assert!(error.to_string().ends_with("it is a folder, not a file"), "{error}");
    let missing = LocalSource::open(folder.path().join("missing.root")).unwrap_err();
    assert_eq!(missing.source.kind(), ErrorKind::NotFound);
    assert!(missing.to_string().starts_with("cannot open "), "{missing}");
    assert!(missing.to_string().contains("missing.root: "), "{missing}");
}

#[test]
fn recording_sees_every_request() {
    let source = RecordingSource::new(Arc::new(MemorySource::new("memory", vec![0; 100])));
    assert_eq!(source.counters(), Counters::default());
    source.read_ranges(&[0..10, 50..60]).unwrap();
    source.read_range(99..100).unwrap();
    source.read_range(99..101).unwrap_err();
    assert_eq!(source.counters(), Counters { requests: 3, ranges: 4, bytes: 23 });
    assert_eq!(source.trace(), [vec![0..10, 50..60], vec![99..100], vec![99..101]]);
    source.reset();
    assert_eq!(source.counters(), Counters::default());
}

#[cfg(target_os = "linux")]
mod on_disk {
    use std::fs::File;
    use std::ops::Range;

    use nyssa_io::fetch::Fetcher;
    use rustix::fs::{Advice, fadvise};

    use super::*;

    /// Writes the content to a file on disk, and removes it from the cache of the system.
    fn cold_file() -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        for _ in 0..8 {
            file.write_all(&content()).unwrap();
        }
        file.as_file().sync_all().unwrap();
        forget(file.as_file());
        file
    }

    fn forget(file: &File) {
        fadvise(file, 0, None, Advice::DontNeed).unwrap();
    }

    fn units() -> Vec<Vec<Range<u64>>> {
        let size = 8 * content().len() as u64;
        (0..size / 100_000).map(|i| vec![i * 100_000..(i + 1) * 100_000]).collect()
    }

    #[test]
    fn a_file_that_is_not_cached_is_read_with_several_requests() {
        let file = cold_file();
        let source = nyssa_io::open(file.path()).unwrap();
        let mut limits = source.limits_of(&units());
        for _ in 0..100 {
            if !limits.is_near() {
                break;
            }
            // The system keeps pages for a moment that another core has just used.
            std::thread::sleep(std::time::Duration::from_millis(20));
            forget(file.as_file());
            limits = source.limits_of(&units());
        }
        assert!(!limits.is_near() && limits.concurrency > 1, "{limits:?}");
        assert!(source.limits().is_near(), "for those who do not know what they will read");
        let fetcher = Fetcher::new(&source, units(), u64::MAX);
        let whole: Vec<u8> = (0..8).flat_map(|_| content()).collect();
        let mut seen = 0;
        while let Some(fetched) = fetcher.next(&|| false) {
            let fetched = fetched.unwrap();
            let start = fetched.unit * 100_000;
            assert!(fetched.bytes[0][..] == whole[start..start + 100_000], "{}", fetched.unit);
            seen += 1;
        }
        assert_eq!(seen, units().len());
        // The system has the bytes now.
        assert!(source.limits_of(&units()).is_near());
        // One short range is one request in any case.
        forget(file.as_file());
        assert!(source.limits_of(&[vec![0..1000]]).is_near());
    }

    #[test]
    fn wrappers_pass_on_where_the_bytes_are() {
        let file = cold_file();
        let recording = RecordingSource::new(nyssa_io::open(file.path()).unwrap());
        assert!(!recording.limits_of(&units()).is_near());
    }

    #[test]
    fn a_file_that_is_cut_while_it_is_fetched_is_an_error() {
        let file = cold_file();
        let source = nyssa_io::open(file.path()).unwrap();
        file.as_file().set_len(5_000_000).unwrap();
        assert!(!source.limits_of(&units()).is_near());
        let fetcher = Fetcher::new(&source, units(), u64::MAX);
        let failed = std::iter::from_fn(|| fetcher.next(&|| false)).find_map(Result::err);
        let error = failed.unwrap().error;
        assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
        let reason = "it ends at byte 5000000 now, because it was truncated after it was opened";
        assert_eq!(error.source.to_string(), reason);
    }

    #[test]
    fn a_closed_file_is_not_looked_at() {
        let file = cold_file();
        let source = nyssa_io::open(file.path()).unwrap();
        source.close();
        assert!(source.limits_of(&units()).is_near());
    }
}
