//! Writes a local file.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::finished::{LocalFinished, Target, Upload, directory};
use super::partial;
use super::position::write_all_at;
use crate::earlier::EarlierError;
use crate::for_people::shown;
use crate::heuristics::local;
use crate::staging::{Finished, Staging, exists};
use crate::write_buffer::WriteBuffer;
use crate::{Error, Result, Sink, WriteAt};

/// A local file that is being written. It is a temporary file in the same folder. The commit gives it its final
/// name. Without a commit it is removed.
#[derive(Debug)]
pub struct LocalSink {
    name: String,
    target: Target,
    temporary: NamedTempFile,
    buffer: WriteBuffer,
    /// The error of a write. The file is then incomplete and must not be committed.
    failed: EarlierError,
    /// The handle to the complete file, if it is published after the commit.
    staging: Option<Staging>,
}

impl LocalSink {
    /// Starts to write the file `path`. With `force`, an existing file is replaced on the commit. Without
    /// `force` it is an error.
    ///
    /// # Errors
    /// `AlreadyExists` without `force`; `IsADirectory`; `InvalidInput` for another path that is not a regular
    /// file; an error of the system.
    pub fn create(path: impl AsRef<Path>, force: bool) -> Result<Self> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let failed = |error| Error::new(&name, "create", error);
        let refused = |kind, reason| Err(failed(io::Error::new(kind, reason)));
        let target = partial::target(path).map_err(failed)?;
        match fs::metadata(&target) {
            Ok(metadata) if metadata.is_dir() => {
                return refused(io::ErrorKind::IsADirectory, "it is a folder, not a file");
            }
            Ok(metadata) if !metadata.is_file() => {
                return refused(io::ErrorKind::InvalidInput, "it is not a regular file");
            }
            Ok(_) if !force => return Err(failed(exists())),
            _ => {}
        }
        let Some(file_name) = target.file_name().filter(|_| !ends_with_separator(path)) else {
            return refused(
                io::ErrorKind::InvalidInput,
                "it is the name of a folder, not of a file",
            );
        };
        let folder = directory(&target);
        let temporary =
            partial::create(folder, file_name).map_err(|error| failed(explained(error, folder)))?;
        Ok(Self::new(name, Target::Path { path: target, force }, temporary))
    }

    /// Starts to write a file that is sent elsewhere when it is complete. `location` is its path or URL.
    ///
    /// # Errors
    /// There is no place for temporary files.
    pub fn upload(location: impl AsRef<Path>, upload: Box<dyn Upload>) -> Result<Self> {
        let name = shown(location);
        let temporary = NamedTempFile::new().map_err(|error| {
            let folder = std::env::temp_dir();
            let why =
                format!("nyssa cannot create a temporary file in {}: {error}", folder.display());
            Error::new(&name, "create", io::Error::new(error.kind(), why))
        })?;
        Ok(Self::new(name, Target::Upload(upload), temporary))
    }

    fn new(name: String, target: Target, temporary: NamedTempFile) -> Self {
        let buffer = WriteBuffer::new(local::BUFFER_SIZE);
        Self { name, target, temporary, buffer, failed: EarlierError::default(), staging: None }
    }

    /// Starts to write a file. A commit gives the complete file to the [`Staging`]. It
    /// can be read and checked there before it is published under its name.
    ///
    /// # Errors
    /// `AlreadyExists` without `force`; `IsADirectory`; `InvalidInput` for another path that is not a regular file; the
    /// folder cannot be written.
    pub fn staged(path: impl AsRef<Path>, force: bool) -> Result<(Self, Staging)> {
        Ok(Self::create(path, force)?.with_staging())
    }

    /// Returns the same sink, whose commit gives the file to a [`Staging`].
    #[must_use]
    pub fn with_staging(self) -> (Self, Staging) {
        let staging = Staging::default();
        (Self { staging: Some(staging.clone()), ..self }, staging)
    }

    fn write_through(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        write_through((&self.name, self.temporary.as_file(), &self.failed), offset, data)
    }

    fn flush(&mut self) -> Result<()> {
        let (offset, bytes) = self.buffer.take();
        let result = self.write_through(offset, &bytes);
        self.buffer.reuse(bytes);
        result
    }
}

/// Writes at a place of a file, and keeps its first error.
fn write_through(
    (name, file, failed): (&str, &File, &EarlierError),
    offset: u64,
    data: &[u8],
) -> Result<()> {
    write_all_at(file, data, offset).map_err(|error| {
        failed.keep(&error);
        Error::new(name, format!("write {} bytes at byte {offset} of", data.len()), error)
    })
}

/// The same file, for other threads.
struct Beside {
    name: String,
    file: File,
    failed: EarlierError,
}

impl WriteAt for Beside {
    fn write_at(&self, offset: u64, data: &[u8]) -> Result<()> {
        write_through((&self.name, &self.file, &self.failed), offset, data)
    }
}

/// Returns whether a path ends with a separator and so names a folder.
fn ends_with_separator(path: &Path) -> bool {
    path.as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|&last| std::path::is_separator(last.into()))
}

/// Adds the folder that is the cause to an error of the system.
fn explained(error: io::Error, folder: &Path) -> io::Error {
    let exists = folder.is_dir();
    let folder = folder.display();
    let reason = match error.kind() {
        io::ErrorKind::NotFound if exists => {
            format!("nyssa cannot create files in the folder {folder}")
        }
        io::ErrorKind::NotFound => format!("there is no folder {folder}"),
        io::ErrorKind::NotADirectory => format!("{folder} is not a folder"),
        io::ErrorKind::PermissionDenied => {
            format!("you have no permission to write in the folder {folder}")
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            format!("the folder {folder} is on a read-only file system")
        }
        _ => return error,
    };
    io::Error::new(error.kind(), reason)
}

impl Sink for LocalSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        // Data that fill a buffer need no copy in it.
        let fills = data.len() >= self.buffer.capacity();
        if !fills && self.buffer.put(offset, data) {
            return Ok(());
        }
        self.flush()?;
        if fills || !self.buffer.put(offset, data) {
            return self.write_through(offset, data);
        }
        Ok(())
    }

    fn sync_early(&mut self) -> Result<()> {
        self.flush()?;
        // A file that is sent elsewhere needs not be durable here.
        if let Target::Upload(_) = self.target {
            return Ok(());
        }
        self.temporary.as_file().sync_data().map_err(|error| {
            self.failed.keep(&error);
            Error::new(&self.name, "write", error)
        })
    }

    fn beside(&self) -> Option<Arc<dyn WriteAt>> {
        // Without another handle, the owner writes.
        let file = self.temporary.as_file().try_clone().ok()?;
        let (name, failed) = (self.name.clone(), self.failed.clone());
        Some(Arc::new(Beside { name, file, failed }))
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        let failed = |error| Error::new(&self.name, "finish writing", error);
        self.failed.check().map_err(failed)?;
        let Self { name, target, temporary, staging, .. } = *self;
        let finished = Box::new(LocalFinished { name, target, temporary });
        match staging {
            Some(staging) => {
                staging.put(finished);
                Ok(())
            }
            None => finished.publish(),
        }
    }
}
