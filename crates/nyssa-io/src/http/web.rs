//! Files named by their URL.

use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::Arc;

use ureq::http::Method;

use super::client::Request;
use super::location::{Location, shown};
use super::options::HttpOptions;
use super::resource::Address;
use super::source::HttpSource;
use crate::location::scheme;
use crate::token::{BearerToken, bearer_token};
use crate::{Error, Result, Source};

/// Opens a URL of the scheme `http` or `https`, or of their names for WebDAV. Returns `None` for other locations.
/// The environment has the options that are not given.
///
/// # Errors
/// `InvalidInput` for what is no URL, and for a variable that makes no sense; those of [`HttpSource::open`].
pub(crate) fn open(
    location: &Path,
    options: Option<&HttpOptions>,
) -> Option<Result<Arc<dyn Source>>> {
    Some(web(location)?.and_then(|web| {
        let options = options.cloned().map_or_else(HttpOptions::from_env, Ok);
        let options = options.map_err(|error| Error::new(web.name(), "open", error))?;
        Ok(Arc::new(HttpSource::open(Box::new(web), options)?) as Arc<dyn Source>)
    }))
}

/// Reads a URL as [`open`] does, without a request.
///
/// # Errors
/// `InvalidInput` for what is no URL.
pub(super) fn web(location: &Path) -> Option<Result<Web>> {
    let url = location.to_str()?;
    let (scheme, rest) = scheme(url)?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" | "dav" => "http",
        "https" | "davs" => "https",
        _ => return None,
    };
    let parsed = Location::parse(&format!("{scheme}://{rest}"));
    let parsed = parsed.map_err(|error| Error::new(shown(url), "open", error));
    Some(parsed.map(|location| Web { location: Location { name: shown(url), ..location } }))
}

/// A file or folder that a URL names.
pub(super) struct Web {
    location: Location,
}

impl Web {
    /// The token that is sent: over secure connections only, and not beside another proof.
    fn token(&self) -> io::Result<Option<BearerToken>> {
        let location = &self.location;
        let is_alone = location.basic.is_none() && !location.is_presigned();
        if location.url.scheme() == "https" && is_alone { bearer_token() } else { Ok(None) }
    }
}

impl Address for Web {
    fn name(&self) -> &str {
        &self.location.name
    }

    fn request(&self, method: Method) -> io::Result<Request> {
        let mut request = Request::new(method, self.location.url.clone());
        request.authorization = match &self.location.basic {
            Some(basic) => Some(basic.clone()),
            None => self.token()?.map(|token| format!("Bearer {}", token.value)),
        };
        Ok(request)
    }

    fn advice(&self, kind: ErrorKind) -> Option<String> {
        if kind != ErrorKind::PermissionDenied {
            return None;
        }
        let location = &self.location;
        Some(match self.token() {
            Ok(Some(token)) => format!("the token of {} was sent: renew it", token.origin),
            _ if location.basic.is_some() => "check the name and password in the URL".to_owned(),
            _ if location.is_presigned() => {
                "the URL may have expired: ask for another one".to_owned()
            }
            _ if location.url.scheme() == "http" => "tokens are sent over https:// only".to_owned(),
            _ => "name a token by BEARER_TOKEN or BEARER_TOKEN_FILE".to_owned(),
        })
    }
}
