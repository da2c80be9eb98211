//! Defines the options by which a resource is opened.

use crate::cache::CacheChoice;
use crate::http::HttpOptions;
use crate::io_stats::IoStats;
use crate::stop::Stop;
use crate::xrootd::XrootdOptions;

/// The options for opening a resource. What is opened because of it is opened by the same options: friends,
/// files of branches, files of a chain.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct OpenOptions {
    /// Sets options for HTTP and S3. The environment has them if this is `None`.
    pub http: Option<HttpOptions>,
    /// Sets options for XRootD.
    pub xrootd: XrootdOptions,
    /// The cache in which bytes of remote resources are kept.
    pub cache: CacheChoice,
    /// Counts what is read from all resources that are opened by these options or by a clone of them.
    pub stats: IoStats,
    /// Ends waiting for the server of a remote resource. The process has one if this is `None`, see
    /// [`Stop::for_process`].
    pub stop: Option<Stop>,
}

impl OpenOptions {
    /// Sets the signal that ends waiting for servers.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Returns the signal that ends waiting for servers, if there is one.
    pub(crate) fn stop(&self) -> Option<Stop> {
        self.stop.clone().or_else(Stop::of_process)
    }
}
