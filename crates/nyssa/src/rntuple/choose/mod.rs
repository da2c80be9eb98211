//! How columns are stored, chosen by looking at samples of their data (docs/decisions/0004 and 0006).
//!
//! ```text
//! sample ──► sealed in each form, with one codec after the other ──► bytes + price of the time ──► the best
//! ```
//!
//! This is the only place that knows the candidates, how much of a column is looked at, and what a second of
//! CPU time is worth. Who writes seals the samples: [`Chooser::choose`] asks for one after the other. Times are
//! nominal, so that the choice depends on the data alone and the output is the same on every machine.

mod asked;
mod candidate;
mod chooser;
mod codecs;
mod form;
pub(crate) mod sample;
#[cfg(test)]
pub(crate) mod testing;

pub use asked::{CompressionChoice, Effort, Encodings};
pub use chooser::Trial;
pub(crate) use chooser::{Best, Chooser, Chosen, Goal, SampleSize};
pub(crate) use form::{Form, counterpart, default_type, unsplit_type};

/// The effort of a level in ROOT's numbers; empty where nothing is compressed.
pub(crate) fn level(setting: u32) -> String {
    if setting == 0 { String::new() } else { format!("level {}", setting % 100) }
}
