//! Datasets that are made of other datasets: several files as one, columns side by side, a part of the
//! entries, other types or names, columns that are computed.

mod chain;
pub mod evolve;
mod join;
mod rules;
mod selected;
mod slice;
mod target;
mod with_schema;

pub use chain::{Chain, ChainOptions, Link, MAX_OPEN};
pub use join::{Join, Right};
pub use rules::{ReadRule, RuleFunction, Target as RuleTarget, WithRules};
pub use selected::{Selected, SelectedRange, taken};
pub use slice::Slice;
pub use target::Target;
pub(crate) use with_schema::Mapping;
pub use with_schema::WithSchema;
