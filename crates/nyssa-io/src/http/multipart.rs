//! Parses answers to a request for several ranges: `multipart/byteranges`. It does no I/O.
//!
//! ```text
//! --BOUNDARY
//! Content-Range: bytes 0-9/100
//!
//! (ten bytes)
//! --BOUNDARY
//! Content-Range: bytes 50-59/100
//!
//! (ten bytes)
//! --BOUNDARY--
//! ```
//!
//! Servers may merge, sort or leave out ranges. Only answers that have exactly the requested ranges are used.

use std::ops::Range;

use bytes::Bytes;

use super::version::content_range;

/// The largest number of bytes of the boundary and the headers of one part.
const PART_HEAD_BYTES: u64 = 1 << 10;

/// Returns the value of a `Range` header.
pub(super) fn header(ranges: &[Range<u64>]) -> String {
    let text_of = |range: &Range<u64>| format!("{}-{}", range.start, range.end.saturating_sub(1));
    ranges.iter().map(text_of).collect::<Vec<_>>().join(",")
}

/// Returns the largest number of bytes that an answer with these ranges may have.
pub(super) fn max_bytes(ranges: &[Range<u64>]) -> u64 {
    let length = |range: &Range<u64>| range.end.saturating_sub(range.start) + PART_HEAD_BYTES;
    ranges.iter().map(length).sum::<u64>() + PART_HEAD_BYTES
}

/// Returns the boundary in a `Content-Type`, if it is the type of several ranges.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let (kind, parameters) = content_type.split_once(';')?;
    if !kind.trim().eq_ignore_ascii_case("multipart/byteranges") {
        return None;
    }
    let boundary = parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("boundary").then(|| value.trim().trim_matches('"'))
    });
    boundary.filter(|boundary| !boundary.is_empty())
}

/// Returns the bytes of `ranges`, which must be all parts of the body, in this order. The error says what is
/// wrong with the body.
pub(super) fn parts(
    body: &Bytes,
    boundary: &str,
    ranges: &[Range<u64>],
    size: u64,
) -> Result<Vec<Bytes>, String> {
    let mut place = 0;
    let mut parts = Vec::with_capacity(ranges.len());
    for range in ranges {
        delimiter(body, &mut place, boundary)?;
        let text = content_range_of(body, &mut place)?;
        match content_range(&text) {
            Some((Some(part), of)) if part == *range && of.is_none_or(|of| of == size) => (),
            _ => {
                return Err(format!(
                    "it has {text} instead of bytes {}",
                    header(std::slice::from_ref(range))
                ));
            }
        }
        let length = usize::try_from(range.end - range.start).map_err(|_| "it is too large")?;
        let end = place.checked_add(length).filter(|&end| end <= body.len());
        let end = end.ok_or("it ends within a part")?;
        parts.push(body.slice(place..end));
        place = end;
    }
    delimiter(body, &mut place, boundary)?;
    match body[place..].starts_with(b"--") {
        true => Ok(parts),
        false => Err("it has more parts than were requested".to_owned()),
    }
}

/// Skips the line of a boundary, with the line end before it.
fn delimiter(body: &[u8], place: &mut usize, boundary: &str) -> Result<(), String> {
    let rest = &body[*place..];
    let rest = rest.strip_prefix(b"\r\n").unwrap_or(rest);
    let rest = rest.strip_prefix(b"--").and_then(|rest| rest.strip_prefix(boundary.as_bytes()));
    *place = body.len() - rest.ok_or("a boundary is missing")?.len();
    Ok(())
}

/// Skips the headers of a part, and returns its `Content-Range`.
fn content_range_of(body: &[u8], place: &mut usize) -> Result<String, String> {
    let rest = &body[*place..];
    let most = usize::try_from(PART_HEAD_BYTES).unwrap_or(usize::MAX).min(rest.len());
    let end = rest[..most].windows(4).position(|four| four == b"\r\n\r\n");
    let end = end.ok_or("the headers of a part have no end")?;
    *place += end + 4;
    let text = String::from_utf8_lossy(&rest[..end]).into_owned();
    let header = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.trim().eq_ignore_ascii_case("content-range").then(|| value.trim().to_owned())
    });
    header.ok_or_else(|| "a part has no Content-Range".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boundaries_are_found() {
        for (text, expected) in [
            ("multipart/byteranges; boundary=00017", Some("00017")),
            ("Multipart/ByteRanges; x=y; Boundary=\"a b\"", Some("a b")),
            ("multipart/byteranges", None),
            ("multipart/byteranges; boundary=", None),
            ("multipart/form-data; boundary=a", None),
            ("text/plain", None),
        ] {
            assert_eq!(boundary(text), expected, "{text}");
        }
    }

    #[test]
    fn bodies_have_exactly_the_ranges_or_are_refused() {
        let part = |range: &str, data: &str| {
            format!("\r\n--b\r\nContent-Type: x/y\r\nContent-Range: bytes {range}\r\n\r\n{data}")
        };
        let (first, two) = (part("0-2/50", "abc"), part("10-13/50", "d\r\n-"));
        let ranges = [0..3, 10..14];
        let parsed = |body: String| parts(&body.into(), "b", &ranges, 50);
        let sound = parsed(format!("{first}{two}\r\n--b--\r\n")).unwrap();
        assert_eq!(sound, ["abc", "d\r\n-"]);
        // A body can begin with the boundary, and the size of the file can be unknown.
        let text = format!("{first}{two}\r\n--b--").replace("/50", "/*");
        assert_eq!(parsed(text[2..].to_owned()).unwrap(), sound);
        for (body, expected) in [
            (format!("{first}\r\n--b--"), "the headers of a part have no end"),
            (format!("{two}{first}\r\n--b--"), "it has bytes 10-13/50 instead of bytes 0-2"),
            (format!("{first}{two}{first}\r\n--b--"), "it has more parts than were requested"),
            (format!("{first}{}", &two[..two.len() - 1]), "it ends within a part"),
            (format!("{first}{two}"), "a boundary is missing"),
            (format!("{first}x{two}\r\n--b--"), "a boundary is missing"),
            (
                format!("{first}{two}\r\n--b--").replace("/50", "/51"),
                "it has bytes 0-2/51 instead of bytes 0-2",
            ),
            (
                format!("{first}{two}\r\n--b--").replace("Content-Range", "Range"),
                "a part has no Content-Range",
            ),
            ("500 Internal Server Error".to_owned(), "a boundary is missing"),
            (String::new(), "a boundary is missing"),
        ] {
            assert_eq!(parsed(body).unwrap_err(), expected);
        }
    }
}
