//! Tests folders on servers with WebDAV, and on servers without.

use std::io::ErrorKind;

use nyssa_io::testing::{WebAnswer, WebServer};
use nyssa_io::{EntryKind, FolderEntry, kind, list};

/// Returns what lies in a folder, sorted by name.
fn names(url: &str) -> Vec<(String, EntryKind)> {
    let name = |entry: FolderEntry| (entry.name.into_string().unwrap(), entry.kind);
    let mut names: Vec<_> = list(url).unwrap().into_iter().map(name).collect();
    names.sort_by(|a, b| a.0.cmp(&b.0));
    names
}

/// Returns an answer of WebDAV; paths that end with a slash are folders.
fn multistatus(paths: &[&str]) -> WebAnswer {
    let response = |path: &&str| {
        let kind = if path.ends_with('/') { "<D:collection/>" } else { "" };
        format!(
            "<D:response><D:href>{path}</D:href><D:propstat><D:prop><D:resourcetype>{kind}\
             </D:resourcetype></D:prop></D:propstat></D:response>"
        )
    };
    let all: String = paths.iter().map(response).collect();
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
            "cannot list the folder {}: the server cannot list folders, because it has no WebDAV; \
             name each file, or write the names into a text file and name it as @LIST",
            server.url("/dir?...")
        );
        assert_eq!(error.to_string(), expected);
    }
}
