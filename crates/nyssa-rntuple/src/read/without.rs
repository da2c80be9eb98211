//! Makes readers without the members of records that cannot be read.

use std::collections::HashSet;
use std::ops::Range;

use nyssa_data::dataset::LeftOut;
use nyssa_data::dataset::readable::leaves_others_readable;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::Reader;
use super::subfield::{self, FieldPath};
use crate::schema::{Field, FieldId, Structure};

impl Reader {
    /// Finds the parts of the field or subfield `name`, at the end of `field_path`, that cannot be read: members of
    /// records, or the whole field.
    pub(super) fn damaged_parts(
        &self,
        name: &str,
        field_path: &FieldPath,
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let Some(error) = self.error(field_path, entries, context)? else { return Ok(Vec::new()) };
        let members = self.members(field_path);
        let (mut damaged, mut whole) = (Vec::new(), 0);
        for member in &members {
            let path = subfield::path(&self.schema, member);
            let parts = self.damaged_parts(&path, member, entries, context)?;
            whole += usize::from(parts.iter().any(|part| part.column == path));
            damaged.extend(parts);
        }
        // The error is in no member, or no member would remain. Then the whole field cannot be read.
        if damaged.is_empty() || whole == members.len() {
            damaged = vec![LeftOut { column: name.to_owned(), reason: error.brief() }];
        }
        Ok(damaged)
    }

    /// Returns this reader without some members of records.
    #[must_use]
    pub fn without(&self, left_out: &[LeftOut]) -> Self {
        let last = |item: &LeftOut| self.field_path(&item.column)?.last().copied();
        let gone: HashSet<FieldId> = left_out.iter().filter_map(last).collect();
        let mut reader = self.clone();
        reader.retain(|id| !gone.contains(&id) || self.top_level.contains(&id));
        reader
    }

    /// Returns the error of reading these entries of a field, if it fails.
    fn error(
        &self,
        field_path: &FieldPath,
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Option<Error>> {
        let read = |entries: &Range<u64>| {
            let node = subfield::node(&self.schema, field_path, self.streamers.as_ref());
            let node = node.map_err(Error::unsupported)?;
            self.read_all(
                vec![node],
                &[&subfield::path(&self.schema, field_path)],
                entries,
                context,
            )
        };
        match entries.iter().try_for_each(|entries| read(entries).map(drop)) {
            Err(error) if leaves_others_readable(&error) => Ok(Some(error)),
            read => read.map(|()| None),
        }
    }

    /// Returns the members of a record, or of the records that are the items of a collection. The members of pairs
    /// and tuples are not listed, because each has no meaning without the others.
    fn members(&self, field_path: &FieldPath) -> Vec<FieldPath> {
        let longer = |id: &FieldId| field_path.iter().chain([id]).copied().collect::<FieldPath>();
        let last = field_path.last().filter(|_| field_path.len() < subfield::MAX_DEPTH);
        let Some(field) = last.map(|&id| self.schema.field(id)) else { return Vec::new() };
        let by_place = |field: &Field| {
            field.type_name.starts_with("std::pair<") || field.type_name.starts_with("std::tuple<")
        };
        match field.structure {
            Structure::Record if by_place(field) => Vec::new(),
            Structure::Record => field.children.iter().map(longer).collect(),
            _ => match subfield::parts(field) {
                [item] => self.members(&longer(item)),
                _ => Vec::new(),
            },
        }
    }
}
