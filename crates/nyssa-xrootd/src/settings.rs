//! Defines time limits and names. They come from options, or else from the environment, or else from the
//! defaults of XRootD's own client.

use std::env;
use std::io;
use std::time::Duration;

/// The options for XRootD. An option that is `None` is taken from its environment variable or, if that is not
/// set, from the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct XrootdOptions {
    /// The longest time for a connection with its login, and the time in which a lost server is searched again:
    /// `XRD_CONNECTIONWINDOW`, 120 s by default.
    pub connection_window: Option<Duration>,
    /// The number of attempts at a connection: `XRD_CONNECTIONRETRY`, 5 by default.
    pub connection_retry: Option<u32>,
    /// The longest time for a request with all redirects, waits and retries: `XRD_REQUESTTIMEOUT`, 1800 s by
    /// default.
    pub request_timeout: Option<Duration>,
    /// The longest time for which a server with unanswered requests may be silent: `XRD_STREAMTIMEOUT`, 60 s by
    /// default.
    pub stream_timeout: Option<Duration>,
    /// The number of redirects that are followed: `XRD_REDIRECTLIMIT`, 16 by default.
    pub redirect_limit: Option<u32>,
    /// The number of connections over which one file is read: `XRD_SUBSTREAMSPERCHANNEL`, 4 by default.
    pub streams: Option<u32>,
    /// The name of this program for the server: `XRD_APPNAME`, by default the name of the program.
    pub app_name: Option<String>,
    /// More information for the monitoring of the server: `XRD_MONINFO`.
    pub mon_info: Option<String>,
    /// Whether no login method is used, and the name of the user is not sent.
    pub without_credentials: bool,
}

/// The options after the environment and the defaults were applied.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Settings {
    pub connection_window: Duration,
    pub connection_retry: u32,
    pub request_timeout: Duration,
    pub stream_timeout: Duration,
    pub redirect_limit: u32,
    pub app_name: String,
    pub mon_info: String,
    /// The largest number of connections over which one file is read.
    pub streams: usize,
    /// The number of the connection to a server. Connections are shared by equal settings, so another number
    /// leads to another connection.
    pub connection: u16,
    /// Whether no login method is used, and the name of the user is not sent.
    pub without_credentials: bool,
}

impl Settings {
    /// Combines the options, the environment and the defaults.
    ///
    /// # Errors
    /// `InvalidInput` for a variable of the environment that is not a number.
    pub(crate) fn new(options: &XrootdOptions) -> io::Result<Self> {
        let number = |given: Option<u64>, name: &str, default: u64| match (given, env::var(name)) {
            (Some(given), _) => Ok(given),
            (None, Ok(text)) if !text.trim().is_empty() => {
                let bad = || {
                    let why = "which is not a number";
                    let why = format!("the environment variable {name} is {text:?}, {why}");
                    io::Error::new(io::ErrorKind::InvalidInput, why)
                };
                text.trim().parse().map_err(|_| bad())
            }
            _ => Ok(default),
        };
        let seconds = |given: Option<Duration>, name: &str, default: u64| match given {
            Some(given) => Ok(given),
            None => number(None, name, default).map(Duration::from_secs),
        };
        let count = |given: Option<u32>, name: &str, default: u64| {
            number(given.map(u64::from), name, default)
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX))
        };
        let text = |given: &Option<String>, name: &str| {
            given.clone().or_else(|| env::var(name).ok()).unwrap_or_default()
        };
        let app_name = match text(&options.app_name, "XRD_APPNAME") {
            name if name.is_empty() => program().unwrap_or_else(|| "nyssa".to_owned()),
            name => name,
        };
        let window = options.connection_window;
        Ok(Self {
            connection_window: seconds(window, "XRD_CONNECTIONWINDOW", 120)?,
            connection_retry: count(options.connection_retry, "XRD_CONNECTIONRETRY", 5)?,
            request_timeout: seconds(options.request_timeout, "XRD_REQUESTTIMEOUT", 1800)?,
            stream_timeout: seconds(options.stream_timeout, "XRD_STREAMTIMEOUT", 60)?,
            redirect_limit: count(options.redirect_limit, "XRD_REDIRECTLIMIT", 16)?,
            app_name,
            mon_info: text(&options.mon_info, "XRD_MONINFO"),
            streams: count(options.streams, "XRD_SUBSTREAMSPERCHANNEL", 4)?.max(1) as usize,
            connection: 0,
            without_credentials: options.without_credentials,
        })
    }
}

/// Returns the name of this program.
fn program() -> Option<String> {
    Some(env::current_exe().ok()?.file_stem()?.to_str()?.to_owned())
}
