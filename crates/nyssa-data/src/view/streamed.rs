//! Shows columns of objects as the bytes that ROOT's streamer writes for them.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::{ArrayRef, new_empty_array};
use arrow_schema::DataType;
use nyssa_root::Context;
use nyssa_root::arrow::streamer_field;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::ObjectLayout;
use rayon::prelude::*;

use super::evolve::{Conversion, EvolutionOptions, evolve};
use crate::dataset::{AnyDataset, Arrays, ColumnInfo, Dataset};

/// A dataset some of whose columns are read as streamed objects.
pub struct Streamed {
    inner: AnyDataset,
    items: Vec<ColumnInfo>,
    /// The layouts of columns, and what makes their values the values of the layout: ROOT streams an enum as an `Int_t`.
    streamed: HashMap<String, (ObjectLayout, Conversion)>,
}

impl Streamed {
    /// Shows columns of `inner` as streamed objects. `layouts` has the layout of each column, by name.
    ///
    /// # Errors
    /// `Unsupported` with the column if its values are not the objects of the layout.
    pub fn new(inner: AnyDataset, mut layouts: HashMap<String, ObjectLayout>) -> Result<Self> {
        let mut items = inner.columns().to_vec();
        let mut streamed = HashMap::new();
        for item in &mut items {
            let (Some(layout), Ok(field)) = (layouts.remove(&item.name), &item.field) else {
                continue;
            };
            let wanted = layout.arrow_field(&item.name);
            let conversion = evolve(field, &wanted, EvolutionOptions::default());
            let conversion = conversion.and_then(|conversion| {
                if let Some(lost) = lost_member(field.data_type(), wanted.data_type()) {
                    return Err(Error::unsupported(format!(
                        "ROOT's streamer does not store the member {lost}"
                    )));
                }
                let none = conversion.apply(&new_empty_array(field.data_type()))?;
                layout.encode(&none).map(|_| conversion)
            });
            let conversion = conversion.map_err(|reason| {
                let message =
                    format!("objects of class {} cannot be streamed: {reason}", item.type_name);
                Error::unsupported(message).about_fields(vec![item.name.clone()])
            })?;
            item.field = Ok(streamer_field(&item.name, &item.type_name));
            streamed.insert(item.name.clone(), (layout, conversion));
        }
        Ok(Self { inner, items, streamed })
    }
}

/// Returns a member of the values that streamed objects lack, as they lack enums of 64 bits.
fn lost_member<'v>(values: &'v DataType, streamed: &DataType) -> Option<&'v str> {
    match (values, streamed) {
        (
            DataType::LargeList(values) | DataType::FixedSizeList(values, _),
            DataType::LargeList(streamed) | DataType::FixedSizeList(streamed, _),
        ) => lost_member(values.data_type(), streamed.data_type()),
        (DataType::Struct(values), DataType::Struct(streamed)) => {
            values.iter().find_map(|member| match streamed.find(member.name()) {
                Some((_, other)) => lost_member(member.data_type(), other.data_type()),
                None => Some(member.name().as_str()),
            })
        }
        _ => None,
    }
}

impl Dataset for Streamed {
    same_object!(inner);
    same_entries!(inner);
    same_relations!(inner);

    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        let first = entries.start;
        let arrays = self.inner.read(names, entries, context)?;
        let streamed = |(array, name): (ArrayRef, &&str)| match self.streamed.get(*name) {
            Some((layout, conversion)) => {
                let values = conversion.apply(&array).in_field(name)?;
                layout.streamed(&values, first).in_field(name)
            }
            None => Ok(array),
        };
        let arrays: Result<_> = arrays.into_par_iter().zip(names).map(streamed).collect();
        arrays.in_file(self.file()).in_object(self.name())
    }
}
