//! Sends a file in parts. It becomes an object, which is visible only when it is complete.

use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use bytes::Bytes;
use rusty_s3::actions::{
    AbortMultipartUpload, CompleteMultipartUpload, CompleteMultipartUploadResponse,
    CreateMultipartUpload, PutObject, S3Action, UploadPart,
};
use ureq::http::Method;

use super::object::Object;
use crate::Source;
use crate::http::{Client, Failure, HttpOptions, Patience, Reply, retried};
use crate::local::Upload;

/// The number of bytes of one part, unless that would be too many parts. Smaller files are one request.
const PART_BYTES: u64 = 16 << 20;
/// The largest number of parts of an object.
const MAX_PARTS: u64 = 10_000;
/// The largest number of bytes of an answer.
const ANSWER_BYTES: u64 = 1 << 20;

/// An upload that has not begun. Nothing is on the server before the file is complete.
pub(super) struct S3Upload {
    pub object: Object,
    pub options: HttpOptions,
    /// Whether an existing object is replaced.
    pub force: bool,
}

impl Upload for S3Upload {
    fn upload(self: Box<Self>, file: &dyn Source) -> io::Result<()> {
        let size = file.size();
        let uploading = Uploading { upload: &self, client: Client::of(&self.options), file };
        let done = match size <= PART_BYTES {
            true => uploading.at_once(size),
            false => uploading.in_parts(size),
        };
        done.map_err(|error| match error.kind() {
            ErrorKind::PermissionDenied => {
                let advice = crate::http::Address::advice(&self.object, error.kind());
                let advice = advice.unwrap_or_default();
                io::Error::new(error.kind(), format!("{error}; {advice}"))
            }
            _ => error,
        })
    }
}

struct Uploading<'a> {
    upload: &'a S3Upload,
    client: Arc<Client>,
    file: &'a dyn Source,
}

impl Uploading<'_> {
    fn at_once(&self, size: u64) -> io::Result<()> {
        let body = self.part(0, size)?;
        let Object { bucket, key, .. } = &self.upload.object;
        self.ask(Method::PUT, body, self.condition(), &PutObject::new(bucket, None, key))?;
        Ok(())
    }

    fn in_parts(&self, size: u64) -> io::Result<()> {
        let Object { bucket, key, .. } = &self.upload.object;
        let begin = CreateMultipartUpload::new(bucket, None, key);
        let created = self.ask(Method::POST, Bytes::new(), None, &begin)?;
        let body = text(created)?;
        let created = CreateMultipartUpload::parse_response(&body);
        let created = created.map_err(|_| odd("did not begin the upload", &body))?;
        let id = created.upload_id();
        let done = self.parts(id, size).and_then(|etags| self.complete(id, &etags));
        if done.is_err() {
            // Otherwise the server would keep the parts, and the user would pay for them.
            let abort = AbortMultipartUpload::new(bucket, None, key, id);
            let _ = self.ask(Method::DELETE, Bytes::new(), None, &abort);
        }
        done
    }

    /// Sends the parts, several at the same time, and returns their ETags.
    fn parts(&self, id: &str, size: u64) -> io::Result<Vec<String>> {
        let part_bytes = PART_BYTES.max(size.div_ceil(MAX_PARTS));
        let count = usize::try_from(size.div_ceil(part_bytes)).unwrap_or(usize::MAX);
        let next = AtomicUsize::new(0);
        let etags = Mutex::new(vec![String::new(); count]);
        let failed = Mutex::new(None);
        let work = || loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count || lock(&failed).is_some() {
                break;
            }
            match self.send_part(id, number, part_bytes, size) {
                Ok(etag) => lock(&etags)[number] = etag,
                Err(error) => {
                    lock(&failed).get_or_insert(error);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.upload.options.connections.min(count) {
                // This thread sends the parts that no other thread sends.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        match failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some(error) => Err(error),
            None => Ok(etags.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }

    fn send_part(&self, id: &str, number: usize, bytes: u64, size: u64) -> io::Result<String> {
        let start = number as u64 * bytes;
        let body = self.part(start, bytes.min(size - start))?;
        // The number is at most `MAX_PARTS`. Parts are counted from one.
        let number = u16::try_from(number + 1).unwrap_or(u16::MAX);
        let Object { bucket, key, .. } = &self.upload.object;
        let action = UploadPart::new(bucket, None, key, number, id);
        let reply = self.ask(Method::PUT, body, None, &action)?;
        let etag = reply.header("etag").map(str::to_owned);
        etag.ok_or_else(|| odd("did not confirm the part of the upload", ""))
    }

    fn complete(&self, id: &str, etags: &[String]) -> io::Result<()> {
        let Object { bucket, key, .. } = &self.upload.object;
        let complete = || {
            let etags = etags.iter().map(String::as_str);
            CompleteMultipartUpload::new(bucket, None, key, id, etags)
        };
        let body = complete().body().into();
        let reply = self.ask(Method::POST, body, self.condition(), &complete())?;
        // The body of an answer with the status of success may contain a failure.
        let body = text(reply)?;
        let done = CompleteMultipartUploadResponse::parse(&body);
        done.map(drop).map_err(|_| odd("did not complete the upload", &crate::http::gist(&body)))
    }

    /// Returns the header by which the server does not replace an existing object.
    fn condition(&self) -> Option<(&'static str, String)> {
        (!self.upload.force).then(|| ("if-none-match", "*".to_owned()))
    }

    fn part(&self, start: u64, len: u64) -> io::Result<Bytes> {
        self.file.read_range(start..start + len).map_err(|error| error.source)
    }

    fn ask<'a>(
        &self,
        method: Method,
        body: Bytes,
        header: Option<(&'static str, String)>,
        action: &impl S3Action<'a>,
    ) -> io::Result<Reply> {
        let body = Some(body).filter(|_| matches!(method, Method::PUT | Method::POST));
        retried(Patience::new(self.upload.options.deadline, true), || {
            let headers = header.clone().into_iter().collect();
            let request = self.upload.object.ask(method.clone(), action, headers, body.clone())?;
            let reply = self.client.send(&request)?;
            match reply.status {
                200..=299 => Ok(reply),
                412 => Err(Failure::of(ErrorKind::AlreadyExists, "it exists already")),
                _ => Err(reply.failure()),
            }
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn text(reply: Reply) -> io::Result<String> {
    let body = reply
        .read_all(ANSWER_BYTES)
        .map_err(|failure| io::Error::new(failure.kind, failure.reason))?;
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn odd(what: &str, said: &str) -> io::Error {
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    io::Error::other(format!("the server {what}{said}"))
}
