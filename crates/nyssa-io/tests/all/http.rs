//! Tests files on servers that speak HTTP, with and without faults.

use std::io::ErrorKind;
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nyssa_io::fetch::{hedge_counts, read_all, with_ends};
use nyssa_io::testing::{
    WebAnswer, WebRequest, WebServer, check_closed, check_source, content, impatient,
};
use nyssa_io::{Error, OpenOptions, Source, open_with};

fn open(url: &str) -> nyssa_io::Result<Arc<dyn Source>> {
    open_with(url, &impatient())
}

fn server(answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static) -> WebServer {
    WebServer::start(answer).unwrap()
}

/// Returns a server whose answers change once `after` requests have come: the first two open the file.
fn later(
    after: usize,
    answer: impl Fn(WebAnswer) -> WebAnswer + Send + Sync + 'static,
) -> WebServer {
    let content = content();
    server(move |request, number| {
        let plain = WebAnswer::of(request, &content);
        if number < after { plain } else { answer(plain) }
    })
}

/// Returns the error of reading bytes in the middle of a file that was opened without one.
fn error_of_reading(server: &WebServer) -> Error {
    let source = open(&server.url("/a.root")).unwrap();
    source.read_range(600_000..600_100).unwrap_err()
}

#[test]
fn a_file_of_a_server_is_a_source() {
    let server = WebServer::of(content()).unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    assert_eq!(source.name(), server.url("/a.root"));
    check_source(&source);
    check_closed(&source, true);
}

#[test]
fn both_ends_come_at_once_and_only_once() {
    let content = content();
    let size = content.len() as u64;
    let server = WebServer::of(content.clone()).unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    assert_eq!(source.read_range(0..1000).unwrap(), content[..1000]);
    assert_eq!(source.read_range(size - 1000..size).unwrap(), content[content.len() - 1000..]);
    let mut requested: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.header("range").unwrap().to_owned())
        .collect();
    requested.sort();
    assert_eq!(requested, ["bytes=-49152", "bytes=0-49151"]);
    source.read_range(600_000..600_010).unwrap();
    let last = server.requests().pop().unwrap();
    assert_eq!(last.header("range"), Some("bytes=600000-600009"));
    assert_eq!(last.header("accept-encoding"), Some("identity"));
    // There are servers that do not know the names in small letters.
    assert!(last.lines.contains(&"Range: bytes=600000-600009".to_owned()), "{:?}", last.lines);
}

#[test]
fn later_files_of_a_server_are_opened_with_the_bytes_that_earlier_ones_used() {
    let server = WebServer::of(content()).unwrap();
    let size = content().len() as u64;
    let options = OpenOptions::default();
    let requested = |file: &str, ranges: &[Range<u64>]| {
        server.reset();
        let source = with_ends(open_with(server.url(file), &options).unwrap()).unwrap();
        source.read_ranges(ranges).unwrap();
        let mut ranges_of_file: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.header("range").unwrap().to_owned())
            .collect();
        ranges_of_file.sort();
        ranges_of_file
    };
    let metadata = [0..16_000, size - 8_000..size];
    assert_eq!(requested("/a.root", &metadata), ["bytes=-49152", "bytes=0-49151"]);
    assert_eq!(requested("/b.root", &metadata), ["bytes=-9000", "bytes=0-17999"]);
    // Only the version of a file that was open before is asked for.
    assert_eq!(requested("/a.root", &metadata), ["bytes=0-4095"]);
}

#[test]
fn small_and_empty_files_need_no_second_request() {
    for len in [0, 1, 1000, 60_000] {
        let content = content()[..len].to_vec();
        let server = WebServer::of(content.clone()).unwrap();
        let source = open(&server.url("/a.root")).unwrap();
        server.reset();
        assert_eq!(source.read_range(0..len as u64).unwrap(), content);
        assert_eq!(server.requests().len(), 0);
    }
}

#[test]
fn a_server_that_promises_bytes_behind_the_end_is_asked_again() {
    let server = server(|request, _| {
        let bytes = b"small";
        match request.header("range") {
            Some("bytes=0-4") => WebAnswer::of(request, bytes),
            // As XRootD 5.5 does: it then sends nothing.
            Some(range) if range.starts_with("bytes=0-") => {
                let answer = WebAnswer::status(206, &"x".repeat(49_152));
                WebAnswer { stuck: Some(0), ..answer }.with("Content-Range", "bytes 0-49151/5")
            }
            _ => WebAnswer::status(200, "small"),
        }
    });
    let source = open(&server.url("/a.root")).unwrap();
    assert_eq!(source.read_range(0..5).unwrap(), &b"small"[..]);
}

#[test]
fn a_server_without_parts_is_read_whole_or_refused() {
    let content = content();
    let body = content.clone();
    let small =
        server(move |_, _| WebAnswer { status: 200, body: body.clone(), ..WebAnswer::default() });
    let source = open(&small.url("/a.root")).unwrap();
    check_source(&source);
    let large = server(|_, _| WebAnswer::status(200, "").with("Content-Length", "20000000"));
    let error = open(&large.url("/a.root")).err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::Unsupported);
    let expected = format!(
        "cannot open {}: the server sends only whole files, and this one has 20000000 bytes; copy \
         it to this machine first",
        large.url("/a.root")
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_file_that_does_not_come_by_parts_any_more_is_read_whole_once_or_refused() {
    let content = content();
    let whole =
        |body: &[u8]| WebAnswer { status: 200, body: body.to_vec(), ..WebAnswer::default() };
    let body = content.clone();
    let turned = later(2, move |_| whole(&body));
    let source = open(&turned.url("/a.root")).unwrap();
    for range in [600_000..600_100, 300_000..300_100, 0..1_200_000] {
        let expected = &content[range.start as usize..range.end as usize];
        assert_eq!(source.read_range(range).unwrap(), expected);
    }
    assert_eq!(turned.requests().len(), 3);
    let other = error_of_reading(&later(2, move |_| whole(&[0; 100])));
    assert!(other.source.to_string().contains("(it has another size)"), "{other}");
    let version = error_of_reading(&later(2, move |_| whole(&[0; 100]).with("ETag", "\"two\"")));
    assert!(version.source.to_string().contains("(it has another ETag)"), "{version}");
    // A large file is not read whole for each of its parts.
    let large = vec![7; (16 << 20) + 1];
    let server = server(move |request, number| match number {
        0 | 1 => WebAnswer::of(request, &large),
        _ => WebAnswer::status(200, "").with("Content-Length", ((16 << 20) + 1).to_string()),
    });
    let error = error_of_reading(&server);
    let reason = "the server answered a request for a part with the whole file";
    assert_eq!(error.source.to_string(), reason);
}

#[test]
fn statuses_are_errors_of_their_kind() {
    for (status, body, kind, reason) in [
        (
            404,
            "<html><head><title>404 Not Found</title>",
            ErrorKind::NotFound,
            "the server answered 404 Not Found",
        ),
        (
            403,
            "you may not\nsee this",
            ErrorKind::PermissionDenied,
            "the server answered 403 Forbidden: you may not; nyssa sends tokens only over https://",
        ),
        (418, "", ErrorKind::Other, "the server answered 418 I'm a teapot"),
    ] {
        let server = server(move |_, _| WebAnswer::status(status, body));
        let error = open(&server.url("/a.root?secret=1")).err().unwrap();
        let expected = format!("cannot open {}: {reason}", server.url("/a.root?..."));
        assert_eq!((error.source.kind(), error.to_string()), (kind, expected));
    }
}

#[test]
fn what_passes_is_tried_again() {
    for status in [429, 500, 502, 503, 504] {
        let content = content();
        let bytes = content.clone();
        // Fails while opening, and while reading.
        let server = server(move |request, number| match number {
            0 | 3 | 4 => WebAnswer::status(status, "later"),
            _ => WebAnswer::of(request, &bytes),
        });
        let source = open(&server.url("/a.root")).unwrap();
        assert_eq!(source.read_range(500_000..500_100).unwrap(), content[500_000..500_100]);
    }
}

#[test]
fn what_does_not_pass_ends_with_the_deadline() {
    let server = later(2, |_| WebAnswer::status(503, "closed for today"));
    let begin = Instant::now();
    let error = error_of_reading(&server);
    let elapsed = begin.elapsed();
    assert!(elapsed < Duration::from_secs(4), "{elapsed:?}");
    let text = error.to_string();
    let start = format!(
        "cannot read bytes 600000 to 600100 of {}: the server answered 503 Service Unavailable: closed \
         for today; all requests in ",
        server.url("/a.root")
    );
    assert!(text.starts_with(&start), "{text}");
    let end = " s failed: try again later, or set NYSSA_HTTP_DEADLINE to more seconds";
    assert!(text.ends_with(end), "{text}");
    assert!(server.requests().len() > 4);
}

#[test]
fn the_server_may_say_when() {
    let server = later(2, |plain| match plain.status {
        206 => WebAnswer::status(503, "").with("Retry-After", "3600"),
        _ => plain,
    });
    let begin = Instant::now();
    let error = error_of_reading(&server);
    assert!(begin.elapsed() < Duration::from_secs(1), "an hour is longer than the deadline");
    assert!(error.to_string().contains("503 Service Unavailable; one request in 0."), "{error}");
}

#[test]
fn a_server_that_never_answers_is_not_waited_for() {
    let server = later(2, |plain| WebAnswer { delay: Duration::from_secs(60), ..plain });
    let begin = Instant::now();
    let error = error_of_reading(&server);
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert_eq!(error.source.kind(), ErrorKind::TimedOut);
    assert!(
        error.source.to_string().starts_with("the server did not answer in time; all requests in "),
        "{error}"
    );
}

#[test]
fn an_answer_that_stops_in_the_middle_comes_again() {
    let content = content();
    let bytes = content.clone();
    let server = server(move |request, number| {
        let plain = WebAnswer::of(request, &bytes);
        let stuck = (number == 2).then_some(plain.body.len() / 2);
        WebAnswer { stuck, ..plain }
    });
    // The timeouts are the defaults of users, which are longer than this test.
    let source = nyssa_io::open(server.url("/a.root")).unwrap();
    let begin = Instant::now();
    let read = read_all(&source, &[300_000..700_000]).unwrap();
    assert_eq!(read, [&content[300_000..700_000]]);
    assert!(begin.elapsed() < Duration::from_millis(1_900), "{:?}", begin.elapsed());
    assert_eq!(server.requests()[2].header("range"), server.requests()[3].header("range"));
    let counts = hedge_counts(source.name());
    assert_eq!((counts.repeated, counts.won), (1, 1));
}

/// Reads enough short ranges that the server is asked for a proof.
fn read_many(source: &Arc<dyn Source>) {
    for step in 0..16 {
        source.read_range(300_000 + step..300_010 + step).unwrap();
    }
}

/// Reads 20 short ranges that are far from each other by the fetcher, and checks the bytes.
fn read_twenty(source: &Arc<dyn Source>, content: &[u8]) {
    let ranges: Vec<_> = (0..20_u64).map(|i| 270_000 + i * 30_000..270_100 + i * 30_000).collect();
    let read = read_all(source, &ranges).unwrap();
    for (range, bytes) in ranges.iter().zip(read) {
        assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
    }
}

#[test]
fn several_ranges_are_one_request_once_the_server_has_proven_it() {
    let content = content();
    let server = WebServer::of(content.clone()).unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    read_many(&source);
    let proof = server.requests().pop().unwrap();
    assert_eq!(proof.header("range"), Some("bytes=0-31,3200-3231,300015-300024"));
    assert_eq!(source.limits().max_ranges, 32);
    server.reset();
    let ranges = [300_000..300_010, 0..5, 400_000..400_010, 7..7, 500_000..500_010];
    let read = source.read_ranges(&ranges).unwrap();
    for (range, bytes) in ranges.iter().zip(read) {
        assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
    }
    let expected = "bytes=300000-300009,400000-400009,500000-500009";
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].header("range"), Some(expected));
    // Another file of the server needs no proof, and is read by fewer requests.
    let other = open(&server.url("/b.root")).unwrap();
    server.reset();
    read_twenty(&other, &content);
    assert!(server.requests().len() < 10, "{} requests", server.requests().len());
    let beyond = other.read_ranges(&[300_000..300_010, 1_199_999..1_200_001]).unwrap_err();
    assert_eq!(beyond.source.kind(), ErrorKind::UnexpectedEof);
}

/// Reads 60 short ranges that are far from each other by one plan, and checks the bytes. Returns the number of ranges
/// of each request.
fn read_sixty(server: &WebServer, content: &[u8]) -> Vec<usize> {
    let source = open_with(server.url("/a.root"), &OpenOptions::default()).unwrap();
    server.reset();
    let ranges: Vec<_> = (0..60_u64).map(|i| 60_000 + i * 18_000..60_100 + i * 18_000).collect();
    for (range, bytes) in ranges.iter().zip(read_all(&source, &ranges).unwrap()) {
        assert_eq!(bytes[..], content[range.start as usize..range.end as usize]);
    }
    let count = |request: &WebRequest| request.header("range").unwrap().split(',').count();
    server.requests().iter().map(count).collect()
}

#[test]
fn a_plan_of_many_short_ranges_asks_for_the_proof_first() {
    let content = content();
    let proving = WebServer::of(content.clone()).unwrap();
    // All 60 ranges lie behind the bytes that came with the opening, and before the bytes of the end.
    let mut numbers = read_sixty(&proving, &content);
    assert_eq!(numbers.remove(0), 3);
    assert_eq!(numbers.iter().sum::<usize>(), 60);
    assert_eq!(numbers.len(), 2);
    assert!(read_sixty(&proving, &content).iter().all(|&ranges| ranges > 3));
    // Another server gives the whole file, and a third one is silent: their ranges are read one by one.
    for (status, delay) in [(200, 0), (206, 20)] {
        let bytes = content.clone();
        let refusing = server(move |request, _| {
            let plain = WebAnswer::of(request, &bytes);
            match request.ranges(bytes.len() as u64) {
                Some(_) => WebAnswer { status, delay: Duration::from_secs(delay), ..plain },
                None => plain,
            }
        });
        let begin = Instant::now();
        let mut numbers = read_sixty(&refusing, &content);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        numbers.sort_unstable();
        assert_eq!(numbers, [vec![1; 60], vec![3]].concat());
    }
}

/// A function that makes a wrong answer to a request for several ranges, of the request, the file and the
/// right answer.
type Wrong = fn(&WebRequest, &[u8], WebAnswer) -> WebAnswer;

const WRONG: [(&str, Wrong); 8] = [
    ("the whole file", |_, content, _| WebAnswer {
        status: 200,
        body: content.to_vec(),
        ..WebAnswer::default()
    }),
    ("an error", |_, _, _| WebAnswer::status(400, "too many ranges")),
    ("no such range", |_, content, _| {
        WebAnswer::status(416, "").with("Content-Range", format!("bytes */{}", content.len()))
    }),
    ("an error in the body", |_, _, plain| WebAnswer {
        body: b"500 Internal Server Error".to_vec(),
        ..plain
    }),
    ("merged ranges", |request, content, _| {
        let all = request.ranges(content.len() as u64).unwrap();
        let span = all[0].start..all[all.len() - 1].end;
        WebAnswer::several(&[span], content)
    }),
    ("another order", |request, content, _| {
        let mut all = request.ranges(content.len() as u64).unwrap();
        all.reverse();
        WebAnswer::several(&all, content)
    }),
    ("the first range only", |request, content, _| {
        let first = request.ranges(content.len() as u64).unwrap().swap_remove(0);
        let place = format!("bytes {}-{}/{}", first.start, first.end - 1, content.len());
        let body = content[first.start as usize..first.end as usize].to_vec();
        WebAnswer { status: 206, body, ..WebAnswer::default() }.with("Content-Range", place)
    }),
    ("half of the body", |_, _, plain| WebAnswer { cut: Some(plain.body.len() / 2), ..plain }),
];

#[test]
fn wrong_answers_to_several_ranges_end_such_requests() {
    let content = content();
    // The answer is wrong from the proof on, or after it.
    for (right, (what, wrong)) in [0, 1].iter().flat_map(|right| WRONG.map(|case| (*right, case))) {
        let bytes = content.clone();
        let several = std::sync::atomic::AtomicUsize::new(0);
        let server = server(move |request, _| {
            let plain = WebAnswer::of(request, &bytes);
            let is_several = request.header("range").is_some_and(|range| range.contains(','));
            let before = || several.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if is_several && before() >= right { wrong(request, &bytes, plain) } else { plain }
        });
        let source = open(&server.url("/a.root")).unwrap();
        read_many(&source);
        assert_eq!(source.limits().max_ranges, if right == 0 { 1 } else { 32 }, "{what}");
        read_twenty(&source, &content);
        let is_cut = right > 0 && what == "half of the body";
        assert_eq!(source.limits().max_ranges, if is_cut { 32 } else { 1 }, "{what}");
        read_twenty(&source, &content);
    }
}

#[test]
fn wrong_bytes_in_several_ranges_are_no_proof() {
    let content = content();
    let bytes = content.clone();
    let server = server(move |request, _| {
        let mut plain = WebAnswer::of(request, &bytes);
        if request.ranges(bytes.len() as u64).is_some() {
            let last = plain.body.len() - 20;
            plain.body[last] ^= 1;
        }
        plain
    });
    let source = open(&server.url("/a.root")).unwrap();
    read_many(&source);
    assert_eq!(source.limits().max_ranges, 1);
    read_twenty(&source, &content);
}

#[test]
fn half_an_answer_is_completed() {
    let content = content();
    let bytes = content.clone();
    let server = server(move |request, number| {
        let plain = WebAnswer::of(request, &bytes);
        let cut = (number == 2).then_some(plain.body.len() / 2);
        WebAnswer { cut, ..plain }
    });
    let source = open(&server.url("/a.root")).unwrap();
    assert_eq!(source.read_range(300_000..700_000).unwrap(), content[300_000..700_000]);
    // Only what was missing is asked for again.
    let second = server.requests()[3].clone();
    assert_eq!(second.header("range"), Some("bytes=500000-699999"));
}

/// Returns the answer of a server that sends at most `most` bytes of a range, which RFC 9110 allows.
fn short(request: &WebRequest, content: &[u8], most: usize) -> WebAnswer {
    let mut answer = WebAnswer::of(request, content);
    let Some(range) = request.range(content.len() as u64).filter(|_| answer.body.len() > most)
    else {
        return answer;
    };
    answer.body.truncate(most);
    answer.headers.retain(|(name, _)| *name != "Content-Range");
    let (first, size) = (range.start, content.len());
    answer.with("Content-Range", format!("bytes {first}-{}/{size}", first + most as u64 - 1))
}

#[test]
fn the_rest_of_a_short_answer_is_asked_for_at_once() {
    let content = content();
    let bytes = content.clone();
    let server = server(move |request, _| short(request, &bytes, 10_000));
    let source = open(&server.url("/a.root")).unwrap();
    let begin = Instant::now();
    assert_eq!(source.read_range(0..1000).unwrap(), content[..1000]);
    assert_eq!(source.read_range(300_000..700_000).unwrap(), content[300_000..700_000]);
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    assert_eq!(server.requests().last().unwrap().header("range"), Some("bytes=690000-699999"));
    check_source(&source);
}

#[test]
fn short_answers_without_end_are_an_error_in_time() {
    let content = content();
    let server = server(move |request, number| match number {
        0 | 1 => WebAnswer::of(request, &content),
        _ => WebAnswer { delay: Duration::from_millis(20), ..short(request, &content, 1) },
    });
    let source = open(&server.url("/a.root")).unwrap();
    let begin = Instant::now();
    let error = source.read_range(300_000..700_000).unwrap_err().to_string();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(
        error.contains("the server sent 1 of ") && error.contains(" try again later"),
        "{error}"
    );
}

#[test]
fn answers_that_are_wrong_are_refused() {
    for length in ["500", "99"] {
        let wrong = later(2, move |plain| plain.with("Content-Length", length));
        let error = error_of_reading(&wrong);
        let reason = format!(
            "the server sends {length} bytes instead of the 100 bytes of its Content-Range; 4 \
             requests had wrong answers: check the host"
        );
        assert!(error.source.to_string().starts_with(&reason), "{error}");
    }
    for (range, reason) in [
        (
            "bytes 600000-600098/1200000",
            "the server sends 100 bytes instead of the 99 bytes of its Content-Range",
        ),
        (
            "bytes 600000-600100/1200000",
            "the server answered a request for bytes 600000-600099 with bytes 600000-600100/1200000",
        ),
        ("nonsense", "the server answered a request for bytes 600000-600099 with nonsense"),
    ] {
        let wrong = later(2, move |plain| plain.with("Content-Range", range));
        let error = error_of_reading(&wrong);
        assert!(error.source.to_string().starts_with(reason), "{error}");
        assert_eq!(error.source.kind(), ErrorKind::InvalidData);
    }
    let odd = server(|_, _| WebAnswer::status(206, "x").with("Content-Range", "bytes 5-5/9"));
    let error = open(&odd.url("/a.root")).err().unwrap();
    let reason = "the server answered a request for a part with bytes 5-5/9; 4 requests had wrong ";
    assert!(error.source.to_string().starts_with(reason), "{error}");
}

#[test]
fn a_file_that_was_replaced_is_an_error() {
    for (header, value, what) in [
        ("ETag", "\"two\"", "it has another ETag"),
        ("Last-Modified", "Tue", "it has another Last-Modified"),
        ("Content-Range", "bytes 600000-600099/1200001", "it has another size"),
    ] {
        let content = content();
        let server = server(move |request, number| {
            let plain = WebAnswer::of(request, &content).with("Last-Modified", "Mon");
            if number < 2 { plain } else { plain.with(header, value) }
        });
        let error = error_of_reading(&server);
        let reason =
            format!("it was changed on the server after it was opened ({what}); open it again");
        assert_eq!(error.source.to_string(), reason);
        assert_eq!(server.requests().len(), 3, "nothing is tried again");
    }
    let cut = later(2, |_| WebAnswer::status(416, "").with("Content-Range", "bytes */10"));
    let reason =
        "it was changed on the server after it was opened (it is shorter now); open it again";
    assert_eq!(error_of_reading(&cut).source.to_string(), reason);
}

#[test]
fn redirects_are_followed_and_remembered() {
    let content = content();
    let bytes = content.clone();
    let data = Arc::new(WebServer::of(bytes).unwrap());
    let target = data.url("/data?ticket=7");
    let head = server(move |_, _| WebAnswer::status(307, "").with("Location", target.clone()));
    let url = head.url("/a.root").replace("http://", "http://me:secret@");
    let source = open(&url).unwrap();
    for start in [300_000, 400_000, 500_000] {
        let range = start..start + 10;
        assert_eq!(source.read_range(range).unwrap(), content[start as usize..start as usize + 10]);
    }
    assert_eq!(source.name(), head.url("/a.root"));
    assert_eq!(head.requests().len(), 2, "only what opens the file is asked there");
    // As `printf 'me:secret' | base64` has it.
    let basic = Some("Basic bWU6c2VjcmV0");
    assert!(head.requests().iter().all(|request| request.header("authorization") == basic));
    assert!(data.requests().iter().all(|request| request.header("authorization").is_none()));
    assert!(data.requests().iter().all(|request| request.target == "/data?ticket=7"));
}

#[test]
fn a_redirect_that_ends_is_asked_for_again() {
    let content = content();
    let bytes = content.clone();
    // Tickets up to this number have expired. A slow request may be made twice, so that no request is known by its number.
    let expired = Arc::new(AtomicUsize::new(0));
    let valid = expired.clone();
    let data = server(move |request, _| {
        let ticket = request.target.rsplit('=').next().unwrap().parse::<usize>().unwrap();
        match ticket <= valid.load(Ordering::SeqCst) {
            true => WebAnswer::status(403, "the ticket has expired"),
            false => WebAnswer::of(request, &bytes),
        }
    });
    let target = data.url("/data?ticket=");
    let head = server(move |_, number| {
        WebAnswer::status(302, "").with("Location", format!("{target}{}", number + 1))
    });
    let source = open(&head.url("/a.root")).unwrap();
    let read = |start: usize| {
        let range = start as u64..start as u64 + 10;
        assert_eq!(source.read_range(range).unwrap(), content[start..start + 10]);
    };
    read(300_000);
    let before = head.requests().len();
    expired.store(before, Ordering::SeqCst);
    read(400_000);
    let after = head.requests().len();
    assert!(after > before, "the redirect is asked for again: {after} and {before} times");
    read(500_000);
}

#[test]
fn redirects_in_circles_end() {
    let server = server(|_, _| WebAnswer::status(302, "").with("Location", "/again"));
    let error = open(&server.url("/a.root")).err().unwrap();
    assert_eq!(error.source.to_string(), "the server redirects more than 10 times");
    let elsewhere = WebServer::start(|_, _| {
        WebAnswer::status(301, "").with("Location", "ftp://me:secret@host/x?secret")
    });
    let error = open(&elsewhere.unwrap().url("/a.root")).err().unwrap();
    let reason =
        "the server redirects to ftp://host/x?..., which is not an http:// or https:// URL; ";
    assert!(error.source.to_string().starts_with(reason), "{error}");
}

#[test]
fn who_is_not_there_is_known_at_once() {
    let begin = Instant::now();
    // A port that nobody listens at. A connection has it, so that no other test gets it.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(other.local_addr().unwrap()).unwrap();
    let port = client.local_addr().unwrap().port();
    let error = open(&format!("http://127.0.0.1:{port}/a.root")).err().unwrap();
    assert_eq!(error.source.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(error.source.to_string(), "the host refuses connections");
    let error = open("http://no.such.host.invalid/a.root").err().unwrap();
    let expected = "cannot open http://no.such.host.invalid/a.root: ";
    assert!(error.to_string().starts_with(expected), "{error}");
    assert!(begin.elapsed() < Duration::from_secs(3));
    let error = open("http://").err().unwrap();
    assert_eq!(error.to_string(), "cannot open http://: not a URL: empty host");
}

#[test]
fn connections_are_used_again() {
    let server = WebServer::of(content()).unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    let limits = source.limits();
    assert_eq!((limits.max_ranges, limits.concurrency), (1, 8));
    for step in 0..100 {
        source.read_range(300_000 + step..300_010 + step).unwrap();
    }
    // What is measured is an answer of this machine, not of a new connection each time.
    assert!(source.limits().cost.latency < Duration::from_millis(50), "{:?}", source.limits());
    assert!(server.connections() <= 2, "{} connections", server.connections());
}

#[test]
fn as_many_requests_are_made_at_the_same_time_as_the_line_carries() {
    let most_for = |count: u64, bytes: u64| {
        let (under_way, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        let (largest, content) = (Arc::clone(&most), content());
        let server = server(move |request, _| {
            largest.fetch_max(under_way.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(40));
            under_way.fetch_sub(1, Ordering::SeqCst);
            // It answers single ranges alone.
            let several = request.header("range").is_some_and(|range| range.contains(','));
            if several { WebAnswer::status(400, "") } else { WebAnswer::of(request, &content) }
        });
        let source = open(&server.url("/a.root")).unwrap();
        let ranges: Vec<Range<u64>> =
            (0..count).map(|at| 100_000 + at * 2 * bytes).map(|at| at..at + bytes).collect();
        read_all(&source, &ranges).unwrap();
        most.load(Ordering::SeqCst)
    };
    let short = most_for(200, 1000);
    assert!((12..=33).contains(&short), "{short} requests at the same time");
}
