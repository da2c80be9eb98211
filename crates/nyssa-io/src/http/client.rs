//! Sends requests and receives answers: connections, TLS, proxies and redirects.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use bytes::Bytes;
use nyssa_net::{PerProcess, authorities};
use ureq::http::request::Builder;
use ureq::http::{Method, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};
use ureq::{Agent, Body, SendBody};
use ureq_proto::client::header_raw;
use url::Url;

use super::failure::Failure;
use super::forwarded::Forwarding;
use super::options::HttpOptions;
use super::proxy;
use super::reply::{Correction, Reply, retry_after};
use super::turns::{Turn, Turns};
use crate::Stop;
use crate::for_people::shown;

/// The largest number of redirects that one request follows.
const MAX_REDIRECTS: usize = 10;

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub method: Method,
    pub url: Url,
    pub headers: Vec<(&'static str, String)>,
    /// Headers with credentials. Only the origin of `url` gets them.
    pub secrets: Vec<(&'static str, String)>,
    pub body: Option<Bytes>,
    /// Ends the waiting for a server that wants fewer requests.
    pub stop: Stop,
    /// The header of answers that want another request.
    pub correction: Option<Correction>,
}

impl Request {
    /// Makes a request of `method` without anything else.
    pub(crate) fn new(method: Method, url: Url) -> Self {
        let (headers, secrets) = (Vec::new(), Vec::new());
        let stop = Stop::default();
        Self { method, url, headers, secrets, body: None, stop, correction: None }
    }

    /// Sends the request to another URL. Another origin does not get the secrets.
    pub(crate) fn move_to(&mut self, url: Url) {
        if url.origin() != self.url.origin() {
            self.secrets.clear();
        }
        self.url = url;
    }
}

/// Returns the name of a header with capital letters. Some servers know no other spelling: the server of XRootD 5.5
/// answers `range` with the whole file, and `Range` with the range.
fn capitalized(name: &str) -> String {
    let word = |word: &str| match word.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => word.to_owned(),
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// The result of a request of an agent.
type Answer = Result<Response<Body>, ureq::Error>;

fn refused(error: ureq::http::Error) -> Failure {
    Failure::of(io::ErrorKind::InvalidInput, format!("no request can be made: {error}"))
}

/// The connections of this process to servers that are spoken to with the same options.
pub(crate) struct Client {
    options: HttpOptions,
    /// Whether requests go through the proxies of the environment.
    uses_proxies: bool,
    process: u32,
    plain: OnceLock<Agent>,
    secure: OnceLock<Agent>,
}

static CLIENTS: PerProcess<Mutex<Vec<Arc<Client>>>> = PerProcess::new();

impl Client {
    /// Returns the client of this process. A fork has its own: connections cannot be shared between processes.
    pub(crate) fn of(options: &HttpOptions) -> Arc<Self> {
        let mut clients = CLIENTS.lock();
        let fits = |client: &&Arc<Self>| client.options == *options;
        if let Some(client) = clients.iter().find(fits) {
            return Arc::clone(client);
        }
        let client = Arc::new(Self::new(options, true));
        clients.push(Arc::clone(&client));
        client
    }

    /// Returns a client that uses no proxies, for a service on or near this machine.
    pub(crate) fn direct(options: &HttpOptions) -> Self {
        Self::new(options, false)
    }

    fn new(options: &HttpOptions, uses_proxies: bool) -> Self {
        let (plain, secure) = (OnceLock::new(), OnceLock::new());
        Self { options: options.clone(), uses_proxies, process: std::process::id(), plain, secure }
    }

    /// Returns whether this is the process that has the connections.
    pub(crate) fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Sends a request, and follows redirects.
    ///
    /// # Errors
    /// A failure if no answer comes. An answer with the status of an error is not a failure.
    pub(crate) fn send(&self, request: &Request) -> Result<Reply, Failure> {
        self.follow(request, |url, trusted| self.send_to(request, url, trusted))
    }

    /// Sends a request, and does not follow a redirect.
    ///
    /// # Errors
    /// A failure if no answer comes. An answer with the status of an error is not a failure.
    pub(crate) fn send_once(&self, request: &Request) -> Result<Reply, Failure> {
        let turn = self.turn(request, &request.url)?;
        let begin = Instant::now();
        let response = self.send_to(request, &request.url, true)?;
        self.reply(request, &request.url, response, begin, turn)
    }

    /// Waits until the server of a URL may be asked.
    fn turn(&self, request: &Request, url: &Url) -> Result<Turn, Failure> {
        Turns::of(url.origin()).wait(self.options.timeout, &request.stop)
    }

    fn send_to(&self, request: &Request, url: &Url, trusted: bool) -> Result<Answer, Failure> {
        let (agent, builder) = self.prepare(request, url, trusted)?;
        Ok(match &request.body {
            Some(body) => agent.run(builder.body(&body[..]).map_err(refused)?),
            None => agent.run(builder.body(()).map_err(refused)?),
        })
    }

    /// Returns where a redirect of `from` leads to.
    ///
    /// # Errors
    /// A failure if that is not a URL of HTTP, or one without the protection that `from` has.
    pub(crate) fn target(from: &Url, location: &str) -> Result<Url, Failure> {
        let next = from.join(location).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let next = next.ok_or_else(|| {
            let location = shown(location);
            Failure::answer(format!(
                "the server redirects to {location}, which is not an http:// or https:// URL"
            ))
        })?;
        if from.scheme() == "https" && next.scheme() == "http" {
            let why = format!(
                "the server redirects from https:// to {}, where others on the network can read and change the \
                 data: read the file from another server or over root://, or name the http:// URL yourself if you \
                 trust the network",
                shown(next.as_str())
            );
            return Err(Failure::of(io::ErrorKind::Unsupported, why));
        }
        Ok(next)
    }

    /// Sends a request as [`Client::send`] does, with a body that `open` opens for each server.
    ///
    /// # Errors
    /// A failure if `open` fails or no answer comes. An answer with the status of an error is not a failure.
    pub(crate) fn send_file<B: Read>(
        &self,
        request: &Request,
        open: &mut dyn FnMut() -> B,
    ) -> Result<Reply, Failure> {
        self.follow(request, |url, trusted| {
            let (agent, builder) = self.prepare(request, url, trusted)?;
            let mut body = open();
            Ok(agent.run(builder.body(SendBody::from_reader(&mut body)).map_err(refused)?))
        })
    }

    fn follow(
        &self,
        request: &Request,
        mut send: impl FnMut(&Url, bool) -> Result<Answer, Failure>,
    ) -> Result<Reply, Failure> {
        let mut url = request.url.clone();
        let mut trusted = true;
        for _ in 0..=MAX_REDIRECTS {
            trusted &= url.origin() == request.url.origin();
            let turn = self.turn(request, &url)?;
            let begin = Instant::now();
            let response = send(&url, trusted)?;
            let reply = self.reply(request, &url, response, begin, turn)?;
            let target = match reply.status {
                _ if reply.correction().is_some() => None,
                301 | 302 | 303 | 307 | 308 => reply.header("location").map(str::to_owned),
                _ => None,
            };
            let Some(target) = target else { return Ok(reply) };
            url = Self::target(&url, &target)?;
            reply.finish();
        }
        let reason = format!("the server redirects more than {MAX_REDIRECTS} times");
        Err(Failure::of(io::ErrorKind::Other, reason))
    }

    fn prepare(
        &self,
        request: &Request,
        url: &Url,
        trusted: bool,
    ) -> Result<(&Agent, Builder), Failure> {
        let mut builder = Builder::new().method(request.method.clone()).uri(url.as_str());
        let secrets = if trusted { &request.secrets[..] } else { &[] };
        for (name, value) in request.headers.iter().chain(secrets) {
            builder = header_raw(builder, &capitalized(name), value.as_bytes());
        }
        Ok((self.agent(url.scheme() == "https")?, builder))
    }

    fn reply(
        &self,
        request: &Request,
        url: &Url,
        response: Answer,
        begin: Instant,
        turn: Turn,
    ) -> Result<Reply, Failure> {
        let agent = self.agent(url.scheme() == "https")?;
        let uri = url.as_str().parse().ok();
        let proxy = agent.config().proxy();
        let proxy = proxy.filter(|proxy| uri.is_some_and(|uri| !proxy.is_no_proxy(&uri)));
        let response = response.map_err(|error| match proxy {
            Some(proxy) => Failure::transport(error).by_proxy(proxy.host(), proxy.port()),
            None => Failure::transport(error),
        })?;
        let latency = begin.elapsed();
        let (head, body): (_, Body) = response.into_parts();
        let (status, headers) = (head.status.as_u16(), head.headers);
        match status {
            // Others do not wait longer than a request is tried.
            429 | 503 => {
                let pause = retry_after(&headers);
                turn.refused(pause.filter(|pause| *pause < self.options.deadline));
            }
            _ => turn.answered(),
        }
        let body = body.into_with_config().limit(u64::MAX).reader();
        let forwards = url.scheme() == "http" && Forwarding::is_for(proxy);
        let proxy = proxy.filter(|_| forwards);
        let proxy = proxy.map(|proxy| format!("{}:{}", proxy.host(), proxy.port()));
        let (url, correction) = (url.clone(), request.correction);
        Ok(Reply { status, headers, url, latency, body, correction, proxy, _turn: turn })
    }

    fn agent(&self, secure: bool) -> Result<&Agent, Failure> {
        let slot = if secure { &self.secure } else { &self.plain };
        if let Some(agent) = slot.get() {
            return Ok(agent);
        }
        let agent = self.new_agent(secure)?;
        Ok(slot.get_or_init(|| agent))
    }

    fn new_agent(&self, secure: bool) -> Result<Agent, Failure> {
        let options = &self.options;
        let refused = |why| Failure::of(io::ErrorKind::InvalidInput, why);
        let scheme = if secure { "https" } else { "http" };
        let proxy = match self.uses_proxies {
            true => proxy::of_environment(scheme, !options.without_credentials).map_err(refused)?,
            false => None,
        };
        let forwards = !secure && Forwarding::is_for(proxy.as_ref());
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .proxy(proxy)
            .user_agent(concat!("nyssa/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .input_buffer_size(256 << 10)
            .max_idle_connections(4 * options.connections)
            .max_idle_connections_per_host(options.short_connections)
            .timeout_resolve(Some(options.connect_timeout))
            .timeout_connect(Some(options.connect_timeout))
            .timeout_recv_response(Some(options.timeout))
            .timeout_per_read(Some(options.timeout))
            .timeout_per_write(Some(options.timeout))
            // A body that comes too slowly is cut, and the missing bytes are requested again.
            .timeout_recv_body(Some(options.deadline));
        if secure {
            config = config.tls_config(TlsConfig::builder().root_certs(roots()).build());
        }
        let config = config.build();
        if !forwards {
            return Ok(config.new_agent());
        }
        let connector = Forwarding.chain(TcpConnector::default());
        Ok(Agent::with_parts(config, connector, DefaultResolver::default()))
    }
}

/// Returns the trusted authorities: of the system or of `SSL_CERT_FILE` and `SSL_CERT_DIR`, and of the grid. If there
/// are none, returns those that browsers trust.
fn roots() -> RootCerts {
    let certificates: Vec<_> = authorities()
        .iter()
        .map(|certificate| Certificate::from_der(certificate.as_ref()).to_owned())
        .collect();
    match certificates.is_empty() {
        true => RootCerts::WebPki,
        false => RootCerts::new_with_certs(&certificates),
    }
}

#[cfg(test)]
mod tests {
    use super::capitalized;

    #[test]
    fn names_of_headers_have_capital_letters() {
        for (name, expected) in [("range", "Range"), ("if-none-match", "If-None-Match"), ("", "")] {
            assert_eq!(capitalized(name), expected);
        }
    }
}
