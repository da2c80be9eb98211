//! Defines a resource of a server that is read by parts.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use ureq::http::Method;
use url::Url;

use super::client::{Client, Request};
use super::failure::{Again, Failure};
use super::options::HttpOptions;
use super::reply::Reply;
use super::several::Several;
use crate::Stop;

/// The way in which a resource is requested: by its URL, or by signed requests.
pub(crate) trait Address: Send + Sync {
    /// Returns its name for messages.
    fn name(&self) -> &str;

    /// Makes a request for it.
    ///
    /// # Errors
    /// `InvalidInput`; an error of the system if credentials cannot be found.
    fn request(&self, method: Method) -> io::Result<Request>;

    /// Returns whether its server may be able to answer requests for several ranges.
    fn has_several_ranges(&self) -> bool {
        true
    }

    /// Returns advice about a request that was refused.
    fn advice(&self, kind: io::ErrorKind) -> Option<String>;
}

/// A resource and the connections to its server.
pub(super) struct Resource {
    pub address: Box<dyn Address>,
    pub options: HttpOptions,
    client: Arc<Client>,
    /// The state of its server, if the server may be able to answer requests for several ranges.
    pub several: Option<Arc<Several>>,
    /// The URL to which the server has redirected.
    moved: Mutex<Option<Url>>,
    /// All bytes, if the server has sent them when it was asked for a part.
    whole: OnceLock<Bytes>,
}

impl Resource {
    pub(super) fn new(address: Box<dyn Address>, options: HttpOptions) -> Self {
        let client = Client::of(&options);
        let request = || address.request(Method::GET).ok();
        let request = if address.has_several_ranges() { request() } else { None };
        let several = request.map(|request| Several::of(request.url.origin()));
        Self { address, options, client, several, moved: Mutex::new(None), whole: OnceLock::new() }
    }

    /// Requests the bytes of a `Range` header, until `stop` is given.
    ///
    /// # Errors
    /// A failure unless the answer is the part (206), the whole (200), or says that there is no such part
    /// (416).
    pub(super) fn get(&self, range: &str, stop: &Stop) -> Result<Reply, Failure> {
        let request = self.address.request(Method::GET);
        let mut request = request.map_err(|error| Failure::of(error.kind(), error.to_string()))?;
        request.headers.push(("range", format!("bytes={range}")));
        request.stop = stop.clone();
        let original = request.url.clone();
        let moved = self.moved().clone();
        if let Some(url) = &moved {
            request.move_to(url.clone());
        }
        let mut answer = self.client().send(&request);
        if matches!(&answer, Ok(reply) if reply.status == 401) && self.renew(&mut request) {
            // The answer would keep the turn of the next request.
            drop(answer);
            answer = self.client().send(&request);
        }
        let answer = answer.and_then(|reply| match reply.status {
            200 | 206 => Ok(reply),
            // The resource is empty.
            416 => Ok(reply),
            _ => Err(reply.failure()),
        });
        match &answer {
            Ok(reply) if reply.url != original => *self.moved() = Some(reply.url.clone()),
            Ok(_) => (),
            Err(_) => *self.moved() = None,
        }
        // A redirect of one request may be wrong later. In this case the first server is asked again.
        answer.map_err(|failure| match moved {
            Some(_) => Failure { again: Again::Always, ..failure },
            None => failure,
        })
    }

    /// Returns the bytes of a range, if all bytes are known.
    pub(super) fn of_whole(&self, range: &Range<u64>) -> Option<Bytes> {
        let whole = self.whole.get()?;
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        (start <= end && end <= whole.len()).then(|| whole.slice(start..end))
    }

    /// Keeps all bytes, and returns the bytes of a range.
    pub(super) fn keep_whole(&self, whole: Bytes, range: &Range<u64>) -> Option<Bytes> {
        // Another thread may have been earlier.
        let _ = self.whole.set(whole);
        self.of_whole(range)
    }

    /// Puts the token into a request again. Returns true if the token has changed, because another program has
    /// renewed it.
    fn renew(&self, request: &mut Request) -> bool {
        let Ok(now) = self.address.request(Method::GET) else { return false };
        let is_sent = !request.secrets.is_empty() && !now.secrets.is_empty();
        let is_new = is_sent && request.secrets != now.secrets;
        if is_new {
            request.secrets = now.secrets;
        }
        is_new
    }

    /// Returns the failure as an error of this resource, with advice.
    pub(super) fn error(&self, action: impl Into<String>, error: io::Error) -> crate::Error {
        let error = match self.address.advice(error.kind()) {
            Some(advice) => io::Error::new(error.kind(), format!("{error}; {advice}")),
            None => error,
        };
        crate::Error::new(self.address.name(), action, error)
    }

    fn client(&self) -> Arc<Client> {
        match self.client.is_of_this_process() {
            true => Arc::clone(&self.client),
            false => Client::of(&self.options),
        }
    }

    fn moved(&self) -> std::sync::MutexGuard<'_, Option<Url>> {
        self.moved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
