//! Plans the columns of a skim, and its cuts.

use std::ops::Range;

use arrow_schema::Field;
use nyssa_data::dataset::{Dataset, Filter, fields, no_match, select_columns};
use nyssa_data::view::{Query, QueryResult};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_tables::of_root;

use super::input::Input;
use super::nulls;
use super::options::SkimOptions;
use super::report::SkimSkipped;
use super::target::{TargetColumn, check_column, counters};
use crate::convert::To;
use crate::open;

/// What is written.
pub(super) struct Plan {
    /// The definitions and the cuts.
    pub(super) query: Query,
    /// The columns of the output.
    pub(super) columns: Vec<TargetColumn>,
    pub(super) skipped: Vec<SkimSkipped>,
}

impl Plan {
    /// Finds the columns of `input`.
    ///
    /// # Errors
    /// `NotFound` for globs that match nothing and unknown names in expressions; `InvalidArgument` for definitions of
    /// names that exist; `Unsupported` with all columns that cannot be read or written, unless they are skipped.
    pub(super) fn new(
        input: &Input,
        to: To,
        options: &SkimOptions,
        context: &Context,
    ) -> Result<Self> {
        let mut own = selected(input, options)?;
        if to == To::TTree {
            own = with_counters(own, &*input.first);
        }
        own.retain(|name| input.left_out.iter().all(|item| item.name != *name));
        let defined = defined(input, options)?;
        let cuts: Vec<&str> = options.cut.iter().map(|cut| cut.cut.as_str()).collect();
        let stored = || open::stored_aliases(&*input.first);
        let aliases = options.define.clone();
        let query = Query::with_cuts(&*input.dataset, &defined, &cuts, aliases, stored)?;
        let mut columns: Vec<TargetColumn> = Vec::new();
        let mut skipped: Vec<SkimSkipped> = Vec::new();
        for name in own {
            let item = input.dataset.find_column(&name);
            let column = item.map(|item| match &item.field {
                Ok(field) => Ok(TargetColumn {
                    field: field.clone().with_name(&name),
                    title: input.first.title(&name),
                    type_name: item.type_name.clone(),
                    expression: None,
                }),
                Err(reason) => Err(reason.clone()),
            });
            match column {
                Some(Ok(column)) => columns.push(column),
                Some(Err(reason)) => {
                    skipped.push(SkimSkipped { name, reason, unreadable: false });
                }
                None => return Err(Error::not_found(format!("no column named {name:?}"))),
            }
        }
        let computed = query_of(&query, input, 0..0, context)?;
        for field in fields(&*computed.dataset, &defined)? {
            let formula = options.define.iter().find(|(name, _)| name == field.name());
            columns.push(TargetColumn {
                type_name: field.data_type().to_string(),
                field: Field::clone(&field),
                title: formula.map(|(_, text)| text.clone()).unwrap_or_default(),
                expression: formula.map(|(_, text)| text.clone()),
            });
        }
        if input.is_table() && matches!(to, To::RNTuple | To::TTree) {
            nulls::narrow(&mut columns, input, context)?;
            columns.iter_mut().for_each(|column| column.field = of_root(&column.field));
        }
        let is_exact = |column: &TargetColumn| input.is_table() && column.expression.is_none();
        columns.retain(|column| match check_column(column, is_exact(column), to) {
            Ok(()) => true,
            Err(error) => {
                let (name, reason) = (column.field.name().clone(), error.message().to_owned());
                skipped.push(SkimSkipped { name, reason, unreadable: false });
                false
            }
        });
        if !skipped.is_empty() && !options.skip_unsupported {
            let lines = skipped.iter().map(|item| format!("{}: {}", item.name, item.reason));
            let many = if skipped.len() == 1 { "" } else { "s" };
            let message = format!(
                "{} column{many} cannot be written:\n  {}\nskip_unsupported (--skip-unsupported) leaves out what cannot be \
                 written, and the report lists it",
                skipped.len(),
                lines.collect::<Vec<_>>().join("\n  ")
            );
            return Err(Error::unsupported(message)).in_file(input.dataset.file());
        }
        if columns.is_empty() {
            return Err(Error::invalid_argument("no column is left to write"));
        }
        skipped.extend(input.left_out.iter().cloned());
        Ok(Self { query, columns, skipped })
    }
}

/// Applies a query to entries of the input.
pub(super) fn query_of(
    query: &Query,
    input: &Input,
    entries: Range<u64>,
    context: &Context,
) -> Result<QueryResult> {
    query.apply(std::sync::Arc::clone(&input.dataset), entries, context)
}

/// Returns the names of the columns of the input that are written.
///
/// # Errors
/// `NotFound` for globs that match nothing.
pub(super) fn selected(input: &Input, options: &SkimOptions) -> Result<Vec<String>> {
    let is_defined = |glob: &String| options.define.iter().any(|(name, _)| name == glob);
    let dataset = &*input.dataset;
    let globs: Vec<String> = options.columns.iter().filter(|it| !is_defined(it)).cloned().collect();
    if globs.is_empty() && !options.columns.is_empty() {
        return Ok(Vec::new());
    }
    let known = || dataset.columns().iter().chain(dataset.subcolumns());
    for glob in &globs {
        let defines = Filter::new(std::slice::from_ref(glob), &[])?;
        let is_new = options.define.iter().any(|(name, _)| defines.takes(name));
        if !is_new && select_columns(dataset, std::slice::from_ref(glob))?.is_empty() {
            let names = known().map(|item| item.name.as_str());
            let names = names.chain(options.define.iter().map(|(name, _)| name.as_str()));
            return Err(no_match("column", glob, names)).in_file(dataset.file());
        }
    }
    let exclude = Filter::new(&[], &options.exclude)?;
    let all = select_columns(dataset, &globs)?;
    for glob in &options.exclude {
        let filter = Filter::new(std::slice::from_ref(glob), &[])?;
        if !known().any(|item| filter.takes(&item.name)) {
            let names = known().map(|item| item.name.as_str());
            return Err(no_match("column", glob, names)).in_file(dataset.file());
        }
    }
    let taken = all.into_iter().filter(|item| exclude.takes(&item.name));
    Ok(taken.map(|item| item.name.clone()).collect())
}

/// Adds the counters of lists, which a TTree needs, before their first list. So they keep their types and titles.
fn with_counters(names: Vec<String>, source: &dyn Dataset) -> Vec<String> {
    let counter_of = counters(source);
    let mut all: Vec<String> = Vec::with_capacity(names.len());
    for name in &names {
        let counter = counter_of(name).filter(|it| source.find_column(it).is_some());
        all.extend(counter.filter(|it| !names.contains(it) && !all.contains(it)));
        all.push(name.clone());
    }
    all
}

/// Returns the names of the definitions that are written. Others serve only cuts and other definitions.
fn defined(input: &Input, options: &SkimOptions) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for (name, _) in &options.define {
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let wrong = match () {
            () if !is_word => "is no plain name: letters, digits and underscores",
            () if input.dataset.find_column(name).is_some() => {
                "is a column already: take another name"
            }
            () if names.contains(name) => "is defined twice",
            () => {
                names.push(name.clone());
                continue;
            }
        };
        return Err(Error::invalid_argument(format!("cannot define {name:?}: it {wrong}")));
    }
    let filter = Filter::new(&options.columns, &options.exclude)?;
    names.retain(|name| filter.takes(name));
    Ok(names)
}
