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

/// Opens a URL of the scheme `http` or `https`, or of their names for WebDAV; `None` for other locations.
/// The environment has the options that are not given.
///
/// # Errors
/// `InvalidInput` for what is no URL, and for a variable that makes no sense; those of [`HttpSource::open`].
pub(crate) fn open(
    location: &Path,
    options: Option<&HttpOptions>,
) -> Option<Result<Arc<dyn Source>>> {
    let url = location.to_str()?;
    let (scheme, rest) = scheme(url)?;
    let scheme = match scheme.to_ascii_lowercase().as_str() {
        "http" | "dav" => "http",
        "https" | "davs" => "https",
        _ => return None,
    };
    Some(open_url(url, &format!("{scheme}://{rest}"), options))
}

fn open_url(url: &str, plain: &str, options: Option<&HttpOptions>) -> Result<Arc<dyn Source>> {
    let failed = |error| Error::new(shown(url), "open", error);
    let options = options.cloned().map_or_else(HttpOptions::from_env, Ok).map_err(failed)?;
    let location = Location { name: shown(url), ..Location::parse(plain).map_err(failed)? };
    Ok(Arc::new(HttpSource::open(Box::new(Web { location }), options)?))
}

struct Web {
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
