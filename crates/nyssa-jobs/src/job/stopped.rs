//! Says why a job stops that may be tried in another way.

use nyssa_root::error::Error;

/// The reason why a job stops.
pub(crate) enum Stopped {
    /// The tree at this path cannot be written.
    AtTree(String, Error),
    Otherwise(Error),
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        Self::Otherwise(error)
    }
}
