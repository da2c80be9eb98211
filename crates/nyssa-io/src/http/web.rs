//! Names a file or folder of a URL, and decides which credentials are sent.

use std::io::{self, ErrorKind};

use nyssa_net::{BearerToken, NO_CREDENTIALS, bearer_token, may_get_token};
use ureq::http::Method;

use super::client::Request;
use super::location::Location;
use super::resource::Address;
use crate::for_people::shown;
use crate::location::scheme;
use crate::{Error, Result};

/// A file or folder of a URL.
pub(super) struct Web {
    location: Location,
    /// Whether no credentials are sent.
    pub without_credentials: bool,
}

impl Web {
    /// Parses a URL. Makes no request.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not a URL.
    pub(super) fn parse(url: &str) -> Result<Self> {
        let name = shown(url);
        let (given, rest) = scheme(url).unwrap_or(("http", url));
        let is_plain = ["http", "dav"].iter().any(|plain| given.eq_ignore_ascii_case(plain));
        let scheme = if is_plain { "http" } else { "https" };
        let parsed = Location::parse(&format!("{scheme}://{rest}"));
        let location = parsed.map_err(|error| Error::new(&name, "open", error))?;
        Ok(Self { location: Location { name, ..location }, without_credentials: false })
    }

    pub(super) fn failed(&self, action: &str, error: io::Error) -> Error {
        let error = match self.advice(error.kind()) {
            Some(advice) => io::Error::new(error.kind(), format!("{error}; {advice}")),
            None => error,
        };
        Error::new(self.name(), action, error)
    }

    /// Returns the token that is sent: over secure connections only, and not together with another proof.
    fn token(&self) -> io::Result<Option<BearerToken>> {
        let location = &self.location;
        let is_alone = location.basic.is_none() && !location.is_presigned();
        if location.url.scheme() == "https" && is_alone {
            bearer_token(self.host(), self.port())
        } else {
            Ok(None)
        }
    }

    fn host(&self) -> &str {
        self.location.url.host_str().unwrap_or_default()
    }

    fn port(&self) -> u16 {
        self.location.url.port_or_known_default().unwrap_or_default()
    }
}

impl Address for Web {
    fn name(&self) -> &str {
        &self.location.name
    }

    fn request(&self, method: Method) -> io::Result<Request> {
        let mut request = Request::new(method, self.location.url.clone());
        if self.without_credentials {
            return Ok(request);
        }
        let proof = match &self.location.basic {
            Some(basic) => Some(basic.clone()),
            None => self.token()?.map(|token| format!("Bearer {}", token.value)),
        };
        request.secrets.extend(proof.map(|proof| ("authorization", proof)));
        Ok(request)
    }

    fn advice(&self, kind: ErrorKind) -> Option<String> {
        if kind != ErrorKind::PermissionDenied {
            return None;
        }
        if self.without_credentials {
            return Some(NO_CREDENTIALS.to_owned());
        }
        let location = &self.location;
        Some(match self.token() {
            Ok(Some(token)) => {
                format!("nyssa sent the token of {}: renew this token", token.origin)
            }
            _ if location.basic.is_some() => "check the name and password in the URL".to_owned(),
            _ if location.is_presigned() => {
                "the URL may have expired: ask for another one".to_owned()
            }
            _ if location.url.scheme() == "http" => {
                "nyssa sends tokens only over https://".to_owned()
            }
            _ if matches!(may_get_token(self.host(), self.port()), Ok(false)) => {
                format!(
                    "nyssa sent no token, because NYSSA_TOKEN_HOSTS does not name {}",
                    self.host()
                )
            }
            _ => "set BEARER_TOKEN to a token, or BEARER_TOKEN_FILE to the path of a file with one"
                .to_owned(),
        })
    }
}
