//! Signs requests with Signature Version 4 of AWS, in headers.
//!
//! A signature in the URL would be in the logs of servers and proxies, and a reader of a log could repeat the
//! request. `rusty-s3` signs only URLs, so it makes the URLs here, and the cryptography comes from `ring`.

use std::io::{self, ErrorKind};

use jiff::Timestamp;
use percent_encoding::{
    AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode, utf8_percent_encode,
};
use ring::digest::{SHA256, digest};
use ring::hmac::{HMAC_SHA256, Key, sign as hmac};
use rusty_s3::Credentials;
use url::{Position, Url};

use crate::http::Request;

/// The characters that are percent-encoded in the names and values of a query.
const IN_QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The characters that are percent-encoded in a path.
const IN_PATH: &AsciiSet = &IN_QUERY.remove(b'/');

/// Signs a request: its method, URL, headers and body. Later it may get more headers, and nothing else may change.
///
/// # Errors
/// `InvalidInput` for a URL without a host.
pub(super) fn sign(
    request: &mut Request,
    keys: &Credentials,
    region: &str,
    now: Timestamp,
) -> io::Result<()> {
    let canonical = canonical(&request.url)?;
    request.url = canonical;
    let time = now.strftime("%Y%m%dT%H%M%SZ").to_string();
    let body = hex(digest(&SHA256, request.body.as_deref().unwrap_or_default()).as_ref());
    let token = keys.token().map(|token| ("x-amz-security-token", token.to_owned()));
    let own = [("x-amz-content-sha256", body.clone()), ("x-amz-date", time.clone())];
    request.secrets = own.into_iter().chain(token).collect();

    let host = request.url[Position::BeforeHost..Position::AfterPort].to_owned();
    let mut headers = [&request.headers[..], &request.secrets, &[("host", host)]].concat();
    headers.sort();
    let names: Vec<&str> = headers.iter().map(|(name, _)| *name).collect();
    let names = names.join(";");
    let line = |(name, value): &(&str, String)| {
        let words: Vec<&str> = value.split_whitespace().collect();
        format!("{name}:{}\n", words.join(" "))
    };
    let headers: String = headers.iter().map(line).collect();
    let (path, query) = (request.url.path(), request.url.query().unwrap_or_default());
    let whole = format!("{}\n{path}\n{query}\n{headers}\n{names}\n{body}", request.method);

    let date = &time[..8];
    let scope = format!("{date}/{region}/s3/aws4_request");
    let whole = hex(digest(&SHA256, whole.as_bytes()).as_ref());
    let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{whole}");
    let secret = format!("AWS4{}", keys.secret());
    let mut key = Key::new(HMAC_SHA256, secret.as_bytes());
    for part in [date, region, "s3", "aws4_request"] {
        key = Key::new(HMAC_SHA256, hmac(&key, part.as_bytes()).as_ref());
    }
    let signature = hex(hmac(&key, text.as_bytes()).as_ref());
    let value = format!(
        "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={names}, Signature={signature}",
        keys.key()
    );
    request.secrets.push(("authorization", value));
    Ok(())
}

/// Returns the URL in the canonical form, which servers compute, too: each part encoded in the same way, and the query
/// sorted.
fn canonical(url: &Url) -> io::Result<Url> {
    if !url.has_host() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "the URL has no host"));
    }
    let mut canonical = url.clone();
    let path: Vec<u8> = percent_decode_str(url.path()).collect();
    canonical.set_path(&percent_encode(&path, IN_PATH).to_string());
    let encoded = |text: &str| utf8_percent_encode(text, IN_QUERY).to_string();
    let pairs = url.query_pairs().map(|(name, value)| (encoded(&name), encoded(&value)));
    let mut pairs: Vec<(String, String)> = pairs.collect();
    pairs.sort();
    let pairs: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    canonical.set_query((!pairs.is_empty()).then(|| pairs.join("&")).as_deref());
    Ok(canonical)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use ureq::http::Method;

    use super::*;

    /// Signs a request for the bucket of the examples in AWS's documentation of S3 ("Signature calculations for the
    /// Authorization header"), and returns the names of the signed headers and the signature.
    fn signed(method: Method, rest: &str, headers: &[(&'static str, &str)], body: &str) -> String {
        let url = format!("https://examplebucket.s3.amazonaws.com/{rest}").parse().unwrap();
        let mut request = Request::new(method, url);
        request.headers =
            headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        request.body = Some(body.to_owned().into());
        let secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
        let keys = Credentials::new("AKIAIOSFODNN7EXAMPLE", secret);
        sign(&mut request, &keys, "us-east-1", "2013-05-24T00:00:00Z".parse().unwrap()).unwrap();
        let (name, value) = request.secrets.last().unwrap();
        assert_eq!(*name, "authorization");
        let start = "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, \
                     SignedHeaders=";
        value.strip_prefix(start).unwrap().replace(", Signature=", " ")
    }

    #[test]
    fn the_examples_of_aws_have_their_signatures() {
        let always = "host;x-amz-content-sha256;x-amz-date";
        assert_eq!(
            signed(Method::GET, "test.txt", &[("range", "bytes=0-9")], ""),
            "host;range;x-amz-content-sha256;x-amz-date \
             f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        );
        let headers = [
            ("date", "Fri, 24 May 2013 00:00:00 GMT"),
            ("x-amz-storage-class", "REDUCED_REDUNDANCY"),
        ];
        assert_eq!(
            signed(Method::PUT, "test$file.text", &headers, "Welcome to Amazon S3."),
            format!(
                "date;{always};x-amz-storage-class \
                 98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
            )
        );
        let lifecycle = "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543";
        assert_eq!(signed(Method::GET, "?lifecycle", &[], ""), format!("{always} {lifecycle}"));
        let list = "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7";
        assert_eq!(
            signed(Method::GET, "?prefix=J&max-keys=2", &[], ""),
            format!("{always} {list}")
        );
    }

    #[test]
    fn what_is_signed_is_what_is_sent() {
        let url = "http://[::1]:9000/b/a%20b+c%2520%C3%A9/'(x)'?prefix=a+b%2Fc~&empty";
        let url = canonical(&url.parse().unwrap()).unwrap();
        assert_eq!(
            url.as_str(),
            "http://[::1]:9000/b/a%20b%2Bc%2520%C3%A9/%27%28x%29%27?empty=&prefix=a%20b%2Fc~"
        );
    }

    #[test]
    fn the_token_of_a_session_is_in_a_header() {
        let mut request = Request::new(Method::GET, "https://b.example.org/a".parse().unwrap());
        let keys = Credentials::new_with_token("key", "secret", "session");
        sign(&mut request, &keys, "r", Timestamp::UNIX_EPOCH).unwrap();
        assert!(request.secrets.contains(&("x-amz-security-token", "session".to_owned())));
        let (_, value) = request.secrets.last().unwrap();
        let names = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token, ";
        assert!(value.contains(names), "{value}");
        assert_eq!(request.url.as_str(), "https://b.example.org/a");
    }
}
