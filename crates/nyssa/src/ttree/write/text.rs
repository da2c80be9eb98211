//! Writes strings as ROOT streams them.

/// Appends a string with its length before it, in one byte or, from 255 on, in five.
pub(super) fn put_text(text: &[u8], out: &mut Vec<u8>) {
    match u8::try_from(text.len()) {
        Ok(length) if length < 255 => out.push(length),
        _ => {
            out.push(255);
            out.extend_from_slice(&(text.len() as u32).to_be_bytes());
        }
    }
    out.extend_from_slice(text);
}
