//! Reads and writes feature flags (specification, "Feature Flags"). No flag is defined yet, so any set bit is
//! refused.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

/// The top bit of a word. It is set if another word follows.
const MORE: u64 = 1 << 63;

/// Parses all words of feature flags.
///
/// # Errors
/// `Unsupported` for any flag. A reader that does not know a feature must not read the file.
pub(super) fn parse(cursor: &mut Cursor<'_>) -> Result<()> {
    let mut word_index = 0u64;
    loop {
        let offset = cursor.offset();
        let word = cursor.le_u64()?;
        let flags = word & !MORE;
        if flags != 0 {
            let feature = word_index * 64 + u64::from(flags.trailing_zeros());
            return Err(Error::unsupported(format!("unsupported format feature: {feature}"))
                .at(|place| place.offset = Some(offset)));
        }
        if word & MORE == 0 {
            return Ok(());
        }
        word_index += 1;
    }
}

/// Appends feature flags without a feature.
pub(super) fn serialize(out: &mut Vec<u8>) {
    out.extend_from_slice(&0u64.to_le_bytes());
}
