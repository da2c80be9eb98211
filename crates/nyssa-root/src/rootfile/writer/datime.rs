//! Encodes time stamps of ROOT (`TDatime`): 6 bits of years since 1995, 4 of month, 5 of day, 5 of hour, 6 of minute,
//! 6 of second. ROOT writes local time; nyssa writes UTC.

use std::time::{SystemTime, UNIX_EPOCH};

use super::options::EPOCH_VARIABLE;
use crate::error::{Error, Result};

const SECONDS_PER_DAY: u64 = 86_400;
const FIRST_YEAR: i64 = 1995;
const LAST_YEAR: i64 = FIRST_YEAR + 63;

/// Encodes `time` (Unix seconds), or the time in [`EPOCH_VARIABLE`], or else the current time.
///
/// # Errors
/// `InvalidArgument` when the environment variable is not a number.
pub(super) fn datime(time: Option<u64>) -> Result<u32> {
    let seconds = match (time, std::env::var(EPOCH_VARIABLE)) {
        (Some(seconds), _) => seconds,
        (None, Ok(text)) => text.trim().parse().map_err(|_| {
            Error::invalid_argument(format!(
                "{EPOCH_VARIABLE} is {text:?}, not a number of seconds since 1970"
            ))
        })?,
        (None, Err(_)) => {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
        }
    };
    Ok(from_unix(seconds))
}

/// Encodes Unix seconds. Times outside 1995 to 2058 become the nearest possible time.
fn from_unix(seconds: u64) -> u32 {
    let (days, rest) = (seconds / SECONDS_PER_DAY, (seconds % SECONDS_PER_DAY) as u32);
    let (year, month, day) = civil(i64::try_from(days).unwrap_or(i64::MAX / 2));
    let (year, month, day, rest) = match year {
        ..FIRST_YEAR => (FIRST_YEAR, 1, 1, 0),
        FIRST_YEAR..=LAST_YEAR => (year, month, day, rest),
        _ => (LAST_YEAR, 12, 31, SECONDS_PER_DAY as u32 - 1),
    };
    let years = (year - FIRST_YEAR) as u32;
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    years << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second
}

/// Converts days since 1970 to year, month and day of the Gregorian calendar. Internally a year starts in
/// March, so that the leap day is its last day.
fn civil(days: i64) -> (i64, u32, u32) {
    const DAYS_TO_1970: i64 = 719_468;
    const DAYS_OF_400_YEARS: i64 = 146_097;
    let days = days.saturating_add(DAYS_TO_1970);
    let (era, day_of_era) = (days / DAYS_OF_400_YEARS, days % DAYS_OF_400_YEARS);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = (day_of_year - (153 * month_from_march + 2) / 5 + 1) as u32;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month as u32, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_dates() {
        // ROOT: TDatime(2024, 2, 29, 12, 34, 56).Get()
        let stamp = (2024 - 1995) << 26 | 2 << 22 | 29 << 17 | 12 << 12 | 34 << 6 | 56;
        assert_eq!(from_unix(1_709_210_096), stamp);
        assert_eq!(from_unix(0), 1 << 22 | 1 << 17);
        assert_eq!(from_unix(788_918_400), 1 << 22 | 1 << 17);
        assert_eq!(from_unix(u64::MAX), 63 << 26 | 12 << 22 | 31 << 17 | 23 << 12 | 59 << 6 | 59);
    }
}
