//! Parses credentials in the answers of services and processes.

use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use rusty_s3::Credentials;
use serde::Deserialize;
use url::Url;

use super::signer;
use crate::http::{Client, Failure, HttpOptions, Reply, Request, element};

/// The largest number of bytes of an answer.
const ANSWER_BYTES: u64 = 1 << 20;

/// Credentials and the time at which they expire.
pub(super) struct Fetched {
    pub credentials: Credentials,
    pub expires: Option<SystemTime>,
}

/// The JSON that services of containers and instances, and processes, answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Json {
    access_key_id: String,
    secret_access_key: String,
    #[serde(alias = "SessionToken")]
    token: Option<String>,
    expiration: Option<String>,
}

impl Fetched {
    /// Parses JSON.
    ///
    /// # Errors
    /// `InvalidData` if it has no credentials. The text is not shown, because it may be a secret.
    pub(super) fn of_json(text: &[u8]) -> io::Result<Self> {
        let odd = || invalid("the answer has no AccessKeyId and SecretAccessKey in JSON");
        let json: Json = serde_json::from_slice(text).map_err(|_| odd())?;
        Self::new(json.access_key_id, json.secret_access_key, json.token, json.expiration)
    }

    /// Parses the XML of the token service of AWS.
    ///
    /// # Errors
    /// `InvalidData` if it has no credentials.
    pub(super) fn of_xml(text: &str) -> io::Result<Self> {
        let get = |tag| element(text, tag).map(str::to_owned);
        let (Some(key), Some(secret)) = (get("AccessKeyId"), get("SecretAccessKey")) else {
            return Err(invalid("the answer has no AccessKeyId and SecretAccessKey"));
        };
        Self::new(key, secret, get("SessionToken"), get("Expiration"))
    }

    fn new(
        key: String,
        secret: String,
        token: Option<String>,
        expiration: Option<String>,
    ) -> io::Result<Self> {
        let time = |text: String| {
            let time: Option<Timestamp> = text.parse().ok();
            let seconds = time.and_then(|time| u64::try_from(time.as_second()).ok());
            let seconds = seconds.ok_or_else(|| invalid("its Expiration is not a time"))?;
            Ok::<_, io::Error>(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        };
        let expires = expiration.map(time).transpose()?;
        let token = token.filter(|token| !token.is_empty());
        Ok(Self { credentials: signer(key, secret, token), expires })
    }
}

fn invalid(why: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// Returns options for a service on or near this machine, which answers within a second if it is there.
pub(super) fn nearby() -> HttpOptions {
    let second = Duration::from_secs(1);
    let mut options = HttpOptions::default();
    (options.connect_timeout, options.timeout, options.deadline) = (second, second, second);
    options.connections = 1;
    options
}

/// Makes a request, and returns the body of an answer of the status 200. Redirects are not followed, because requests for
/// credentials have secrets, also in their bodies.
///
/// # Errors
/// A failure for any other answer, and for no answer.
pub(super) fn ask(client: &Client, request: &Request) -> Result<Vec<u8>, Failure> {
    let reply: Reply = client.send_once(request)?;
    match reply.status {
        200 => reply.read_all(ANSWER_BYTES),
        _ => Err(reply.failure()),
    }
}

/// Makes an error that says from where credentials were requested.
pub(super) fn failed(place: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("no credentials from {place}: {error}"))
}

/// Parses a URL in a variable of the environment or in the profile.
///
/// # Errors
/// `InvalidInput`.
pub(super) fn url(text: &str) -> io::Result<Url> {
    Url::parse(text).map_err(|error| {
        io::Error::new(ErrorKind::InvalidInput, format!("{text} is not a URL: {error}"))
    })
}
