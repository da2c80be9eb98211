//! Makes datasets of other datasets: several files as one dataset, columns side by side, a part of the entries, other
//! types or names, computed columns.

/// Implements the format, name and file of a view. They are those of the dataset in its field `$inner`.
macro_rules! same_object {
    ($inner:ident) => {
        fn format(&self) -> $crate::dataset::Format {
            self.$inner.format()
        }

        fn name(&self) -> &str {
            self.$inner.name()
        }

        fn file(&self) -> &str {
            self.$inner.file()
        }

        fn open_options(&self) -> Vec<nyssa_io::OpenOptions> {
            self.$inner.open_options()
        }
    };
}

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
pub use selected::{Selected, SelectedRange};
pub use slice::Slice;
pub use target::Target;
pub(crate) use with_schema::Mapping;
pub use with_schema::WithSchema;
