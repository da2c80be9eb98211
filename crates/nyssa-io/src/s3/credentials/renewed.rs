//! Stores credentials of a service or a process, and renews them before they expire.

use std::collections::HashMap;
use std::io;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use nyssa_net::PerProcess;
use rusty_s3::Credentials;

use super::fetched::Fetched;

/// The time before they expire at which credentials are renewed. If half of their validity is shorter, that is
/// used.
const BEFORE: Duration = Duration::from_secs(5 * 60);
/// The pause after a renewal that failed until the next one.
const AGAIN: Duration = Duration::from_secs(10);

/// Credentials, or the information that there are none.
struct Stored {
    credentials: Option<Credentials>,
    /// The times of the renewal and of the end, for credentials that expire.
    renewal: Option<SystemTime>,
    end: Option<SystemTime>,
}

impl Stored {
    fn new(fetched: Option<Fetched>) -> Self {
        let Some(fetched) = fetched else {
            return Self { credentials: None, renewal: None, end: None };
        };
        let now = SystemTime::now();
        let renewal = fetched.expires.map(|end| {
            let left = end.duration_since(now).unwrap_or_default();
            now + left.saturating_sub(BEFORE).max(left / 2)
        });
        Self { credentials: Some(fetched.credentials), renewal, end: fetched.expires }
    }
}

static STORED: PerProcess<Mutex<HashMap<String, Stored>>> = PerProcess::new();

/// Returns the credentials with the name `key`. `fetch` is called for new ones, by one thread at a time. A
/// renewal that fails is an error only if the old credentials have expired.
///
/// # Errors
/// `fetch` fails.
pub(super) fn renewed(
    key: &str,
    fetch: impl FnOnce() -> io::Result<Option<Fetched>>,
) -> io::Result<Option<Credentials>> {
    let mut all = STORED.lock();
    let now = SystemTime::now();
    if let Some(stored) = all.get_mut(key) {
        if stored.renewal.is_none_or(|renewal| now < renewal) {
            return Ok(stored.credentials.clone());
        }
        match fetch() {
            Ok(fetched) => *stored = Stored::new(fetched),
            Err(error) if stored.end.is_none_or(|end| now >= end) => return Err(error),
            Err(_) => stored.renewal = stored.end.map(|end| end.min(now + AGAIN)),
        }
        return Ok(stored.credentials.clone());
    }
    let stored = Stored::new(fetch()?);
    Ok(all.entry(key.to_owned()).insert_entry(stored).get().credentials.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renewal_may_fail_until_the_end() {
        let key = |fetched: io::Result<&str>, end: u64| {
            let fetch = || {
                let credentials = Credentials::new(fetched?, "secret");
                let expires = Some(SystemTime::now() + Duration::from_millis(end));
                Ok(Some(Fetched { credentials, expires }))
            };
            renewed("test", fetch).map(|keys| keys.map(|keys| keys.key().to_owned()))
        };
        let fails = || Err(io::Error::other("no answer"));
        let is = |key: io::Result<Option<String>>, expected: &str| {
            assert_eq!(key.unwrap().as_deref(), Some(expected));
        };
        is(key(Ok("first"), 600), "first");
        is(key(Ok("early"), 600), "first");
        std::thread::sleep(Duration::from_millis(350));
        is(key(fails(), 0), "first");
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(key(fails(), 0).unwrap_err().to_string(), "no answer");
        is(key(Ok("second"), 3_600_000), "second");
        is(key(Ok("third"), 3_600_000), "second");
    }
}
