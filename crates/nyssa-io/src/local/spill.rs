//! Keeps bytes on disk because memory is short.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use crate::{Error, Result};

/// A file without a name in the folder of the system for temporary files. It is made when it is first needed,
/// and removed after its last use.
#[derive(Debug, Default)]
pub struct Spill {
    file: Option<File>,
    end: u64,
}

impl Spill {
    /// Appends bytes and returns their offset.
    ///
    /// # Errors
    /// The file cannot be written, for example on a full disk.
    pub fn append(&mut self, bytes: &[u8]) -> Result<u64> {
        let offset = self.end;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile().map_err(|error| failed("create", error))?),
        };
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.write_all(bytes))
            .map_err(|error| failed("write", error))?;
        self.end += bytes.len() as u64;
        Ok(offset)
    }

    /// Fills `out` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The file cannot be read; `UnexpectedEof` for bytes that were never written.
    pub fn read(&mut self, offset: u64, out: &mut [u8]) -> Result<()> {
        let missing = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let file = self.file.as_mut().ok_or_else(missing).map_err(|error| failed("read", error))?;
        file.seek(SeekFrom::Start(offset))
            .and_then(|_| file.read_exact(out))
            .map_err(|error| failed("read", error))
    }
}

fn failed(action: &str, error: std::io::Error) -> Error {
    let resource = format!("a temporary file in {}", std::env::temp_dir().display());
    Error::new(resource, action, error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_and_others_do_not() {
        let mut spill = Spill::default();
        assert!(spill.read(0, &mut [0]).is_err());
        assert_eq!(spill.append(b"abc").ok(), Some(0));
        assert_eq!(spill.append(b"defg").ok(), Some(3));
        let mut out = [0; 4];
        assert!(spill.read(2, &mut out).is_ok());
        assert_eq!(&out, b"cdef");
        assert_eq!(spill.append(b"h").ok(), Some(7));
        assert!(spill.read(6, &mut out).is_err());
    }
}
