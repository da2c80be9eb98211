//! Tests new files on servers with WebDAV.

use std::io::ErrorKind;

use nyssa_io::create;
use nyssa_io::testing::{WebAnswer, WebServer};

/// Returns the URL of a server with the scheme `dav`.
fn dav(server: &WebServer, path: &str) -> String {
    server.url(path).replace("http://", "dav://")
}

/// Writes a file, and returns the methods and paths of the requests of the commit.
fn write(server: &WebServer, force: bool) -> (nyssa_io::Result<()>, Vec<(String, String)>) {
    let mut sink = create(dav(server, "/dir/a.root"), force).unwrap();
    sink.write_at(0, b"content").unwrap();
    server.reset();
    let done = sink.commit();
    // The name of a file that is not complete has a number.
    let part = |target: &str| match target.strip_suffix(".part") {
        Some(name) => name[..name.len() - 16].to_owned() + "*",
        None => target.to_owned(),
    };
    let requests =
        server.requests().into_iter().map(|request| (request.method, part(&request.target)));
    (done, requests.collect())
}

#[test]
fn a_new_file_appears_when_it_is_complete() {
    let (part, own) = ("/dir/.a.root.*", "/dir/a.root");
    // A file without bytes shows whether the server redirects.
    let put_and_move = || vec![("PUT", part), ("DELETE", part), ("PUT", part), ("MOVE", part)];
    let and_removed = || [put_and_move(), vec![("DELETE", part)]].concat();
    // The status of the answer to `MOVE`, the requests, and the error.
    for (moving, force, expected, error) in [
        (201, true, put_and_move(), ""),
        (201, false, [&put_and_move()[..3], &[("PROPFIND", own), ("MOVE", part)]].concat(), ""),
        (501, true, [and_removed(), vec![("PROPFIND", own), ("PUT", own)]].concat(), ""),
        (412, true, and_removed(), "it exists already"),
        (
            403,
            true,
            and_removed(),
            "the server answered 403 Forbidden; nyssa sends tokens only over https://",
        ),
    ] {
        let server = WebServer::start(move |request, _| match request.method.as_str() {
            "PUT" => {
                assert!(matches!(&request.body[..], b"" | b"content"));
                let length = request.body.len().to_string();
                assert_eq!(request.header("content-length"), Some(length.as_str()));
                WebAnswer::status(201, "")
            }
            "MOVE" => {
                assert!(request.header("destination").unwrap().ends_with("/dir/a.root"));
                assert_eq!(request.header("overwrite"), Some(if force { "T" } else { "F" }));
                WebAnswer::status(moving, "")
            }
            "DELETE" => WebAnswer::status(204, ""),
            _ => WebAnswer::status(404, ""),
        });
        let (done, requests) = write(&server.unwrap(), force);
        let requests: Vec<_> = requests.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        assert_eq!(requests, expected, "{moving}");
        let message = done.err().map(|error| error.source.to_string()).unwrap_or_default();
        assert_eq!(message, error, "{moving}");
    }
}

#[test]
fn what_cannot_be_sent_is_removed() {
    let server = WebServer::start(|request, _| match request.method.as_str() {
        "PUT" if !request.body.is_empty() => WebAnswer::status(507, "no room"),
        "PUT" | "DELETE" => WebAnswer::status(201, ""),
        _ => WebAnswer::status(404, ""),
    });
    let (done, requests) = write(&server.unwrap(), true);
    let said = "the server answered 507 Insufficient Storage: no room";
    assert_eq!(done.unwrap_err().source.to_string(), said);
    let methods: Vec<_> = requests.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(methods, ["PUT", "DELETE", "PUT", "DELETE"]);
}

#[test]
fn a_server_that_redirects_gets_the_bytes_nowhere_but_there() {
    let data = WebServer::start(|request, _| {
        assert_eq!((request.method.as_str(), &request.body[..]), ("PUT", &b"content"[..]));
        assert_eq!(request.header("authorization"), None);
        WebAnswer::status(201, "")
    });
    let data = data.unwrap();
    let target = data.url("/data?once=1");
    let server = WebServer::start(move |request, _| match request.method.as_str() {
        "PUT" => {
            assert!(request.body.is_empty());
            assert!(request.header("authorization").is_some());
            WebAnswer::status(307, "").with("Location", target.clone())
        }
        _ => WebAnswer::status(201, ""),
    });
    let server = server.unwrap();
    let url = dav(&server, "/dir/a.root").replace("dav://", "dav://name:password@");
    let mut sink = create(url, true).unwrap();
    sink.write_at(0, b"content").unwrap();
    sink.commit().unwrap();
    let methods: Vec<_> = server.requests().into_iter().map(|request| request.method).collect();
    assert_eq!(methods, ["PUT", "MOVE"]);
    assert_eq!(data.requests().len(), 1);
}

#[test]
fn a_file_that_is_there_is_not_replaced() {
    let server = WebServer::start(|_, _| {
        let response = "<D:response><D:href>/dir/a.root</D:href><D:propstat><D:prop><D:resourcetype/>\
                   </D:prop></D:propstat></D:response>";
        WebAnswer::status(
            207,
            &format!("<D:multistatus xmlns:D=\"DAV:\">{response}</D:multistatus>"),
        )
    });
    let url = dav(&server.unwrap(), "/dir/a.root");
    let error = create(&url, false).err().unwrap();
    let expected = format!("cannot create {url}: it exists already");
    assert_eq!(error.to_string(), expected);
    // A server that knows only a part of WebDAV.
    let server = WebServer::start(|request, _| match request.method.as_str() {
        "HEAD" => WebAnswer::status(200, ""),
        _ => WebAnswer::status(405, ""),
    });
    let error = create(dav(&server.unwrap(), "/dir/a.root"), false).err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::AlreadyExists);
    let error = create("davs://host/dir/", false).err().unwrap();
    let expected = "cannot create davs://host/dir/: it is the name of a folder, not of a file";
    assert_eq!(error.to_string(), expected);
}
