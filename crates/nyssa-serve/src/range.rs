//! Parses the header `Range` (RFC 9110, section 14). It does no I/O.

use std::ops::Range;

/// The largest number of ranges of one request.
const MAX_RANGES: usize = 4096;

/// The bytes that a request wants of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// All bytes.
    Whole,
    /// These ranges, none of which is empty.
    Ranges(Vec<Range<u64>>),
    /// Nothing that the file has, or too much: far more bytes than there are, or too many ranges.
    Nothing,
}

/// Returns what a header wants of a file of `size` bytes. A header of another unit, or that breaks the rules,
/// wants the whole file.
pub(crate) fn wanted(header: &str, size: u64) -> Wanted {
    let Some((unit, list)) = header.split_once('=') else { return Wanted::Whole };
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return Wanted::Whole;
    }
    let mut ranges = Vec::new();
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        match range(item, size) {
            None => return Wanted::Whole,
            Some(range) if range.is_empty() => (),
            Some(_) if ranges.len() == MAX_RANGES => return Wanted::Nothing,
            Some(range) => ranges.push(range),
        }
    }
    let bytes = ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(range.end - range.start));
    // Ranges that overlap again and again would make a short request expensive.
    if ranges.is_empty() || bytes > size.saturating_mul(2) {
        return Wanted::Nothing;
    }
    Wanted::Ranges(ranges)
}

/// Returns one range, which is empty if it lies after the end. Returns `None` for a text that is not a range.
fn range(text: &str, size: u64) -> Option<Range<u64>> {
    let (first, last) = text.split_once('-')?;
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        // A number that is too large is after the end of every file.
        digits.then(|| text.parse::<u64>().unwrap_or(u64::MAX))
    };
    match (first.trim(), last.trim()) {
        ("", last) => Some(size - number(last)?.min(size)..size),
        (first, "") => Some(number(first)?.min(size)..size),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then(|| first.min(size)..last.saturating_add(1).min(size))
        }
    }
}

#[cfg(test)]
#[allow(clippy::single_range_in_vec_init)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_the_standard_says() {
        let ranges = |ranges: &[Range<u64>]| Wanted::Ranges(ranges.to_vec());
        for (header, expected) in [
            ("bytes=0-9", ranges(&[0..10])),
            ("Bytes = 5-", ranges(&[5..100])),
            ("bytes=-3", ranges(&[97..100])),
            ("bytes=-1000", ranges(&[0..100])),
            ("bytes=90-1000", ranges(&[90..100])),
            ("bytes=0-0, 50-59 ,,-1", ranges(&[0..1, 50..60, 99..100])),
            ("bytes=50-59,0-9,5-7", ranges(&[50..60, 0..10, 5..8])),
            ("bytes=0-99999999999999999999", ranges(&[0..100])),
            ("bytes=100-", Wanted::Nothing),
            ("bytes=100-200,0-4", ranges(&[0..5])),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=", Wanted::Nothing),
            ("bytes=0-,0-,0-", Wanted::Nothing),
            ("bytes=9-5", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=+1-2", Wanted::Whole),
            ("bytes=1", Wanted::Whole),
            ("items=0-9", Wanted::Whole),
            ("", Wanted::Whole),
        ] {
            assert_eq!(wanted(header, 100), expected, "{header}");
        }
        let many = |count: usize| format!("bytes={}", vec!["0-0"; count].join(","));
        assert_eq!(wanted(&many(MAX_RANGES), 1 << 40), Wanted::Ranges(vec![0..1; MAX_RANGES]));
        assert_eq!(wanted(&many(MAX_RANGES + 1), 1 << 40), Wanted::Nothing);
        assert_eq!(wanted("bytes=0-0", 0), Wanted::Nothing);
    }
}
