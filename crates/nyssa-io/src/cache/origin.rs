//! The source below a cache. It may be opened only when the cache lacks something.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use nyssa_net::PerProcess;

use super::identity::Identity;
use super::seen::Seen;
use crate::source::closed;
use crate::{Error, Limits, OpenOptions, Result, Source};

/// Opens a resource.
pub(crate) type Open = Box<dyn Fn() -> Result<Arc<dyn Source>> + Send + Sync>;

/// The source below a cache.
pub(super) enum Origin {
    /// An open source, which knows its version.
    Open(Arc<dyn Source>),
    /// A source that is opened when it is needed.
    Later(Box<Later>),
}

/// A source that is not open yet, with the version that it had not long ago.
pub(super) struct Later {
    url: String,
    identity: Identity,
    seen: Seen,
    options: OpenOptions,
    open: Open,
    closed: AtomicBool,
    /// The source, as each process has opened it.
    opened: PerProcess<Opened>,
}

#[derive(Default)]
struct Opened {
    source: OnceLock<Arc<dyn Source>>,
    /// A lock that is held while the source is opened. It has the error of an opening that no read waited for.
    failed: Mutex<Option<Error>>,
}

impl Later {
    pub(super) fn new(
        url: &str,
        identity: Identity,
        seen: Seen,
        options: &OpenOptions,
        open: Open,
    ) -> Self {
        let (url, options, opened) = (url.to_owned(), options.clone(), PerProcess::new());
        Self { url, identity, seen, options, open, closed: AtomicBool::new(false), opened }
    }

    fn opened(&self) -> &Opened {
        self.opened.get(Opened::default)
    }

    /// Returns the source, and opens it if it is not open.
    fn get(&self) -> Result<&Arc<dyn Source>> {
        let opened = self.opened();
        if let Some(source) = opened.source.get() {
            return Ok(source);
        }
        let mut failed = opened.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = failed.take() {
            return Err(error);
        }
        match opened.source.get() {
            Some(source) => Ok(source),
            None => {
                let source = self.check((self.open)()?)?;
                Ok(opened.source.get_or_init(|| source))
            }
        }
    }

    /// Opens the source if it is not open. The next caller that needs it gets the error.
    fn prepare(&self) -> Option<&Arc<dyn Source>> {
        let keep = |error| {
            let mut failed = self.opened().failed.lock().unwrap_or_else(PoisonError::into_inner);
            *failed = Some(error);
        };
        self.get().map_err(keep).ok()
    }

    /// Refuses a source whose version differs from the version in the cache.
    fn check(&self, source: Arc<dyn Source>) -> Result<Arc<dyn Source>> {
        let now = Identity::new(&self.url, source.size(), source.version());
        if now == self.identity {
            return Ok(source);
        }
        self.seen.forget();
        source.close();
        let what = match now.size == self.identity.size {
            true => "it has another version",
            false => "it has another size",
        };
        let reason = format!(
            "it was changed on the server after the cache last requested it ({what}); open it again"
        );
        let error = io::Error::new(ErrorKind::InvalidData, reason);
        Err(Error::new(&self.url, "read", error))
    }
}

impl Origin {
    /// Returns the source. Opens it if it is not open.
    ///
    /// # Errors
    /// It cannot be opened; `InvalidData` if its version differs from the version in the cache.
    pub(super) fn get(&self) -> Result<&Arc<dyn Source>> {
        match self {
            Self::Open(source) => Ok(source),
            Self::Later(later) => later.get(),
        }
    }

    /// Returns the source if it is open.
    pub(super) fn opened(&self) -> Option<&Arc<dyn Source>> {
        match self {
            Self::Open(source) => Some(source),
            Self::Later(later) => later.opened().source.get(),
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Open(source) => source.name(),
            Self::Later(later) => &later.url,
        }
    }

    pub(super) fn size(&self) -> u64 {
        match self {
            Self::Open(source) => source.size(),
            Self::Later(later) => later.identity.size,
        }
    }

    pub(super) fn version(&self) -> Option<String> {
        match self {
            Self::Open(source) => source.version(),
            Self::Later(later) => later.identity.version.clone(),
        }
    }

    pub(super) fn options(&self) -> Option<&OpenOptions> {
        match self {
            Self::Open(source) => source.options(),
            Self::Later(later) => Some(&later.options),
        }
    }

    /// Returns its limits. As long as nothing was needed of it, all came from the cache, which is near.
    pub(super) fn limits(&self) -> Limits {
        self.opened().map_or(Limits::NONE, |source| source.limits())
    }

    /// Returns its limits for units that the cache does not have. They will be read, so that it is opened now.
    pub(super) fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        let source = match self {
            Self::Open(source) => Some(source),
            Self::Later(later) => later.prepare(),
        };
        source.map_or(Limits::NONE, |source| source.limits_of(units))
    }

    pub(super) fn close(&self) {
        if let Self::Later(later) = self {
            later.closed.store(true, Ordering::Relaxed);
        }
        if let Some(source) = self.opened() {
            source.close();
        }
    }

    pub(super) fn check_open(&self) -> Result<()> {
        match self {
            Self::Later(later) if later.closed.load(Ordering::Relaxed) => Err(closed(&later.url)),
            _ => self.opened().map_or(Ok(()), |source| source.check_open()),
        }
    }
}
