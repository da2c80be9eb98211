//! Converts the dates of `TDatime`, which have 32 bits. From the highest bit on, 6 are the years since 1995, 4 the
//! month, 5 the day, 5 the hour, 6 the minute and 6 the second. A date is a time of the writer's clock without a time
//! zone.

use std::fmt;

use arrow_array::{ArrayRef, TimestampSecondArray, UInt32Array, cast::AsArray, types::UInt32Type};
use arrow_schema::{DataType, Field};

use super::{STRING, typed_field};

/// The C++ type of dates. The metadata of their `UInt32` field have it until they leave nyssa.
const CLASS: &str = "TDatime";

/// A date that exists in the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    year: u32,
    month: u32,
    day: u32,
    hour: u32,
    minute: u32,
    second: u32,
}

impl Date {
    /// Makes the field of dates as `TDatime` stores them.
    pub fn field(name: &str) -> Field {
        typed_field(Field::new(name, DataType::UInt32, false), CLASS)
    }

    /// Returns whether a field has dates as `TDatime` stores them.
    pub fn is_in(field: &Field) -> bool {
        field.data_type() == &DataType::UInt32
            && field.metadata().get(STRING.0).is_some_and(|name| name == CLASS)
    }

    /// Converts a date from its 32 bits.
    pub fn unpack(packed: u32) -> Option<Self> {
        let part = |low: u32, bits: u32| packed >> low & ((1 << bits) - 1);
        let date = Self {
            year: 1995 + part(26, 6),
            month: part(22, 4),
            day: part(17, 5),
            hour: part(12, 5),
            minute: part(6, 6),
            second: part(0, 6),
        };
        let february = if date.year.is_multiple_of(4) { 29 } else { 28 };
        let days = match date.month {
            2 => february,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        let valid = (1..=days).contains(&date.day)
            && date.hour < 24
            && date.minute < 60
            && date.second < 60;
        valid.then_some(date)
    }

    /// Returns the seconds since 1970.
    pub fn seconds(self) -> i64 {
        // Years are counted from March to March, so that the leap day is the last day of a year. Between 1995 and
        // 2058 every fourth year has a leap day.
        let (year, month) = match self.month {
            1 | 2 => (self.year - 1, self.month + 9),
            month => (self.year, month - 3),
        };
        let days = (year - 1968) * 1461 / 4 + (153 * month + 2) / 5 + self.day - 1;
        let days = i64::from(days) + DAYS_FROM_1970_TO_MARCH_1968;
        let seconds = (self.hour * 60 + self.minute) * 60 + self.second;
        days * 86_400 + i64::from(seconds)
    }
}

const DAYS_FROM_1970_TO_MARCH_1968: i64 = -671;

impl fmt::Display for Date {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second } = self;
        write!(out, "{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}")
    }
}

/// Converts dates of `TDatime` to seconds since 1970. Dates that do not exist become null.
pub(super) fn timestamps(packed: &UInt32Array) -> TimestampSecondArray {
    packed.iter().map(|number| number.and_then(Date::unpack).map(Date::seconds)).collect()
}

/// Returns the seconds since 1970 of dates of `TDatime`. Nulls, and dates that do not exist, give `None`.
pub fn date_seconds(array: &ArrayRef) -> impl Iterator<Item = Option<i64>> + '_ {
    let packed = array.as_primitive_opt::<UInt32Type>();
    packed.into_iter().flatten().map(|number| number.and_then(Date::unpack).map(Date::seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(year: u32, month: u32, day: u32, [hour, minute, second]: [u32; 3]) -> u32 {
        (year - 1995) << 26 | month << 22 | day << 17 | hour << 12 | minute << 6 | second
    }

    #[test]
    fn known_dates() {
        // The expected numbers come from `date --utc --date=... +%s`.
        for (number, seconds, text) in [
            (packed(2024, 2, 29, [12, 34, 56]), 1_709_210_096, "2024-02-29 12:34:56"),
            (packed(1995, 1, 1, [0; 3]), 788_918_400, "1995-01-01 00:00:00"),
            (packed(1999, 12, 31, [23, 59, 59]), 946_684_799, "1999-12-31 23:59:59"),
            (packed(2000, 3, 1, [0; 3]), 951_868_800, "2000-03-01 00:00:00"),
            (packed(2058, 12, 31, [23, 59, 59]), 2_808_604_799, "2058-12-31 23:59:59"),
        ] {
            let date = Date::unpack(number).unwrap();
            assert_eq!((date.seconds(), date.to_string()), (seconds, text.to_owned()));
        }
    }

    #[test]
    fn what_is_no_date() {
        for number in [
            0,
            packed(2023, 2, 29, [0; 3]),
            packed(2024, 4, 31, [0; 3]),
            packed(2024, 13, 1, [0; 3]),
            packed(2024, 1, 1, [24, 0, 0]),
            packed(2024, 1, 1, [0, 60, 0]),
            packed(2024, 1, 1, [0, 0, 60]),
        ] {
            assert_eq!(Date::unpack(number), None, "{number}");
        }
    }
}
