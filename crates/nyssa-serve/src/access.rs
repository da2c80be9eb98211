//! Decides which requests are answered: requests with a token, if tokens are required.

use std::fs;
use std::io::{Error as IoError, ErrorKind};
use std::path::PathBuf;

use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use nyssa_io::{Error, Result};
use subtle::{Choice, ConstantTimeEq};

/// The file of the tokens, or `None` if no token is required.
pub(crate) struct Access(Option<PathBuf>);

impl Access {
    /// Asks for one of the tokens in a file, which has one on each line. Without a file, asks for no token.
    ///
    /// # Errors
    /// `InvalidInput` for a file without tokens; an error of the system.
    pub(crate) fn new(file: Option<PathBuf>) -> Result<Self> {
        if let Some(path) = &file {
            let failed = |error| Error::new(path.display().to_string(), "read tokens from", error);
            if tokens(&fs::read_to_string(path).map_err(failed)?).next().is_none() {
                return Err(failed(IoError::new(ErrorKind::InvalidInput, "it has no tokens")));
            }
        }
        Ok(Self(file))
    }

    /// Returns whether the headers of a request have a token. The file is read each time, so that tokens can be
    /// replaced. A file that cannot be read lets nobody in.
    pub(crate) fn allows(&self, headers: &HeaderMap) -> bool {
        let Some(path) = &self.0 else { return true };
        let header = headers.get(AUTHORIZATION).map_or(&[][..], |value| value.as_bytes());
        let (scheme, given) = header.split_at(header.len().min("bearer ".len()));
        let Ok(text) = fs::read_to_string(path) else { return false };
        // Each token is compared to its end, so that the time does not show which part is right.
        let is_known = tokens(&text).fold(Choice::from(0), |is_known, token| {
            is_known | token.as_bytes().ct_eq(given.trim_ascii())
        });
        scheme.eq_ignore_ascii_case(b"bearer ") && is_known.into()
    }
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}
