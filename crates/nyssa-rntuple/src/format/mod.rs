//! Reads and writes the binary format of RNTuple: anchor, envelopes, frames and locators; bytes ⇄ records.
//!
//! ```text
//! anchor ──► header envelope      name, fields, columns, alias columns, extra type information
//!        └─► footer envelope      schema extension, cluster groups, linked attribute sets
//!                    └─► page list envelope   per cluster: entry range; per column: pages
//!                                                               └─► locator: offset, size
//! ```
//!
//! Every record has `parse` and `serialize`. Parsing takes uncompressed envelopes. It verifies the checksum
//! first, and then checks every count, id and offset before it uses it. Content that later minor versions
//! append to a frame is skipped. Byte offsets in messages count from the start of the uncompressed envelope.

mod anchor;
mod anchor_class;
mod attributes;
mod blob;
mod cluster_group;
mod envelope;
mod extra_type;
mod feature_flags;
mod footer;
mod frame;
mod header;
mod page_list;
mod put;
mod schema_description;

pub use anchor::{Anchor, DEFAULT_MAX_KEY_SIZE, EnvelopePosition, FormatVersion};
pub use attributes::AttributeSet;
pub use blob::BlobChunks;
pub use cluster_group::ClusterGroup;
pub use envelope::{Envelope, EnvelopeKind};
pub use extra_type::{CONTENT_STREAMER_INFO, ExtraType};
pub use footer::Footer;
pub use header::Header;
pub use page_list::PageList;
pub use schema_description::SchemaDescription;

/// Returns XXH3-64 with seed 0, as anchors, envelopes and pages use it.
pub fn checksum(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}
