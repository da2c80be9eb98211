//! Defines the options by which a resource is opened.

use nyssa_net::Stop;
use nyssa_observe::IoStats;

use crate::cache::CacheChoice;
use crate::fetch::KeptEnds;
use crate::http::HttpOptions;
use nyssa_xrootd::XrootdOptions;

/// The options for opening a resource. Other resources that are opened because of it have the same options:
/// friends, files of branches, files of a chain.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// The options for HTTP and S3. `None` takes them from the environment.
    pub http: Option<HttpOptions>,
    /// The options for XRootD.
    pub xrootd: XrootdOptions,
    /// The cache in which bytes of remote resources are kept.
    pub cache: CacheChoice,
    /// The counters of what is read from all resources that are opened by these options or by a clone of them.
    pub stats: IoStats,
    /// The signal that ends waiting for the server of a remote resource. `None` takes the signal of the
    /// process, see [`Stop::for_process`].
    pub stop: Option<Stop>,
    /// Whether files may name other files anywhere, and not only those beside them or on their server (see
    /// [`NamedFile`](crate::NamedFile)). `None` means what is allowed in the process: by
    /// [`OtherFilesAllowed`](crate::OtherFilesAllowed), or by the environment variable `NYSSA_ALLOW_OTHER_FILES`.
    pub allow_other_files: Option<bool>,
    /// Whether the resource is opened without the credentials of the user.
    pub(crate) without_credentials: bool,
    /// Holds the ends of files that were opened by these options or by a clone of them, and closed.
    pub(crate) ends: KeptEnds,
}

impl OpenOptions {
    /// Sets the signal that ends waiting for servers.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Returns the same options without credentials. What was read with credentials, and is kept, is not used.
    pub(crate) fn without_credentials(self) -> Self {
        let (cache, ends) = (CacheChoice::Off, KeptEnds::default());
        Self { without_credentials: true, cache, ends, ..self }
    }

    /// Returns the signal that ends waiting for servers, if there is one.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop.clone().or_else(Stop::of_process)
    }
}
