//! Parses URLs: `root://[user@]host[:port][,host[:port]]//path[?cgi]`.

use std::fmt;
use std::io;

use super::wire::DEFAULT_PORT;

/// A server: its address, and how it is accessed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Server {
    pub host: String,
    pub port: u16,
    /// The user that the URL names.
    pub user: Option<String>,
    /// Whether nothing is sent without TLS.
    pub tls: bool,
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "[{}]:{}", self.host, self.port),
            false => write!(f, "{}:{}", self.host, self.port),
        }
    }
}

impl Server {
    /// Parses `[user[:password]@]host[:port]`.
    pub(crate) fn parse(text: &str, tls: bool) -> Result<Self, String> {
        let (user, place) = match text.rsplit_once('@') {
            Some((user, place)) => (user.split(':').next().filter(|user| !user.is_empty()), place),
            None => (None, text),
        };
        let (host, port) = match place.strip_prefix('[') {
            Some(rest) => {
                let (host, port) =
                    rest.split_once(']').ok_or("an address in brackets has no closing bracket")?;
                (short_address(host), port.strip_prefix(':').filter(|port| !port.is_empty()))
            }
            None => match place.split_once(':') {
                Some((host, port)) => (host, Some(port).filter(|port| !port.is_empty())),
                None => (place, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| format!("{port:?} is not a port number"))?,
            None => DEFAULT_PORT,
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        if host.is_empty() || !host.chars().all(sound) {
            return Err(format!("{host:?} is not a host name"));
        }
        Ok(Self { host: host.to_ascii_lowercase(), port, user: user.map(str::to_owned), tls })
    }
}

/// Returns an IPv4 address, which managers write as `::1.2.3.4`, in its usual form.
fn short_address(host: &str) -> &str {
    let short = host.strip_prefix("::ffff:").or_else(|| host.strip_prefix("::"));
    short.filter(|short| short.parse::<std::net::Ipv4Addr>().is_ok()).unwrap_or(host)
}

/// A file or folder on servers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    /// The servers that have it, at least one. They are tried one after the other.
    pub servers: Vec<Server>,
    /// The path on the server.
    pub path: String,
    /// The text after the question mark, for the server.
    pub cgi: String,
}

impl Url {
    /// Parses a URL.
    ///
    /// # Errors
    /// `InvalidInput` for a text that is not a URL of XRootD.
    pub(crate) fn checked(url: &str) -> io::Result<Self> {
        Self::parse(url).map_err(|why| io::Error::new(io::ErrorKind::InvalidInput, why))
    }

    /// Parses a URL. The error is the reason, as text.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it is not a URL")?;
        let tls =
            uses_tls(scheme).ok_or_else(|| format!("{scheme}:// is not a scheme of XRootD"))?;
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (path, cgi) = path.split_once('?').unwrap_or((path, ""));
        // The anchors of browsers have no meaning here, so a path may have a number sign.
        let servers = hosts.split(',').map(|item| Server::parse(item, tls));
        let servers: Result<Vec<Server>, String> = servers.collect();
        let servers = servers.map_err(|why| match rest.contains('@') {
            // The text that was read as a host or a port may be a part of a password.
            true => "it has no valid host and port; write root://user@host:port//path".to_owned(),
            false => why,
        });
        if path.is_empty() {
            return Err("it names no path; write root://host//path".to_owned());
        }
        Ok(Self { servers: servers?, path: path.to_owned(), cgi: cgi.to_owned() })
    }
}

/// Returns a path with CGI.
pub(super) fn target<'a>(path: &str, cgi: impl IntoIterator<Item = &'a str>) -> String {
    let mut target = path.to_owned();
    let mut next = '?';
    for part in cgi.into_iter().filter(|part| !part.is_empty()) {
        target.push(next);
        target.push_str(part);
        next = '&';
    }
    target
}

/// Returns whether a scheme wants TLS. Returns `None` for a scheme that is not of XRootD.
fn uses_tls(scheme: &str) -> Option<bool> {
    match scheme.to_ascii_lowercase().as_str() {
        "root" | "xroot" => Some(false),
        "roots" | "xroots" => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_servers_and_paths() {
        let url = Url::parse("roots://me:secret@Eos.cern.ch,[::1]:2000//eos/a b.root?a=1").unwrap();
        let servers: Vec<String> = url.servers.iter().map(ToString::to_string).collect();
        assert_eq!(servers, ["eos.cern.ch:1094", "[::1]:2000"]);
        assert!(url.servers[0].tls);
        assert_eq!(url.servers[0].user.as_deref(), Some("me"));
        assert_eq!((url.path.as_str(), url.cgi.as_str()), ("/eos/a b.root", "a=1"));
        assert_eq!(target("/a", ["", "b=1", "", "tried=x"]), "/a?b=1&tried=x");
        assert_eq!(Url::parse("xroot://h/rel.root").unwrap().path, "rel.root");
    }

    #[test]
    fn managers_write_addresses_in_their_own_way() {
        for (text, expected) in [
            ("[::127.0.0.1]:2000", "127.0.0.1:2000"),
            ("[::ffff:10.0.0.1]:2000", "10.0.0.1:2000"),
            ("[::1]", "[::1]:1094"),
            ("[2001:db8::1]:1", "[2001:db8::1]:1"),
        ] {
            assert_eq!(Server::parse(text, false).unwrap().to_string(), expected);
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for (url, why) in [
            ("root://host", "it names no path; write root://host//path"),
            ("root://host/?a=1", "it names no path; write root://host//path"),
            ("root:////a.root", "\"\" is not a host name"),
            ("root://host:port//a", "\"port\" is not a port number"),
            ("root://host:70000//a", "\"70000\" is not a port number"),
            ("root://[::1//a", "an address in brackets has no closing bracket"),
            ("root://a b//a", "\"a b\" is not a host name"),
            (
                "root://u:ab/s3cr3t@h//a",
                "it has no valid host and port; write root://user@host:port//path",
            ),
            ("http://host//a", "http:// is not a scheme of XRootD"),
        ] {
            assert_eq!(Url::parse(url).unwrap_err(), why, "{url}");
        }
    }
}
