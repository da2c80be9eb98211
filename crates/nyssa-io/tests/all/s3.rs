//! Tests what a server of S3 gets to see: no secret in a URL, and the hash of each body.

use nyssa_io::testing::{WebAnswer, WebRequest, WebServer, content};
use nyssa_io::{create, list, open};
use nyssa_testdata::run_inside;

const KEY: &str = "AKIDEXAMPLE";
/// `printf '' | sha256sum`
const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// `head -c 1000 /dev/zero | sha256sum`
const ZEROS: &str = "541b3e9daa09b20bf85fa273e5cbd3e80185aa4ec298e765db87742b70138a53";

fn inside() -> Option<String> {
    std::env::var("NYSSA_TEST_URL").ok()
}

/// Runs a test again with credentials for a server.
fn run(test: &str, server: &WebServer, url: &str) {
    run_inside(
        &format!("s3::{test}"),
        &[
            ("AWS_ENDPOINT_URL", &server.url("")),
            ("AWS_ACCESS_KEY_ID", KEY),
            ("AWS_SECRET_ACCESS_KEY", "of-mine"),
            ("AWS_SESSION_TOKEN", "session"),
            ("HOME", "/nowhere"),
            ("NYSSA_TEST_URL", url),
        ],
    );
}

/// Checks that a request is signed in its headers, and nowhere else.
fn check_signed(request: &WebRequest) {
    let target = request.target.to_lowercase();
    for part in ["signature", "credential", "security", "session", "x-amz", "akid"] {
        assert!(!target.contains(part), "{target}");
    }
    let signed = request.header("authorization").unwrap();
    let names = "host;if-none-match;x-amz-content-sha256;x-amz-date;x-amz-security-token";
    let names = match request.header("if-none-match") {
        Some(_) => names.to_owned(),
        None => names.replace("if-none-match;", ""),
    };
    assert!(signed.starts_with(&format!("AWS4-HMAC-SHA256 Credential={KEY}/")), "{signed}");
    assert!(signed.contains(&format!(", SignedHeaders={names}, Signature=")), "{signed}");
    assert_eq!(request.header("x-amz-security-token"), Some("session"));
}

#[test]
fn requests_have_no_secret_in_their_urls() {
    if let Some(url) = inside() {
        let source = open(&url).unwrap();
        assert_eq!(source.read_range(300_000..300_100).unwrap(), content()[300_000..300_100]);
        let mut sink = create(format!("{url}.copy"), false).unwrap();
        sink.write_at(0, &[0; 1000]).unwrap();
        sink.commit().unwrap();
        let mut sink = create(format!("{url}.large"), true).unwrap();
        sink.write_at(17 << 20, b"end").unwrap();
        sink.commit().unwrap();
        return;
    }
    let bytes = content();
    let start = "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"";
    let server = WebServer::start(move |request, _| {
        let has = |part: &str| request.target.contains(part);
        match request.method.as_str() {
            "GET" if has("list-type") => {
                WebAnswer::status(200, &format!("<ListBucketResult {start}></ListBucketResult>"))
            }
            "GET" => WebAnswer::of(request, &bytes),
            "POST" if has("uploads") => WebAnswer::status(
                200,
                &format!(
                    "<InitiateMultipartUploadResult {start}><Bucket>b</Bucket><Key>k</Key>\
                     <UploadId>id</UploadId></InitiateMultipartUploadResult>"
                ),
            ),
            "POST" => WebAnswer::status(
                200,
                &format!(
                    "<CompleteMultipartUploadResult {start}><Location>l</Location><Bucket>b</Bucket>\
                     <Key>k</Key><ETag>e</ETag></CompleteMultipartUploadResult>"
                ),
            ),
            _ => WebAnswer::status(200, "").with("ETag", "e"),
        }
    });
    let server = server.unwrap();
    run("requests_have_no_secret_in_their_urls", &server, "s3://bucket/dir/a b.root");
    let requests = server.requests();
    requests.iter().for_each(check_signed);
    let of = |method: &str, part: &str| -> Vec<WebRequest> {
        let is = |request: &&WebRequest| request.method == method && request.target.contains(part);
        requests.iter().filter(is).cloned().collect()
    };
    let hash = |request: &WebRequest| request.header("x-amz-content-sha256").unwrap().to_owned();
    let read = of("GET", "/bucket/dir/a%20b.root");
    assert!(read.len() >= 3);
    assert!(read.iter().all(|request| hash(request) == NOTHING));
    let [put] = &of("PUT", ".copy")[..] else { unreachable!() };
    assert_eq!((hash(put).as_str(), put.body.len()), (ZEROS, 1000));
    assert_eq!(put.header("if-none-match"), Some("*"));
    let parts = of("PUT", ".large?partNumber=");
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|part| hash(part) != NOTHING && !part.body.is_empty()));
}

#[test]
fn redirects_get_no_secrets_and_regions_are_named() {
    if let Some(url) = inside() {
        assert!(open(format!("{url}/moved.root")).is_ok());
        let error = open(format!("{url}/region.root")).err().unwrap().to_string();
        assert!(error.contains("the bucket is in eu-west-3: set AWS_REGION"), "{error}");
        return;
    }
    let bytes = content();
    let other = WebServer::start(move |request, _| WebAnswer::of(request, &bytes)).unwrap();
    let target = other.url("/data.root");
    let server = WebServer::start(move |request, _| {
        let moved = WebAnswer::status(307, "").with("Location", target.clone());
        match request.target.contains("region") {
            true => moved.with("x-amz-bucket-region", "eu-west-3"),
            false => moved,
        }
    });
    let server = server.unwrap();
    run("redirects_get_no_secrets_and_regions_are_named", &server, "s3://bucket");
    server.requests().iter().for_each(check_signed);
    assert!(!other.requests().is_empty());
    for request in other.requests() {
        for name in ["authorization", "x-amz-security-token"] {
            assert_eq!(request.header(name), None);
        }
    }
}

#[test]
fn a_missing_bucket_is_not_an_empty_one() {
    if let Some(url) = inside() {
        let error = list(&url).unwrap_err();
        assert_ne!(error.source.kind(), std::io::ErrorKind::NotFound);
        let expected = "the bucket \"none\" does not exist at http://127.0.0.1:";
        assert!(error.to_string().contains(expected), "{error}");
        return;
    }
    let said = "<Error><Code>NoSuchBucket</Code><Message>no such bucket</Message></Error>";
    let server = WebServer::start(|_, _| WebAnswer::status(404, said)).unwrap();
    run("a_missing_bucket_is_not_an_empty_one", &server, "s3://none/dir");
}
