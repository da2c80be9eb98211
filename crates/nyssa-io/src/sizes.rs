//! Parses sizes as people write them.

/// The suffixes of sizes and their bytes.
const UNITS: [(&str, f64); 17] = [
    ("", 1.0),
    ("b", 1.0),
    ("k", 1e3),
    ("kb", 1e3),
    ("m", 1e6),
    ("mb", 1e6),
    ("g", 1e9),
    ("gb", 1e9),
    ("t", 1e12),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
    ("tib", 1_099_511_627_776.0),
    ("ki", 1024.0),
    ("mi", 1_048_576.0),
    ("gi", 1_073_741_824.0),
];

/// Parses a size in bytes: `128MB`, `64MiB`, `1e6`, `4096`.
///
/// # Errors
/// The reason, as text for the user, if it is not a size or is too large.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "{text:?} is not a size: write a number of bytes, or a number with a unit, such as \
             128MB or 64MiB"
        )
    };
    let trimmed = text.trim();
    if let Some(bytes) = trimmed.parse().ok().filter(|bytes| (1..1 << 63).contains(bytes)) {
        return Ok(bytes);
    }
    // Digits follow the `e` of an exponent, and no unit starts with `e`.
    let split = trimmed
        .find(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E'))
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let unit = unit.trim().to_ascii_lowercase();
    let factor = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let bytes = number * factor.ok_or_else(wrong)?;
    // Below 2^53 whole numbers of bytes are exact.
    if !(1.0..=9_007_199_254_740_992.0).contains(&bytes) {
        return Err(format!("{text:?} is not a size between 1 byte and 9 PB"));
    }
    Ok(bytes.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        for (text, bytes) in [
            ("128MB", 128_000_000),
            ("64MiB", 67_108_864),
            ("64 mib", 67_108_864),
            ("1e6", 1_000_000),
            ("1.5e3kB", 1_500_000),
            ("4096", 4096),
            ("0.5k", 500),
            ("2GiB", 2_147_483_648),
            ("9223372036854775807", i64::MAX as u64),
        ] {
            assert_eq!(parse_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "MB", "12XB", "-1", "0", "nan", "inf", "1e99", "1 2", "é"] {
            assert!(parse_size(text).is_err(), "{text}");
        }
    }
}
