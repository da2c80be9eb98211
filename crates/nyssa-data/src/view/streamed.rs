//! Shows columns of objects as the bytes that ROOT's streamer writes for them.

use std::collections::HashMap;
use std::ops::Range;

use arrow_array::{ArrayRef, new_empty_array};
use nyssa_root::Context;
use nyssa_root::arrow::streamer_field;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::ObjectLayout;
use rayon::prelude::*;

use crate::dataset::{AnyDataset, Arrays, ColumnInfo, Dataset};

/// A dataset some of whose columns are read as streamed objects.
pub struct Streamed {
    inner: AnyDataset,
    items: Vec<ColumnInfo>,
    layouts: HashMap<String, ObjectLayout>,
}

impl Streamed {
    /// Shows columns of `inner` as streamed objects. `layouts` has the layout of each column, by name.
    ///
    /// # Errors
    /// `Unsupported` with the column if its values are not the objects of the layout.
    pub fn new(inner: AnyDataset, layouts: HashMap<String, ObjectLayout>) -> Result<Self> {
        let mut items = inner.columns().to_vec();
        for item in &mut items {
            let (Some(layout), Ok(field)) = (layouts.get(&item.name), &item.field) else {
                continue;
            };
            layout.encode(&new_empty_array(field.data_type())).map_err(|reason| {
                let message =
                    format!("objects of class {} cannot be streamed: {reason}", item.type_name);
                Error::unsupported(message).about_fields(vec![item.name.clone()])
            })?;
            item.field = Ok(streamer_field(&item.name, &item.type_name));
        }
        Ok(Self { inner, items, layouts })
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
        let streamed = |(array, name): (ArrayRef, &&str)| match self.layouts.get(*name) {
            Some(layout) => layout.streamed(&array, first).in_field(name),
            None => Ok(array),
        };
        let arrays: Result<_> = arrays.into_par_iter().zip(names).map(streamed).collect();
        arrays.in_file(self.file()).in_object(self.name())
    }
}
