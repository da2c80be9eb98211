//! Sealed page to elements.

use xxhash_rust::xxh3::xxh3_64;

use crate::compression::{check_content_size, decompress};
use crate::error::{Error, Result};
use crate::guard;
use crate::rntuple::encoding::{ColumnType, Encoding};

/// Largest page that is opened, in bytes before compression. ROOT's writer stays below 1 MiB unless told
/// otherwise; a larger claim is a broken file, not a reason to take the machine's memory.
pub const MAX_PAGE_SIZE: usize = 1 << 31;

/// Verifies, decompresses and decodes a page of `elements` elements into `out`, which has
/// [`Encoding::native_size`] bytes per element (see [`Encoding::decode`] for the layout).
/// `checksum` is the stored XXH3, `None` when there is none or it is not wanted. `scratch` is
/// overwritten; give the same one again to save allocations.
///
/// # Errors
/// `Checksum` when the bytes do not match, `OutOfSpecification` when they do not decompress or decode
/// to so many elements, `InvalidArgument` when `out` has the wrong size.
pub fn unseal(
    stored: &[u8],
    checksum: Option<u64>,
    encoding: &Encoding,
    elements: usize,
    out: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<()> {
    let size = encoding.packed_size(elements);
    if stored.len() != size && is_copy(encoding.column_type) && out.len() == size {
        verify(stored, checksum)?;
        return decompress(stored, out);
    }
    let packed = open(stored, checksum, size, scratch)?;
    encoding.decode(packed, elements, out)
}

/// As [`unseal`] for fields of type `double`: `out` takes 64-bit floats (see [`Encoding::decode_f64`]).
///
/// # Errors
/// As [`unseal`]; `InvalidArgument` for columns that do not hold floats of 32 or 64 bits.
pub fn unseal_f64(
    stored: &[u8],
    checksum: Option<u64>,
    encoding: &Encoding,
    elements: usize,
    out: &mut [u8],
    scratch: &mut Vec<u8>,
) -> Result<()> {
    let packed = open(stored, checksum, encoding.packed_size(elements), scratch)?;
    encoding.decode_f64(packed, elements, out)
}

/// Verifies and decompresses a page that has `size` bytes before compression. Uncompressed pages are
/// not copied.
///
/// # Errors
/// `Checksum`, `OutOfSpecification` as [`unseal`]; `LimitExceeded` for pages above [`MAX_PAGE_SIZE`].
pub fn open<'a>(
    stored: &'a [u8],
    checksum: Option<u64>,
    size: usize,
    scratch: &'a mut Vec<u8>,
) -> Result<&'a [u8]> {
    verify(stored, checksum)?;
    if stored.len() == size {
        return Ok(stored);
    }
    if size > MAX_PAGE_SIZE {
        return Err(Error::limit(format!(
            "page of {size} bytes is larger than the {MAX_PAGE_SIZE} that are read at once"
        )));
    }
    if scratch.len() < size {
        check_content_size(stored, size)?;
        *scratch = guard::try_vec(size.next_power_of_two(), "a decompressed page")?;
    }
    let packed = &mut scratch[..size];
    decompress(stored, packed)?;
    Ok(packed)
}

/// Compares the XXH3 of the stored bytes.
///
/// # Errors
/// `Checksum` when they differ.
pub fn verify(stored: &[u8], checksum: Option<u64>) -> Result<()> {
    let Some(checksum) = checksum else { return Ok(()) };
    let actual = xxh3_64(stored);
    if actual == checksum {
        return Ok(());
    }
    Err(Error::checksum(format!(
        "page checksum is {actual:016x} where {checksum:016x} is stored: the file is damaged here"
    )))
}

/// Packed and in-memory bytes are the same.
fn is_copy(column_type: ColumnType) -> bool {
    use ColumnType as T;
    matches!(
        column_type,
        T::Byte
            | T::Char
            | T::Int8
            | T::UInt8
            | T::Int16
            | T::UInt16
            | T::Int32
            | T::UInt32
            | T::Int64
            | T::UInt64
            | T::Real16
            | T::Real32
            | T::Real64
            | T::Index64
            | T::Switch
    )
}
