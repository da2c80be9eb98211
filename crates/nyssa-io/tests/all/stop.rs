//! Tests reads and opens that are stopped: a waiting thread returns at once, and no more requests are sent.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use nyssa_io::fetch::{AHEAD_BYTES, Fetcher};
use nyssa_io::testing::{WebAnswer, WebServer, content};
use nyssa_io::{OpenOptions, Source, Stop, open, open_with};
use nyssa_xrootd::testing::{ClientRequest, DATA_SERVER, Reply, ScriptedXrootd};
use nyssa_xrootd::wire::Status;

const READ: u16 = 3013;
const OPEN: u16 = 3010;
const READV: u16 = 3025;

/// The time in which who waits must return after the stop.
const AT_ONCE: Duration = Duration::from_millis(200);
/// The time after the stop in which a request would be made again.
const LATER: Duration = Duration::from_millis(1500);

/// Makes units that are far from each other and from the ends of the file: no request has more than one of them.
fn units() -> Vec<Vec<Range<u64>>> {
    (0..20)
        .map(|unit| std::iter::once(300_000 + unit * 20_000..300_010 + unit * 20_000))
        .map(Iterator::collect)
        .collect()
}

/// Waits for the first unit, stops after 200 ms, and returns the number of requests at that time and later.
fn stopped_read(source: &Arc<dyn Source>, requests: impl Fn() -> usize) -> (usize, usize) {
    let fetcher = Fetcher::new(source, units(), AHEAD_BYTES);
    let stop = AtomicBool::new(false);
    let elapsed = thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            assert!(fetcher.next(&|| stop.load(Ordering::Relaxed)).is_none());
            Instant::now()
        });
        thread::sleep(Duration::from_millis(200));
        let stopped = Instant::now();
        stop.store(true, Ordering::Relaxed);
        waiting.join().unwrap().duration_since(stopped)
    });
    assert!(elapsed < AT_ONCE, "{elapsed:?}");
    let begun = Instant::now();
    drop(fetcher);
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    let now = requests();
    thread::sleep(LATER);
    (now, requests())
}

/// Opens, stops after 200 ms, and returns the error.
fn stopped_open(url: &str) -> String {
    let stop = Stop::default();
    let options = OpenOptions::default().with_stop(stop.clone());
    thread::scope(|scope| {
        let opening = scope.spawn(|| {
            let error = open_with(url, &options).err().unwrap();
            assert!(error.is_stopped(), "{error}");
            (error.to_string(), Instant::now())
        });
        thread::sleep(Duration::from_millis(200));
        let stopped = Instant::now();
        stop.set();
        let (error, returned) = opening.join().unwrap();
        assert!(returned.duration_since(stopped) < AT_ONCE, "{:?}", returned - stopped);
        error
    })
}

/// Returns a web server that gives both ends of a file, and treats other requests in another way.
fn web(other: impl Fn(WebAnswer) -> WebAnswer + Send + Sync + 'static) -> WebServer {
    let bytes = content();
    let size = bytes.len() as u64;
    let server = WebServer::start(move |request, _| {
        let answer = WebAnswer::of(request, &bytes);
        match request.range(size) {
            Some(range) if range.start > 0 && range.end < size => other(answer),
            _ => answer,
        }
    });
    server.unwrap()
}

#[test]
fn a_slow_web_server_gets_no_more_requests() {
    let server = web(|answer| WebAnswer { delay: Duration::from_millis(1000), ..answer });
    let source = open(server.url("/a.root")).unwrap();
    let (now, later) = stopped_read(&source, || server.requests().len());
    // Two for opening, and one on each connection, or less where near ranges came together.
    assert!((3..=34).contains(&now), "{now}");
    assert_eq!(later, now);
}

#[test]
fn a_busy_web_server_is_not_asked_again() {
    let server = web(|_| WebAnswer::status(503, "").with("Retry-After", "1"));
    let source = open(server.url("/a.root")).unwrap();
    let (now, later) = stopped_read(&source, || server.requests().len());
    assert!((3..=34).contains(&now), "{now}");
    assert_eq!(later, now);
}

#[test]
fn opening_a_file_of_a_web_server_ends() {
    let slow = WebServer::start(|_, _| WebAnswer { delay: LATER, ..WebAnswer::status(503, "") });
    let slow = slow.unwrap();
    let url = slow.url("/a.root?token=secret");
    let expected = format!("cannot open {}?...: it was stopped", slow.url("/a.root"));
    assert_eq!(stopped_open(&url), expected);
    thread::sleep(LATER + Duration::from_millis(500));
    assert_eq!(slow.requests().len(), 2, "it is not asked again");
}

/// Returns an XRootD server that treats reads behind the start of the file in another way.
fn xrootd(
    other: impl Fn(&ClientRequest, Vec<u8>) -> Reply + Send + Sync + 'static,
) -> ScriptedXrootd {
    let script = move |request: &ClientRequest, answer| match request.id {
        READ | READV => other(request, answer),
        _ => Reply::Send(answer),
    };
    ScriptedXrootd::start(content(), DATA_SERVER, script).unwrap()
}

fn reads(server: &ScriptedXrootd) -> usize {
    server.requests().iter().filter(|request| matches!(request.id, READ | READV)).count()
}

#[test]
fn a_slow_xrootd_server_is_not_waited_for() {
    let server = xrootd(|_, answer| {
        thread::sleep(Duration::from_millis(700));
        Reply::Send(answer)
    });
    let source = open(server.url("/a")).unwrap();
    let (now, later) = stopped_read(&source, || reads(&server));
    // They were on their way when the read was stopped.
    assert!(now > 0 && later <= units().len(), "{now}, {later}");
}

#[test]
fn an_xrootd_server_that_asks_to_wait_is_not_asked_again() {
    let server = xrootd(|request, _| Reply::Send(request.numbered(Status::Wait, 1, "busy")));
    let source = open(server.url("/a")).unwrap();
    let (now, later) = stopped_read(&source, || reads(&server));
    assert!(now > 0);
    assert_eq!(later, now);
}

#[test]
fn opening_a_file_of_an_xrootd_server_ends() {
    let opens = |server: &ScriptedXrootd| {
        server.requests().iter().filter(|request| request.id == OPEN).count()
    };
    let server =
        ScriptedXrootd::start(content(), DATA_SERVER, |request, answer| match request.id {
            OPEN => Reply::Send(request.numbered(Status::Wait, 1, "busy")),
            _ => Reply::Send(answer),
        });
    let server = server.unwrap();
    let url = server.url("/a");
    assert_eq!(stopped_open(&url), format!("cannot open {url}: it was stopped"));
    let now = opens(&server);
    thread::sleep(LATER);
    assert_eq!((now, opens(&server)), (1, 1));
}
