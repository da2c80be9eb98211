//! Lets many threads fill one RNTuple or one TTree.
//!
//! ```text
//! thread ── context ──► complete cluster ──┐
//! thread ── context ──► complete cluster ──┼── turns ──► writer ──► file
//! thread ── context ──► complete cluster ──┘   (one short lock)
//! ```
//!
//! Each context buffers without a lock, and threads of the pool compress what it hands over ([`Background`]). This is not
//! the ordered pipeline of jobs: which cluster is next is known only when it is complete.

mod background;
mod line;
mod order;
mod queue;
mod turns;

pub use background::{Background, Room, Worker};
pub use line::Line;
pub use order::Order;
pub use queue::Buffers;
pub use turns::{Place, Turns, TurnsOptions, TurnsWriter};
