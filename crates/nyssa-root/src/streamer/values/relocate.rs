//! Changes the references in an object whose key changes in size, because they are counted from the start of
//! the key.

use crate::error::{Error, Result};
use crate::streamer::values::ClassTable;
use crate::streamer::values::reader::Reader;

/// Changes the references in the object of class `class` in `payload`. Its key had `from` bytes and will have
/// `to` bytes.
///
/// # Errors
/// Returns an error if the object cannot be read completely, so that some references are not known.
pub(crate) fn relocate(
    table: &ClassTable,
    class: &str,
    payload: &mut [u8],
    from: u16,
    to: usize,
) -> Result<()> {
    let id = table.find(class);
    let id = id.ok_or_else(|| Error::unsupported(format!("no streamer info of class {class}")))?;
    let mut reader = Reader::new(table, payload, from);
    reader.class(id)?;
    if !reader.unknown.is_empty() || !reader.cursor.remaining().is_empty() {
        return Err(Error::unsupported(
            "its key has to change in size, and nyssa cannot read all of it to find the references \
             that depend on that",
        ));
    }
    for place in reader.references {
        let Some(tag) = payload.get_mut(place..place + 4) else { continue };
        let old = u32::from_be_bytes([tag[0], tag[1], tag[2], tag[3]]);
        // The mark of a class tag is its highest bit, which does not change.
        let new = u64::from(old) + to as u64 - u64::from(from);
        let new = u32::try_from(new).map_err(|_| Error::limit("a reference beyond 2 GiB"))?;
        tag.copy_from_slice(&new.to_be_bytes());
    }
    Ok(())
}
