//! Implements `ztn`, which sends a bearer token.

use std::time::{SystemTime, UNIX_EPOCH};

use nyssa_net::{bearer_token, may_get_token};

/// The largest number of bytes of a token if the server does not state it.
const MOST: usize = 4096;

/// Returns the token for a host and port as credentials. Its server sends `version:most bytes:`.
pub(super) fn credentials(parameters: &str, (host, port): (&str, u16)) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| error.to_string();
    if !may_get_token(host, port).map_err(failed)? {
        return Err(format!("no token was sent, because NYSSA_TOKEN_HOSTS does not name {host}"));
    }
    let token = bearer_token(host, port).map_err(failed)?;
    let token = token.ok_or_else(|| {
        "there is no token; set BEARER_TOKEN to a token, or BEARER_TOKEN_FILE to the path of a \
         file with one"
            .to_owned()
    })?;
    pack(&token.value, parameters)
        .ok_or_else(|| format!("the token of {} is longer than the server accepts", token.origin))
}

/// Returns text about the token that was sent: where it was found, and when it expired.
pub(super) fn describe((host, port): (&str, u16)) -> String {
    let Ok(Some(token)) = bearer_token(host, port) else { return String::new() };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match token.expires().filter(|&end| end <= now) {
        Some(end) => {
            format!("; the token of {} expired {} s ago", token.origin, now - end)
        }
        None => format!("; nyssa sent the token of {}", token.origin),
    }
}

/// Packs the name, version 0, `T` for a token, two zero bytes, the length with the zero byte after the token,
/// and the token.
fn pack(token: &str, parameters: &str) -> Option<Vec<u8>> {
    let parameters = parameters.strip_prefix("TLS:").unwrap_or(parameters);
    let most = parameters.split(':').nth(1).and_then(|most| most.parse().ok()).unwrap_or(MOST);
    let length = u16::try_from(token.len() + 1).ok().filter(|_| token.len() < most)?;
    let mut bytes = b"ztn\0\0T\0\0".to_vec();
    bytes.extend_from_slice(&length.to_be_bytes());
    bytes.extend_from_slice(token.as_bytes());
    bytes.push(0);
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_packed_if_they_are_short_enough() {
        assert_eq!(pack("abc", "0:4096:").unwrap(), b"ztn\0\0T\0\0\0\x04abc\0");
        assert_eq!(pack("abc", "TLS:0:3:"), None);
        assert_eq!(pack(&"a".repeat(5000), ""), None);
    }

    #[test]
    fn only_hosts_of_the_list_get_the_token() {
        if std::env::var("NYSSA_TOKEN_HOSTS").is_ok() {
            assert!(credentials("0:4096:", ("eos.cern.ch", 1094)).is_ok());
            let refused = credentials("0:4096:", ("evil.org", 1094)).unwrap_err();
            let expected = "no token was sent, because NYSSA_TOKEN_HOSTS does not name evil.org";
            assert_eq!((refused.as_str(), describe(("evil.org", 1094)).as_str()), (expected, ""));
            return;
        }
        let test = "auth::ztn::tests::only_hosts_of_the_list_get_the_token";
        let environment = [("NYSSA_TOKEN_HOSTS", "cern.ch"), ("BEARER_TOKEN", "of-mine")];
        nyssa_testdata::run_inside(test, &environment);
    }
}
