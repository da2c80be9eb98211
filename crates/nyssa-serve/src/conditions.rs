//! Compares versions of files with the conditions of requests (RFC 9110, section 13). It does no I/O.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::HeaderMap;
use hyper::header::{
    HeaderName, IF_MATCH, IF_MODIFIED_SINCE, IF_NONE_MATCH, IF_RANGE, IF_UNMODIFIED_SINCE,
};

/// The properties that distinguish a version of a file from others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Version {
    /// A strong ETag, with its quotes.
    pub etag: Option<String>,
    /// The time of the last change.
    pub modified: Option<SystemTime>,
}

/// The result of the conditions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The request is answered.
    Answer,
    /// The request is answered, and its ranges do not count: they are of another version.
    AnswerWhole,
    /// The client has this version.
    NotModified,
    /// The client wants another version.
    Failed,
}

impl Version {
    /// Compares this version with the conditions of a request.
    pub(crate) fn compare(&self, headers: &HeaderMap) -> Verdict {
        let header = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let date = |name| header(name).and_then(|text| httpdate::parse_http_date(text).ok());
        if let Some(tags) = header(IF_MATCH) {
            if !self.is_one_of(tags, false) {
                return Verdict::Failed;
            }
        } else if let Some((limit, modified)) = date(IF_UNMODIFIED_SINCE).zip(self.seconds())
            && modified > limit
        {
            return Verdict::Failed;
        }
        if let Some(tags) = header(IF_NONE_MATCH) {
            if self.is_one_of(tags, true) {
                return Verdict::NotModified;
            }
        } else if let Some((known, modified)) = date(IF_MODIFIED_SINCE).zip(self.seconds())
            && modified <= known
        {
            return Verdict::NotModified;
        }
        let same = match header(IF_RANGE) {
            None => true,
            Some(tag) if tag.contains('"') => self.etag.as_deref() == Some(tag.trim()),
            Some(_) => self.seconds().is_some_and(|time| date(IF_RANGE) == Some(time)),
        };
        if same { Verdict::Answer } else { Verdict::AnswerWhole }
    }

    /// Returns whether a list has the ETag of this version, or is `*`. A weak ETag counts only if that is
    /// allowed.
    fn is_one_of(&self, tags: &str, weak: bool) -> bool {
        let own = self.etag.as_deref();
        let plain = |tag| if weak { str::strip_prefix(tag, "W/").unwrap_or(tag) } else { tag };
        tags.trim() == "*" || tags.split(',').any(|tag| Some(plain(tag.trim())) == own)
    }

    /// Returns the time of the last change in whole seconds, which is all that a header holds.
    fn seconds(&self) -> Option<SystemTime> {
        let since = self.modified?.duration_since(UNIX_EPOCH).ok()?;
        Some(UNIX_EPOCH + Duration::from_secs(since.as_secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared() {
        let time = UNIX_EPOCH + Duration::from_millis(1_000_000_500);
        let version = Version { etag: Some("\"a\"".to_owned()), modified: Some(time) };
        let (old, same, new) = (
            "Mon, 12 Jan 1970 13:46:39 GMT",
            "Mon, 12 Jan 1970 13:46:40 GMT",
            "Mon, 12 Jan 1970 13:46:41 GMT",
        );
        use Verdict::{Answer, AnswerWhole, Failed, NotModified};
        for (name, value, expected) in [
            ("if-match", "\"a\"", Answer),
            ("if-match", "*", Answer),
            ("if-match", "\"b\", \"a\"", Answer),
            ("if-match", "W/\"a\"", Failed),
            ("if-match", "\"b\"", Failed),
            ("if-unmodified-since", same, Answer),
            ("if-unmodified-since", old, Failed),
            ("if-none-match", "\"a\"", NotModified),
            ("if-none-match", "\"b\", W/\"a\"", NotModified),
            ("if-none-match", "\"b\"", Answer),
            ("if-modified-since", same, NotModified),
            ("if-modified-since", new, NotModified),
            ("if-modified-since", old, Answer),
            ("if-modified-since", "yesterday", Answer),
            ("if-range", "\"a\"", Answer),
            ("if-range", "\"b\"", AnswerWhole),
            ("if-range", "W/\"a\"", AnswerWhole),
            ("if-range", same, Answer),
            ("if-range", new, AnswerWhole),
            ("if-range", "yesterday", AnswerWhole),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(version.compare(&headers), expected, "{name}: {value}");
        }
        assert_eq!(version.compare(&HeaderMap::new()), Answer);
        let mut headers = HeaderMap::new();
        headers.insert("if-range", "\"a\"".parse().unwrap());
        assert_eq!(Version::default().compare(&headers), AnswerWhole);
    }
}
