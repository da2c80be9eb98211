//! Makes a dataset that adds computed columns to another dataset.

use std::ops::{Deref, Range};

use arrow_array::ArrayRef;
use arrow_schema::Field;
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::guard::to_usize;
use rayon::prelude::*;

use crate::cut::Formula;
use crate::dataset::{Arrays, ColumnBytes, ColumnInfo, Dataset};

/// The columns that formulas compute, followed by the columns of another dataset. `D` points to it.
pub struct Computed<D> {
    inner: D,
    formulas: Vec<(Formula, Field)>,
    columns: Vec<ColumnInfo>,
}

/// Returns the columns of a dataset, and the parts of columns that `names` contains.
pub(super) fn named_columns(
    dataset: &(impl Dataset + ?Sized),
    names: &[String],
) -> Vec<ColumnInfo> {
    let mut columns = dataset.columns().to_vec();
    for name in names {
        if !columns.iter().any(|column| column.name == *name)
            && let Some(column) = dataset.find_column(name)
        {
            columns.push(ColumnInfo { name: name.clone(), ..column.clone() });
        }
    }
    columns
}

impl<D: Deref<Target: Dataset>> Computed<D> {
    /// Adds the columns of `formulas`. Each has the text of its formula as its name.
    ///
    /// # Errors
    /// `NotFound` for unknown columns; `Unsupported` for columns that cannot be read; `InvalidArgument` for values
    /// that cannot be combined.
    pub fn new(inner: D, formulas: Vec<Formula>) -> Result<Self> {
        let mut columns = Vec::with_capacity(formulas.len() + inner.columns().len());
        let mut checked = Vec::with_capacity(formulas.len());
        for formula in formulas {
            let field = formula.field(&named_columns(&*inner, formula.fields()))?;
            columns.push(ColumnInfo {
                name: formula.to_string(),
                type_name: field.data_type().to_string(),
                field: Ok(field.clone()),
            });
            checked.push((formula, field));
        }
        columns.extend_from_slice(inner.columns());
        Ok(Self { inner, formulas: checked, columns })
    }

    fn formula(&self, name: &str) -> Option<&(Formula, Field)> {
        self.formulas.iter().find(|(_, field)| field.name() == name)
    }
}

impl<D: Deref<Target: Dataset> + Send + Sync> Dataset for Computed<D> {
    same_object!(inner);
    same_entries!(inner);
    same_relations!(inner);

    fn columns(&self) -> &[ColumnInfo] {
        &self.columns
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        self.inner.subcolumns()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        self.inner.column_bytes(column)
    }

    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        let computed = self.columns.iter().take(self.formulas.len());
        computed.into_iter().find(|item| item.name == name).or_else(|| self.inner.find_column(name))
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        let mut needed: Vec<&str> = Vec::new();
        for name in names {
            let fields = self.formula(name).map(|(formula, _)| formula.fields());
            let fields = fields.map(|fields| fields.iter().map(String::as_str).collect::<Vec<_>>());
            for field in fields.unwrap_or_else(|| vec![name]) {
                if !needed.contains(&field) {
                    needed.push(field);
                }
            }
        }
        let length = to_usize(entries.end.saturating_sub(entries.start), "entries")?;
        let read = self.inner.read(&needed, entries, context)?;
        let array = |name: &str| {
            let read_array = needed.iter().zip(&read).find(|(other, _)| **other == name);
            read_array.map(|(_, array)| ArrayRef::clone(array)).into_iter()
        };
        let column = |name: &&str| match self.formula(name) {
            Some((formula, field)) => {
                let arrays: Vec<_> = formula.fields().iter().flat_map(|name| array(name)).collect();
                let computed = formula.compute(&arrays, length, field);
                computed.in_file(self.file()).in_object(self.name()).map(Some)
            }
            None => Ok(array(name).next()),
        };
        let columns: Result<Vec<_>> =
            context.pool().install(|| names.par_iter().map(column).collect());
        Ok(columns?.into_iter().flatten().collect())
    }
}
