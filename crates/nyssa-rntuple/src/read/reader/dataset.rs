//! Shows an RNTuple as a [`Dataset`]: its top-level fields are the columns.

use std::any::Any;
use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_data::dataset::{
    AnyDataset, Backing, ColumnBytes, ColumnInfo, CppType, Dataset, Format, LeftOut,
};
use nyssa_root::Context;
use nyssa_root::error::Result;

use super::Reader;
use crate::read::{sizes, subfield};
use crate::schema::{FieldId, is_cardinality};

impl Dataset for Reader {
    fn format(&self) -> Format {
        Format::RNTuple
    }

    fn name(&self) -> &str {
        &self.path
    }

    fn file(&self) -> &str {
        self.source.name()
    }

    fn location(&self) -> &std::path::Path {
        self.source.location()
    }

    fn open_options(&self) -> Vec<nyssa_io::OpenOptions> {
        self.source.options().cloned().into_iter().collect()
    }

    fn close(&self) {
        self.source.close();
    }

    fn check_open(&self, _: &Range<u64>) -> Result<()> {
        Ok(self.source.check_open()?)
    }

    fn num_entries(&self) -> u64 {
        self.entries
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }

    fn title(&self, column: &str) -> String {
        let field = self.field_path(column).and_then(|path| path.last().copied());
        field.map_or(String::new(), |field| self.schema.field(field).description.clone())
    }

    fn description(&self) -> String {
        self.header.description.clone()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        let field = self.field_path(column).and_then(|path| path.last().copied());
        field
            .map(|field| Ok(sizes::of_field(&self.schema, field, self.clusters_info()?)))
            .transpose()
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        self.below.get_or_init(|| {
            let shown = self.items.iter().filter_map(|item| self.index.get(&item.name).copied());
            let field_paths = subfield::field_paths(&self.schema, &shown.collect::<Vec<_>>());
            let item = |field_path: &subfield::FieldPath| {
                subfield::item(&self.schema, field_path, self.streamers.as_ref())
            };
            self.backing.iter().cloned().chain(field_paths.iter().map(item)).collect()
        })
    }

    fn equal_lengths(&self) -> Vec<BTreeSet<String>> {
        let backing = self.schema.backing(&self.top_level);
        backing.into_iter().map(|(_, shown)| &shown.members | &shown.sizes).collect()
    }

    fn size_columns(&self) -> HashSet<String> {
        let sizes = self.items.iter().filter(|item| is_cardinality(&item.type_name));
        sizes.map(|item| item.name.clone()).collect()
    }

    fn find_column(&self, name: &str) -> Option<&ColumnInfo> {
        if self.index.contains_key(name) {
            return self.items.iter().chain(&self.backing).find(|item| item.name == name);
        }
        let path = subfield::path(&self.schema, &self.field_path(name)?);
        self.items.iter().chain(self.subcolumns()).find(|item| item.name == path)
    }

    fn cpp_type(&self, column: &ColumnInfo) -> Option<CppType> {
        Some(self.schema.cpp_type(column))
    }

    fn backing(&self, listed: &dyn Fn(&str) -> bool) -> Backing {
        let name = |id: FieldId| self.schema.field(id).name.clone();
        let top = self.schema.top_level().filter(|(_, field)| listed(&field.name));
        let backing = self.schema.backing(&top.map(|(id, _)| id).collect::<Vec<_>>());
        backing.into_iter().map(|(id, shown)| (name(id), shown)).collect()
    }

    fn reader(&self) -> Option<&dyn Any> {
        Some(self)
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        let missing = self.clusters.without_ends();
        if self.read_page_lists(&missing).is_err() {
            for entries in missing {
                // If a page list cannot be read, its group counts as one cluster. A read of its entries returns the
                // error.
                let _ = self.read_page_lists(std::slice::from_ref(&entries));
            }
        }
        self.clusters.entries()
    }

    fn read(
        &self,
        names: &[&str],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        self.read_all(self.nodes(names)?, names, &entries, context)
    }

    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let mut damaged = Vec::new();
        for &name in names {
            let field_path = self.field_path(name).ok_or_else(|| self.missing(name))?;
            damaged.extend(self.damaged_parts(name, &field_path, entries, context)?);
        }
        Ok(damaged)
    }

    fn without(&self, left_out: &[LeftOut], _: &Context) -> Result<Option<AnyDataset>> {
        Ok(Some(Arc::new(Self::without(self, left_out))))
    }
}
