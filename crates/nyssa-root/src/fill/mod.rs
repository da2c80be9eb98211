//! Lets many threads fill one RNTuple or one TTree.
//!
//! ```text
//! thread ── context ──► complete cluster ──┐
//! thread ── context ──► complete cluster ──┼── turns ──► writer ──► file
//! thread ── context ──► complete cluster ──┘   (one short lock)
//! ```
//!
//! Each context buffers, encodes and compresses without a lock. This is not the ordered pipeline of jobs: the callers
//! use their own threads, no thread waits for another, and which cluster is next is known only when it is complete.

mod order;
mod queue;
mod turns;

pub use order::Order;
pub use queue::Buffers;
pub use turns::{Place, Turns, TurnsOptions, TurnsWriter};
