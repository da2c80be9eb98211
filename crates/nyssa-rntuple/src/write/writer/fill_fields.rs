//! Adds fields to an existing RNTuple with values for all of its entries. The new columns get pages in the old clusters.
//! Their page lists are written again; all old pages stay where they are.
//!
//! Such columns are in the footer, but they are not deferred: the page list of each cluster has them (specification, "Page
//! Lists", "Schema Extension Record Frame").

use arrow_array::{Array, ArrayRef};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use rayon::prelude::*;

use super::{Writer, validate};
use crate::format::PageList;
use crate::page::SealedColumn;
use crate::schema::{Cluster, ColumnRange, FieldId, Schema, SchemaBuilder};
use crate::seal::{Scratch, SealSettings, seal_field};
use crate::write::classes;
use crate::write::extension;
use crate::write::open_cluster::complete;

impl Writer {
    /// Adds the fields that `extend` adds to the schema, with `arrays` as their values in all entries, in the
    /// order of the fields. After an error the RNTuple is unchanged.
    ///
    /// # Errors
    /// `InvalidArgument` for an RNTuple that was not in the file before or that got new entries, for arrays that do not fit,
    /// and for a schema that cannot be written; `Cancelled`; an error if the sink cannot be written.
    pub(in crate::write) fn fill_fields(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<()>,
        arrays: &[ArrayRef],
        context: &Context,
    ) -> Result<()> {
        let entries = self.report.entries;
        let Some(resumed) = self.resumed.as_ref().filter(|old| end(&old.clusters) == entries)
        else {
            return Err(Error::invalid_argument(
                "values for earlier entries can be given before new entries are added to an RNTuple of a file that exists: \
                 close the file, and add the fields in an update of their own; or add the fields by their types, which \
                 makes earlier entries zero",
            ));
        };
        let mut builder = SchemaBuilder::extending(self.schema.clone(), self.options.compression);
        extend(&mut builder)?;
        let mut infos = self.options.streamer_infos.clone();
        infos.merge(builder.streamer_infos());
        // All entries get values.
        let known = self.schema.fields.len();
        let extra = classes::describe_late(builder.schema_mut(), known, &infos, 0)?;
        let schema = builder.finish();
        let fields = new_fields(&self.schema, &schema)?;
        if fields.len() != arrays.len() {
            return Err(Error::invalid_argument(format!(
                "{} arrays for {} new fields",
                arrays.len(),
                fields.len()
            )));
        }
        validate(&schema)?;
        for (&field, array) in fields.iter().zip(arrays) {
            if array.len() as u64 != entries {
                return Err(Error::invalid_argument(format!(
                    "{} values for {entries} entries: a new field needs one value for each entry",
                    array.len()
                )))
                .in_field(&schema.path(field));
            }
        }
        let settings = self.options.seal_settings(&schema);
        let mut clusters = resumed.clusters.clone();
        let mut elements = self.elements.clone();
        elements.resize(schema.columns.len(), 0);
        for cluster in &mut clusters {
            context.check()?;
            let sealed = sealed(cluster, &schema, (&fields, arrays), &settings, context)?;
            let mut ranges: Vec<_> =
                std::mem::take(&mut cluster.columns).into_iter().map(Some).collect();
            ranges.resize(schema.columns.len(), None);
            for SealedColumn { column, elements: count, compression, pages, .. } in sealed {
                let at = column.0 as usize;
                let pages = self.store_pages(pages)?;
                let first_element = elements[at];
                let range = ColumnRange {
                    first_element,
                    elements: count,
                    compression,
                    suppressed: false,
                    pages,
                };
                ranges[at] = Some(range);
                elements[at] += count;
            }
            cluster.columns = complete(&schema, ranges);
        }
        if let Some(resumed) = &mut self.resumed {
            (resumed.clusters, resumed.filled) = (clusters, true);
        }
        (self.schema, self.elements) = (schema, elements);
        self.add_extra_type(extra, &infos)
    }

    /// Writes the page lists of the old cluster groups again, if new columns have pages in them.
    pub(super) fn write_filled_page_lists(&mut self) -> Result<()> {
        let Some(resumed) = self.resumed.as_mut().filter(|resumed| resumed.filled) else {
            return Ok(());
        };
        let groups = resumed.groups;
        let mut clusters = std::mem::take(&mut resumed.clusters).into_iter();
        let header_checksum = self.header.as_ref().map_or(0, |(header, _)| header.checksum);
        for group in 0..groups {
            let Some(count) = self.groups.get(group).map(|group| group.clusters as usize) else {
                break;
            };
            let clusters = clusters.by_ref().take(count).collect();
            let bytes = PageList { header_checksum, clusters }.serialize()?;
            self.groups[group].page_list = self.envelope(&bytes)?;
        }
        Ok(())
    }
}

/// Returns the entry after the last one.
fn end(clusters: &[Cluster]) -> u64 {
    clusters.last().map_or(0, |cluster| cluster.first_entry + cluster.entries)
}

/// Returns the fields of `new` that `old` lacks, without the fields below them. Everything else must be equal.
fn new_fields(old: &Schema, new: &Schema) -> Result<Vec<FieldId>> {
    extension::check_prefix(old, new)?;
    let known = old.fields.len();
    let mut fields = Vec::new();
    for (id, field) in (0u32..).map(FieldId).zip(&new.fields).skip(known) {
        extension::check_parent(old, new, id)?;
        if field.source.is_some() {
            return Err(Error::invalid_argument("a projected field has no values of its own"))
                .in_field(&new.path(id));
        }
        if field.parent.is_none_or(|parent| (parent.0 as usize) < known) {
            fields.push(id);
        }
    }
    Ok(fields)
}

/// Seals the values of new fields in one cluster.
fn sealed(
    cluster: &Cluster,
    schema: &Schema,
    (fields, arrays): (&[FieldId], &[ArrayRef]),
    settings: &SealSettings,
    context: &Context,
) -> Result<Vec<SealedColumn>> {
    let too_many = || Error::limit("more entries than this machine can count");
    let row = |entry: u64| usize::try_from(entry).map_err(|_| too_many());
    let (first, count) = (row(cluster.first_entry)?, row(cluster.entries)?);
    let seal = |scratch: &mut Scratch, (&field, array): (&FieldId, &ArrayRef)| {
        let path = schema.path(field);
        let _stage = nyssa_observe::stage!("encode", column = path.as_str());
        let values = array.slice(first, count);
        let sealed = seal_field(schema, field, &values, settings, scratch);
        let shift = |entry: u64| entry + cluster.first_entry;
        let sealed = sealed.map_err(|error| error.at(|place| place.entry = place.entry.map(shift)));
        sealed.in_field(&path)
    };
    let all = context.pool().install(|| {
        let each = fields.par_iter().zip(arrays.par_iter());
        each.map_init(Scratch::new, seal).collect::<Result<Vec<_>>>()
    })?;
    Ok(all.into_iter().flatten().collect())
}
