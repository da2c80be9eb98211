//! Taking the bytes of a range out of parts that follow each other, without joining them.

use std::ops::Range;

/// The slices that make up `range` of the concatenated `parts`.
pub(super) fn slices<'a>(
    parts: &'a [&'a [u8]],
    range: Range<u64>,
) -> impl Iterator<Item = &'a [u8]> {
    let mut start = 0u64;
    parts.iter().filter_map(move |part| {
        let part_start = start;
        start += part.len() as u64;
        let from = range.start.clamp(part_start, start) - part_start;
        let to = range.end.clamp(part_start, start) - part_start;
        (from < to).then(|| &part[from as usize..to as usize])
    })
}

#[cfg(test)]
mod tests {
    use super::slices;

    #[test]
    fn slices_cross_parts() {
        let parts: [&[u8]; 3] = [b"abc", b"", b"defg"];
        let joined = |range| slices(&parts, range).collect::<Vec<_>>().concat();
        assert_eq!(joined(0..7), b"abcdefg");
        assert_eq!(joined(1..5), b"bcde");
        assert_eq!(joined(3..7), b"defg");
        assert_eq!(joined(2..2), b"");
    }
}
