//! Tests opening and creating: from paths and URLs to bytes.

use std::fs;
use std::io::ErrorKind;

use std::sync::Arc;

use nyssa_io::testing::serve;
use nyssa_io::{
    EntryKind, FolderEntry, MemorySource, absolute, create, exists, is_same, is_url, kind, list,
    open, read, stage, update,
};

#[test]
fn paths_and_urls_of_files_lead_to_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a file%.root");
    fs::write(&path, "bytes").unwrap();
    let text = path.to_str().unwrap();
    let escaped = text.replace('%', "%25").replace(' ', "%20");
    for location in [
        text.to_owned(),
        format!("file://{text}"),
        format!("file://localhost{text}"),
        format!("file:{text}"),
        format!("FILE://{escaped}"),
    ] {
        let source = open(&location).unwrap();
        assert_eq!(source.name(), location);
        assert_eq!(source.read_range(0..5).unwrap(), "bytes");
        assert!(is_same(&location, &path), "{location}");
    }
    assert!(!is_same(&path, folder.path().join("other")));
}

#[test]
fn what_is_not_built_in_is_refused() {
    let why = "nyssa opens paths, and URLs of file, http, https, dav, davs, s3, root and roots, \
               not \
               ftp://; copy the file first";
    let location = "ftp://some.where//a.root";
    for (error, action) in [
        (open(location).err(), "open"),
        (create(location, true).err(), "create"),
        (stage(location, true).err(), "create"),
        (update(location).err(), "open for writing"),
        (read(location).err(), "read"),
        (kind(location).err(), "find"),
        (list(location).err(), "list the folder"),
    ] {
        let error = error.unwrap();
        assert_eq!(error.source.kind(), ErrorKind::Unsupported);
        assert_eq!(error.to_string(), format!("cannot {action} {location}: {why}"));
    }
    let location = "https://some.where/a.root";
    for (error, action, why) in [
        (
            create(location, true).err(),
            "create",
            "nyssa only reads https:// URLs; write a file here, and copy it",
        ),
        (
            update(location).err(),
            "open for writing",
            "files at https:// URLs cannot be changed; copy the file first, and back",
        ),
    ] {
        assert_eq!(error.unwrap().to_string(), format!("cannot {action} {location}: {why}"));
    }
    let error = open("file://other.host/a.root").err().unwrap();
    assert_eq!(
        error.to_string(),
        "cannot open file://other.host/a.root: a file:// URL names a file of this machine, not of \
         other.host"
    );
    // No URL, whatever it looks like.
    let error = open("run:3://a.root").err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::NotFound);
}

#[test]
fn files_are_made_and_changed_by_url() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.root");
    let url = format!("file://{}", path.display());
    let mut sink = create(&url, false).unwrap();
    sink.write_at(0, b"one").unwrap();
    sink.commit().unwrap();
    assert_eq!(create(&url, false).err().unwrap().source.kind(), ErrorKind::AlreadyExists);

    let (mut sink, staging) = stage(&url, true).unwrap();
    assert!(staging.open().is_err(), "nothing is there before the commit");
    sink.write_at(0, b"two").unwrap();
    sink.commit().unwrap();
    assert_eq!(staging.open().unwrap().read_range(0..3).unwrap(), "two");
    assert_eq!(fs::read(&path).unwrap(), b"one");
    staging.publish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");

    let opened = update(&url).unwrap();
    assert_eq!(opened.source.read_range(0..3).unwrap(), "two");
    let mut sink = opened.into_sink(3);
    sink.write_at(3, b" more").unwrap();
    sink.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two more");
}

fn sorted(folder: &str) -> Vec<(String, EntryKind)> {
    let name = |entry: FolderEntry| (entry.name.into_string().unwrap(), entry.kind);
    let mut entries: Vec<_> = list(folder).unwrap().into_iter().map(name).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    entries
}

#[test]
fn folders_are_listed() {
    use EntryKind::{File, Folder};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a b");
    fs::create_dir_all(path.join("sub")).unwrap();
    fs::write(path.join("one.root"), "bytes").unwrap();
    let base = path.to_str().unwrap();
    let served = "test://access/a b";
    serve(Arc::new(MemorySource::new(format!("{served}/one.root"), "bytes")));
    serve(Arc::new(MemorySource::new(format!("{served}/sub/deep/two.root"), "")));
    let url = format!("file://{}", base.replace(' ', "%20"));
    for base in [base, &format!("file:{base}"), &url, served] {
        assert_eq!(sorted(base), [("one.root".into(), File), ("sub".into(), Folder)], "{base}");
        assert_eq!(kind(base).unwrap(), Some(Folder), "{base}");
        let file = format!("{base}/one.root");
        assert_eq!(kind(&file).unwrap(), Some(File));
        assert_eq!(read(&file).unwrap(), b"bytes");
        assert!(exists(&file) && exists(base));
        let missing = format!("{base}/none");
        assert_eq!(kind(&missing).unwrap(), None);
        assert_eq!(kind(format!("{file}/none")).unwrap(), None);
        assert!(!exists(&missing));
        for error in [list(&missing).unwrap_err(), read(&missing).unwrap_err()] {
            assert_eq!(error.source.kind(), ErrorKind::NotFound, "{base}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_are_what_they_lead_to() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    symlink("folder", folder.path().join("link")).unwrap();
    symlink("nowhere", folder.path().join("lost")).unwrap();
    let base = folder.path().to_str().unwrap();
    let kinds = sorted(base).into_iter().map(|(_, kind)| kind).collect::<Vec<_>>();
    assert_eq!(kinds, [EntryKind::Folder, EntryKind::Folder, EntryKind::File]);
    assert_eq!(kind(format!("{base}/lost")).unwrap(), None);
}

#[test]
fn locations_for_other_folders_are_absolute() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(absolute("a.root").unwrap(), here.join("a.root"));
    assert_eq!(absolute("file:a.root").unwrap(), here.join("a.root"));
    for same in ["/data/a.root", "root://host//a.root"] {
        assert_eq!(absolute(same).unwrap().to_str(), Some(same));
    }
    assert_eq!(absolute("file:///data/a%20b").unwrap().to_str(), Some("file:///data/a%20b"));
    assert!(is_url("root://host//a.root") && is_url("FILE:///a"));
    assert!(!is_url("file:a.root") && !is_url("run:3://a.root"));
}

#[test]
fn lines_are_added_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    let (mut lines, before) = nyssa_io::lines(&path).unwrap();
    assert_eq!(before, "");
    lines.add("one").unwrap();
    lines.add("two").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
    // The process ended while it wrote the third line.
    fs::write(&path, "one\ntwo\nthr").unwrap();
    let (mut lines, before) = nyssa_io::lines(format!("file://{}", path.display())).unwrap();
    assert_eq!(before, "one\ntwo\nthr");
    lines.add("three").unwrap();
    lines.add("four").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthr\nthree\nfour\n");
    let error = nyssa_io::lines(folder.path()).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::IsADirectory);
    let error = nyssa_io::lines("/dev/full").unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::InvalidInput);
}

#[test]
fn urls_that_lack_a_slash_are_refused() {
    let error = open("root:/host//a.root").err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "cannot open root:/host//a.root: it is neither a path nor a URL: a URL of this kind is root://host//path, \
         with two slashes before the host and before the path"
    );
    let error = create("https:/host/a.root", true).err().unwrap();
    assert!(error.to_string().ends_with("a URL of this kind is https://host/path"), "{error}");
    // These are names of files.
    let folder = tempfile::tempdir().unwrap();
    for name in ["root:", "run:/a.root", "root:a.root"] {
        let error = open(folder.path().join(name)).err().unwrap();
        assert_eq!(error.source.kind(), ErrorKind::NotFound);
    }
}
