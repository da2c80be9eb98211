//! Keeps complete local files that do not have their final names yet.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::NamedTempFile;

use super::source::LocalSource;
use crate::staging::{Finished, exists};
use crate::{Error, Result, Source};

/// A complete temporary file.
#[derive(Debug)]
pub(super) struct LocalFinished {
    pub name: String,
    pub target: Target,
    pub temporary: NamedTempFile,
}

/// The destination of a complete temporary file.
pub(super) enum Target {
    /// A name in the same folder. Another file with this name is replaced only with `force`.
    Path { path: PathBuf, force: bool },
    /// Another place, to which the file is sent.
    Upload(Box<dyn Upload>),
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path { path, .. } => f.debug_tuple("Path").field(path).finish(),
            Self::Upload(_) => f.write_str("Upload"),
        }
    }
}

/// A way to send a complete file to its destination.
pub trait Upload: Send {
    /// Sends the file. Nothing is visible there if this fails.
    ///
    /// # Errors
    /// The destination refuses the file or cannot be reached.
    fn upload(self: Box<Self>, file: &dyn Source) -> io::Result<()>;
}

impl Finished for LocalFinished {
    fn open(&self) -> Result<Arc<dyn Source>> {
        Ok(Arc::new(LocalSource::open(self.temporary.path())?))
    }

    fn publish(self: Box<Self>) -> Result<()> {
        let Self { name, target, temporary } = *self;
        let failed = |error| Error::new(&name, "finish writing", error);
        let (target, force) = match target {
            Target::Path { path, force } => (path, force),
            Target::Upload(upload) => {
                let file = LocalSource::open(temporary.path())?;
                return upload.upload(&file).map_err(failed);
            }
        };
        if force && let Ok(replaced) = std::fs::metadata(&target) {
            // Users who may read the old file may read the new file. Some file systems have no modes.
            let _ = temporary.as_file().set_permissions(replaced.permissions());
        }
        temporary.as_file().sync_all().map_err(failed)?;
        let persisted =
            if force { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
        match persisted {
            Ok(_) => sync_directory(directory(&target)).map_err(failed),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
                Err(failed(exists()))
            }
            Err(error) => Err(failed(error.error)),
        }
    }
}

/// Returns the folder of a file.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Makes the new name durable, if the system can do this.
pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(not(unix)) {
        return Ok(());
    }
    match File::open(directory).and_then(|directory| directory.sync_all()) {
        // Some network file systems cannot do this for folders.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::InvalidInput
                    | io::ErrorKind::Unsupported
                    | io::ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        result => result,
    }
}
