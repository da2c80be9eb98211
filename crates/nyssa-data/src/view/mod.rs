//! Makes datasets of other datasets: several files as one dataset, columns side by side, a part of the entries, other
//! types or names, computed columns.

/// Implements the format, name and file of a view, which it takes from its inner dataset `$inner`.
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

        fn location(&self) -> &std::path::Path {
            self.$inner.location()
        }

        fn open_options(&self) -> Vec<nyssa_io::OpenOptions> {
            self.$inner.open_options()
        }
    };
}

/// Forwards the types and the storage of columns to the dataset that a view wraps, which has the same columns.
macro_rules! same_columns {
    ($inner:ident) => {
        fn cpp_type(
            &self,
            column: &$crate::dataset::ColumnInfo,
        ) -> Option<$crate::dataset::CppType> {
            self.$inner.cpp_type(column)
        }

        fn backing(&self, listed: &dyn Fn(&str) -> bool) -> $crate::dataset::Backing {
            self.$inner.backing(listed)
        }

        fn reader(&self) -> Option<&dyn std::any::Any> {
            self.$inner.reader()
        }
    };
}

/// Forwards the titles of columns, and the relations of their lengths, to the inner dataset, whose columns have the same names.
macro_rules! same_relations {
    ($inner:ident) => {
        fn title(&self, column: &str) -> String {
            self.$inner.title(column)
        }

        fn description(&self) -> String {
            self.$inner.description()
        }

        fn equal_lengths(&self) -> Vec<std::collections::BTreeSet<String>> {
            self.$inner.equal_lengths()
        }

        fn size_columns(&self) -> std::collections::HashSet<String> {
            self.$inner.size_columns()
        }
    };
}

/// Forwards calls that depend only on the entries to the inner dataset, which has the same entries.
macro_rules! same_entries {
    ($inner:ident) => {
        fn close(&self) {
            self.$inner.close();
        }

        fn check_open(&self, entries: &std::ops::Range<u64>) -> nyssa_root::error::Result<()> {
            self.$inner.check_open(entries)
        }

        fn num_entries(&self) -> u64 {
            self.$inner.num_entries()
        }

        fn clusters(&self) -> Vec<std::ops::Range<u64>> {
            self.$inner.clusters()
        }
    };
}

mod chain;
mod computed;
pub mod evolve;
mod join;
mod projection;
mod query;
mod rules;
mod selected;
mod slice;
mod streamed;
mod target;
mod with_schema;

pub use chain::{Chain, ChainOptions, Link, MAX_OPEN};
pub use computed::Computed;
pub use join::{Join, Right};
pub use projection::Projection;
pub use query::{Aliases, Query, QueryResult};
pub use rules::{ReadRule, RuleFunction, TargetMember, WithRules};
pub use selected::{Selected, SelectedRange};
pub use slice::Slice;
pub use streamed::Streamed;
pub use target::ChainSchema;
pub use with_schema::WithSchema;
pub use with_schema::{Lengths, Mapping};
