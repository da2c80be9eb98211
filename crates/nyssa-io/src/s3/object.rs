//! Makes the requests for an object of a bucket.

use std::io::{self, ErrorKind};
use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use nyssa_net::NO_CREDENTIALS;
use rusty_s3::Bucket;
use rusty_s3::actions::S3Action;
use ureq::http::Method;

use super::bucket::bucket;
use super::credentials::credentials;
use super::sign::sign;
use crate::http::{Address, Correction, Failure, Request};

/// The header in which a server says in which region a bucket is. It wants a request that is signed for this region.
const REGION: Correction = Correction {
    header: "x-amz-bucket-region",
    advice: |region| format!("the bucket is in {region}: set AWS_REGION"),
};

/// An object, or the start of the keys of objects.
pub(super) struct Object {
    /// The URL, for messages.
    pub name: String,
    pub bucket: Bucket,
    pub key: String,
    /// Whether requests for it are not signed.
    pub without_credentials: bool,
}

impl Object {
    /// Returns the object of `s3://bucket/key`. `rest` is the text after `://`.
    ///
    /// # Errors
    /// `InvalidInput` for a key that cannot be in a URL, and for settings that are not valid.
    pub(super) fn parse(name: &str, rest: &str) -> io::Result<Self> {
        let refused = |why: &str| Err(io::Error::new(ErrorKind::InvalidInput, why));
        let (place, key) = rest.split_once('/').unwrap_or((rest, ""));
        if place.is_empty() {
            return refused("it names no bucket: write s3://BUCKET/KEY");
        }
        if key.split('/').any(|part| matches!(part, "." | "..")) {
            return refused("a key with the parts \".\" or \"..\" cannot be in a URL");
        }
        let (name, key) = (name.to_owned(), key.to_owned());
        Ok(Self { name, bucket: bucket(place)?, key, without_credentials: false })
    }

    /// Makes a request for an action on the bucket. It is signed if there are keys.
    ///
    /// # Errors
    /// A failure for which another request does not help.
    pub(super) fn ask<'a>(
        &self,
        method: Method,
        action: &impl S3Action<'a>,
        headers: Vec<(&'static str, String)>,
        body: Option<Bytes>,
    ) -> Result<Request, Failure> {
        // An action without credentials makes the URL, and signs nothing.
        let url = action.sign(Duration::ZERO);
        let request = Request { headers, body, ..Request::new(method, url) };
        self.signed(request).map_err(|error| Failure::of(error.kind(), error.to_string()))
    }

    fn signed(&self, mut request: Request) -> io::Result<Request> {
        request.correction = Some(REGION);
        if self.without_credentials {
            return Ok(request);
        }
        if let Some(keys) = credentials()? {
            sign(&mut request, &keys, self.bucket.region(), Timestamp::now())?;
        }
        Ok(request)
    }
}

impl Address for Object {
    fn name(&self) -> &str {
        &self.name
    }

    fn request(&self, method: Method) -> io::Result<Request> {
        self.signed(Request::new(method, self.bucket.object_url(&self.key)))
    }

    /// Returns false, because the servers of AWS answer such requests with the whole object.
    fn has_several_ranges(&self) -> bool {
        false
    }

    fn advice(&self, kind: ErrorKind) -> Option<String> {
        if kind != ErrorKind::PermissionDenied {
            return None;
        }
        if self.without_credentials {
            return Some(NO_CREDENTIALS.to_owned());
        }
        Some(match credentials().ok()? {
            Some(key) => format!("the request was signed with the key {}", key.key()),
            None => {
                "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                     AWS_PROFILE"
                    .to_owned()
            }
        })
    }
}
