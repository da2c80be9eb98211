//! Reads the answers of servers, and says what they mean if they are errors.

use std::io::Read;
use std::time::Duration;

use jiff::Timestamp;
use ureq::BodyReader;
use ureq::http::HeaderMap;
use url::Url;

use super::failure::Failure;
use super::turns::Turn;

/// The largest number of bytes that are read of the text of a server about an error.
const SAID_BYTES: u64 = 8 << 10;
/// The largest number of characters of it that messages show.
const SAID_LETTERS: usize = 200;

/// A header by which a server says how it wants a request. An answer with it is not followed as a redirect.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Correction {
    pub header: &'static str,
    /// Returns advice for the user, from the value of the header.
    pub advice: fn(&str) -> String,
}

/// An answer whose body is still to be read.
pub(crate) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    /// The URL that gave the answer, after redirects.
    pub url: Url,
    /// The time from the last request to the first bytes of the answer.
    pub latency: Duration,
    pub(super) body: BodyReader<'static>,
    pub(super) correction: Option<Correction>,
    /// The proxy that has given the answer or passed it on, unless it only sees a tunnel.
    pub(super) proxy: Option<String>,
    /// Ends when the answer is dropped, so that answers that are read count as requests, too.
    pub(super) _turn: Turn,
}

impl Reply {
    /// Returns a header as text.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the length of the body that the server states.
    pub(crate) fn content_length(&self) -> Option<u64> {
        self.header("content-length")?.trim().parse().ok()
    }

    /// Adds bytes of the body to `buffer` until it has `len` bytes.
    ///
    /// # Errors
    /// A failure if the body ends earlier. The bytes that were received are in `buffer`.
    pub(crate) fn read_to(&mut self, buffer: &mut Vec<u8>, len: usize) -> Result<(), Failure> {
        let missing = len.saturating_sub(buffer.len());
        let read = self.body.by_ref().take(missing as u64).read_to_end(buffer);
        read.map_err(|error| Failure::transport(error.into()))?;
        match len.saturating_sub(buffer.len()) {
            0 => Ok(()),
            missing => Err(Failure::cut(format!("the answer ended {missing} bytes too early"))),
        }
    }

    /// Reads the rest of a body that should be at its end, so that the connection can be used again.
    pub(crate) fn finish(mut self) {
        let _ = self.body.read(&mut [0; 1]);
    }

    /// Reads a whole body of at most `most` bytes.
    ///
    /// # Errors
    /// A failure if the body is not complete, or is longer.
    pub(crate) fn read_all(mut self, most: u64) -> Result<Vec<u8>, Failure> {
        let stated = self.content_length();
        let mut all = Vec::new();
        let read = self.body.by_ref().take(most.saturating_add(1)).read_to_end(&mut all);
        read.map_err(|error| Failure::transport(error.into()))?;
        let len = all.len() as u64;
        if len > most {
            return Err(Failure::answer(format!("the answer has more than {most} bytes")));
        }
        if stated.is_some_and(|stated| stated != len) {
            return Err(Failure::cut(format!("the answer ended after {len} bytes")));
        }
        Ok(all)
    }

    /// Returns advice if the server wants another request.
    pub(super) fn correction(&self) -> Option<String> {
        let Correction { header, advice } = self.correction?;
        self.header(header).map(advice)
    }

    /// Turns the answer into a failure.
    pub(crate) fn failure(mut self) -> Failure {
        let after = retry_after(&self.headers);
        let mut said = Vec::new();
        // A text that cannot be read is left out.
        let _ = self.body.by_ref().take(SAID_BYTES).read_to_end(&mut said);
        let mut said = gist(&String::from_utf8_lossy(&said));
        if let Some(advice) = self.correction().filter(|_| matches!(self.status, 301 | 307 | 400)) {
            said.push_str(&format!("; {advice}"));
        }
        let mut failure = Failure::status(self.status, &said, after);
        if let Some(proxy) = &self.proxy {
            failure.reason.push_str(&format!(" (the answer comes through the proxy {proxy})"));
        }
        failure
    }
}

/// Returns the time for which a server wants no more requests: seconds, or a date.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("retry-after")?.to_str().ok()?.trim();
    let at = || {
        let at = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Some(Duration::try_from(at.duration_since(Timestamp::now())).unwrap_or_default())
    };
    text.parse().ok().map(Duration::from_secs).or_else(at)
}

/// Returns the text in the first element of XML or HTML with a tag.
pub(crate) fn element<'a>(body: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = body.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once(&format!("</{tag}>"))?.0.trim())
}

/// Returns the main text in the body of an error: the code and message of XML, the title of HTML, or the first
/// line.
pub(crate) fn gist(body: &str) -> String {
    let inside = |tag| element(body, tag);
    let said = match (inside("Code"), inside("Message")) {
        (Some(code), Some(message)) if !message.is_empty() => format!("{code}: {message}"),
        (Some(code), _) => code.to_owned(),
        (None, Some(message)) => message.to_owned(),
        (None, None) => {
            let line = || body.lines().map(str::trim).find(|line| !line.is_empty());
            let markup = body.trim_start().starts_with('<');
            inside("title").or_else(|| line().filter(|_| !markup)).unwrap_or("").to_owned()
        }
    };
    let plain = said.chars().map(|c| if c.is_control() { ' ' } else { c });
    plain.take(SAID_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::{Duration, HeaderMap, gist, retry_after};

    #[test]
    fn a_pause_is_in_seconds_or_until_a_date() {
        let pause = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert("retry-after", text.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(pause(" 5"), Some(Duration::from_secs(5)));
        assert_eq!(pause("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
        assert!(pause("Thu, 31 Dec 2099 23:59:59 GMT").unwrap() > Duration::from_secs(1_000_000));
        assert_eq!((pause("soon"), retry_after(&HeaderMap::new())), (None, None));
    }

    #[test]
    fn what_servers_say_is_one_line() {
        for (body, expected) in [
            ("", ""),
            ("\n plain \nmore", "plain"),
            ("<html>\r\n<head><title>404 Not Found</title></head>", "404 Not Found"),
            ("<html><body>no title</body>", ""),
            (
                "<?xml?><Error><Code>NoSuchKey</Code><Message>no such key</Message></Error>",
                "NoSuchKey: no such key",
            ),
            ("<Error><Code>SlowDown</Code><Message></Message></Error>", "SlowDown"),
            ("a\u{7}b", "a b"),
        ] {
            assert_eq!(gist(body), expected, "{body}");
        }
        assert_eq!(gist(&"x".repeat(500)).len(), 200);
    }
}
