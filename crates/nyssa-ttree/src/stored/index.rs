//! Checks the bytes of an index of entries (`TTreeIndex`) before they become part of a tree.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::PlainObject;

/// The class of indices.
const CLASS: &str = "TTreeIndex";
/// The bit of a byte count, and the size of the version behind it.
const BYTE_COUNT: u32 = 0x4000_0000;
/// The size of a number in an index, in bytes.
const NUMBER: usize = 8;

/// Checks that an object is an index of `entries` entries.
///
/// # Errors
/// `OutOfSpecification` with the reason if it is not.
pub(crate) fn check(index: &PlainObject, entries: u64) -> Result<()> {
    let wrong = |what: String| Err(Error::out_of_spec(format!("an index of a TTree {what}")));
    if index.class != CLASS {
        return wrong(format!("has the class {:?}", index.class));
    }
    let mut cursor = Cursor::new(&index.bytes, 0);
    let (end, version) = header(&mut cursor)?;
    if end != index.bytes.len() || !(1..=2).contains(&version) {
        return wrong(format!("has version {version} and ends at byte {end}"));
    }
    let (base, _) = header(&mut cursor)?;
    cursor.seek(base)?;
    // These are the formulas.
    cursor.root_string()?;
    cursor.root_string()?;
    let count = cursor.be_i64()?;
    // The values of the first formula, of the second formula since version 2, and the entries.
    let (tables, rest) = (usize::from(version) + 1, cursor.remaining());
    let size = usize::try_from(count).ok().and_then(|count| count.checked_mul(NUMBER));
    let size = size.filter(|size| size.checked_mul(tables) == Some(rest.len()));
    let Some(size) = size else {
        return wrong(format!("has {count} entries in {} bytes", rest.len()));
    };
    let numbers = rest.get(size * (tables - 1)..).unwrap_or_default().chunks_exact(NUMBER);
    let mut numbers =
        numbers.filter_map(|bytes| bytes.first_chunk().copied().map(u64::from_be_bytes));
    match numbers.find(|entry| *entry >= entries) {
        Some(entry) => wrong(format!("has entry {entry} of {entries}")),
        None => Ok(()),
    }
}

/// Reads a byte count and a version. Returns the end of the counted bytes and the version.
fn header(cursor: &mut Cursor<'_>) -> Result<(usize, u16)> {
    let count = cursor.be_u32()?;
    let end = (count & BYTE_COUNT != 0).then_some((count & !BYTE_COUNT) as usize);
    let end = end.and_then(|count| cursor.position().checked_add(count));
    let end = end.ok_or_else(|| Error::out_of_spec("an index of a TTree has no byte count"))?;
    Ok((end, cursor.be_u16()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an index of two entries as ROOT streams it.
    fn index(entry: u64) -> PlainObject {
        let base = [&[0x40, 0, 0, 16, 0, 1][..], &[0x40, 0, 0, 10, 0, 1], &[0; 8]].concat();
        let numbers = [2_u64, 1, 1, 7, 8, 0, entry].map(u64::to_be_bytes).concat();
        let body = [&[0, 2][..], &base, b"\x03run\x05event", &numbers].concat();
        let count = BYTE_COUNT | u32::try_from(body.len()).unwrap();
        let bytes = [&count.to_be_bytes()[..], &body].concat();
        PlainObject { class: CLASS.to_owned(), bytes }
    }

    #[test]
    fn entries_are_in_the_tree() {
        check(&index(1), 2).unwrap();
        let message = check(&index(2), 2).unwrap_err().to_string();
        assert_eq!(message, "an index of a TTree has entry 2 of 2");
    }

    #[test]
    fn other_bytes_are_refused() {
        let mut short = index(1);
        short.bytes.truncate(short.bytes.len() - NUMBER);
        let message = check(&short, 2).unwrap_err().to_string();
        assert!(message.starts_with("an index of a TTree has version 2 and ends"), "{message}");
        let mut more = index(1);
        let place = more.bytes.len() - 6 * NUMBER - 1;
        more.bytes[place] = 3;
        let message = check(&more, 2).unwrap_err().to_string();
        assert_eq!(message, "an index of a TTree has 3 entries in 48 bytes");
        let other = PlainObject { class: "TNamed".to_owned(), ..index(1) };
        assert!(check(&other, 2).is_err());
        assert!(check(&PlainObject { bytes: vec![0; 3], ..index(1) }, 2).is_err());
    }
}
