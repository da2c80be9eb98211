//! Holds the columns that a table shows, and finds them by name.

use std::collections::HashMap;

use arrow_schema::{Field, Schema};
use nyssa_data::dataset::ColumnInfo;
use nyssa_root::arrow::{TIME, brief};
use nyssa_root::error::{Error, Result};

use crate::metadata::{CPP_TYPE, TITLE, time_title};
use crate::shown::shown;

/// The columns of a table.
pub(crate) struct Columns {
    /// What the dataset shows. The n-th column is the n-th field of the table.
    pub(crate) items: Vec<ColumnInfo>,
    by_name: HashMap<String, usize>,
    titles: HashMap<String, String>,
}

impl Columns {
    /// Takes the fields of a table. `narrow` returns a field with fewer parts that may be null, if it knows better, or the
    /// reason why its values cannot be read.
    pub(crate) fn new(
        schema: &Schema,
        narrow: impl Fn(usize, &Field) -> std::result::Result<Field, String>,
    ) -> Self {
        let (mut items, mut by_name) = (Vec::new(), HashMap::new());
        let mut titles = HashMap::new();
        let mut times_named: HashMap<&str, usize> = HashMap::new();
        schema.fields().iter().for_each(|field| *times_named.entry(field.name()).or_default() += 1);
        for (index, original) in schema.fields().iter().enumerate() {
            let name = original.name().clone();
            let field = match times_named.get(name.as_str()) {
                Some(1) => narrow(index, original).and_then(|field| shown(&field)),
                _ => Err(format!(
                    "the table has several columns {name:?}: give them different names"
                )),
            };
            by_name.insert(name.clone(), index);
            let described = original.metadata().get(TITLE).cloned();
            let time = field.as_ref().ok().and_then(|field| field.metadata().get(TIME));
            let title = described.or_else(|| time.map(|time| time_title(time)));
            titles.extend(title.map(|title| (name.clone(), title)));
            let type_name = type_name(original);
            items.push(ColumnInfo { name, type_name, field });
        }
        Self { items, by_name, titles }
    }

    /// Returns the number and the field of each column.
    ///
    /// # Errors
    /// `NotFound` with the nearest names; `Unsupported` for a column whose type nyssa does not have.
    pub(crate) fn find(&self, names: &[&str]) -> Result<Vec<(usize, Field)>> {
        let find = |name: &&str| {
            let index = self.by_name.get(*name).copied().ok_or_else(|| {
                let known = self.items.iter().map(|item| item.name.as_str());
                Error::not_found(format!("no column named {name:?}")).suggest(name, known)
            })?;
            let field = self.items[index].field.clone().map_err(Error::unsupported)?;
            Ok((index, field))
        };
        names.iter().map(find).collect()
    }

    /// Returns the description of a column. It is empty if it has none.
    pub(crate) fn title(&self, name: &str) -> String {
        self.titles.get(name).cloned().unwrap_or_default()
    }
}

/// Returns the C++ type that the metadata name, or the Arrow type.
fn type_name(field: &Field) -> String {
    let named = field.metadata().get(CPP_TYPE).cloned();
    named.unwrap_or_else(|| brief(field.data_type()))
}
