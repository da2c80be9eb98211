//! Parses ranges of entries that people write, and checks them where the number of entries is known.

use std::ops::Range;
use std::str::FromStr;

use nyssa_root::error::{Error, Result};
use serde::Serialize;

/// A range of entries: `A:B`, `A:`, `:B` or `:`.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let range: nyssa::EntryRange = "100:".parse()?;
/// assert_eq!(range.within(250), 100..250);
/// assert_eq!(nyssa::EntryRange::from(2..5).within(250), 2..5);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct EntryRange {
    start: u64,
    end: Option<u64>,
}

impl EntryRange {
    /// Returns the range in a dataset of `total` entries. It may reach beyond the end, which a reader refuses.
    pub fn within(self, total: u64) -> Range<u64> {
        self.start..self.end.unwrap_or_else(|| total.max(self.start))
    }

    /// Returns the requested range of entries, or all `total` entries of `what` if no range is requested.
    ///
    /// # Errors
    /// `InvalidArgument` when it reaches beyond the end or runs backwards.
    pub(crate) fn checked(requested: Option<Self>, total: u64, what: &str) -> Result<Range<u64>> {
        let Some(range) = requested.map(|range| range.within(total)) else { return Ok(0..total) };
        if range.start > range.end || range.end > total {
            return Err(Error::invalid_argument(format!(
                "entries {}..{} are not within the {total} entries of the {what}",
                range.start, range.end
            )));
        }
        Ok(range)
    }
}

impl From<Range<u64>> for EntryRange {
    fn from(Range { start, end }: Range<u64>) -> Self {
        Self { start, end: Some(end) }
    }
}

impl FromStr for EntryRange {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = || {
            let message = format!("{text:?} is not a range of entries: write A:B, A: or :B");
            Error::invalid_argument(message)
        };
        let (start, end) = text.split_once(':').ok_or_else(wrong)?;
        let number = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse::<u64>().map(Some).map_err(|_| wrong()),
        };
        let (start, end) = (number(start)?.unwrap_or(0), number(end)?);
        if end.is_some_and(|end| end < start) {
            return Err(Error::invalid_argument(format!("{text:?} ends before it starts")));
        }
        Ok(Self { start, end })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_entries() {
        let within = |text: &str| text.parse::<EntryRange>().unwrap().within(9);
        assert_eq!(within("2:5"), 2..5);
        assert_eq!(within(":"), 0..9);
        assert_eq!(within("4:"), 4..9);
        assert_eq!(within("10:"), 10..10);
        for text in ["5:2", "3", "a:b", "-1:2", "1:2:3", "1.5:2"] {
            assert!(text.parse::<EntryRange>().is_err(), "{text}");
        }
    }
}
