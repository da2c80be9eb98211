//! A local file to write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::position::write_all_at;
use super::staging::{Finished, Staging, directory, exists};
use crate::{Error, Result, Sink};

/// Writes up to this many bytes are gathered, so that thousands of small keys are not thousands of
/// system calls.
const BUFFER_SIZE: usize = 1 << 20;

/// A local file in the making: a temporary file beside it, which takes its name on commit and is
/// removed otherwise.
#[derive(Debug)]
pub struct LocalSink {
    name: String,
    target: PathBuf,
    force: bool,
    temporary: NamedTempFile,
    buffer: Vec<u8>,
    /// Where `buffer` belongs.
    buffer_offset: u64,
    /// A write failed: the bytes are not all there, and must not be committed.
    failed: bool,
    /// Where the finished file waits to be published, if anywhere.
    staging: Option<Staging>,
}

impl LocalSink {
    /// Starts writing what will be `path`; an existing file there is replaced on commit with `force`
    /// and refused without.
    ///
    /// # Errors
    /// `AlreadyExists` without `force`, `InvalidInput` for a path that is not a regular file, and the
    /// system's.
    pub fn create(path: impl AsRef<Path>, force: bool) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |error| Error::new(&name, "create", error);
        let refused = |kind, reason| Err(failed(io::Error::new(kind, reason)));
        // A link stays a link: what it points to is replaced.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        match fs::metadata(&target) {
            Ok(metadata) if !metadata.is_file() => {
                return refused(io::ErrorKind::InvalidInput, "it is not a regular file");
            }
            Ok(_) if !force => return Err(failed(exists())),
            _ => {}
        }
        let Some(file_name) = target.file_name() else {
            return refused(io::ErrorKind::InvalidInput, "it is not the name of a file");
        };
        let mut prefix = std::ffi::OsString::from(".");
        prefix.push(file_name);
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".part");
        // As any new file: the umask decides (temporary files are private by default).
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let temporary = builder.tempfile_in(directory(&target)).map_err(failed)?;
        let buffer = Vec::new();
        let (buffer_offset, failed) = (0, false);
        Ok(Self { name, target, force, temporary, buffer, buffer_offset, failed, staging: None })
    }

    /// As [`LocalSink::create`], but a commit leaves the complete file with the [`Staging`], where it
    /// can be read and checked before it is published under its name.
    ///
    /// # Errors
    /// As [`LocalSink::create`].
    pub fn staged(path: impl AsRef<Path>, force: bool) -> Result<(Self, Staging)> {
        let staging = Staging::default();
        let sink = Self { staging: Some(staging.clone()), ..Self::create(path, force)? };
        Ok((sink, staging))
    }

    fn write_through(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        write_all_at(self.temporary.as_file(), data, offset).map_err(|error| {
            self.failed = true;
            let action = format!("write {} bytes at byte {offset} of", data.len());
            Error::new(&self.name, action, error)
        })
    }

    fn flush(&mut self) -> Result<()> {
        let buffer = std::mem::take(&mut self.buffer);
        let result = self.write_through(self.buffer_offset, &buffer);
        self.buffer = buffer;
        self.buffer.clear();
        result
    }

    /// Position of `offset` in the buffer when bytes there can go into it: inside, or right behind.
    fn buffered(&self, offset: u64, len: usize) -> Option<usize> {
        let start = usize::try_from(offset.checked_sub(self.buffer_offset)?).ok()?;
        let fits = start <= self.buffer.len() && len <= BUFFER_SIZE.checked_sub(start)?;
        fits.then_some(start)
    }
}

impl Sink for LocalSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        if self.buffered(offset, data.len()).is_none() {
            self.flush()?;
            if data.len() >= BUFFER_SIZE {
                return self.write_through(offset, data);
            }
            self.buffer_offset = offset;
        }
        let start = self.buffered(offset, data.len()).unwrap_or_default();
        let inside = data.len().min(self.buffer.len() - start);
        self.buffer[start..start + inside].copy_from_slice(&data[..inside]);
        self.buffer.extend_from_slice(&data[inside..]);
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        if self.failed {
            let error = io::Error::other("an earlier write to it failed");
            return Err(Error::new(&self.name, "finish writing", error));
        }
        let Self { name, target, force, temporary, staging, .. } = *self;
        let finished = Finished { name, target, force, temporary };
        match staging {
            Some(staging) => {
                staging.put(finished);
                Ok(())
            }
            None => finished.publish(),
        }
    }
}
