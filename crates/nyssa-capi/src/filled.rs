//! What callers fill: an RNTuple or a TTree.

use std::sync::Arc;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::{Field, FieldRef, Schema as ArrowSchema};
use nyssa_jobs::filling::{Slot, Table, Tree};
use nyssa_jobs::update::Update;
use nyssa_rntuple::read::item;
use nyssa_rntuple::schema::Schema;
use nyssa_rntuple::write::{self, Order};
use nyssa_root::arrow::normalise;
use nyssa_root::definitions::Definitions;
use nyssa_root::{Context, Error, Result};
use nyssa_ttree::write::{TreeColumns, TreeWriteOptions};
use serde_json::{Value, json};

use crate::arrow::{Given, invalid};
use crate::definitions::Defined;

/// An RNTuple or a TTree that is being written.
pub(crate) enum Filled {
    NTuple(Table),
    Tree(Box<FilledTree>),
}

/// A TTree that is being written.
pub(crate) struct FilledTree {
    pub tree: Tree,
    /// The options of branches that are added.
    pub options: TreeWriteOptions,
    /// The change of the file that has the tree.
    pub update: Option<Arc<Update>>,
    /// Notes on parts of the tree that are left out.
    pub notes: Vec<String>,
}

impl Filled {
    /// Returns the RNTuple.
    ///
    /// # Errors
    /// `InvalidArgument` for a TTree, which has no such `part`.
    pub fn ntuple(&mut self, part: &str) -> Result<&mut Table> {
        match self {
            Self::NTuple(table) => Ok(table),
            Self::Tree(filled) => Err(Error::invalid_argument(format!(
                "{} is a TTree, which has no {part}: only RNTuples have them",
                filled.tree.name()
            ))),
        }
    }

    /// Returns the defined fields as Arrow.
    ///
    /// # Errors
    /// `InvalidArgument` for types that are not known; `Unsupported` for types that cannot be written here.
    pub fn fields_of(&self, defined: &Defined) -> Result<Vec<FieldRef>> {
        match self {
            Self::NTuple(_) => defined.arrow_fields(),
            Self::Tree(_) => defined.tree_fields(),
        }
    }

    /// Appends rows.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit, and once there are fill contexts; the error of earlier rows.
    pub fn extend(&mut self, rows: &[ArrayRef]) -> Result<()> {
        match self {
            Self::NTuple(table) => table.rows.writer()?.extend(rows),
            Self::Tree(filled) => filled.tree.rows.writer()?.extend(rows),
        }
    }

    /// Ends the open cluster.
    ///
    /// # Errors
    /// `InvalidArgument` once there are fill contexts; the error of earlier rows.
    pub fn flush(&mut self) -> Result<()> {
        match self {
            Self::NTuple(table) => table.rows.writer()?.flush(),
            Self::Tree(filled) => filled.tree.rows.writer()?.flush(),
        }
    }

    /// Makes a fill context.
    ///
    /// # Errors
    /// `InvalidArgument` for more contexts than the options allow; `Unsupported` for a TTree that takes no entries; the
    /// error of earlier rows.
    pub fn context(&mut self, order: Order, context: &Context) -> Result<Slot> {
        match self {
            Self::NTuple(table) => table.rows.context(order, context),
            Self::Tree(filled) => filled.tree.context(order, context),
        }
    }

    /// Returns the number of entries, and the seconds that calls waited for other threads.
    ///
    /// # Errors
    /// The error of earlier rows.
    pub fn stats(&mut self) -> Result<(u64, f64)> {
        let (entries, stalled) = match self {
            Self::NTuple(table) => (table.rows.entries()?, table.rows.stalled()),
            Self::Tree(filled) => (filled.tree.rows.entries()?, filled.tree.rows.stalled()),
        };
        Ok((entries, stalled.as_secs_f64()))
    }

    /// Ends all fill contexts without their entries.
    pub fn give_up(&self) {
        match self {
            Self::NTuple(table) => table.rows.give_up(),
            Self::Tree(filled) => filled.tree.rows.give_up(),
        }
    }

    /// Writes what is left, and returns the report.
    ///
    /// # Errors
    /// The errors of filling; an error if the file cannot be written.
    pub fn finish(self) -> Result<Value> {
        match self {
            Self::NTuple(table) => Ok(json!(table.finish()?)),
            Self::Tree(filled) => {
                let filled = *filled;
                let report = filled.tree.rows.end()?;
                Ok(json!({
                    "entries": report.entries,
                    "clusters": report.clusters,
                    "baskets": report.baskets,
                    "uncompressed_bytes": report.tot_bytes,
                    "compressed_bytes": report.zip_bytes,
                    "notes": filled.notes,
                }))
            }
        }
    }
}

/// The schema of rows.
pub(crate) struct Rows {
    order: InOrder,
    /// The number of fields.
    pub count: usize,
    /// The fields as Arrow, unless a field of an existing RNTuple has no Arrow type.
    fields: Result<Vec<FieldRef>>,
}

/// How columns come into the order of what is filled.
enum InOrder {
    NTuple { name: String, schema: Schema },
    Tree(TreeColumns),
}

impl Rows {
    pub fn of(filled: &Filled) -> Self {
        match filled {
            Filled::NTuple(table) => {
                let (name, schema) = (table.name().to_owned(), table.schema().clone());
                let own: Vec<_> =
                    schema.top_level().filter(|(_, field)| field.source.is_none()).collect();
                let field =
                    |id| item(&schema, &[id], None).field.map(Arc::new).map_err(Error::unsupported);
                let (count, fields) = (own.len(), own.iter().map(|(id, _)| field(*id)).collect());
                Self { order: InOrder::NTuple { name, schema }, count, fields }
            }
            Filled::Tree(filled) => {
                let columns = filled.tree.columns().clone();
                let fields: Vec<FieldRef> = columns.fields().into_iter().map(Arc::new).collect();
                Self { order: InOrder::Tree(columns), count: fields.len(), fields: Ok(fields) }
            }
        }
    }

    /// Returns the fields.
    ///
    /// # Errors
    /// `Unsupported` for a field that has no Arrow type.
    pub fn fields(&self) -> Result<&[FieldRef]> {
        self.fields.as_deref().map_err(Clone::clone)
    }

    /// Returns columns in the order of the rows. Fields of an RNTuple after the first `needed` ones may be left out.
    ///
    /// # Errors
    /// `InvalidArgument` for columns that are missing or unknown.
    pub fn in_order(&self, columns: &[Given], needed: usize) -> Result<Vec<ArrayRef>> {
        match &self.order {
            InOrder::NTuple { name, schema } => write::rows(schema, name, columns, needed),
            InOrder::Tree(tree) => tree.rows(columns),
        }
    }
}

/// Returns the columns of a TTree: the fields of an Arrow schema, in the types that nyssa writes, and the defined fields.
///
/// # Errors
/// `InvalidArgument` for types that are not known; `Unsupported` for types that have no column.
pub(crate) fn tree_schema(given: &[FieldRef], defined: &Defined) -> Result<ArrowSchema> {
    let normal = |field: &FieldRef| {
        let (_, field) = normalise(&new_empty_array(field.data_type()), field).map_err(invalid)?;
        Ok(Arc::new(field))
    };
    let mut fields = given.iter().map(normal).collect::<Result<Vec<FieldRef>>>()?;
    fields.extend(defined.tree_fields()?);
    Ok(ArrowSchema::new(fields))
}

/// Returns the options of branches of `classes`.
pub(crate) fn with_classes(options: &TreeWriteOptions, classes: &Definitions) -> TreeWriteOptions {
    TreeWriteOptions { classes: classes.clone(), ..options.clone() }
}

/// Returns arrays without rows of the types of a schema.
pub(crate) fn no_rows(schema: &ArrowSchema) -> Vec<ArrayRef> {
    let empty = |field: &FieldRef| new_empty_array(Field::data_type(field));
    schema.fields().iter().map(empty).collect()
}
