//! Defines the options for HTTP: time limits, and the number of requests at the same time.

use std::env;
use std::io;
use std::time::Duration;

/// The longest time limit in seconds, which is one day.
const MAX_SECONDS: f64 = 86_400.0;
/// The largest number of connections to one host.
const MAX_CONNECTIONS: usize = 128;

/// The options for HTTP(S) and S3. Each has an environment variable and a default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The longest time to find the address of a host and to connect to it: `NYSSA_HTTP_CONNECT_TIMEOUT` in
    /// seconds, 10 by default.
    pub connect_timeout: Duration,
    /// The longest time without a byte, while an answer is waited for or read: `NYSSA_HTTP_TIMEOUT` in seconds,
    /// 30 by default.
    pub timeout: Duration,
    /// The time after which a request that fails is not tried again. It begins again when bytes arrive:
    /// `NYSSA_HTTP_DEADLINE` in seconds, 120 by default.
    pub deadline: Duration,
    /// The number of requests that are under way at the same time, each on its own connection:
    /// `NYSSA_HTTP_CONNECTIONS`, 8 by default.
    pub connections: usize,
    /// The largest number of them where each brings few bytes: 32 by default, and `NYSSA_HTTP_CONNECTIONS` if it is set.
    pub short_connections: usize,
    /// Whether no credentials are sent, neither to servers nor to proxies.
    pub(crate) without_credentials: bool,
}

impl Default for HttpOptions {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(120),
            connections: 8,
            short_connections: 32,
            without_credentials: false,
        }
    }
}

impl HttpOptions {
    /// Returns the defaults, changed by the environment variables.
    ///
    /// # Errors
    /// `InvalidInput` for a variable that is not such a number.
    pub fn from_env() -> io::Result<Self> {
        Self::from_vars(|name| env::var(name).ok())
    }

    fn from_vars(var: impl Fn(&str) -> Option<String>) -> io::Result<Self> {
        let var = |name: &str| var(name).filter(|value| !value.trim().is_empty());
        let refused = |name: &str, value: &str, what: &str| {
            let why = format!("{name} must be {what}, not {value:?}");
            io::Error::new(io::ErrorKind::InvalidInput, why)
        };
        let seconds = |name: &str, default: Duration| {
            let Some(value) = var(name) else { return Ok(default) };
            match value.trim().parse::<f64>() {
                Ok(seconds) if seconds > 0.0 && seconds <= MAX_SECONDS => {
                    Ok(Duration::from_secs_f64(seconds))
                }
                _ => Err(refused(name, &value, "a number of seconds above 0, at most 86400")),
            }
        };
        let connections = |name: &str| {
            let Some(value) = var(name) else { return Ok(None) };
            match value.trim().parse::<usize>() {
                Ok(number) if (1..=MAX_CONNECTIONS).contains(&number) => Ok(Some(number)),
                _ => Err(refused(name, &value, "a number from 1 to 128")),
            }
        };
        let default = Self::default();
        let connections = connections("NYSSA_HTTP_CONNECTIONS")?;
        Ok(Self {
            connect_timeout: seconds("NYSSA_HTTP_CONNECT_TIMEOUT", default.connect_timeout)?,
            timeout: seconds("NYSSA_HTTP_TIMEOUT", default.timeout)?,
            deadline: seconds("NYSSA_HTTP_DEADLINE", default.deadline)?,
            connections: connections.unwrap_or(default.connections),
            short_connections: connections.unwrap_or(default.short_connections),
            without_credentials: false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_sets_what_it_names() {
        let with = |name: &'static str, value: &'static str| {
            HttpOptions::from_vars(move |variable| (variable == name).then(|| value.to_owned()))
        };
        let default = HttpOptions::default();
        assert_eq!(with("", "").unwrap(), default);
        let timeout = Duration::from_millis(1500);
        let expected = HttpOptions { timeout, ..default.clone() };
        assert_eq!(with("NYSSA_HTTP_TIMEOUT", "1.5").unwrap(), expected);
        let expected = HttpOptions { connections: 3, short_connections: 3, ..default };
        assert_eq!(with("NYSSA_HTTP_CONNECTIONS", " 3").unwrap(), expected);
        for (name, value, message) in [
            (
                "NYSSA_HTTP_DEADLINE",
                "0",
                "NYSSA_HTTP_DEADLINE must be a number of seconds above 0, at most 86400, not \"0\"",
            ),
            (
                "NYSSA_HTTP_CONNECTIONS",
                "many",
                "NYSSA_HTTP_CONNECTIONS must be a number from 1 to 128, not \"many\"",
            ),
        ] {
            assert_eq!(with(name, value).unwrap_err().to_string(), message);
        }
    }
}
