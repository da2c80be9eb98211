//! Prepares requested histograms: finds the columns that are read, and what is computed from them.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};
use nyssa_root::error::{Error, Result};

use super::axis::Axis;
use super::contents::Histogram;
use super::values::{check_weight, leaf_type};
use crate::cut::{Cut, Formula, Known};
use crate::dataset::{Dataset, fields};
use crate::view::{Aliases, Computed, Query};

/// A histogram that is requested.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HistogramPlan {
    /// A column or an expression for each axis.
    pub expressions: Vec<String>,
    /// The axes.
    pub axes: Vec<Axis>,
    /// The expression of the weights. Without it each value counts 1.
    pub weight: Option<String>,
    /// The expression that selects entries.
    pub cut: Option<String>,
    /// Whether the squares of the weights are summed up, too.
    pub squares: bool,
    /// Whether the values of each axis are summed up.
    pub statistics: bool,
}

/// A column, or a formula of columns. Columns are numbers in [`Prepared::columns`].
#[derive(Debug)]
pub(super) enum Expression {
    Column(usize),
    Formula { formula: Formula, field: Field, columns: Vec<usize> },
}

/// A requested histogram, whose expressions are numbers in [`Prepared::expressions`].
#[derive(Debug)]
pub(super) struct PreparedPlan {
    pub axes: Vec<usize>,
    pub weight: Option<usize>,
    /// The histogram without entries.
    pub empty: Histogram,
}

/// The histograms that have one cut.
#[derive(Debug)]
pub(super) struct Group {
    /// The cut and its columns.
    pub cut: Option<(Cut, Vec<usize>)>,
    /// The columns of the histograms.
    pub columns: Vec<usize>,
    /// The numbers of the histograms.
    pub plans: Vec<usize>,
}

/// What is read, computed and filled.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The names of the columns that are read, each once.
    pub columns: Vec<String>,
    pub expressions: Vec<(String, Expression)>,
    pub plans: Vec<PreparedPlan>,
    pub groups: Vec<Group>,
}

/// Returns the type of the innermost values of each expression.
///
/// # Errors
/// As for [`fill`](super::fill()).
pub fn types(
    dataset: &dyn Dataset,
    expressions: &[String],
    aliases: &Aliases,
    stored: &dyn Fn() -> Result<Aliases>,
) -> Result<Vec<DataType>> {
    let expressions = Expressions::new(dataset, expressions, aliases, stored)?;
    Ok(expressions.types.iter().map(|known| leaf_type(known).clone()).collect())
}

/// Expressions, with the columns that they need.
struct Expressions {
    columns: Vec<String>,
    all: Vec<(String, Expression)>,
    /// The type of each expression.
    types: Vec<DataType>,
}

impl Expressions {
    fn new(
        dataset: &dyn Dataset,
        texts: &[String],
        aliases: &Aliases,
        stored: &dyn Fn() -> Result<Aliases>,
    ) -> Result<Self> {
        let query = Query::new(dataset, texts, None, aliases.clone(), stored)?;
        let formulas: HashMap<String, &Formula> =
            query.formulas().iter().map(|formula| (formula.to_string(), formula)).collect();
        let computed = Computed::new(dataset, query.formulas().to_vec())?;
        let mut new = Self { columns: Vec::new(), all: Vec::new(), types: Vec::new() };
        for text in texts {
            let field = fields(&computed, &[text])?.remove(0);
            let expression = match formulas.get(text) {
                Some(&formula) => Expression::Formula {
                    columns: formula.fields().iter().map(|name| new.column(name)).collect(),
                    formula: formula.clone(),
                    field: field.as_ref().clone(),
                },
                None => Expression::Column(new.column(text)),
            };
            new.all.push((text.clone(), expression));
            new.types.push(field.data_type().clone());
        }
        Ok(new)
    }

    /// Returns the number of a column.
    fn column(&mut self, name: &str) -> usize {
        let known = self.columns.iter().position(|other| other == name);
        known.unwrap_or_else(|| {
            self.columns.push(name.to_owned());
            self.columns.len() - 1
        })
    }

    fn find(&self, text: &str) -> Option<(usize, &DataType)> {
        let at = self.all.iter().position(|(other, _)| other == text)?;
        Some((at, leaf_type(&self.types[at])))
    }
}

impl Prepared {
    pub(super) fn new(
        dataset: &dyn Dataset,
        plans: &[HistogramPlan],
        aliases: &Aliases,
        stored: &dyn Fn() -> Result<Aliases>,
    ) -> Result<Self> {
        let mut texts: Vec<String> = Vec::new();
        for text in plans.iter().flat_map(|plan| plan.expressions.iter().chain(&plan.weight)) {
            if !texts.contains(text) {
                texts.push(text.clone());
            }
        }
        let mut expressions = Expressions::new(dataset, &texts, aliases, stored)?;
        let prepared = plans.iter().map(|plan| prepare(plan, &expressions));
        let prepared = prepared.collect::<Result<Vec<_>>>()?;
        let mut cuts: Vec<Option<&str>> = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for (number, plan) in plans.iter().enumerate() {
            let text = plan.cut.as_deref();
            if let Some(known) = cuts.iter().position(|known| *known == text) {
                groups[known].plans.push(number);
                continue;
            }
            let cut = text.map(|text| parse(dataset, text, aliases, stored)).transpose()?;
            let cut = cut.flatten().map(|cut| {
                let columns = cut.fields().iter().map(|name| expressions.column(name));
                let columns = columns.collect();
                (cut, columns)
            });
            cuts.push(text);
            groups.push(Group { cut, columns: Vec::new(), plans: vec![number] });
        }
        for group in &mut groups {
            let numbers = group.plans.iter().flat_map(|&plan| {
                let plan: &PreparedPlan = &prepared[plan];
                plan.axes.iter().chain(&plan.weight)
            });
            let mut columns: Vec<usize> = numbers
                .flat_map(|&number| match &expressions.all[number].1 {
                    Expression::Column(column) => vec![*column],
                    Expression::Formula { columns, .. } => columns.clone(),
                })
                .collect();
            columns.sort_unstable();
            columns.dedup();
            group.columns = columns;
        }
        let Expressions { columns, all, .. } = expressions;
        Ok(Self { columns, expressions: all, plans: prepared, groups })
    }
}

/// Parses and checks a cut.
fn parse(
    dataset: &dyn Dataset,
    text: &str,
    aliases: &Aliases,
    stored: &dyn Fn() -> Result<Aliases>,
) -> Result<Option<Cut>> {
    Query::new(dataset, &[], Some(text), aliases.clone(), stored)?.checked_cut(dataset)
}

fn prepare(plan: &HistogramPlan, expressions: &Expressions) -> Result<PreparedPlan> {
    let find = |text: &String| {
        let missing = || Error::not_found(format!("there is no expression {text:?}"));
        expressions.find(text).ok_or_else(missing)
    };
    if plan.axes.is_empty() || plan.axes.len() != plan.expressions.len() {
        let message = "a histogram needs an axis for each of its expressions";
        return Err(Error::invalid_argument(message));
    }
    let mut axes = Vec::with_capacity(plan.axes.len());
    for (text, axis) in plan.expressions.iter().zip(&plan.axes) {
        let (number, leaf) = find(text)?;
        Axis::takes(axis, leaf).map_err(|error| of(text, error))?;
        axes.push(number);
    }
    let weight = plan.weight.as_ref().map(|text| {
        let (number, leaf) = find(text)?;
        check_weight(leaf).map_err(|error| of(text, error)).map(|()| number)
    });
    let empty = Histogram::new(&plan.axes, plan.squares, plan.statistics)?;
    Ok(PreparedPlan { axes, weight: weight.transpose()?, empty })
}

/// Names the expression that an error is about.
pub(super) fn of(text: &str, error: Error) -> Error {
    error.map_message(|message| format!("{text}: {message}"))
}

impl Expression {
    /// Computes the expression for `length` entries from the arrays of all columns. Columns that it does not need may
    /// have any array.
    pub(super) fn compute(
        &self,
        arrays: &[ArrayRef],
        length: usize,
        known: &Known,
    ) -> Result<ArrayRef> {
        match self {
            Self::Column(column) => Ok(ArrayRef::clone(&arrays[*column])),
            Self::Formula { formula, field, columns } => {
                let own: Vec<_> = columns.iter().map(|&at| ArrayRef::clone(&arrays[at])).collect();
                formula.compute_with(&own, length, field, known)
            }
        }
    }
}
