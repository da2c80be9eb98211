//! Parses numbers that people write, and prints sizes and counts.

use std::time::Duration;

pub(crate) use nyssa_io::parse_size;
pub(crate) use nyssa_jobs::job::EntryRange;
use nyssa_root::context::MAX_THREADS;

/// Parses a number of threads.
pub(crate) fn parse_threads(text: &str) -> Result<usize, String> {
    match text.trim().parse() {
        Ok(threads) if (1..=MAX_THREADS).contains(&threads) => Ok(threads),
        _ => Err(format!("the number of threads must be from 1 to {MAX_THREADS}")),
    }
}

/// Parses the seconds between two rows of the monitor.
pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds =
        text.trim().parse().map_err(|_| format!("{text:?} is not a number of seconds"))?;
    nyssa_observe::interval(seconds).map_err(|error| error.to_string())
}

/// Parses a time such as `50ms`, `0.2s` or `200us`.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!("{text:?} is not a time: write a number with a unit, such as 50ms, 0.2s or 200us")
    };
    let units = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let text_of = |unit: &str| text.trim().strip_suffix(unit);
    let parsed = units.iter().find_map(|(unit, seconds)| Some((text_of(unit)?, seconds)));
    let (number, seconds) = parsed.ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    match number * seconds {
        time if (0.0..=60.0).contains(&time) => Ok(Duration::from_secs_f64(time)),
        _ => Err(format!("{text:?} is not a time between 0 and 60 s")),
    }
}

/// Returns a size in decimal units, such as `1.23 MB`.
pub(crate) fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1e3;
    let mut units = ["kB", "MB", "GB", "TB", "PB", "EB"].into_iter();
    let mut unit = units.next().unwrap_or_default();
    while value >= 999.5 {
        let Some(next) = units.next() else { break };
        (value, unit) = (value / 1e3, next);
    }
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// Returns a number such as `1,234,567`.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Returns a number with the name of the things, such as `1 entry` or `2 entries`.
pub(crate) fn counted(number: u64, thing: &str) -> String {
    let number_shown = count(number);
    match thing.strip_suffix('y') {
        _ if number == 1 => format!("{number_shown} {thing}"),
        // Only letters before the y that are no vowels change it: key, keys.
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => {
            format!("{number_shown} {stem}ies")
        }
        _ => format!("{number_shown} {thing}s"),
    }
}

/// Returns a part of a total, such as `12.3%`.
pub(crate) fn share(part: u64, total: u64) -> String {
    if total == 0 { "-".to_owned() } else { format!("{:.1}%", part as f64 / total as f64 * 100.0) }
}

/// Returns how many times smaller the stored bytes are: `3.21`.
pub(crate) fn ratio(uncompressed: u64, stored: u64) -> String {
    if stored == 0 { "-".to_owned() } else { format!("{:.2}", uncompressed as f64 / stored as f64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_threads() {
        assert_eq!((parse_threads("1"), parse_threads("1024")), (Ok(1), Ok(1024)));
        for text in ["0", "-1", "1025", "99999999999999999999", "", "two", "1.5", "--json"] {
            assert_eq!(
                parse_threads(text),
                Err("the number of threads must be from 1 to \
                                                 1024"
                    .to_owned())
            );
        }
    }

    #[test]
    fn intervals() {
        assert_eq!(parse_interval("1"), Ok(Duration::from_secs(1)));
        assert_eq!(parse_interval("0.25"), Ok(Duration::from_millis(250)));
        let expected = "the interval of the monitor is 0.01 to 86400 seconds, not 0.001";
        assert_eq!(parse_interval("0.001"), Err(expected.to_owned()));
        for text in ["0", "-1", "1e9", "nan", "", "1s"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(parse_time(" 0.2 s"), Ok(Duration::from_millis(200)));
        assert_eq!(parse_time("200us"), Ok(Duration::from_micros(200)));
        for (text, message) in [
            // The unit is missing.
            ("50", "\"50\" is not a time: write a number with a unit, such as 50ms, 0.2s or 200us"),
            ("-1s", "\"-1s\" is not a time between 0 and 60 s"),
            ("NaNs", "\"NaNs\" is not a time between 0 and 60 s"),
        ] {
            assert_eq!(parse_time(text), Err(message.to_owned()));
        }
    }

    #[test]
    fn numbers_for_people() {
        for (bytes, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (9_994, "9.99 kB"),
            (9_995, "10.0 kB"),
            (123_456, "123 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(123), "123");
        assert_eq!(share(1, 8), "12.5%");
        assert_eq!(share(0, 0), "-");
    }
}
