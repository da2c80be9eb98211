//! One conformance suite for all sources, and the I/O traces that recording gives.

#![allow(clippy::unwrap_used, clippy::single_range_in_vec_init)]

use std::io::{ErrorKind, Write};
use std::sync::Arc;

use nyssa_io::testing::{check_closed, check_source, content};
use nyssa_io::{Counters, LocalSource, MemorySource, RecordingSource, Source};

/// Every source over the same bytes, with the file that must outlive them.
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
    let error = source.read_range(40..90).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
    assert!(
        error.to_string().ends_with("it ends at byte 50 now, it was cut after it was opened"),
        "{error}"
    );
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
