//! Writes the steps of a skim: one writer for each format.

use std::collections::HashMap;

use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use nyssa_data::dataset::Dataset;
use nyssa_io::Sink;
use nyssa_rntuple::schema::{Classes, FieldType, Nullable, Schema, SchemaBuilder};
use nyssa_rntuple::write::{TableWriter as NTupleWriter, WriteReport};
use nyssa_root::Context;
use nyssa_root::arrow::{STRING, children};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_tables::{
    Column, TableOptions, TableWriter, fit, may_be_null, without_nulls, written_field,
};
use nyssa_ttree::write::{self as ttree, ColumnOptions, TreeWriteOptions, TreeWriter};

use super::options::SkimOptions;
use crate::convert::To;
use crate::filling::FillOptions;
use crate::heuristics::skim;
use crate::job::output::Output;
use crate::job::report;

/// A column of the output.
#[derive(Clone, Debug)]
pub(super) struct TargetColumn {
    /// The type of its arrays.
    pub(super) field: Field,
    /// The title of the branch, or the description of the field.
    pub(super) title: String,
    /// The C++ type, for people.
    pub(super) type_name: String,
    /// The expression of a new column.
    pub(super) expression: Option<String>,
}

/// The file that is written.
pub(super) enum Target {
    NTuple(Box<NTupleWriter>, Vec<Field>),
    Tree(Box<TreeWriter>, Vec<Field>),
    Table(Box<TableWriter>),
}

/// What is known of an output that is complete.
#[derive(Debug, Default)]
pub(super) struct TargetReport {
    pub(super) totals: WriteReport,
    /// The stored bytes of each column, where the format knows them.
    pub(super) columns: Vec<Option<u64>>,
}

/// Checks that the format has the type of a column. `is_exact` means that what may be null in the field really is.
///
/// # Errors
/// `Unsupported` with what to do.
pub(super) fn check_column(column: &TargetColumn, is_exact: bool, to: To) -> Result<()> {
    match to {
        To::RNTuple if is_exact && has_optional_records(&column.field) => Err(Error::unsupported(
            "records are missing in it, which an RNTuple cannot hold: leave it out, or write its members as columns",
        )),
        To::RNTuple => {
            let mut builder = SchemaBuilder::new(Compression::default());
            builder.field(None, column.field.name(), &field_type(&column.field)?).map(drop)
        }
        To::TTree if column.expression.is_none() && may_be_null(&column.field) => {
            Err(Error::unsupported(
                "it has missing values, which a TTree cannot hold: write an RNTuple, or a new column with where(…)",
            ))
        }
        To::TTree => {
            let field = without_nulls(&column.field);
            ttree::branches_of(&field, &TreeWriteOptions::default()).map(drop)
        }
        To::Parquet | To::Arrow => written_field(&table_column(column), to.output()).map(drop),
    }
}

/// Returns whether records that have no class may be missing. RNTuple has no optional values of such records.
fn has_optional_records(field: &Field) -> bool {
    let of_class = field.metadata().contains_key(STRING.0);
    match field.data_type() {
        DataType::Struct(_) if field.is_nullable() && !of_class => true,
        DataType::Struct(members) => members.iter().any(|member| has_optional_records(member)),
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => has_optional_records(item),
        _ => false,
    }
}

fn field_type(field: &Field) -> Result<FieldType> {
    FieldType::from_arrow_with(field, &Classes::default(), Nullable::Optional)
}

fn table_column(column: &TargetColumn) -> Column {
    let TargetColumn { field, title, type_name, .. } = column.clone();
    Column { field, title, type_name }
}

impl Target {
    /// Begins the RNTuple or TTree `path`, with the counters of `source`.
    ///
    /// # Errors
    /// `InvalidArgument` for options and names that cannot be written; `Unsupported` for types.
    pub(super) fn in_file(
        output: &Output,
        path: &str,
        (columns, to): (&[TargetColumn], To),
        source: &dyn Dataset,
        options: &SkimOptions,
        context: &Context,
    ) -> Result<Self> {
        if to == To::TTree {
            let fields: Vec<Field> =
                columns.iter().map(|column| without_nulls(&column.field)).collect();
            let schema = ArrowSchema::new(fields.clone());
            let tree = tree_options(columns, source, options);
            let writer = TreeWriter::create(&output.file, path, &schema, tree, context)?;
            return Ok(Self::Tree(Box::new(writer), fields));
        }
        let fields: Vec<Field> = columns.iter().map(|column| column.field.clone()).collect();
        let fill = FillOptions {
            compression: options.output.compression,
            effort: options.output.effort,
            storage: options.storage.clone(),
            memory: Some(options.output.memory() / skim::WRITER_DIVISOR),
            ..FillOptions::default()
        };
        let mut write = fill.write_options(Vec::new())?;
        write.description = source.description();
        let schema = ntuple_schema(columns, &write)?;
        let writer = NTupleWriter::with_schema(&output.file, path, schema, write, context)?;
        Ok(Self::NTuple(Box::new(writer), fields))
    }

    /// Begins a table.
    ///
    /// # Errors
    /// `InvalidArgument` for a compression that the format does not have.
    pub(super) fn table(
        sink: Box<dyn Sink>,
        path: &str,
        (columns, to): (&[TargetColumn], To),
        source: &dyn Dataset,
        options: &SkimOptions,
        context: &Context,
    ) -> Result<Self> {
        let columns: Vec<Column> = columns.iter().map(table_column).collect();
        let table = TableOptions {
            format: to.output(),
            compression: options.output.compression(),
            effort: options.output.effort(),
            group_bytes: options.storage.cluster_size(),
            memory: options.output.memory() / skim::WRITER_DIVISOR,
            object: path.to_owned(),
            description: source.description(),
        };
        Ok(Self::Table(Box::new(TableWriter::create(sink, &columns, &table, context)?)))
    }

    /// Returns the fields of the arrays that [`Target::fitted`] returns.
    pub(super) fn fields(&self) -> &[Field] {
        match self {
            Self::NTuple(_, fields) | Self::Tree(_, fields) => fields,
            Self::Table(writer) => writer.shown_fields(),
        }
    }

    /// Returns arrays in the types of the output.
    ///
    /// # Errors
    /// `InvalidArgument` for missing values in a TTree, and for dates and times that Parquet cannot hold.
    pub(super) fn fitted(&self, arrays: Vec<ArrayRef>) -> Result<Vec<ArrayRef>> {
        let fields = match self {
            Self::NTuple(_, fields) => fields,
            Self::Tree(_, fields) => {
                let check = |(array, field): (&ArrayRef, &Field)| {
                    check_present(array).in_field(field.name())
                };
                arrays.iter().zip(fields).try_for_each(check)?;
                fields
            }
            Self::Table(writer) => return writer.fitted(&arrays),
        };
        arrays.iter().zip(fields).map(|(array, field)| fit(array, field)).collect()
    }

    /// Appends rows, whose arrays [`Target::fitted`] has returned.
    ///
    /// # Errors
    /// `InvalidArgument` for strings that a table cannot hold; an error if the output cannot be written.
    pub(super) fn take(&mut self, arrays: Vec<ArrayRef>, rows: usize) -> Result<()> {
        match self {
            Self::NTuple(writer, _) => writer.extend(&arrays),
            Self::Tree(writer, _) => writer.take(arrays),
            Self::Table(writer) => writer.take(arrays, rows),
        }
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// An error if the output cannot be written.
    pub(super) fn finish(self) -> Result<TargetReport> {
        Ok(match self {
            Self::NTuple(writer, fields) => {
                TargetReport { totals: writer.finish()?, columns: vec![None; fields.len()] }
            }
            Self::Tree(writer, fields) => {
                let written = writer.finish()?;
                let bytes: HashMap<&str, u64> =
                    written.branches.iter().map(|(name, bytes)| (name.as_str(), *bytes)).collect();
                let column = |field: &Field| bytes.get(field.name().as_str()).copied();
                let columns = fields.iter().map(column).collect();
                TargetReport { totals: report::of_tree(&written), columns }
            }
            Self::Table(writer) => {
                let written = writer.finish()?;
                let totals = WriteReport {
                    entries: written.entries,
                    clusters: written.groups,
                    uncompressed_bytes: written.uncompressed_bytes,
                    compressed_bytes: written.compressed_bytes,
                    ..WriteReport::default()
                };
                TargetReport { totals, columns: written.columns }
            }
        })
    }
}

/// Returns the schema of an RNTuple, with the descriptions of its fields.
fn ntuple_schema(
    columns: &[TargetColumn],
    options: &nyssa_rntuple::write::RNTupleWriteOptions,
) -> Result<Schema> {
    let mut builder = SchemaBuilder::new(options.compression);
    for column in columns {
        let name = column.field.name();
        let id = builder.field(None, name, &field_type(&column.field)?)?;
        if let Some(field) = builder.schema_mut().fields.get_mut(id.0 as usize) {
            field.description.clone_from(&column.title);
        }
    }
    Ok(builder.finish())
}

/// Returns the function that finds the counter of the lists of a column.
pub(super) fn counters(source: &dyn Dataset) -> impl Fn(&str) -> Option<String> {
    let (sizes, groups) = (source.size_columns(), source.equal_lengths());
    move |name| {
        let group = groups.iter().find(|group| group.contains(name))?;
        group.iter().find(|other| sizes.contains(*other) && *other != name).cloned()
    }
}

/// Returns the options of a TTree: titles, and the counters and vectors that the columns had.
fn tree_options(
    columns: &[TargetColumn],
    source: &dyn Dataset,
    options: &SkimOptions,
) -> TreeWriteOptions {
    let counter_of = counters(source);
    let own = |column: &TargetColumn| {
        let name = column.field.name();
        let counter = counter_of(name);
        let vector = counter.is_none() && column.type_name.contains("vector<");
        let title = Some(column.title.clone()).filter(|title| !title.is_empty());
        (name.clone(), ColumnOptions { counter, vector, title, ..ColumnOptions::default() })
    };
    TreeWriteOptions {
        title: source.description(),
        compression: options.output.compression(),
        effort: options.output.effort(),
        columns: columns.iter().map(own).collect(),
        background: false,
        ..options.baskets.write_options()
    }
}

fn check_present(array: &dyn Array) -> Result<()> {
    let is_nested = matches!(
        array.data_type(),
        DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Struct(_)
    );
    if array.null_count() > 0 {
        return Err(Error::invalid_argument(
            "an entry has no value, such as the first item of an empty list, and a TTree cannot hold this: \
             cut these entries away, give them a value with where(…), or write an RNTuple",
        ));
    }
    match is_nested {
        true => children(array).iter().try_for_each(|child| check_present(child)),
        false => Ok(()),
    }
}
