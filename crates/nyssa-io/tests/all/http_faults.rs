//! Tests faults of web servers, certificates, tokens and proxies: right values, or a clear error in time.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use nyssa_io::testing::{WebAnswer, WebRequest, WebServer, content, impatient};
use nyssa_io::{MemorySource, NamedFile, OtherFilesAllowed, Source, open_with};
use nyssa_testdata::run_inside;
use rcgen::{CertificateParams, CertifiedIssuer, KeyPair, date_time_ymd};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivateKeyDer;

/// Opens a URL with options with which a fault ends soon.
fn open(url: &str) -> nyssa_io::Result<Arc<dyn Source>> {
    open_with(url, &impatient())
}

/// Returns the error of opening a URL.
fn error(url: &str) -> String {
    open(url).err().unwrap().to_string()
}

#[test]
fn a_server_that_ends_in_the_middle_is_an_error_in_time() {
    let content = content();
    let server = WebServer::start(move |request, number| {
        let plain = WebAnswer::of(request, &content);
        let is_last = number >= 2;
        let cut = is_last.then_some(plain.body.len() / 2);
        WebAnswer { cut, last: is_last, ..plain }
    });
    let server = server.unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    let begin = Instant::now();
    let error = source.read_range(300_000..300_100).unwrap_err();
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert_eq!(error.source.kind(), ErrorKind::ConnectionRefused);
    let start = format!(
        "cannot read bytes 300000 to 300100 of {}: the host refuses connections; all requests in ",
        server.url("/a.root")
    );
    let end = " s failed: try again later, or set NYSSA_HTTP_DEADLINE to more seconds";
    let error = error.to_string();
    let seconds = error.strip_prefix(&start).and_then(|rest| rest.strip_suffix(end));
    // The pauses are random: after 0.7 s the next one can end after the deadline.
    let seconds: f64 = seconds.unwrap_or_else(|| panic!("{error}")).parse().unwrap();
    assert!((0.7..2.0).contains(&seconds), "{error}");
}

#[test]
fn a_server_is_left_alone_as_long_as_it_asks() {
    let content = content();
    let bytes = content.clone();
    let server = WebServer::start(move |request, number| match number {
        2 => WebAnswer::status(429, "").with("Retry-After", "1"),
        _ => WebAnswer::of(request, &bytes),
    });
    let source = open(&server.unwrap().url("/a.root")).unwrap();
    let begin = Instant::now();
    assert_eq!(source.read_range(500_000..500_100).unwrap(), content[500_000..500_100]);
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[test]
fn a_host_that_never_agrees_on_keys_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}/a.root", listener.local_addr().unwrap());
    let begin = Instant::now();
    let error = error(&url);
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    assert!(
        error.starts_with(&format!(
            "cannot open {url}: the host did not accept the connection in time"
        )),
        "{error}"
    );
}

#[test]
fn a_presigned_url_that_has_expired_says_so() {
    let server = WebServer::start(|_, _| {
        WebAnswer::status(
            403,
            "<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code><Message>Request has \
             expired</Message><Expires>2026-01-01T00:00:00Z</Expires></Error>",
        )
    });
    let server = server.unwrap();
    let expected = format!(
        "cannot open {}: the server answered 403 Forbidden: AccessDenied: Request has expired; the URL may \
         have expired: ask for another one",
        server.url("/a.root?...")
    );
    assert_eq!(error(&server.url("/a.root?X-Amz-Date=1&X-Amz-Signature=2")), expected);
}

/// Starts a server that answers every request with the same bytes. Returns its URL.
fn raw(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.root", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer_raw(stream, answer));
        }
    });
    url
}

fn answer_raw(mut stream: TcpStream, answer: &[u8]) {
    let (mut request, mut byte) = (Vec::new(), [0]);
    while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
        request.extend(byte);
    }
    let _ = stream.write_all(answer);
}

/// What will not be right later is not waited for: the deadline here is a minute.
#[test]
fn answers_that_are_not_http_are_not_repeated_for_long() {
    let mut options = impatient();
    options.http.as_mut().unwrap().deadline = Duration::from_secs(60);
    let answers: [(&[u8], &str); 6] = [
        (b"SSH-2.0-OpenSSH_9.2\r\n", "what the server answered is not HTTP (invalid HTTP version)"),
        (b"\x15\x03\x03\0\x02\x02\x46", "what the server answered is not HTTP ("),
        (
            b"HTTP/1.1 206 Partial Content\r\nContent Range\x00\r\n\r\n",
            "what the server answered is not HTTP (invalid header name)",
        ),
        (
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: -4\r\n\r\nabcd",
            "what the server answered is not HTTP (content-length header not a number)",
        ),
        (
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\n\r\nabcd",
            "the server answered a request for a part with nothing",
        ),
        (
            b"HTTP/1.1 206 Partial Content\r\nContent-Length: 4\r\nContent-Range: bytes 9-3/4\r\n\r\nabcd",
            "the server answered a request for a part with bytes 9-3/4",
        ),
    ];
    for (answer, reason) in answers {
        let url = raw(answer);
        let begin = Instant::now();
        let error = open_with(&url, &options).err().unwrap().to_string();
        assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
        assert!(error.starts_with(&format!("cannot open {url}: {reason}")), "{error}");
        let advice = "; 4 requests had wrong answers: check the host, the port and the path of the URL and the \
                      proxies of your site, or tell the people who run the server";
        assert!(error.ends_with(advice), "{error}");
    }
}

/// Makes an authority, as PEM, and a configuration with a certificate of it for a name and time.
fn certificate(authority: &str, name: &str, is_expired: bool) -> (String, Arc<ServerConfig>) {
    let authority = {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, authority);
        params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap()
    };
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if is_expired {
        params.not_before = date_time_ymd(2020, 1, 1);
        params.not_after = date_time_ymd(2021, 1, 1);
    }
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    (authority.pem(), Arc::new(config))
}

fn secure(
    tls: &Arc<ServerConfig>,
    answer: impl Fn(&WebRequest, usize) -> WebAnswer + Send + Sync + 'static,
) -> WebServer {
    WebServer::start_with_tls(Arc::clone(tls), answer).unwrap()
}

/// Returns whether this is the process of a test that [`run_inside`] started, and returns the URL for it.
fn inside() -> Option<String> {
    std::env::var("NYSSA_TEST_URL").ok()
}

#[test]
fn certificates_are_of_the_right_name_time_and_authority() {
    if let Some(url) = inside() {
        let expected = std::env::var("NYSSA_TEST_ERROR").unwrap();
        let error = open(&url).map(drop).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.starts_with(&expected) && error.is_empty() == expected.is_empty(), "{error}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("trusted.pem").display().to_string();
    for (name, is_expired, is_trusted, expected) in [
        ("127.0.0.1", false, true, ""),
        ("other.host", false, true, "certificate not valid for name \"127.0.0.1\""),
        ("127.0.0.1", true, true, "certificate expired"),
        (
            "127.0.0.1",
            false,
            false,
            "UnknownIssuer; set SSL_CERT_FILE or X509_CERT_DIR to the certificates of its \
             authority",
        ),
    ] {
        let (authority, tls) = certificate("one", name, is_expired);
        let (other, _) = certificate("other", name, false);
        fs::write(&trusted, if is_trusted { authority } else { other }).unwrap();
        let content = content();
        let server = secure(&tls, move |request, _| WebAnswer::of(request, &content));
        let url = server.url("/a.root");
        let start = format!("cannot open {url}: no secure connection: invalid peer certificate: ");
        let expected = if expected.is_empty() { String::new() } else { start + expected };
        run_inside(
            "http_faults::certificates_are_of_the_right_name_time_and_authority",
            &[
                ("SSL_CERT_FILE", &trusted),
                ("NYSSA_TEST_URL", &url),
                ("NYSSA_TEST_ERROR", &expected),
            ],
        );
    }
}

#[test]
fn a_token_is_read_again_and_not_shown_to_others() {
    if let Some(url) = inside() {
        let content = content();
        let source = open(&url).unwrap();
        assert_eq!(source.read_range(300_000..300_100).unwrap(), content[300_000..300_100]);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (authority, tls) = certificate("one", "127.0.0.1", false);
    fs::write(path("authority.pem"), authority).unwrap();
    fs::write(path("token"), "old").unwrap();
    fs::write(path("next"), "new").unwrap();
    let bytes = content();
    let data = secure(&tls, move |request, _| WebAnswer::of(request, &bytes));
    let (target, file, next) = (data.url("/data"), path("token"), path("next"));
    let server = secure(&tls, move |request, _| match request.header("authorization") {
        Some("Bearer new") => WebAnswer::status(307, "").with("Location", target.clone()),
        _ => {
            // Another program renews the token at this moment. It is not there any more for a second request.
            let _ = fs::rename(&next, &file);
            WebAnswer::status(401, "the token has expired")
        }
    });
    run_inside(
        "http_faults::a_token_is_read_again_and_not_shown_to_others",
        &[
            ("SSL_CERT_FILE", &path("authority.pem")),
            ("BEARER_TOKEN_FILE", &path("token")),
            ("NYSSA_TEST_URL", &server.url("/a.root")),
        ],
    );
    let shown = |request: &WebRequest| request.header("authorization").is_some();
    assert!(server.requests().iter().all(shown));
    assert!(data.requests().len() >= 3 && !data.requests().iter().any(shown));
}

#[test]
fn a_server_that_a_file_names_gets_no_credentials() {
    if let Some(url) = inside() {
        let _allowed = OtherFilesAllowed::for_process();
        let local = MemorySource::new("a.root", "");
        let source = NamedFile::of(&local, &url).unwrap().open().unwrap();
        assert_eq!(source.size(), content().len() as u64);
        let error = NamedFile::of(&local, &format!("{url}?denied")).unwrap().open().err().unwrap();
        assert!(
            error.to_string().ends_with("nyssa sends no credentials to servers that a file names")
        );
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (authority, tls) = certificate("one", "127.0.0.1", false);
    fs::write(path("authority.pem"), authority).unwrap();
    let bytes = content();
    let server = secure(&tls, move |request, _| match request.target.contains("denied") {
        true => WebAnswer::status(401, "who asks?"),
        false => WebAnswer::of(request, &bytes),
    });
    let with_password = server.url("/a.root").replace("://", "://me:password@");
    for url in [server.url("/a.root"), with_password, "s3://bucket/a.root".to_owned()] {
        run_inside(
            "http_faults::a_server_that_a_file_names_gets_no_credentials",
            &[
                ("SSL_CERT_FILE", &path("authority.pem")),
                ("BEARER_TOKEN", "secret"),
                ("AWS_ENDPOINT_URL", &server.url("")),
                ("AWS_ACCESS_KEY_ID", "key"),
                ("AWS_SECRET_ACCESS_KEY", "secret"),
                ("NYSSA_TEST_URL", &url),
            ],
        );
    }
    let all = server.requests();
    let is_bare = |request: &WebRequest| {
        request.header("authorization").is_none()
            && !request.target.to_lowercase().contains("x-amz")
    };
    assert!(all.len() >= 6 && all.iter().all(is_bare), "{all:?}");
    // A proxy gets no password either.
    let proxy = WebServer::start(|_, _| WebAnswer::status(407, "who asks?")).unwrap();
    let shown = |request: &WebRequest| request.header("proxy-authorization").is_some();
    for is_named in [true, false] {
        proxy.reset();
        run_inside(
            "http_faults::a_proxy_gets_no_credentials_for_a_file_that_a_file_names",
            &[
                ("http_proxy", &proxy.url("").replace("://", "://me:password@")),
                ("NYSSA_TEST_URL", "http://far.example/a.root"),
                ("NYSSA_TEST_NAMED", if is_named { "1" } else { "" }),
            ],
        );
        let all = proxy.requests();
        assert!(!all.is_empty() && all.iter().all(|request| shown(request) != is_named), "{all:?}");
    }
}

#[test]
fn a_proxy_gets_no_credentials_for_a_file_that_a_file_names() {
    let Some(url) = inside() else { return };
    let _allowed = OtherFilesAllowed::for_process();
    let local = MemorySource::new("a.root", "");
    let opened = match std::env::var("NYSSA_TEST_NAMED").unwrap().is_empty() {
        true => open(&url),
        false => NamedFile::of(&local, &url).unwrap().open(),
    };
    assert!(opened.is_err(), "the proxy refuses");
}

#[test]
fn a_proxy_that_refuses_is_named() {
    if let Some(url) = inside() {
        let begin = Instant::now();
        let expected = std::env::var("NYSSA_TEST_ERROR").unwrap();
        let error = error(&url);
        assert!(error.starts_with(&expected), "{error}");
        assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
        return;
    }
    // A port that nobody listens at. A connection has it, so that no other test gets it.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(other.local_addr().unwrap()).unwrap();
    let closed = client.local_addr().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let refusing = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            // Bytes that are not read would reset the connection before the answer arrives.
            let mut request = Vec::new();
            let mut byte = [0];
            while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
                request.extend(byte);
            }
            let _ = stream.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let url = "http://far.example/a.root";
    for (proxy, expected) in [
        (
            closed,
            format!("the host refuses connections (the connection goes to the proxy {closed})"),
        ),
        (
            refusing,
            format!(
                "the server answered 403 Forbidden (the answer comes through the proxy {refusing})"
            ),
        ),
    ] {
        run_inside(
            "http_faults::a_proxy_that_refuses_is_named",
            &[
                ("http_proxy", &format!("http://{proxy}")),
                ("NYSSA_TEST_URL", url),
                ("NYSSA_TEST_ERROR", &format!("cannot open {url}: {expected}")),
            ],
        );
    }
}

/// A proxy on this machine sees whole URLs, and gets no request for a tunnel.
#[test]
fn a_proxy_gets_the_whole_url_of_http() {
    if let Some(url) = inside() {
        let content = content();
        let source = open(&url).unwrap();
        assert_eq!(source.read_range(300_000..300_100).unwrap(), content[300_000..300_100]);
        return;
    }
    let bytes = content();
    let proxy = WebServer::start(move |request, _| WebAnswer::of(request, &bytes)).unwrap();
    let url = "http://far.example:81/a%20b.root?x=1";
    let place = proxy.url("");
    run_inside(
        "http_faults::a_proxy_gets_the_whole_url_of_http",
        &[("http_proxy", &place.replace("://", "://me:pass@")), ("NYSSA_TEST_URL", url)],
    );
    let requests = proxy.requests();
    assert!(requests.len() >= 3);
    for request in requests {
        assert_eq!((request.method.as_str(), request.target.as_str()), ("GET", url));
        assert_eq!(request.header("host"), Some("far.example:81"));
        // The expected text is that of `printf 'me:pass' | base64`.
        assert_eq!(request.header("proxy-authorization"), Some("Basic bWU6cGFzcw=="));
    }
}

#[test]
fn a_redirect_to_a_connection_without_protection_is_refused() {
    if let Some(url) = inside() {
        let expected = std::env::var("NYSSA_TEST_ERROR").unwrap();
        let begin = Instant::now();
        assert_eq!(error(&url), expected);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("authority.pem").display().to_string();
    let (authority, tls) = certificate("one", "127.0.0.1", false);
    fs::write(&trusted, authority).unwrap();
    let bytes = content();
    let plain = WebServer::start(move |request, _| WebAnswer::of(request, &bytes)).unwrap();
    let target = plain.url("/data.root?secret=1");
    let server =
        secure(&tls, move |_, _| WebAnswer::status(302, "").with("Location", target.clone()));
    let url = server.url("/a.root");
    let expected = format!(
        "cannot open {url}: the server redirects from https:// to {}, where others on the network can read and \
         change the data: read the file from another server or over root://, or name the http:// URL yourself if \
         you trust the network",
        plain.url("/data.root?...")
    );
    run_inside(
        "http_faults::a_redirect_to_a_connection_without_protection_is_refused",
        &[
            ("SSL_CERT_FILE", &trusted),
            ("BEARER_TOKEN", "secret"),
            ("NYSSA_TEST_URL", &url),
            ("NYSSA_TEST_ERROR", &expected),
        ],
    );
    assert_eq!(plain.requests().len(), 0);
}

#[test]
fn only_hosts_of_the_list_get_the_token() {
    if let Some(url) = inside() {
        let expected = std::env::var("NYSSA_TEST_ERROR").unwrap();
        let message = open(&url).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message, expected);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trusted = folder.path().join("authority.pem").display().to_string();
    let (authority, tls) = certificate("one", "127.0.0.1", false);
    fs::write(&trusted, authority).unwrap();
    for (hosts, is_sent) in [("", true), ("cern.ch, 127.0.0.1", true), ("cern.ch", false)] {
        let bytes = content();
        let server = secure(&tls, move |request, _| match request.header("authorization") {
            Some("Bearer of-mine") => WebAnswer::of(request, &bytes),
            _ => WebAnswer::status(401, ""),
        });
        let url = server.url("/a.root");
        let expected = match is_sent {
            true => String::new(),
            false => format!(
                "cannot open {url}: the server answered 401 Unauthorized; nyssa sent no token, because \
                 NYSSA_TOKEN_HOSTS does not name 127.0.0.1"
            ),
        };
        run_inside(
            "http_faults::only_hosts_of_the_list_get_the_token",
            &[
                ("SSL_CERT_FILE", &trusted),
                ("BEARER_TOKEN", "of-mine"),
                ("NYSSA_TOKEN_HOSTS", hosts),
                ("NYSSA_TEST_URL", &url),
                ("NYSSA_TEST_ERROR", &expected),
            ],
        );
        let shown = |request: &WebRequest| request.header("authorization").is_some();
        assert!(
            !server.requests().is_empty() && server.requests().iter().all(|r| shown(r) == is_sent)
        );
    }
}

/// Each of the first answers is cut after 20,000 bytes.
#[test]
fn an_opening_goes_on_where_its_answer_was_cut() {
    let content = content();
    let (bytes, size) = (content.clone(), content.len() as u64);
    let server = WebServer::start(move |request, number| {
        let cut = (number < 6).then_some(20_000);
        WebAnswer { cut, ..WebAnswer::of(request, &bytes) }
    });
    let server = server.unwrap();
    let source = open(&server.url("/a.root")).unwrap();
    let requested: Vec<_> =
        server.requests().iter().filter_map(|request| request.range(size)).collect();
    let end = 48 << 10;
    for range in [0..end, 20_000..end, 40_000..end, size - end..size, size - end + 20_000..size] {
        assert!(requested.contains(&range), "{range:?} is not in {requested:?}");
    }
    assert_eq!(source.read_range(10..end).unwrap(), content[10..end as usize]);
    let last = size - end + 5..size;
    assert_eq!(source.read_range(last.clone()).unwrap(), content[last.start as usize..]);
    assert_eq!(server.requests().len(), requested.len(), "the ends are known");
}

/// RFC 9110: the size in `Content-Range` may be unknown.
#[test]
fn a_server_need_not_tell_the_size() {
    let content = content();
    let bytes = content.clone();
    let server = WebServer::start(move |request, _| {
        let mut answer = WebAnswer::of(request, &bytes);
        for (name, value) in &mut answer.headers {
            if let Some((range, _)) = value.split_once('/').filter(|_| *name == "Content-Range") {
                *value = format!("{range}/*");
            }
        }
        answer
    });
    let source = open(&server.unwrap().url("/a.root")).unwrap();
    assert_eq!(source.size(), content.len() as u64);
    for range in [0..100, 300_000..300_100, source.size() - 10..source.size()] {
        let expected = &content[range.start as usize..range.end as usize];
        assert_eq!(source.read_range(range).unwrap(), expected);
    }
}

#[test]
fn a_server_that_is_too_busy_gets_fewer_requests_at_the_same_time() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    let content = content();
    let bytes = content.clone();
    let active = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let (now, largest) = (Arc::clone(&active), Arc::clone(&most));
    // The first eight requests after the two of the opening are too many at the same time.
    let server = WebServer::start(move |request, number| {
        let others = now.fetch_add(1, SeqCst);
        std::thread::sleep(Duration::from_millis(100));
        if number >= 10 {
            largest.fetch_max(others + 1, SeqCst);
        }
        now.fetch_sub(1, SeqCst);
        match number {
            2..10 => WebAnswer::status(503, ""),
            _ => WebAnswer::of(request, &bytes),
        }
    });
    let source = open(&server.unwrap().url("/a.root")).unwrap();
    std::thread::scope(|scope| {
        for part in 0..8 {
            let (source, content) = (&source, &content);
            scope.spawn(move || {
                let range = 100_000 + part * 10_000..100_100 + part * 10_000;
                let expected = &content[range.start as usize..range.end as usize];
                assert_eq!(source.read_range(range).unwrap(), expected);
            });
        }
    });
    // Four, and one more when four answers were right.
    let most = most.load(SeqCst);
    assert!((1..=5).contains(&most), "{most}");
}
