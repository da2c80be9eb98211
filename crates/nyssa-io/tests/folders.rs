//! Folders on servers with WebDAV, and on servers without.

#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;

use nyssa_io::testing::{WebAnswer, WebServer, check_source};
use nyssa_io::{Entry, EntryKind, kind, list};

/// Returns what lies in a folder, sorted by name.
fn names(url: &str) -> Vec<(String, EntryKind)> {
    let name = |entry: Entry| (entry.name.into_string().unwrap(), entry.kind);
    let mut names: Vec<_> = list(url).unwrap().into_iter().map(name).collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    names
}

/// Returns an answer of WebDAV; paths that end with a slash are folders.
fn multistatus(paths: &[&str]) -> WebAnswer {
    let one = |path: &&str| {
        let kind = if path.ends_with('/') { "<D:collection/>" } else { "" };
        format!(
            "<D:response><D:href>{path}</D:href><D:propstat><D:prop><D:resourcetype>{kind}\
             </D:resourcetype></D:prop></D:propstat></D:response>"
        )
    };
    let all: String = paths.iter().map(one).collect();
    WebAnswer::status(207, &format!("<D:multistatus xmlns:D=\"DAV:\">{all}</D:multistatus>"))
}

#[test]
fn a_server_with_webdav_lists_folders() {
    let server = WebServer::start(|request, _| {
        let depth = request.header("depth");
        match (request.method.as_str(), request.target.as_str(), depth) {
            ("PROPFIND", "/dir/", Some("1")) => {
                multistatus(&["/dir/", "/dir/a%20b%25.root", "/dir/sub/"])
            }
            // A gate to another server, which has other paths.
            ("PROPFIND", "/gate/", Some("1")) => {
                multistatus(&["/store/x/a.root", "/store/x/", "/store/x/b.root"])
            }
            ("PROPFIND", "/a.root/", Some("1")) => multistatus(&["/a.root"]),
            ("PROPFIND", "/dir", Some("0")) => multistatus(&["/dir/"]),
            ("PROPFIND", "/a.root", Some("0")) => multistatus(&["/a.root"]),
            _ => WebAnswer::status(404, ""),
        }
    });
    let server = server.unwrap();
    let url = |path: &str| server.url(path).replace("http://", "dav://");
    let (file, folder) = (EntryKind::File, EntryKind::Folder);
    let expected = [("a b%25.root".to_owned(), file), ("sub".to_owned(), folder)];
    assert_eq!(names(&url("/dir")), expected);
    assert_eq!(names(&url("/dir/")), expected);
    assert_eq!(names(&url("/dir/.")), expected);
    let expected = [("a.root".to_owned(), file), ("b.root".to_owned(), file)];
    assert_eq!(names(&server.url("/gate")), expected);
    assert_eq!(kind(url("/dir")).unwrap(), Some(folder));
    assert_eq!(kind(url("/a.root")).unwrap(), Some(file));
    assert_eq!(kind(url("/none")).unwrap(), None);
    assert_eq!(list(url("/none")).unwrap_err().source.kind(), ErrorKind::NotFound);
    let error = list(url("/a.root")).unwrap_err();
    let expected = format!("cannot list the folder {}: it is not a folder", url("/a.root"));
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_server_without_webdav_says_so() {
    for status in [200, 405, 501] {
        let server = WebServer::start(move |_, _| WebAnswer::status(status, "<html>")).unwrap();
        let error = list(server.url("/dir?secret=1")).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::Unsupported);
        let expected = format!(
            "cannot list the folder {}: the server lists no folders (WebDAV); name each file, as in a list \
             (@LIST)",
            server.url("/dir?...")
        );
        assert_eq!(error.to_string(), expected);
    }
}

mod real_xrootd {
    use std::fs;
    use std::net::TcpListener;

    use nyssa_testdata::xrootd::Xrootd;

    use super::*;

    #[test]
    #[ignore = "needs xrootd"]
    fn xrootd_lists_folders_over_http() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("data/dir/sub")).unwrap();
        let content = nyssa_io::testing::content();
        fs::write(folder.path().join("data/dir/a b.root"), &content).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!("xrd.protocol http:{port} libXrdHttp.so\n");
        let _server = Xrootd::start(folder.path(), &config);
        // This port opens after that of XRootD.
        for _ in 0..100 {
            if std::net::TcpStream::connect(("127.0.0.1", port)).is_ok() {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        let url = |path: &str| format!("dav://localhost:{port}{path}");
        let (file, folder) = (EntryKind::File, EntryKind::Folder);
        let expected = [("a b.root".to_owned(), file), ("sub".to_owned(), folder)];
        assert_eq!(names(&url("/dir")), expected);
        assert_eq!(names(&url("/")), [("dir".to_owned(), folder)]);
        assert_eq!(list(url("/dir/sub")).unwrap(), []);
        assert_eq!(kind(url("/dir")).unwrap(), Some(folder));
        assert_eq!(kind(url("/dir/a b.root")).unwrap(), Some(file));
        assert_eq!(kind(url("/none")).unwrap(), None);
        let source = nyssa_io::open(url("/dir/a b.root")).unwrap();
        check_source(&source);
        // Short ranges come together when the server has proven that it answers that.
        for step in 0..16 {
            source.read_range(300_000 + step..300_010 + step).unwrap();
        }
        assert_eq!(source.limits().max_ranges, 32);
        let ranges = [300_000..300_010, 400_000..400_010, 500_000..500_010];
        let read = source.read_ranges(&ranges).unwrap();
        for (range, bytes) in ranges.iter().zip(read) {
            assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
        }
    }
}
