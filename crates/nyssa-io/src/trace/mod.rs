//! Reads recordings of a process, summarizes its opens and reads, and repeats them.
//!
//! A recording, or trace, is a text file with one JSON object on each line, see [`Event`] and `docs/io.md`. Besides the
//! requests to a source, it has the plans of reads: which ranges were needed, which threads waited for them,
//! and for how long.

mod link;
mod marks;
mod recorded;
mod replay;
mod schedule;
mod simulated;
mod summary;
mod window;
mod xrdcl;

use std::fs;
use std::io;
use std::path::Path;

pub use link::{Link, LinkProtocol};
pub use marks::{Mark, Marks};
pub use nyssa_observe::{Event, Pair};
pub use recorded::Trace;
pub use replay::{ReplayOptions, Replayed, replay};
pub use summary::{FileSummary, Profile, SizeBin, Summary};

use crate::location::local;
use crate::{Error, Result};

/// Reads a trace, or a recording of the recorder plug-in of XRootD's client (CSV).
///
/// # Errors
/// The file cannot be read; `InvalidData` for a file that is neither, with the line.
pub fn read(path: impl AsRef<Path>) -> Result<Trace> {
    let path = path.as_ref();
    let name = path.display().to_string();
    let text = fs::read_to_string(local(path, "read")?)
        .map_err(|error| Error::new(&name, "read", error))?;
    let is_json = text.trim_start().starts_with('{');
    let events = if is_json { nyssa_observe::parse_events(&text) } else { xrdcl::parse(&text) };
    let events = events.map_err(|why| {
        Error::new(&name, "read", io::Error::new(io::ErrorKind::InvalidData, why))
    })?;
    Ok(Trace { events })
}
