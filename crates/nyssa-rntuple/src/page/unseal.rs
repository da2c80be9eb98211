//! Makes elements of a sealed page.

use nyssa_root::compression::{check_content_size, decompress};
use nyssa_root::error::{Error, Result};
use nyssa_root::guard;

use super::checksum_of;
use crate::encoding::{ColumnType, Encoding};

/// The maximum size in bytes of a page before compression. ROOT's writer stays below 1 MiB by default. A file
/// with a larger number is damaged, and no memory is allocated for it.
pub const MAX_PAGE_SIZE: usize = 1 << 31;

/// Verifies, decompresses and decodes a page of `elements` elements into `out`, which has [`Encoding::native_size`]
/// bytes for each element (see [`Encoding::decode`] for the layout). `checksum` is the stored XXH3, and `None` skips
/// the verification. `scratch` is overwritten. Callers reuse it to avoid allocations.
///
/// # Errors
/// `Checksum` when the bytes do not match the checksum; `OutOfSpecification` when they do not decompress or
/// decode to this number of elements; `InvalidArgument` when `out` has the wrong size.
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

/// Verifies, decompresses and decodes a page for fields of type `double`: `out` takes 64-bit floats (see
/// [`Encoding::decode_f64`]).
///
/// # Errors
/// `Checksum` when the bytes do not match the checksum; `OutOfSpecification` when they do not decompress or decode to
/// this number of elements; `InvalidArgument` when `out` has the wrong size, and for columns that do not hold floats
/// of 32 or 64 bits.
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

/// Verifies and decompresses a page that has `size` bytes before compression. An uncompressed page is not
/// copied.
///
/// # Errors
/// `Checksum` when the bytes do not match the checksum; `OutOfSpecification` when they do not decompress to `size`
/// bytes; `LimitExceeded` for pages above [`MAX_PAGE_SIZE`].
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

/// Compares the XXH3 of the stored bytes with `checksum`.
///
/// # Errors
/// `Checksum` when they differ.
pub fn verify(stored: &[u8], checksum: Option<u64>) -> Result<()> {
    let Some(checksum) = checksum else { return Ok(()) };
    let actual = checksum_of(stored);
    if actual == checksum {
        return Ok(());
    }
    Err(Error::checksum(format!(
        "page checksum is {actual:016x} where {checksum:016x} is stored: the file is damaged here"
    )))
}

/// Returns whether the bytes of a page are equal to the bytes of its elements in memory.
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
