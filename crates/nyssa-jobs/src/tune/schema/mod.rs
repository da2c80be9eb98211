//! The schema of a dataset: fields with their columns, branches with their leaves, or columns of a table.

mod ntuple;
mod table;
mod tree;

use nyssa_data::dataset::Filter;
use nyssa_root::error::Result;
use serde::Serialize;

use crate::open::{Opened, table_format};

pub use ntuple::{AttributeSet, ColumnEntry, FieldEntry, Fields};
pub use nyssa_ttree::{Alias, Friend};
pub use table::{TableColumn, TableColumns};
pub use tree::{BranchEntry, Branches};

/// The schema of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemaReport {
    /// The name of the file.
    pub file: String,
    /// The path of the dataset in it.
    pub name: String,
    /// The format: `TTree`, `RNTuple`, `Parquet` or `Arrow`.
    pub format: &'static str,
    /// The number of entries.
    pub entries: u64,
    /// The title of a TTree, or the description of an RNTuple.
    pub title: String,
    /// The fields or branches.
    #[serde(flatten)]
    pub content: Content,
}

/// The parts of the schema of a dataset.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// The fields of an RNTuple.
    Fields(Fields),
    /// The branches of a TTree.
    Branches(Branches),
    /// The columns of a table.
    Columns(TableColumns),
}

/// Returns the schema of a TTree, an RNTuple or a table.
///
/// # Errors
/// Returns an error if a tree is damaged or cannot be read.
pub fn describe(data: &Opened) -> Result<SchemaReport> {
    let (format, title, content) = match data {
        Opened::Tree(reader) => {
            ("TTree", reader.tree().title.clone(), Content::Branches(tree::branches(reader)?))
        }
        Opened::NTuple(reader) => {
            let title = reader.header().description.clone();
            ("RNTuple", title, Content::Fields(ntuple::fields(reader)))
        }
        Opened::Table(reader) => {
            let title = reader.dataset().description();
            (table_format(reader), title, Content::Columns(table::columns(reader)))
        }
    };
    let dataset = data.dataset();
    Ok(SchemaReport {
        file: dataset.file().to_owned(),
        name: dataset.name().to_owned(),
        format,
        entries: dataset.num_entries(),
        title,
        content,
    })
}

impl SchemaReport {
    /// Returns the names from which a filter selects: paths of branches, or names of top-level fields.
    pub fn names(&self) -> Vec<&str> {
        match &self.content {
            Content::Branches(tree) => tree.branches.iter().map(|row| row.path.as_str()).collect(),
            Content::Fields(ntuple) => {
                let top = ntuple.fields.iter().filter(|row| row.depth == 0);
                top.map(|row| row.name.as_str()).collect()
            }
            Content::Columns(table) => table.columns.iter().map(|row| row.name.as_str()).collect(),
        }
    }

    /// Removes the branches, or the top-level fields with their subfields, that a filter does not select.
    pub fn select(&mut self, filter: &Filter) {
        match &mut self.content {
            Content::Branches(tree) => tree.branches.retain(|row| filter.takes(&row.path)),
            Content::Columns(table) => table.columns.retain(|row| filter.takes(&row.name)),
            Content::Fields(ntuple) => {
                let mut selected = false;
                ntuple.fields.retain(|row| {
                    if row.depth == 0 {
                        selected = filter.takes(&row.name);
                    }
                    selected
                });
            }
        }
    }
}
