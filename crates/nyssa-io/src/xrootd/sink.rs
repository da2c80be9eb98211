//! Makes a sink of a file on an XRootD server.

use std::io;
use std::sync::Arc;

use nyssa_xrootd::{TemporaryFile, Writer, XrootdOptions, stat};

use super::source::XrootdSource;
use crate::earlier::EarlierError;
use crate::for_people::shown;
use crate::staging::{Finished, Staging, exists};
use crate::write_buffer::WriteBuffer;
use crate::{Error, Result, Sink, Source, Stop};

/// The number of bytes up to which writes are collected into one request.
const BUFFER_SIZE: usize = 2 << 20;

/// A sink that writes a file on a server. The file has another name in the same folder until the commit. It is
/// removed if there is no commit.
pub(super) struct XrootdSink {
    name: String,
    url: String,
    force: bool,
    file: Writer,
    buffer: WriteBuffer,
    /// The error of a write, after which the file must not be committed.
    failed: EarlierError,
    /// The staging for the finished file, if it is published after the commit.
    staging: Option<Staging>,
}

impl XrootdSink {
    /// Starts a file that will be at a URL.
    pub(super) fn create(url: &str, force: bool, staging: Option<Staging>) -> Result<Self> {
        let file = create(url, force).map_err(|error| Error::new(url, "create", error))?;
        let (name, url, buffer) = (shown(url), url.to_owned(), WriteBuffer::new(BUFFER_SIZE));
        Ok(Self { name, url, force, file, buffer, failed: EarlierError::default(), staging })
    }

    fn flush(&mut self) -> Result<()> {
        let (offset, buffer) = self.buffer.take();
        let length = buffer.len();
        if length == 0 {
            return Ok(());
        }
        self.file.write(offset, buffer.into()).map_err(|error| {
            self.failed.keep(&error);
            let action = format!("write {length} bytes at byte {offset} of");
            Error::new(&self.url, action, error)
        })
    }
}

fn create(url: &str, force: bool) -> io::Result<Writer> {
    let options = XrootdOptions::default();
    match stat(url, &options)? {
        Some(stat) if stat.is_folder => {
            Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"))
        }
        Some(_) if !force => Err(exists()),
        _ => Writer::create(url, &options),
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
        self.failed.check().map_err(failed)?;
        let file = self.file.finish().map_err(failed)?;
        let finished = Box::new(OnServer { url: self.url.clone(), force: self.force, file });
        match &self.staging {
            Some(staging) => {
                staging.put(finished);
                Ok(())
            }
            None => finished.publish(),
        }
    }
}

/// A complete file that does not have its name yet.
#[derive(Debug)]
struct OnServer {
    url: String,
    force: bool,
    file: TemporaryFile,
}

impl Finished for OnServer {
    fn open(&self) -> Result<Arc<dyn Source>> {
        let (url, options) = (self.file.location(&self.url), XrootdOptions::default());
        Ok(Arc::new(XrootdSource::open(&url, &options, &Stop::default())?))
    }

    fn publish(mut self: Box<Self>) -> Result<()> {
        self.file.publish(self.force).map_err(|error| {
            let is_there = error.kind() == io::ErrorKind::AlreadyExists;
            let error = if is_there { exists() } else { error };
            Error::new(&self.url, "finish writing", error)
        })
    }
}
