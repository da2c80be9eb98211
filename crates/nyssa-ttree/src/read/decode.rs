//! Converts big-endian elements of a basket to native elements. The loops work on chunks of fixed size, so that
//! compilers use vector instructions. Only strings need the entries.

use nyssa_root::arrow::Number;
use nyssa_root::error::{Error, Result};

use crate::model::Element;

/// Converts big-endian elements of type `element` to native elements. Both slices have the same number of bytes.
/// Bools become 0 or 1.
pub(crate) fn copy(element: Element, input: &[u8], out: &mut [u8]) {
    match element.size() {
        Some(2) => swap::<2>(input, out),
        Some(4) => swap::<4>(input, out),
        Some(8) => swap::<8>(input, out),
        _ if element == Number::Bool.into() => {
            for (out, input) in out.iter_mut().zip(input) {
                *out = u8::from(*input != 0);
            }
        }
        _ => out.iter_mut().zip(input).for_each(|(out, input)| *out = *input),
    }
}

fn swap<const N: usize>(input: &[u8], out: &mut [u8]) {
    for (input, out) in input.as_chunks::<N>().0.iter().zip(out.as_chunks_mut::<N>().0) {
        *out = *input;
        if cfg!(target_endian = "little") {
            out.reverse();
        }
    }
}

/// Returns the bytes of one C string (`TLeafC`): one length byte, or 255 and a 32-bit length, then the bytes.
/// An entry without any byte is an empty string, as old ROOT versions wrote it.
///
/// # Errors
/// `OutOfSpecification` when the length does not match the entry.
pub(crate) fn c_string(entry: &[u8]) -> Result<&[u8]> {
    if entry.is_empty() {
        return Ok(entry);
    }
    let (length, rest) = c_string_length(entry);
    if length == rest.len() {
        Ok(rest)
    } else {
        Err(Error::out_of_spec(format!(
            "a string of {length} bytes is stored in {} bytes",
            rest.len()
        )))
    }
}

/// Returns the length of the first C string in `data`, and the bytes after the length. If the data is empty, returns
/// a length that does not fit.
fn c_string_length(data: &[u8]) -> (usize, &[u8]) {
    match data {
        [] => (1, data),
        [255, a, b, c, d, rest @ ..] => (u32::from_be_bytes([*a, *b, *c, *d]) as usize, rest),
        [length, rest @ ..] => (usize::from(*length), rest),
    }
}

/// Splits the first C string off `data`, for baskets that store no entry offsets.
///
/// # Errors
/// `OutOfSpecification` when the data end inside the string.
pub(crate) fn split_c_string(data: &[u8]) -> Result<(&[u8], &[u8])> {
    let (length, rest) = c_string_length(data);
    rest.split_at_checked(length).ok_or_else(|| {
        Error::out_of_spec(format!("a string of {length} bytes where {} are left", rest.len()))
    })
}
