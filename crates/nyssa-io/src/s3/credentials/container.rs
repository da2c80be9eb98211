//! Requests credentials from the service of a container, as in ECS and EKS.

use std::fs;
use std::io::{self, ErrorKind};

use ureq::http::Method;
use url::{Host, Url};

use super::Variables;
use super::fetched::{Fetched, ask, failed, nearby, url};
use crate::http::{Client, Patience, Request, retried};

/// The address of the service for a path in `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI`.
const SERVICE: &str = "http://169.254.170.2";
/// The hosts outside this machine to which requests go without TLS: the services of ECS and EKS.
const HOSTS: [&str; 3] = ["169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"];

/// The service of the environment.
pub(super) struct Container {
    url: String,
    token: Option<String>,
    token_file: Option<String>,
}

impl Container {
    /// Returns the service of the environment.
    pub(super) fn find(var: Variables<'_>) -> Option<Self> {
        let relative = var("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        let relative = relative.map(|path| format!("{SERVICE}{path}"));
        let url = relative.or_else(|| var("AWS_CONTAINER_CREDENTIALS_FULL_URI"))?;
        let token = var("AWS_CONTAINER_AUTHORIZATION_TOKEN");
        Some(Self { url, token, token_file: var("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") })
    }

    /// Returns the key that distinguishes this service from others.
    pub(super) fn key(&self) -> String {
        format!("container {}", self.url)
    }

    /// Requests the credentials.
    ///
    /// # Errors
    /// The file of the token cannot be read, or the request fails.
    pub(super) fn fetch(&self) -> io::Result<Fetched> {
        let place = format!("the service of the container at {}", self.url);
        self.answer().map_err(|error| failed(&place, &error))
    }

    fn answer(&self) -> io::Result<Fetched> {
        let url = url(&self.url)?;
        if !is_trusted(&url) {
            let why = "nyssa sends tokens and keys only over https://, or to this machine";
            return Err(io::Error::new(ErrorKind::InvalidInput, why));
        }
        let mut request = Request::new(Method::GET, url);
        let token = match &self.token_file {
            Some(path) => {
                let token = fs::read_to_string(path).map_err(|error| {
                    io::Error::new(error.kind(), format!("the token in {path}: {error}"))
                })?;
                Some(token.trim().to_owned())
            }
            None => self.token.clone(),
        };
        request.secrets.extend(token.map(|token| ("authorization", token)));
        let options = nearby();
        let client = Client::direct(&options);
        Fetched::of_json(&retried(Patience::new(options.deadline, true), || {
            ask(&client, &request)
        })?)
    }
}

/// Returns whether keys may be received over a connection without TLS.
fn is_trusted(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || is_here || url.host_str().is_some_and(|host| HOSTS.contains(&host))
}
