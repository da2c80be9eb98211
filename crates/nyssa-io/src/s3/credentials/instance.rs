//! Requests credentials from the metadata service of an instance of EC2, version 2.
//!
//! It is used when nothing else gives credentials. Most machines do not have this service, so it gets one
//! second, once in a process, before requests are sent unsigned.

use std::io;

use ureq::http::Method;

use super::Variables;
use super::fetched::{Fetched, ask, failed, nearby, url};
use crate::http::{Client, Failure, Request};

/// The address of the service.
const SERVICE: &str = "http://169.254.169.254";
/// The path of the names and keys of roles.
const ROLES: &str = "latest/meta-data/iam/security-credentials/";
/// The seconds for which the session with the service is valid.
const SESSION: &str = "21600";

/// The metadata service.
pub(super) struct Instance {
    url: String,
}

impl Instance {
    /// Returns the service, unless the environment forbids its use.
    pub(super) fn find(var: Variables<'_>) -> Option<Self> {
        let disabled = var("AWS_EC2_METADATA_DISABLED");
        if disabled.is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
            return None;
        }
        let url = var("AWS_EC2_METADATA_SERVICE_ENDPOINT").unwrap_or_else(|| SERVICE.to_owned());
        Some(Self { url: url.trim_end_matches('/').to_owned() })
    }

    /// Returns the key that distinguishes this service from others.
    pub(super) fn key(&self) -> String {
        format!("instance {}", self.url)
    }

    /// Requests the credentials. Returns `None` if there is no service, or if it has no role for this machine.
    ///
    /// # Errors
    /// `InvalidData` for an answer without credentials; the failure of the last request, if the service has
    /// answered before.
    pub(super) fn fetch(&self) -> io::Result<Option<Fetched>> {
        let place = format!("the service of the instance at {}", self.url);
        let failed = |error: &io::Error| failed(&place, error);
        let refused = |failure: Failure| failed(&io::Error::new(failure.kind, failure.reason));
        let client = Client::direct(&nearby());
        let mut begin = self.request(Method::PUT, "latest/api/token")?;
        begin.headers.push(("x-aws-ec2-metadata-token-ttl-seconds", SESSION.to_owned()));
        // There is no service at this address, or it is not the service of EC2.
        let Ok(session) = ask(&client, &begin) else { return Ok(None) };
        let session = String::from_utf8_lossy(&session).trim().to_owned();
        let get = |path: &str| {
            let mut request = self.request(Method::GET, path)?;
            request.secrets.push(("x-aws-ec2-metadata-token", session.clone()));
            let answer = ask(&client, &request);
            // The connection of an earlier request may have ended.
            let is_lost = |failure: &Failure| failure.kind == io::ErrorKind::ConnectionReset;
            let is_lost = answer.as_ref().err().is_some_and(is_lost);
            io::Result::Ok(if is_lost { ask(&client, &request) } else { answer })
        };
        let roles = match get(ROLES)? {
            Ok(roles) => String::from_utf8_lossy(&roles).into_owned(),
            Err(failure) if failure.kind == io::ErrorKind::NotFound => return Ok(None),
            Err(failure) => return Err(refused(failure)),
        };
        let Some(role) = roles.lines().map(str::trim).find(|role| !role.is_empty()) else {
            return Ok(None);
        };
        let body = get(&format!("{ROLES}{role}"))?.map_err(refused)?;
        Fetched::of_json(&body).map(Some).map_err(|error| failed(&error))
    }

    fn request(&self, method: Method, path: &str) -> io::Result<Request> {
        Ok(Request::new(method, url(&format!("{}/{path}", self.url))?))
    }
}
