//! Tests an XRootD server that fails in every way: right values, or a clear error in time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nyssa_io::fetch::{hedge_counts, read_all};
use nyssa_io::testing::{check_source, content};
use nyssa_io::{OpenOptions, Result, Source, open_with};
use nyssa_xrootd::testing::{
    CHECKED_SERVER, ClientRequest, DATA_SERVER, MANAGER, Reply, ScriptedXrootd,
};
use nyssa_xrootd::wire::Status;

const LOGIN: u16 = 3007;
const OPEN: u16 = 3010;
const READ: u16 = 3013;
const READV: u16 = 3025;
const STAT: u16 = 3017;
const PGREAD: u16 = 3030;

/// Time limits that are shorter than a person would wait.
fn short() -> OpenOptions {
    let mut options = OpenOptions::default();
    let xrootd = &mut options.xrootd;
    xrootd.connection_window = Some(Duration::from_millis(1500));
    xrootd.connection_retry = Some(2);
    xrootd.request_timeout = Some(Duration::from_secs(3));
    xrootd.stream_timeout = Some(Duration::from_millis(400));
    options
}

fn open(url: &str) -> Result<Arc<dyn Source>> {
    open_with(url, &short())
}

fn server(
    flags: u32,
    script: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
) -> ScriptedXrootd {
    ScriptedXrootd::start(content(), flags, script).unwrap()
}

/// Returns a sound server.
fn sound(flags: u32) -> ScriptedXrootd {
    server(flags, |_, answer| Reply::Send(answer))
}

/// Returns a server that treats the requests of one kind in its own way: on the first connection, or on all.
fn faulty(
    flags: u32,
    id: u16,
    always: bool,
    reply: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
) -> ScriptedXrootd {
    server(flags, move |request, answer| {
        match request.id == id && (always || request.connection == 0) {
            true => reply(request, answer),
            false => Reply::Send(answer),
        }
    })
}

/// The reply for each fault, with what a client says that meets it again and again.
type Fault = (u32, u16, fn(&ClientRequest, Vec<u8>) -> Reply, &'static str);

const FAULTS: [Fault; 9] = [
    (DATA_SERVER, READ, |_, answer| half(answer), "it closed the connection"),
    (DATA_SERVER, READV, |_, answer| half(answer), "it closed the connection"),
    (
        DATA_SERVER,
        READ,
        |_, answer| Reply::Send(answer[..answer.len() / 2].to_vec()),
        "it was silent for 0.4 s; XRD_STREAMTIMEOUT sets the limit",
    ),
    (
        DATA_SERVER,
        READV,
        |_, _| Reply::Send(Vec::new()),
        "it was silent for 0.4 s; XRD_STREAMTIMEOUT sets the limit",
    ),
    (
        DATA_SERVER,
        READ,
        |request, _| Reply::Send(request.answer(Status::Ok, &[0; 100_000])),
        "it sent an answer of 100000 bytes to a request for at most 300 bytes",
    ),
    (
        DATA_SERVER,
        READV,
        |_, mut answer| {
            answer[8 + 7] ^= 1;
            Reply::Send(answer)
        },
        "it sent 301 bytes at 10 where bytes 10 to 310 were requested",
    ),
    (
        DATA_SERVER,
        READ,
        |_, mut answer| {
            answer[..2].copy_from_slice(&[0xff, 0xfe]);
            Reply::Send(answer)
        },
        "it sent an answer to a request that nyssa did not send (65534)",
    ),
    (
        DATA_SERVER,
        READ,
        |_, mut answer| {
            answer[2..4].copy_from_slice(&[0x20, 0]);
            Reply::Send(answer)
        },
        "it sent an answer of the unknown status 8192",
    ),
    (
        CHECKED_SERVER,
        PGREAD,
        |_, mut answer| {
            *answer.last_mut().unwrap() ^= 1;
            Reply::Send(answer)
        },
        "it sent bytes 10 to 310 of the file with a wrong checksum",
    ),
];

fn half(answer: Vec<u8>) -> Reply {
    Reply::SendAndClose(answer[..answer.len() / 2].to_vec())
}

/// Reads by the request of this id.
fn read(source: &Arc<dyn Source>, id: u16) -> Result<Vec<u8>> {
    match id {
        READV => Ok(source.read_ranges(&[10..310, 5_000..5_100])?[0].to_vec()),
        _ => Ok(source.read_range(10..310)?.to_vec()),
    }
}

#[test]
fn a_fault_that_passes_is_not_seen() {
    for (flags, id, reply, fault) in FAULTS {
        let server = faulty(flags, id, false, reply);
        let source = open(&server.url("/a")).unwrap();
        assert_eq!(read(&source, id).unwrap(), content()[10..310], "{fault}");
        let opened = server.requests().iter().filter(|request| request.id == OPEN).count();
        assert_eq!(opened, 2, "{fault}");
    }
}

#[test]
fn a_fault_that_stays_is_an_error_in_time() {
    for (flags, id, reply, fault) in FAULTS {
        let server = faulty(flags, id, true, reply);
        let url = server.url("/a");
        let source = open(&url).unwrap();
        let begun = Instant::now();
        let error = read(&source, id).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(3), "{fault}: {:?}", begun.elapsed());
        let what = if id == READV { "read 2 ranges of" } else { "read bytes 10 to 310 of" };
        let expected =
            format!("cannot {what} {url}: the server 127.0.0.1:{}: {fault}", server.port());
        assert_eq!(error.to_string(), expected);
        // That would say that the file is too short.
        assert_ne!(error.source.kind(), ErrorKind::UnexpectedEof, "{fault}");
    }
}

#[test]
fn a_connection_that_is_stuck_is_not_waited_for() {
    // The first connection is silent from the first reading on.
    let server = faulty(DATA_SERVER, READ, false, |_, _| Reply::Send(Vec::new()));
    // The time limits are the defaults of users, which are longer than this test.
    let source = nyssa_io::open(server.url("/a")).unwrap();
    let begun = Instant::now();
    let range = 300_000..300_100;
    let read = read_all(&source, std::slice::from_ref(&range)).unwrap();
    assert_eq!(read, [&content()[300_000..300_100]]);
    assert!(begun.elapsed() < Duration::from_millis(1_900), "{:?}", begun.elapsed());
    let counts = hedge_counts(source.name());
    assert_eq!((counts.repeated, counts.won), (1, 1));
    let last = server.requests().into_iter().rfind(|request| request.id == READ).unwrap();
    assert_eq!(last.connection, 1, "the second request has a connection of its own");
}

#[test]
fn a_sound_script_is_a_source() {
    for flags in [DATA_SERVER, CHECKED_SERVER] {
        let server = sound(flags);
        check_source(&open(&server.url("/a")).unwrap());
    }
}

#[test]
fn parts_and_late_answers_are_put_together() {
    let server = server(DATA_SERVER, |request, answer| {
        let body = &answer[8..];
        match request.id {
            READ => {
                let (first, second) = body.split_at(100);
                let first = request.answer(Status::OkSoFar, first);
                Reply::Send([first, request.answer(Status::Ok, second)].concat())
            }
            READV => {
                let later = request.answer(Status::WaitAnswer, &5_u32.to_be_bytes());
                // The number of the action, four bytes, and the answer itself.
                let inside = [&5008_u32.to_be_bytes()[..], &[0; 4], &answer].concat();
                let message = request.answer(Status::Attention, &[0; 30]);
                Reply::Send([later, message, request.answer(Status::Attention, &inside)].concat())
            }
            _ => Reply::Send(answer),
        }
    });
    let source = open(&server.url("/a")).unwrap();
    assert_eq!(read(&source, READ).unwrap(), content()[10..310]);
    assert_eq!(read(&source, READV).unwrap(), content()[10..310]);
}

#[test]
fn an_open_file_costs_one_packet_after_the_login() {
    let server = sound(DATA_SERVER);
    let source = open(&server.url("/a?x=1")).unwrap();
    read(&source, READ).unwrap();
    source.close();
    let requests: Vec<(u16, String)> =
        server.requests().iter().map(|request| (request.id, request.text())).collect();
    let ids: Vec<u16> = requests.iter().map(|request| request.0).collect();
    // The reading comes with a question for the version of the file.
    assert_eq!(ids[..6], [3006, 3007, 3010, 3001, 3013, 3017]);
    assert!(requests[1].1.starts_with("xrd.appname="), "{requests:?}");
    assert_eq!(requests[2].1, "/a?x=1");
    // The second file needs no login, and the limits are known.
    let source = open(&server.url("/b")).unwrap();
    read(&source, READ).unwrap();
    let ids: Vec<u16> = server.requests().iter().map(|request| request.id).collect();
    assert_eq!(ids[6..], [3003, 3010, 3013, 3017]);
}

#[test]
fn a_file_that_was_changed_in_place_is_an_error() {
    let changed = |request: &ClientRequest, answer: Vec<u8>| match request.id {
        STAT => Reply::Send(request.answer(Status::Ok, b"1 1200000 16 1700000001\0")),
        _ => Reply::Send(answer),
    };
    let server = server(DATA_SERVER, changed);
    let url = server.url("/a");
    let source = open(&url).unwrap();
    for id in [READ, READV] {
        let error = read(&source, id).unwrap_err();
        assert_eq!(error.source.kind(), ErrorKind::InvalidData);
        let expected = format!(
            "it is another file now: on the server 127.0.0.1:{} it has 1200000 bytes, changed at 1700000001 \
             (seconds since 1970); it had 1200000, changed at 1700000000",
            server.port()
        );
        assert!(error.to_string().ends_with(&expected), "{error}");
    }
}

#[test]
fn a_server_that_does_not_know_the_version_of_an_open_file_is_asked_once() {
    let server = server(DATA_SERVER, |request, answer| match request.id {
        STAT => Reply::Send(request.numbered(Status::Error, 3006, "a path is missing")),
        _ => Reply::Send(answer),
    });
    let source = open(&server.url("/a")).unwrap();
    for _ in 0..3 {
        assert_eq!(read(&source, READ).unwrap(), content()[10..310]);
    }
    assert_eq!(server.requests().iter().filter(|request| request.id == STAT).count(), 1);
}

#[test]
fn replicas_are_tried_one_after_the_other() {
    let good = sound(DATA_SERVER);
    let dying = faulty(DATA_SERVER, READ, true, |_, answer| half(answer));
    let missing = faulty(DATA_SERVER, OPEN, true, |request, _| {
        Reply::Send(request.numbered(Status::Error, 3011, "no such file"))
    });
    let ports = [missing.port(), dying.port(), good.port()];
    let hosts = ["localhost", "127.0.0.1", "127.0.0.1"];
    let manager = faulty(MANAGER, OPEN, true, move |request, _| {
        let failed = request.text().split("tried=").nth(1).unwrap_or_default().to_owned();
        let next = match failed.as_str() {
            "" => 0,
            "localhost" => 1,
            // The file is open, and its server was lost.
            "127.0.0.1" => 2,
            other => panic!("tried={other}"),
        };
        let place = format!("{}?token={next}", hosts[next]);
        Reply::Send(request.numbered(Status::Redirect, ports[next].into(), &place))
    });
    let source = open(&manager.url("/a?x=1")).unwrap();
    assert_eq!(read(&source, READ).unwrap(), content()[10..310]);
    let paths = |server: &ScriptedXrootd| -> Vec<String> {
        server
            .requests()
            .iter()
            .filter(|request| request.id == OPEN)
            .map(ClientRequest::text)
            .collect()
    };
    assert_eq!(paths(&missing), ["/a?x=1&token=0"]);
    assert_eq!(paths(&dying), ["/a?x=1&token=1"]);
    assert_eq!(paths(&good), ["/a?x=1&token=2"]);
    assert_eq!(paths(&manager), ["/a?x=1", "/a?x=1&tried=localhost", "/a?x=1&tried=127.0.0.1"]);
}

#[test]
fn what_was_not_found_anywhere_is_not_found() {
    let missing = faulty(DATA_SERVER, OPEN, true, |request, _| {
        Reply::Send(request.numbered(Status::Error, 3011, "no such file"))
    });
    let port = missing.port();
    let manager =
        faulty(MANAGER, OPEN, true, move |request, _| match request.text().contains("tried=") {
            true => Reply::Send(request.numbered(Status::Error, 3011, "no more replicas")),
            false => Reply::Send(request.numbered(Status::Redirect, port.into(), "127.0.0.1")),
        });
    let url = manager.url("/a");
    let error = open(&url).err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::NotFound);
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{port} says: no such file (kXR_NotFound); then the \
         server 127.0.0.1:{} says: no more replicas (kXR_NotFound)",
        manager.port()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn servers_that_lead_in_circles_are_left() {
    let mut options = short();
    options.xrootd.redirect_limit = Some(5);
    let own = ScriptedXrootd::start(content(), MANAGER, |request, answer| match request.id {
        OPEN => {
            let place = request.text().split("self=").nth(1).unwrap_or_default().to_owned();
            let port = place.parse().unwrap_or(0);
            Reply::Send(request.numbered(Status::Redirect, port, "127.0.0.1"))
        }
        _ => Reply::Send(answer),
    })
    .unwrap();
    let url = own.url(&format!("/a?self={}", own.port()));
    let error = open_with(&url, &options).err().unwrap();
    let place = format!("127.0.0.1:{}", own.port());
    // Messages show no CGI, in which tokens may be.
    let url = own.url("/a?...");
    let expected = format!(
        "cannot open {url}: the servers redirect more than 5 times, the last time from {place} to \
         {place}; XRD_REDIRECTLIMIT sets the limit"
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn waiting_ends_with_the_request() {
    let server = faulty(DATA_SERVER, OPEN, true, |request, _| {
        Reply::Send(request.numbered(Status::Wait, 1, "staging from tape"))
    });
    let url = server.url("/a");
    let begun = Instant::now();
    let error = open(&url).err().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(4));
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{} asks to wait 1 s more (staging from tape), \
         but a request may take 3 s; XRD_REQUESTTIMEOUT sets the limit",
        server.port()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.source.kind(), ErrorKind::TimedOut);
    // A server that asks to wait once is waited for.
    let asked_before = std::sync::atomic::AtomicBool::new(false);
    let busy = faulty(DATA_SERVER, READ, true, move |request, answer| {
        match asked_before.swap(true, std::sync::atomic::Ordering::Relaxed) {
            true => Reply::Send(answer),
            false => Reply::Send(request.numbered(Status::Wait, 1, "")),
        }
    });
    let source = open(&busy.url("/a")).unwrap();
    assert_eq!(read(&source, READ).unwrap(), content()[10..310]);
}

#[test]
fn an_answer_that_is_put_off_for_ever_ends_with_the_request() {
    let server = faulty(DATA_SERVER, READ, true, |request, _| {
        Reply::Send(request.answer(Status::WaitAnswer, &600_u32.to_be_bytes()))
    });
    let url = server.url("/a");
    let source = open(&url).unwrap();
    let error = read(&source, READ).unwrap_err();
    let expected = format!(
        "cannot read bytes 10 to 310 of {url}: the server 127.0.0.1:{} did not answer within 3 s; \
         XRD_REQUESTTIMEOUT sets the limit",
        server.port()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_server_that_never_speaks_is_left() {
    let server = faulty(DATA_SERVER, LOGIN, true, |_, _| Reply::Send(Vec::new()));
    let url = server.url("/a");
    let error = open(&url).err().unwrap();
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{}: no session began within 1.5 s; \
         XRD_CONNECTIONWINDOW sets the limit",
        server.port()
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.source.kind(), ErrorKind::TimedOut);
}

#[test]
fn another_kind_of_server_is_told_apart() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let mut request = [0; 20];
            let _ = socket.read_exact(&mut request);
            let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let url = format!("root://127.0.0.1:{port}//a");
    let error = open(&url).err().unwrap();
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{port} sent an answer of the unknown status 21584; \
         is it an XRootD server?"
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_server_that_is_not_there_is_an_error_in_time() {
    let port = TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let url = format!("root://127.0.0.1:{port}//a");
    let error = open(&url).err().unwrap();
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{port}: connecting to 127.0.0.1:{port} failed: \
         Connection refused (os error 111)"
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.source.kind(), ErrorKind::ConnectionRefused);
    let error = open("root://no.such.host.invalid//a").err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::HostUnreachable);
    let start = "cannot open root://no.such.host.invalid//a: the name of the server \
                 no.such.host.invalid:1094 was not found: ";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn a_file_that_changes_is_an_error() {
    // It was cut.
    let server = faulty(DATA_SERVER, READ, true, |request, answer| {
        Reply::Send(request.answer(Status::Ok, &answer[8..50]))
    });
    let url = server.url("/a");
    let error = read(&open(&url).unwrap(), READ).unwrap_err();
    let why = "it ends at byte 52 now, because it was truncated after it was opened";
    assert_eq!(error.to_string(), format!("cannot read bytes 10 to 310 of {url}: {why}"));
    assert_eq!(error.source.kind(), ErrorKind::UnexpectedEof);
    // Another one took its place while the connection was lost.
    let server =
        self::server(DATA_SERVER, |request, answer| match (request.id, request.connection) {
            (READ, 0) => half(answer),
            (OPEN, 1) => {
                let stat = b"\0\0\0\x06\0\0\0\0\0\0\0\x001 1200001 16 1700000000\0";
                Reply::Send(request.answer(Status::Ok, stat))
            }
            _ => Reply::Send(answer),
        });
    let url = server.url("/a");
    let error = read(&open(&url).unwrap(), READ).unwrap_err();
    let expected = format!(
        "cannot read bytes 10 to 310 of {url}: it is another file now: on the server 127.0.0.1:{} it \
         has 1200001 bytes, changed at 1700000000 (seconds since 1970); it had 1200000, changed at \
         1700000000",
        server.port()
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_file_that_cannot_be_written_is_removed() {
    const WRITE: u16 = 3019;
    const RM: u16 = 3014;
    const MV: u16 = 3009;
    let full = |request: &ClientRequest, _| {
        Reply::Send(request.numbered(Status::Error, 3009, "no space left"))
    };
    let dies = |_: &ClientRequest, _| Reply::SendAndClose(Vec::new());
    type Script = fn(&ClientRequest, Vec<u8>) -> Reply;
    let table: [(Script, ErrorKind, &str); 2] = [
        (full, ErrorKind::StorageFull, " says: no space left (kXR_NoSpace)"),
        (dies, ErrorKind::ConnectionReset, ": it closed the connection"),
    ];
    for (reply, kind, fault) in table {
        let server = faulty(DATA_SERVER, WRITE, true, reply);
        let url = server.url("/a.root");
        let mut sink = nyssa_io::create(&url, true).unwrap();
        sink.write_at(0, b"some bytes").unwrap();
        let error = sink.commit().unwrap_err();
        let place = format!("127.0.0.1:{}", server.port());
        let expected = format!("cannot finish writing {url}: the server {place}{fault}");
        assert_eq!((error.source.kind(), error.to_string()), (kind, expected));
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.id != MV));
        let removed = requests.iter().find(|request| request.id == RM).unwrap().text();
        let opened = requests.iter().find(|request| request.id == OPEN).unwrap().text();
        assert!(opened.starts_with("/.a.root.") && opened.ends_with(".part"), "{opened}");
        assert_eq!(removed, opened);
    }
}

#[test]
fn methods_that_are_not_known_are_named() {
    let server = faulty(DATA_SERVER, LOGIN, true, |request, _| {
        let methods = b"&P=gsi,v:10600,c:ssl&P=krb5,xrootd/host@CERN.CH\0";
        Reply::Send(request.answer(Status::Ok, &[&[7; 16][..], methods].concat()))
    });
    let url = server.url("/a");
    let error = open(&url).err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::PermissionDenied);
    let expected = format!(
        "cannot open {url}: the server 127.0.0.1:{} asks for gsi or krb5, which nyssa does not \
         support; install nyssa[xrootd], and nyssa uses XRootD's own client for it",
        server.port()
    );
    assert_eq!(error.to_string(), expected);
    // The name of the user is enough for this one.
    let server = faulty(DATA_SERVER, LOGIN, true, |request, _| {
        let methods = b"&P=gsi,v:10600&P=unix\0";
        Reply::Send(request.answer(Status::Ok, &[&[7; 16][..], methods].concat()))
    });
    let url = format!("root://me@127.0.0.1:{}//a", server.port());
    assert_eq!(open(&url).unwrap().size(), 1_200_000);
    let shown = server.requests().into_iter().find(|request| request.id == 3000).unwrap();
    assert_eq!((&shown.parameters[12..], &shown.data[..]), (&b"unix"[..], &b"unix\0me\0"[..]));
}
