//! Reads the headers of an answer that describe its bytes.

use std::ops::Range;

use super::failure::Failure;
use super::reply::Reply;

/// The version of a resource, as the server states it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Version {
    etag: Option<String>,
    modified: Option<String>,
}

impl Version {
    pub(super) fn of(reply: &Reply) -> Self {
        let text = |name| reply.header(name).map(str::to_owned);
        Self { etag: text("etag"), modified: text("last-modified") }
    }

    /// Returns the text that distinguishes the version from others: the ETag, or else the time of the last
    /// change.
    pub(super) fn text(&self) -> Option<String> {
        let etag = self.etag.as_ref().map(|etag| format!("ETag {etag}"));
        etag.or_else(|| self.modified.as_ref().map(|time| format!("Last-Modified {time}")))
    }

    /// Refuses an answer of another version.
    ///
    /// # Errors
    /// A failure with the difference.
    pub(super) fn check(&self, other: &Self) -> Result<(), Failure> {
        let differ = |a: &Option<String>, b: &Option<String>| {
            a.as_ref().zip(b.as_ref()).is_some_and(|(a, b)| a != b)
        };
        if differ(&self.etag, &other.etag) {
            return Err(Failure::changed("it has another ETag"));
        }
        if differ(&self.modified, &other.modified) {
            return Err(Failure::changed("it has another Last-Modified"));
        }
        Ok(())
    }
}

/// Returns the range of bytes in an answer, and the size of the whole, from `bytes 0-9/100`. The range is
/// `None` for `bytes */100`, and the size is `None` for `bytes 0-9/*`.
pub(super) fn content_range(text: &str) -> Option<(Option<Range<u64>>, Option<u64>)> {
    let (unit, rest) = text.trim().split_once(' ')?;
    let (range, size) = rest.trim().split_once('/')?;
    let size = match size.trim() {
        "*" => None,
        size => Some(size.parse().ok()?),
    };
    let range = match range.trim() {
        "*" => None,
        range => {
            let (first, last) = range.split_once('-')?;
            let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            let end = last.checked_add(1).filter(|&end| end > first)?;
            if size.is_some_and(|size| end > size) {
                return None;
            }
            Some(first..end)
        }
    };
    unit.eq_ignore_ascii_case("bytes").then_some((range, size))
}

/// Returns the size of a file whose `Content-Range` promises bytes from the start to a place after the end.
pub(super) fn size_of_overrun(text: &str) -> Option<u64> {
    let (last, size) = text.trim().strip_prefix("bytes 0-")?.split_once('/')?;
    let (last, size): (u64, u64) = (last.parse().ok()?, size.parse().ok()?);
    (last >= size).then_some(size)
}

#[cfg(test)]
mod tests {
    use super::{content_range, size_of_overrun};

    #[test]
    fn ranges_beyond_the_end_tell_the_size() {
        assert_eq!(size_of_overrun("bytes 0-262143/5"), Some(5));
        assert_eq!(size_of_overrun("bytes 0-0/0"), Some(0));
        for text in ["bytes 0-4/5", "bytes 1-9/5", "bytes 0-4/*", "bytes */5"] {
            assert_eq!(size_of_overrun(text), None, "{text}");
        }
    }

    #[test]
    fn content_ranges_are_read_or_refused() {
        for (text, expected) in [
            ("bytes 0-9/100", Some((Some(0..10), Some(100)))),
            (" Bytes 5-5/* ", Some((Some(5..6), None))),
            ("bytes */0", Some((None, Some(0)))),
            ("bytes 9-0/100", None),
            ("bytes 0-100/100", None),
            ("bytes 0-18446744073709551615/*", None),
            ("bytes 0-9", None),
            ("items 0-9/100", None),
            ("bytes a-9/100", None),
        ] {
            assert_eq!(content_range(text), expected, "{text}");
        }
    }
}
