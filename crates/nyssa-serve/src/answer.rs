//! Makes the answers to requests.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::header::{
    ACCEPT_RANGES, ALLOW, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderName,
    HeaderValue, LAST_MODIFIED, LOCATION, RANGE, WWW_AUTHENTICATE,
};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use tokio::task::spawn_blocking;

use crate::access::Access;
use crate::body::{Body, BodyPart};
use crate::conditions::{Verdict, Version};
use crate::listing;
use crate::path::{joined, names};
use crate::range::{Wanted, wanted};
use crate::roots::{Listed, Location, Roots, Target};
use crate::sources::{Opened, Sources};

const BINARY: &str = "application/octet-stream";
const PLAIN: &str = "text/plain; charset=utf-8";
const METHODS: &str = "GET, HEAD, OPTIONS, PROPFIND";
/// The header that keeps browsers from running what is in a file.
const NOSNIFF: HeaderName = HeaderName::from_static("x-content-type-options");

/// A function that gets the messages that users do not see.
type Report = Box<dyn Fn(&str) + Send + Sync>;

/// The maker of answers.
pub(crate) struct Answers(Arc<Service>);

struct Service {
    roots: Roots,
    access: Access,
    sources: Sources,
    report: Report,
}

impl Answers {
    pub(crate) fn new(roots: Roots, access: Access, report: Report) -> Self {
        Self(Arc::new(Service { roots, access, sources: Sources::default(), report }))
    }

    /// Answers a request. Files are found and opened on a thread that may wait.
    pub(crate) async fn answer(&self, request: &Request<Incoming>) -> Response<Body> {
        let state = Arc::clone(&self.0);
        let mut parts = Request::new(()).into_parts().0;
        parts.method.clone_from(request.method());
        parts.uri.clone_from(request.uri());
        parts.headers.clone_from(request.headers());
        let is_head = parts.method == Method::HEAD;
        let answered = spawn_blocking(move || state.answer(&parts)).await;
        let answer = answered.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR));
        if is_head { without_body(answer) } else { answer }
    }
}

impl Service {
    fn answer(self: Arc<Self>, request: &Parts) -> Response<Body> {
        if !self.access.allows(&request.headers) {
            let mut answer = plain(StatusCode::UNAUTHORIZED);
            set(&mut answer, WWW_AUTHENTICATE, "Bearer realm=\"nyssa\"");
            return answer;
        }
        let is_list = request.method.as_str() == "PROPFIND";
        match request.method {
            Method::GET | Method::HEAD => (),
            Method::OPTIONS => return options(StatusCode::NO_CONTENT),
            _ if is_list => (),
            _ => return options(StatusCode::METHOD_NOT_ALLOWED),
        }
        let path = request.uri.path();
        let Some(names) = names(path) else { return plain(StatusCode::NOT_FOUND) };
        let target = self.roots.find(&names).and_then(|target| self.sort(target, path));
        let answer = target.and_then(|target| match (target, is_list) {
            (target, true) => self.properties(&names, &target, &request.headers),
            (Target::File(place), false) => self.file(&place, &request.method, &request.headers),
            (_, false) if !path.ends_with('/') => Ok(moved(&names)),
            (folder, false) => {
                let page = listing::page(&names, &self.roots.list(&folder)?);
                Ok(text(StatusCode::OK, "text/html; charset=utf-8", page))
            }
        });
        answer.unwrap_or_else(|error| self.failure(path, &error))
    }

    /// Finds whether a path of an origin is a folder or a file. A path that ends with a slash, and a path that
    /// is not a file, may be a folder.
    fn sort(&self, target: Target, path: &str) -> io::Result<Target> {
        let Target::File(place @ Location::Remote(url)) = &target else {
            let is_file = matches!(target, Target::File(_));
            return match is_file && path.ends_with('/') {
                true => Err(ErrorKind::NotFound.into()),
                false => Ok(target),
            };
        };
        if path.ends_with('/') {
            return Ok(Target::Folder(place.clone()));
        }
        match self.sources.open(place) {
            Ok(_) => Ok(target),
            Err(error) => match nyssa_io::kind(url) {
                Ok(Some(nyssa_io::EntryKind::Folder)) => Ok(Target::Folder(place.clone())),
                _ => Err(error.source),
            },
        }
    }

    /// Answers with a file, or with parts of it.
    fn file(
        self: &Arc<Self>,
        place: &Location,
        method: &Method,
        headers: &HeaderMap,
    ) -> io::Result<Response<Body>> {
        let Opened { source, version } = self.sources.open(place).map_err(|error| error.source)?;
        let size = source.size();
        let verdict = version.compare(headers);
        let ranges = headers.get(RANGE).and_then(|value| value.to_str().ok());
        let wanted = match (verdict, ranges) {
            (Verdict::Failed, _) => {
                return Ok(about(plain(StatusCode::PRECONDITION_FAILED), &version));
            }
            (Verdict::NotModified, _) => {
                let answer = text(StatusCode::NOT_MODIFIED, BINARY, String::new());
                return Ok(about(answer, &version));
            }
            (Verdict::Answer, Some(ranges)) => wanted(ranges, size),
            (Verdict::Answer | Verdict::AnswerWhole, _) => Wanted::Whole,
        };
        let mut kind = BINARY.to_owned();
        let mut content_range = None;
        let (status, pieces) = match wanted {
            Wanted::Whole => (StatusCode::OK, vec![BodyPart::Range(0..size)]),
            Wanted::Nothing => {
                let mut answer = plain(StatusCode::RANGE_NOT_SATISFIABLE);
                set(&mut answer, CONTENT_RANGE, &format!("bytes */{size}"));
                return Ok(about(answer, &version));
            }
            Wanted::Ranges(ranges) => match &ranges[..] {
                [range] => {
                    content_range = Some(format!("bytes {}-{}/{size}", range.start, range.end - 1));
                    (StatusCode::PARTIAL_CONTENT, vec![BodyPart::Range(range.clone())])
                }
                several => {
                    let boundary = uuid::Uuid::new_v4().simple().to_string();
                    kind = format!("multipart/byteranges; boundary={boundary}");
                    (StatusCode::PARTIAL_CONTENT, multipart(several, size, &boundary))
                }
            },
        };
        let (state, place) = (Arc::clone(self), place.clone());
        let failed = Arc::new(move |error: &nyssa_io::Error| {
            state.sources.forget(&place);
            (state.report)(&error.to_string());
        });
        let body = match *method {
            Method::HEAD => Body::of_file(source, pieces, failed),
            _ => match Body::read_if_short(source, pieces, failed) {
                Ok(body) => body,
                // The error was reported already.
                Err(_) => return Ok(plain(StatusCode::BAD_GATEWAY)),
            },
        };
        let mut answer = Response::new(body);
        set(&mut answer, NOSNIFF, "nosniff");
        *answer.status_mut() = status;
        set(&mut answer, CONTENT_TYPE, &kind);
        if let Some(content_range) = content_range {
            set(&mut answer, CONTENT_RANGE, &content_range);
        }
        Ok(about(answer, &version))
    }

    /// Answers `PROPFIND`.
    fn properties(
        &self,
        names: &[String],
        target: &Target,
        headers: &HeaderMap,
    ) -> io::Result<Response<Body>> {
        let name = names.last().cloned().unwrap_or_default();
        let mut own = Listed { name, is_folder: true, size: None, modified: None };
        if let Target::File(place) = target {
            let Opened { source, version } =
                self.sources.open(place).map_err(|error| error.source)?;
            own.is_folder = false;
            own.size = Some(source.size());
            own.modified = version.modified;
        }
        let is_deep = headers.get("depth").is_none_or(|depth| depth != "0");
        let entries = match own.is_folder && is_deep {
            true => self.roots.list(target)?,
            false => Vec::new(),
        };
        let list = listing::multistatus(names, &own, &entries);
        Ok(text(StatusCode::MULTI_STATUS, "application/xml; charset=utf-8", list))
    }

    /// Answers an error. The user sees only the status.
    fn failure(&self, path: &str, error: &io::Error) -> Response<Body> {
        let status = match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidFilename => {
                return plain(StatusCode::NOT_FOUND);
            }
            ErrorKind::PermissionDenied => StatusCode::FORBIDDEN,
            ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::BAD_GATEWAY,
        };
        (self.report)(&format!("{path}: {error}"));
        plain(status)
    }
}

/// Returns the parts of a `multipart/byteranges` (RFC 9110, section 14.6).
fn multipart(ranges: &[std::ops::Range<u64>], size: u64, boundary: &str) -> Vec<BodyPart> {
    let mut pieces = Vec::with_capacity(2 * ranges.len() + 1);
    let mut before = "";
    for range in ranges {
        let (first, last) = (range.start, range.end - 1);
        let head = format!(
            "{before}--{boundary}\r\nContent-Type: {BINARY}\r\nContent-Range: bytes {first}-{last}/{size}\r\n\r\n"
        );
        pieces.extend([BodyPart::Text(head.into()), BodyPart::Range(range.clone())]);
        before = "\r\n";
    }
    pieces.push(BodyPart::Text(format!("\r\n--{boundary}--\r\n").into()));
    pieces
}

/// Adds headers with the version of the file.
fn about(mut answer: Response<Body>, version: &Version) -> Response<Body> {
    set(&mut answer, ACCEPT_RANGES, "bytes");
    if let Some(etag) = &version.etag {
        set(&mut answer, ETAG, etag);
    }
    if let Some(modified) = version.modified {
        set(&mut answer, LAST_MODIFIED, &httpdate::fmt_http_date(modified));
    }
    answer
}

/// Returns an answer that says which methods are allowed.
fn options(status: StatusCode) -> Response<Body> {
    let mut answer = text(status, PLAIN, String::new());
    set(&mut answer, ALLOW, METHODS);
    set(&mut answer, HeaderName::from_static("dav"), "1");
    answer
}

/// Redirects the client to the same folder with a slash, because links are relative to it.
fn moved(names: &[String]) -> Response<Body> {
    let mut answer = plain(StatusCode::MOVED_PERMANENTLY);
    set(&mut answer, LOCATION, &joined(names, true));
    answer
}

/// Returns an answer with its status as text.
fn plain(status: StatusCode) -> Response<Body> {
    text(status, PLAIN, format!("{status}\n"))
}

fn text(status: StatusCode, kind: &str, text: String) -> Response<Body> {
    let mut answer = Response::new(Body::text(text));
    *answer.status_mut() = status;
    set(&mut answer, CONTENT_TYPE, kind);
    set(&mut answer, NOSNIFF, "nosniff");
    answer
}

/// Returns the head of an answer, with the length that its body would have.
fn without_body(answer: Response<Body>) -> Response<Body> {
    let (mut head, body) = answer.into_parts();
    let length = hyper::body::Body::size_hint(&body).exact().unwrap_or_default();
    if head.status != StatusCode::NOT_MODIFIED && head.status != StatusCode::NO_CONTENT {
        head.headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    Response::from_parts(head, Body::text(String::new()))
}

fn set(answer: &mut Response<Body>, name: HeaderName, value: &str) {
    // Names of files are encoded, so that each value is a valid header.
    if let Ok(value) = HeaderValue::from_str(value) {
        answer.headers_mut().insert(name, value);
    }
}
