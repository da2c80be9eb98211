//! Chooses the effort of compression by samples of data (docs/decisions/0004 and 0010).
//!
//! ```text
//! sample ──► sealed in each form, with one codec after the other ──► bytes + price of the time ──► the best
//! ```
//!
//! Only this module knows the candidates, and how many bytes a second of CPU time must save. A writer compresses the
//! samples that [`Chooser::choose`] requests, one after the other. The times of the candidates are fixed numbers. So
//! the choice depends only on the data, and the output is the same on every machine.

mod chooser;
mod codecs;
mod options;
mod priced_codec;

pub use chooser::{Best, Chooser, Chosen, Goal, SampleSize, SplitForm, TriedForm};
pub use options::{CompressionChoice, Effort};
pub use priced_codec::PricedCodec;

/// Returns the name of the effort of a compression setting of ROOT. It is empty if nothing is compressed.
pub fn level(setting: u32) -> String {
    if setting == 0 { String::new() } else { format!("level {}", setting % 100) }
}
