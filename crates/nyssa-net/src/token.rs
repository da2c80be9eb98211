//! Finds bearer tokens by the rules of the WLCG bearer token discovery.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};

/// The reason why a server gets no credentials, although it requires them.
pub const NO_CREDENTIALS: &str =
    "another file names this one, and nyssa sends no credentials to servers that a file names";

/// A bearer token and where it was found.
#[derive(Clone, PartialEq, Eq)]
pub struct BearerToken {
    /// The token itself, which no message shows.
    pub value: String,
    /// The variable or the file from which it comes, for messages.
    pub origin: String,
}

impl BearerToken {
    /// Returns the time at which the token expires, in seconds since 1970. Returns `None` if the token does not
    /// state it. Tokens are JSON Web Tokens (RFC 7519), whose second part has this time.
    pub fn expires(&self) -> Option<u64> {
        let claims = BASE64_URL_SAFE_NO_PAD.decode(self.value.split('.').nth(1)?).ok()?;
        let claims = String::from_utf8(claims).ok()?;
        let (_, rest) = claims.split_once("\"exp\"")?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        rest[..end].parse().ok()
    }
}

/// Returns the token of this process for a host, if the host may get it at this port.
///
/// # Errors
/// `InvalidInput` for a wrong `NYSSA_TOKEN_HOSTS`; an error of the system if the file of `BEARER_TOKEN_FILE` cannot be
/// read.
pub fn bearer_token(host: &str, port: u16) -> io::Result<Option<BearerToken>> {
    if may_get_token(host, port)? { find(|name| env::var(name).ok(), user()) } else { Ok(None) }
}

/// Returns whether a host may get a token at a port: if `NYSSA_TOKEN_HOSTS` is not set, or names the host or a domain of
/// it, with this port or with none.
///
/// # Errors
/// `InvalidInput` for a text that is not a list of hosts.
pub fn may_get_token(host: &str, port: u16) -> io::Result<bool> {
    env::var("NYSSA_TOKEN_HOSTS").map_or(Ok(true), |list| allows(&list, host, port))
}

/// Returns whether a list of hosts and domains, with commas between them, names a host. A name may end with a port. An
/// empty list allows all.
fn allows(list: &str, host: &str, port: u16) -> io::Result<bool> {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    let mut names = list.split(',').map(str::trim).filter(|name| !name.is_empty()).peekable();
    let mut allowed = names.peek().is_none();
    for name in names {
        // `.cern.ch`, `*.cern.ch` and `cern.ch` mean the same, as in `no_proxy`.
        let bare = name.trim_start_matches("*.").trim_start_matches('.').to_ascii_lowercase();
        let (bare, only) = match bare.rsplit_once(':') {
            Some((before, digits)) if !digits.ends_with(']') => match digits.parse::<u16>() {
                Ok(only) => (before.to_owned(), Some(only)),
                Err(_) => (bare, None),
            },
            _ => (bare, None),
        };
        let is_address = bare.starts_with('[') && bare.ends_with(']');
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bare.is_empty() || !(is_address || bare.chars().all(is_name)) {
            let why = format!(
                "NYSSA_TOKEN_HOSTS must be names of hosts with commas between them, such as cern.ch,dcache.desy.de:2880, \
                 and not {name:?}"
            );
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let is_named = host == bare || host.ends_with(&format!(".{bare}"));
        allowed |= is_named && only.is_none_or(|only| only == port);
    }
    Ok(allowed)
}

/// Finds the token of this process: in `BEARER_TOKEN`, in the file `BEARER_TOKEN_FILE`, in `bt_u<uid>` of
/// `XDG_RUNTIME_DIR`, or in `/tmp/bt_u<uid>`. The first one that exists is used. Files are read each time,
/// because other programs renew them.
///
/// # Errors
/// The file of `BEARER_TOKEN_FILE` cannot be read.
fn find(var: impl Fn(&str) -> Option<String>, user: u32) -> io::Result<Option<BearerToken>> {
    let var = |name| var(name).map(|value| value.trim().to_owned()).filter(|v| !v.is_empty());
    if let Some(value) = var("BEARER_TOKEN") {
        return Ok(Some(BearerToken { value, origin: "BEARER_TOKEN".to_owned() }));
    }
    if let Some(path) = var("BEARER_TOKEN_FILE") {
        let failed = |error: io::Error| {
            let why = format!("cannot read the token in {path} (BEARER_TOKEN_FILE): {error}");
            io::Error::new(error.kind(), why)
        };
        return read(Path::new(&path)).map_err(failed);
    }
    let folders = [var("XDG_RUNTIME_DIR").map(PathBuf::from), Some(PathBuf::from("/tmp"))];
    for folder in folders.into_iter().flatten() {
        if let Ok(Some(token)) = read(&folder.join(format!("bt_u{user}"))) {
            return Ok(Some(token));
        }
    }
    Ok(None)
}

fn read(path: &Path) -> io::Result<Option<BearerToken>> {
    let value = fs::read_to_string(path)?.trim().to_owned();
    let origin = path.display().to_string();
    Ok((!value.is_empty()).then_some(BearerToken { value, origin }))
}

#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_token_is_in_its_claims() {
        // The tokens contain {"sub":"me", "exp" : 1700000000,"aud":"x"}, {"exp":17}, {}, and text that is not a
        // token.
        for (claims, expected) in [
            ("eyJzdWIiOiJtZSIsICJleHAiIDogMTcwMDAwMDAwMCwiYXVkIjoieCJ9", Some(1_700_000_000)),
            ("eyJleHAiOjE3fQ", Some(17)),
            ("e30", None),
            ("!", None),
        ] {
            let value = format!("eyJ0.{claims}.c2ln");
            assert_eq!(BearerToken { value, origin: String::new() }.expires(), expected);
        }
        let plain = BearerToken { value: "plain".to_owned(), origin: String::new() };
        assert_eq!(plain.expires(), None);
    }

    #[test]
    fn only_hosts_of_the_list_get_a_token() {
        for (list, host, expected) in [
            ("cern.ch:443", "eos.cern.ch", true),
            ("cern.ch:8443", "eos.cern.ch", false),
            ("cern.ch:8443,cern.ch", "cern.ch", true),
            ("[::1]:443", "[::1]", true),
            ("[::1]:1094", "[::1]", false),
            ("", "any.org", true),
            (" , ", "any.org", true),
            ("cern.ch", "cern.ch", true),
            ("cern.ch", "eos.CERN.ch", true),
            ("desy.de, .cern.ch", "eos.cern.ch.", true),
            ("*.cern.ch", "eos.cern.ch", true),
            ("cern.ch", "evilcern.ch", false),
            ("cern.ch", "cern.ch.evil.org", false),
            ("eos.cern.ch", "cern.ch", false),
            ("[::1],localhost", "[::1]", true),
            ("127.0.0.1", "127.0.0.2", false),
        ] {
            assert_eq!(allows(list, host, 443).unwrap(), expected, "{list} {host}");
        }
        for list in [
            "https://cern.ch",
            "cern.ch:https",
            "cern.ch:99999",
            ":443",
            "*",
            "cern.ch desy.de",
            "desy.de,a/b",
        ] {
            let error = allows(list, "cern.ch", 443).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
            let start = "NYSSA_TOKEN_HOSTS must be names of hosts with commas between them, ";
            assert!(error.to_string().starts_with(start), "{error}");
        }
    }

    #[test]
    fn tokens_are_found_in_the_order_of_the_discovery() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        fs::write(path("file"), " of-the-file\n").unwrap();
        fs::write(path("bt_u7"), "of-the-user").unwrap();
        let all = [
            ("BEARER_TOKEN", " of-the-variable ".to_owned()),
            ("BEARER_TOKEN_FILE", path("file")),
            ("XDG_RUNTIME_DIR", path("")),
        ];
        let from = |first: usize| {
            let var = |name: &str| {
                all[first..].iter().find(|(key, _)| *key == name).map(|(_, value)| value.clone())
            };
            find(var, 7).unwrap().map(|token| token.value)
        };
        assert_eq!(from(0).as_deref(), Some("of-the-variable"));
        assert_eq!(from(1).as_deref(), Some("of-the-file"));
        assert_eq!(from(2).as_deref(), Some("of-the-user"));
        let missing = |name: &str| (name == "BEARER_TOKEN_FILE").then(|| path("missing"));
        let error = find(missing, 7).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let why = format!("cannot read the token in {} (BEARER_TOKEN_FILE): ", path("missing"));
        assert!(error.to_string().starts_with(&why), "{error}");
    }
}
