//! Parses where the clusters of a TTree end.

/// Parses ROOT's number (entries, or negative bytes), or a size with a unit.
///
/// # Errors
/// Returns the reason why the text is no number and no size.
pub(crate) fn auto_flush(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(number) => Ok(number),
        Err(_) => nyssa_io::parse_size(text).map(|bytes| -i64::try_from(bytes).unwrap_or(i64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_end_after_entries_or_bytes() {
        assert_eq!(auto_flush("1000"), Ok(1000));
        assert_eq!(auto_flush("-5000"), Ok(-5000));
        assert_eq!(auto_flush("30MB"), Ok(-30_000_000));
        assert_eq!(auto_flush("0"), Ok(0));
        assert!(auto_flush("many").is_err());
    }
}
