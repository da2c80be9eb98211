//! Sends requests for `http://` URLs to a proxy in a form that it understands: `GET http://host/path`.
//!
//! `ureq` asks proxies for tunnels only (`CONNECT`). Most proxies allow these only to the port of `https://`, and they
//! cannot cache what goes through a tunnel. Here, each request gets the whole URL on its way to the proxy.

use std::fmt;
use std::io::{self, ErrorKind};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, NextTimeout, TcpConnector, Transport,
};
use ureq::{Error, Proxy, ProxyProtocol};

/// Makes connections to the proxy of an agent, unless the host is one without proxy.
#[derive(Debug)]
pub(super) struct Forwarding;

impl Forwarding {
    /// Returns whether requests are sent to a proxy in this form. It must be without TLS.
    pub(super) fn is_for(proxy: Option<&Proxy>) -> bool {
        proxy.is_some_and(|proxy| proxy.protocol() == ProxyProtocol::Http)
    }
}

impl<In: Transport> Connector<In> for Forwarding {
    type Out = Either<In, Forwarded>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let proxy = details.config.proxy().filter(|proxy| !proxy.is_no_proxy(details.uri));
        let (None, Some(proxy)) = (&chained, proxy) else { return Ok(chained.map(Either::A)) };
        let to_proxy = ConnectionDetails {
            uri: proxy.uri(),
            addrs: details.resolver.resolve(proxy.uri(), details.config, details.timeout)?,
            config: details.config,
            request_level: details.request_level,
            resolver: details.resolver,
            now: details.now,
            timeout: details.timeout,
            current_time: details.current_time.clone(),
            run_connector: details.run_connector.clone(),
            register_shutdown: details.register_shutdown.clone(),
        };
        let connection = TcpConnector::default().connect(&to_proxy, None::<()>)?;
        let Some(Either::B(connection)) = connection else { return Ok(None) };
        let host = details.uri.authority().map_or("", |authority| authority.as_str());
        Ok(Some(Either::B(Forwarded {
            connection: Box::new(connection),
            origin: format!("http://{host}").into_bytes(),
            authorization: authorization(proxy).into_bytes(),
            is_new: true,
        })))
    }
}

/// Returns the line of the header by which the proxy knows the user, or nothing.
fn authorization(proxy: &Proxy) -> String {
    let (user, password) = (proxy.username(), proxy.password());
    if user.is_none() && password.is_none() {
        return String::new();
    }
    let both = format!("{}:{}", user.unwrap_or_default(), password.unwrap_or_default());
    format!("Proxy-Authorization: Basic {}\r\n", STANDARD.encode(both))
}

/// A connection to a proxy, for the requests to one server.
pub(super) struct Forwarded {
    connection: Box<dyn Transport>,
    /// The start of the URLs of the server: `http://host`.
    origin: Vec<u8>,
    /// The line of a header that each request gets.
    authorization: Vec<u8>,
    /// Whether the next bytes may be the start of a request.
    is_new: bool,
}

impl fmt::Debug for Forwarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The authorization is not shown.
        f.debug_struct("Forwarded").field("connection", &self.connection).finish()
    }
}

impl Transport for Forwarded {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.connection.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let output = self.connection.buffers().output();
        let request = output.get(..amount).filter(|_| self.is_new);
        let addressed =
            request.and_then(|request| addressed(request, &self.origin, &self.authorization));
        self.is_new = false;
        let Some(addressed) = addressed else {
            return self.connection.transmit_output(amount, timeout);
        };
        let Some(room) = output.get_mut(..addressed.len()) else {
            let why = "the request is too long for a proxy";
            return Err(Error::Io(io::Error::new(ErrorKind::InvalidInput, why)));
        };
        room.copy_from_slice(&addressed);
        self.connection.transmit_output(addressed.len(), timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.is_new = true;
        self.connection.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.connection.is_open()
    }

    fn is_tls(&self) -> bool {
        false
    }
}

/// Returns a request with the whole URL in its first line, and with one more header. Returns `None` for bytes that do not
/// start a request, such as a body.
fn addressed(request: &[u8], origin: &[u8], header: &[u8]) -> Option<Vec<u8>> {
    let end = request.windows(2).position(|two| two == b"\r\n")? + 2;
    let (line, rest) = request.split_at(end);
    let path = line.iter().position(|&byte| byte == b' ')? + 1;
    let (method, path) = line.split_at(path);
    let is_request = path.starts_with(b"/") && path.ends_with(b" HTTP/1.1\r\n");
    is_request.then(|| [method, origin, path, header, rest].concat())
}

#[cfg(test)]
mod tests {
    use super::addressed;

    #[test]
    fn only_the_first_line_of_a_request_changes() {
        let add = |request: &str| {
            let forwarded = addressed(request.as_bytes(), b"http://h:81", b"P: x\r\n");
            forwarded.map(|bytes| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(
            add("GET /a%20b?c HTTP/1.1\r\nHost: h:81\r\n\r\n").unwrap(),
            "GET http://h:81/a%20b?c HTTP/1.1\r\nP: x\r\nHost: h:81\r\n\r\n"
        );
        for other in ["root\0\0\r\n /x", "<xml> /a\r\n", "GET / HTTP/1.1", ""] {
            assert_eq!(add(other), None, "{other}");
        }
    }
}
