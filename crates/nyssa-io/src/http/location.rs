//! Parses the URL of a resource: the part that is sent, and the part that messages show.

use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::Url;

use crate::for_people::{PROOFS, shown};

/// The location of a resource.
#[derive(Debug)]
pub(super) struct Location {
    /// The URL without user and password.
    pub url: Url,
    /// The name that messages show. It has no password and no query, which may hold secrets.
    pub name: String,
    /// The value of the header `Authorization` for the user and password of the URL.
    pub basic: Option<String>,
}

impl Location {
    /// Parses a URL of the scheme `http` or `https`.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not such a URL.
    pub(super) fn parse(text: &str) -> io::Result<Self> {
        let refused =
            |why: String| io::Error::new(io::ErrorKind::InvalidInput, format!("not a URL: {why}"));
        let mut url = Url::parse(text).map_err(|error| refused(error.to_string()))?;
        let basic = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let (name, password) = (url.username(), url.password().unwrap_or_default());
            let both = format!("{}:{}", decoded(name), decoded(password));
            format!("Basic {}", STANDARD.encode(both))
        });
        let cleared = url.set_username("").and_then(|()| url.set_password(None));
        cleared.map_err(|()| refused("it has no host".to_owned()))?;
        url.set_fragment(None);
        let name = shown(text);
        Ok(Self { url, name, basic })
    }

    /// Returns whether the query of the URL has credentials. No token is sent then.
    pub(super) fn is_presigned(&self) -> bool {
        self.url.query_pairs().any(|(key, _)| PROOFS.contains(&key.to_ascii_lowercase().as_str()))
    }
}

/// Returns a text with its percent signs decoded.
pub(super) fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_sent_and_not_shown() {
        let place = Location::parse("https://me:p%40ss@host:8443//a/b.root?sig=x#y").unwrap();
        assert_eq!(place.url.as_str(), "https://host:8443//a/b.root?sig=x");
        assert_eq!(place.name, "https://host:8443//a/b.root?...");
        // The expected text is the output of `printf 'me:p@ss' | base64`.
        assert_eq!(place.basic.as_deref(), Some("Basic bWU6cEBzcw=="));
        assert!(place.is_presigned());
        let place = Location::parse("http://host/a b.root?X-Amz-Date=1").unwrap();
        assert_eq!(place.url.as_str(), "http://host/a%20b.root?X-Amz-Date=1");
        assert!(!place.is_presigned() && place.basic.is_none());
        let error = Location::parse("http://").unwrap_err();
        assert_eq!(error.to_string(), "not a URL: empty host");
    }
}
