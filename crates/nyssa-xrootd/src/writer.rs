//! Writes a file on a server.

use std::io;

use bytes::Bytes;

use super::failure::Failure;
use super::settings::{Settings, XrootdOptions};
use super::temporary::TemporaryFile;
use super::upload::Upload;
use super::url::Url;

/// A file that is written. It has another name in the same folder until it is published. It is removed if this is
/// dropped before it is finished.
pub struct Writer(Option<Upload>);

impl Writer {
    /// Creates the file for a URL.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not a URL of XRootD; an error of the server or of the connection.
    pub fn create(url: &str, options: &XrootdOptions) -> io::Result<Self> {
        let (url, settings) = (Url::checked(url)?, Settings::new(options)?);
        Ok(Self(Some(Upload::create(url, settings).map_err(Failure::into_io)?)))
    }

    /// Sends bytes for an offset. Does not wait until the server has them.
    ///
    /// # Errors
    /// The server refuses the bytes, or the connection is lost. The file is not usable after an error.
    pub fn write(&mut self, offset: u64, data: Bytes) -> io::Result<()> {
        let upload = self.0.as_mut().ok_or_else(finished)?;
        upload.write(offset, data).map_err(Failure::into_io)
    }

    /// Waits until the server has all bytes on its disk. The file can be read and published after that.
    ///
    /// # Errors
    /// The server could not write all bytes, or the connection is lost.
    pub fn finish(&mut self) -> io::Result<TemporaryFile> {
        self.0.take().ok_or_else(finished)?.finish().map_err(Failure::into_io)
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if let Some(upload) = self.0.take() {
            upload.abandon();
        }
    }
}

fn finished() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is finished")
}
