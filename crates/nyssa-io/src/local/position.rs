//! Reads and writes at an offset without a shared file position.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};

/// Reads some bytes from byte `offset` on. Returns their number, which is 0 at the end of the file.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(unix)]
fn write_at(file: &File, data: &[u8], offset: u64) -> Result<usize> {
    std::os::unix::fs::FileExt::write_at(file, data, offset)
}

#[cfg(windows)]
fn write_at(file: &File, data: &[u8], offset: u64) -> Result<usize> {
    std::os::windows::fs::FileExt::seek_write(file, data, offset)
}

/// Makes the error for a file that has no byte `offset` any more.
pub(super) fn cut(file: &File, offset: u64) -> Error {
    let end = file.metadata().map_or(offset, |metadata| metadata.len().min(offset));
    let reason = format!("it ends at byte {end} now, because it was truncated after it was opened");
    Error::new(ErrorKind::UnexpectedEof, reason)
}

/// Fills `buffer` from byte `offset` of `file`.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset) {
            Ok(0) => return Err(cut(file, offset)),
            Ok(size) => {
                buffer = &mut buffer[size..];
                offset += size as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `data` at byte `offset` of `file`.
pub(crate) fn write_all_at(file: &File, mut data: &[u8], mut offset: u64) -> Result<()> {
    while !data.is_empty() {
        match write_at(file, data, offset) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(size) => {
                data = &data[size..];
                offset += size as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
