//! Begins a connection: handshake, protocol, login and authentication.
//!
//! Without TLS the first three are sent together, which saves a round trip.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use nyssa_net::NO_CREDENTIALS;

use super::line::{Line, too_late};
use super::patience::Patient;
use super::{identity, read_answer, tls};
use crate::auth::{self, Client};
use crate::failure::Failure;
use crate::settings::Settings;
use crate::url::Server;
use crate::wire::{
    HANDSHAKE, Header, LoginBody, Malformed, ProtocolBody, Request, ServerError, Status, Wait,
    error_name, flags,
};

/// The largest number of bytes of an answer.
const ANSWER: u64 = 64 << 10;
/// The flag that asks the server whether requests must be signed.
const TELL_SECURITY: u8 = 1;
/// The flag of a client that can use TLS.
const ABLE_TLS: u8 = 2;
/// The flag of a client that wants TLS.
const WANT_TLS: u8 = 4;
/// The flags of a server that wants TLS for the requests of this client.
const TLS_FOR_DATA: u32 = flags::TLS_LOGIN | flags::TLS_SESSION | flags::TLS_DATA | flags::GOTO_TLS;
/// The maximum number of rounds of one method of authentication.
const ROUNDS: usize = 16;

/// The result of a login.
pub(super) enum Begun {
    /// Requests may be sent.
    Session(Line, ProtocolBody),
    /// The server wants TLS. The login must be tried again with it.
    WantsTls,
}

/// Logs in on a new socket, with TLS or, if the server allows it, without.
pub(super) fn log_in(
    socket: &TcpStream,
    server: &Server,
    settings: &Settings,
    deadline: Instant,
    is_secure: bool,
) -> Result<Begun, Failure> {
    let line = Line::plain(socket).map_err(lost(server))?;
    let address = socket.local_addr().map_err(lost(server))?;
    let mut handshake = Handshake { server, settings, deadline, address, line };
    let mut first = HANDSHAKE.to_vec();
    if is_secure {
        Request::protocol(TELL_SECURITY | ABLE_TLS | WANT_TLS).encode(1, &mut first);
    } else {
        Request::protocol(TELL_SECURITY).encode(1, &mut first);
        handshake.login_request().encode(2, &mut first);
    }
    handshake.send(&first)?;
    handshake.receive(0)?;
    let protocol = handshake.protocol()?;
    if is_secure {
        if !protocol.has(flags::GOTO_TLS) {
            let why = format!(
                "the server {server} has no TLS; write root:// instead of roots:// to connect \
                 without TLS"
            );
            return Err(Failure::last(ErrorKind::Unsupported, why));
        }
        handshake.line = tls::secure(socket, server, settings, deadline)?;
        handshake.send_login()?;
    } else if protocol.has(TLS_FOR_DATA) {
        return Ok(Begun::WantsTls);
    }
    let login = match handshake.logged_in() {
        Err(Failure::Refused { error, .. })
            if !is_secure && error_name(error.code) == "kXR_TLSRequired" =>
        {
            return Ok(Begun::WantsTls);
        }
        login => login?,
    };
    // Tokens must not be sent without TLS.
    if !is_secure && login.methods.iter().any(|(name, _)| auth::needs_tls(name)) {
        return Ok(Begun::WantsTls);
    }
    handshake.authenticate(login)?;
    // The methods that are built in have no key to sign with.
    if protocol.wants_signatures {
        let why =
            format!("the server {server} wants signed requests, which nyssa does not support");
        return Err(Failure::NoLogin { why });
    }
    Ok(Begun::Session(handshake.line, protocol))
}

/// A connection that only this thread uses, until the login is complete.
struct Handshake<'t> {
    server: &'t Server,
    settings: &'t Settings,
    deadline: Instant,
    /// The address of this end of the connection.
    address: SocketAddr,
    line: Line,
}

impl Handshake<'_> {
    fn login_request(&self) -> Request {
        let user = identity::user(self.server, self.settings);
        Request::login(std::process::id(), &user, &identity::login_cgi(self.settings))
    }

    fn send_login(&mut self) -> Result<(), Failure> {
        let mut bytes = Vec::new();
        self.login_request().encode(2, &mut bytes);
        self.send(&bytes)
    }

    /// Receives the answer to `protocol`.
    fn protocol(&mut self) -> Result<ProtocolBody, Failure> {
        let (header, body) = self.receive(1)?;
        match header.status {
            Status::Ok => ProtocolBody::parse(&body).map_err(|error| self.malformed(error)),
            // Servers from before 2008 do not know this request. They are asked for nothing more.
            Status::Error => Ok(ProtocolBody::default()),
            _ => Err(self.unexpected(header.status)),
        }
    }

    /// Receives the answer to the login that was sent.
    fn logged_in(&mut self) -> Result<LoginBody, Failure> {
        loop {
            let (header, body) = self.receive(2)?;
            match header.status {
                Status::Ok => {
                    return LoginBody::parse(&body).map_err(|error| self.malformed(error));
                }
                Status::Error => return Err(self.refused(&body)),
                Status::Wait => {
                    self.wait(&body)?;
                    self.send_login()?;
                }
                _ => return Err(self.unexpected(header.status)),
            }
        }
    }

    /// Sends credentials by one method after the other, until the server accepts them.
    fn authenticate(&mut self, login: LoginBody) -> Result<(), Failure> {
        if login.methods.is_empty() {
            return Ok(());
        }
        if self.settings.without_credentials {
            let why = format!("the server {} requires a login; {NO_CREDENTIALS}", self.server);
            return Err(Failure::last(ErrorKind::PermissionDenied, why));
        }
        let user = identity::user(self.server, self.settings);
        let (host, port) = (&*self.server.host, self.server.port);
        let client = Client { host, port, user: &user, address: self.address };
        let mut reasons = Vec::new();
        for (method, parameters) in &login.methods {
            let credentials = auth::credentials(method, parameters, &client);
            let credentials = match credentials {
                Ok(credentials) => credentials,
                Err(reason) => {
                    reasons.push(format!("{method}: {reason}"));
                    continue;
                }
            };
            match self.show(method, credentials)? {
                None => return Ok(()),
                Some(error) => {
                    let said = error.message.trim_end_matches('.');
                    let shown = auth::describe(method, &client);
                    reasons.push(format!("{method}: the server says: {said}{shown}"));
                }
            }
        }
        Err(self.no_login(&login, &reasons.join("; ")))
    }

    /// Returns the failure with the methods that the server offers, and the reason why each of them failed.
    fn no_login(&self, login: &LoginBody, reasons: &str) -> Failure {
        let server = self.server;
        let why = format!(
            "the server {server} requires a login, and no login method succeeded: {reasons}"
        );
        let names: Vec<&str> = login.methods.iter().map(|(name, _)| name.as_str()).collect();
        match names.iter().filter(|name| auth::is_built_in(name)).count() {
            0 => {
                let names = names.join(" or ");
                let why =
                    format!("the server {server} asks for {names}, which nyssa does not support");
                Failure::NoLogin { why }
            }
            known if known < names.len() => Failure::NoLogin { why },
            _ => Failure::last(ErrorKind::PermissionDenied, why),
        }
    }

    /// Sends the credentials of one method. Returns the error of the server.
    fn show(&mut self, method: &str, credentials: Vec<u8>) -> Result<Option<ServerError>, Failure> {
        for _ in 0..ROUNDS {
            let mut bytes = Vec::new();
            Request::auth(method, credentials.clone()).encode(3, &mut bytes);
            self.send(&bytes)?;
            let (header, body) = self.receive(3)?;
            match header.status {
                Status::Ok => return Ok(None),
                Status::Error => {
                    return ServerError::parse(&body).map(Some).map_err(|e| self.malformed(e));
                }
                Status::Wait => self.wait(&body)?,
                Status::AuthMore => {
                    let message = "it wants more credentials".to_owned();
                    return Ok(Some(ServerError { code: 0, message }));
                }
                _ => return Err(self.unexpected(header.status)),
            }
        }
        Err(Failure::lost(self.server, ErrorKind::TimedOut, too_late(self.settings)))
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let sent = self.line.writer.write_all(bytes).and_then(|()| self.line.writer.flush());
        sent.map_err(lost(self.server))
    }

    /// Receives the next answer, which must be for the request of this stream.
    fn receive(&mut self, stream: u16) -> Result<(Header, Vec<u8>), Failure> {
        let (deadline, settings) = (self.deadline, self.settings);
        let gives_up = |_| {
            let late = || io::Error::new(ErrorKind::TimedOut, too_late(settings));
            (Instant::now() >= deadline).then(late)
        };
        let mut reader = Patient::new(&mut self.line.reader, gives_up);
        let answer = read_answer(&mut reader, ANSWER).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                let why = "it closed the connection before the login; is it an XRootD server?";
                Failure::lost(self.server, ErrorKind::ConnectionReset, why)
            }
            kind => Failure::lost(self.server, kind, error.to_string()),
        })?;
        let (header, body) = answer.map_err(|what| self.malformed(what))?;
        if header.stream != stream {
            let what =
                format!("an answer to a request that nyssa did not send ({})", header.stream);
            return Err(self.malformed(Malformed(what)));
        }
        Ok((header, body))
    }

    /// Waits for the time that the server asks for.
    fn wait(&self, body: &[u8]) -> Result<(), Failure> {
        let wait = Wait::parse(body).map_err(|error| self.malformed(error))?;
        let time = Duration::from_secs(wait.seconds.max(1).into());
        if Instant::now() + time > self.deadline {
            let why = format!("it asks to wait {} s; {}", wait.seconds, too_late(self.settings));
            return Err(Failure::lost(self.server, ErrorKind::TimedOut, why));
        }
        std::thread::sleep(time);
        Ok(())
    }

    /// Makes the failure for bytes that are not of the protocol. Another attempt would not help.
    fn malformed(&self, what: Malformed) -> Failure {
        let why = format!("the server {} sent {}; is it an XRootD server?", self.server, what.0);
        Failure::last(ErrorKind::InvalidData, why)
    }

    fn unexpected(&self, status: Status) -> Failure {
        self.malformed(Malformed(format!("an unexpected answer with the status {status:?}")))
    }

    fn refused(&self, body: &[u8]) -> Failure {
        match ServerError::parse(body) {
            Ok(error) => Failure::Refused { server: self.server.clone(), error },
            Err(error) => self.malformed(error),
        }
    }
}

fn lost(server: &Server) -> impl Fn(io::Error) -> Failure {
    |error| Failure::lost(server, error.kind(), error.to_string())
}
