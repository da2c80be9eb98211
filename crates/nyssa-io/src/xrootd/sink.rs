//! Writes a file on an XRootD server.

use std::io;
use std::sync::Arc;

use super::failure::Failure;
use super::folder;
use super::place::TemporaryFile;
use super::settings::{Settings, XrootdOptions};
use super::source::XrootdSource;
use super::upload::Upload;
use super::url::Url;
use crate::for_people::shown;
use crate::staging::{Finished, Staging, exists};
use crate::write_buffer::WriteBuffer;
use crate::{Error, Result, Sink, Source};

/// The number of bytes up to which writes are collected into one request.
const BUFFER_SIZE: usize = 2 << 20;

/// A sink that writes a file on a server. The file has another name in the same folder until the commit. It is
/// removed if there is no commit.
pub struct XrootdSink {
    name: String,
    url: String,
    force: bool,
    /// The upload. It is `None` once the file is committed.
    upload: Option<Upload>,
    buffer: WriteBuffer,
    /// Whether a write has failed, so that the file must not be committed.
    failed: bool,
    /// The staging for the finished file, if it is published after the commit.
    staging: Option<Staging>,
}

impl XrootdSink {
    /// Starts a file that will be at a URL.
    pub(super) fn create(url: &str, force: bool, staging: Option<Staging>) -> Result<Self> {
        let failed = |error| Error::new(url, "create", error);
        let invalid = |why| failed(io::Error::new(io::ErrorKind::InvalidInput, why));
        let parsed = Url::parse(url).map_err(invalid)?;
        let settings = Settings::new(&XrootdOptions::default()).map_err(invalid)?;
        let there = folder::stat(&parsed, &settings).map_err(|error| failed(error.into_io()))?;
        if there.as_ref().is_some_and(|stat| stat.is_folder) {
            let kind = io::ErrorKind::IsADirectory;
            return Err(failed(io::Error::new(kind, "it is a folder, not a file")));
        }
        if there.is_some() && !force {
            return Err(failed(exists()));
        }
        let upload = Upload::create(parsed, settings).map_err(|error| failed(error.into_io()))?;
        let (name, url) = (shown(url), url.to_owned());
        let (upload, buffer) = (Some(upload), WriteBuffer::new(BUFFER_SIZE));
        Ok(Self { name, url, force, upload, buffer, failed: false, staging })
    }

    fn flush(&mut self) -> Result<()> {
        let (offset, buffer) = self.buffer.take();
        let length = buffer.len();
        if length == 0 {
            return Ok(());
        }
        let Some(upload) = self.upload.as_mut() else { return Ok(()) };
        upload.write(offset, buffer.into()).map_err(|failure| {
            self.failed = true;
            let action = format!("write {length} bytes at byte {offset} of");
            Error::new(&self.url, action, failure.into_io())
        })
    }
}

impl Sink for XrootdSink {
    fn name(&self) -> &str {
        &self.name
    }

    fn write_at(&mut self, offset: u64, data: &[u8]) -> Result<()> {
        let mut offset = offset;
        for data in data.chunks(BUFFER_SIZE) {
            while !self.buffer.put(offset, data) {
                // An empty buffer accepts a chunk of this size at any offset.
                self.flush()?;
            }
            offset += data.len() as u64;
        }
        Ok(())
    }

    fn commit(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        let failed = |error| Error::new(&self.url, "finish writing", error);
        if self.failed {
            return Err(failed(io::Error::other("an earlier write to it failed")));
        }
        let Some(upload) = self.upload.take() else { return Ok(()) };
        let place = upload.finish().map_err(|failure| failed(failure.into_io()))?;
        let finished = Box::new(OnServer { url: self.url.clone(), force: self.force, place });
        match &self.staging {
            Some(staging) => {
                staging.put(finished);
                Ok(())
            }
            None => finished.publish(),
        }
    }
}

impl Drop for XrootdSink {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            upload.abandon();
        }
    }
}

/// A complete file that does not have its name yet.
#[derive(Debug)]
struct OnServer {
    url: String,
    force: bool,
    place: TemporaryFile,
}

impl Finished for OnServer {
    fn open(&self) -> Result<Arc<dyn Source>> {
        let url = self.place.location(&self.url);
        Ok(Arc::new(XrootdSource::open(&url, &XrootdOptions::default())?))
    }

    fn publish(mut self: Box<Self>) -> Result<()> {
        let failed = |error| Error::new(&self.url, "finish writing", error);
        self.place.publish(self.force).map_err(|failure: Failure| match failure.into_io() {
            error if error.kind() == io::ErrorKind::AlreadyExists => failed(exists()),
            error => failed(error),
        })
    }
}
