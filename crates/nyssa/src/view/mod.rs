//! Datasets that are made of other datasets: several files as one, columns side by side, a part of the
//! entries, other types or names, columns that are computed.

mod chain;
pub mod evolve;
mod evolved;
mod join;
mod rules;
mod selected;
mod slice;
mod target;

pub use chain::{Chain, ChainOptions, Link, MAX_OPEN};
pub use evolved::Evolved;
pub(crate) use evolved::Mapping;
pub use join::{Join, Right};
pub use rules::{ReadRule, RuleFunction, Ruled, Target as RuleTarget};
pub use selected::{Piece, Selected, taken};
pub use slice::Slice;
pub use target::Target;
