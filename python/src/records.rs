//! Tells what the anchor, the header and the footer of an RNTuple say, by the names that uproot gives their records.

use nyssa_rntuple::format::{Anchor, EnvelopePosition, Footer, Header, SchemaDescription};
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{AliasColumn, Column, ColumnRange, Field, Locator};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::dataset::Dataset;
use crate::errors;

/// Returns the members of the anchor, the header and the footer of an RNTuple as JSON; `None` for a TTree.
#[pyfunction]
pub(crate) fn ntuple_records(dataset: PyRef<'_, Dataset>) -> Option<String> {
    let dataset = dataset.inner();
    let reader = Reader::shown_by(dataset.as_ref())?;
    let all = json!({
        "anchor": anchor(reader.anchor()),
        "header": header(reader.header()),
        "footer": footer(reader.footer()),
    });
    Some(all.to_string())
}

/// Returns the pages of all columns of all clusters of an RNTuple as JSON; `None` for a TTree.
#[pyfunction]
pub(crate) fn ntuple_pages(
    py: Python<'_>,
    dataset: PyRef<'_, Dataset>,
) -> PyResult<Option<String>> {
    let dataset = dataset.inner();
    let Some(reader) = Reader::shown_by(dataset.as_ref()) else { return Ok(None) };
    let clusters = reader.clusters_info().map_err(|error| errors::to_python(py, &error))?;
    let all: Vec<Value> =
        clusters.iter().map(|cluster| cluster.columns.iter().map(pages).collect()).collect();
    Ok(Some(Value::from(all).to_string()))
}

fn pages(column: &ColumnRange) -> Value {
    let pages = column.pages.iter().map(|page| {
        let Locator { offset, size } = page.locator;
        json!({
            "num_elements": page.elements,
            "locator": {"offset": offset, "num_bytes": size},
        })
    });
    json!({
        "pages": pages.collect::<Vec<_>>(),
        "element_offset": column.first_element,
        "compression_settings": column.compression,
        "suppressed": column.suppressed,
    })
}

fn anchor(anchor: &Anchor) -> Value {
    let Anchor { version, header, footer, max_key_size } = anchor;
    let EnvelopePosition { seek, nbytes, len } = footer;
    json!({
        "fVersionEpoch": version.epoch,
        "fVersionMajor": version.major,
        "fVersionMinor": version.minor,
        "fVersionPatch": version.patch,
        "fSeekHeader": header.seek,
        "fNBytesHeader": header.nbytes,
        "fLenHeader": header.len,
        "fSeekFooter": seek,
        "fNBytesFooter": nbytes,
        "fLenFooter": len,
        "fMaxKeySize": max_key_size,
    })
}

fn header(header: &Header) -> Value {
    let Header { name, description, writer, records, checksum } = header;
    let mut all = description_of(records);
    all["ntuple_name"] = json!(name);
    all["ntuple_description"] = json!(description);
    all["writer_identifier"] = json!(writer);
    all["checksum"] = json!(checksum);
    all
}

fn footer(footer: &Footer) -> Value {
    let groups = footer.cluster_groups.iter().map(|group| {
        json!({
            "min_entry_num": group.min_entry,
            "entry_span": group.entry_span,
            "num_clusters": group.clusters,
        })
    });
    let sets = footer.attribute_sets.iter().map(|set| {
        json!({
            "schema_version_major": set.schema_major,
            "schema_version_minor": set.schema_minor,
            "name": set.name,
        })
    });
    json!({
        "header_checksum": footer.header_checksum,
        "extension_links": description_of(&footer.extension),
        "cluster_group_records": groups.collect::<Vec<_>>(),
        "linked_attribute_sets": sets.collect::<Vec<_>>(),
    })
}

fn description_of(records: &SchemaDescription) -> Value {
    let SchemaDescription { fields, columns, aliases, extra_types } = records;
    let types = extra_types.iter().map(|extra| {
        json!({
            "content_id": extra.content_id,
            "type_ver": extra.type_version,
            "type_name": extra.type_name,
        })
    });
    json!({
        "field_records": fields.iter().map(field).collect::<Vec<_>>(),
        "column_records": columns.iter().map(column).collect::<Vec<_>>(),
        "alias_column_records": aliases.iter().map(alias).collect::<Vec<_>>(),
        "extra_type_infos": types.collect::<Vec<_>>(),
    })
}

fn field(field: &Field) -> Value {
    json!({
        "field_version": field.field_version,
        "type_version": field.type_version,
        "parent_field_id": field.parent.map(|id| id.0),
        "struct_role": field.structure.code(),
        "field_name": field.name,
        "type_name": field.type_name,
        "type_alias": field.type_alias,
        "field_desc": field.description,
        "repetition": field.array_size.unwrap_or(0),
        "source_field_id": field.source.map(|id| id.0),
        "checksum": field.type_checksum,
    })
}

fn column(column: &Column) -> Value {
    json!({
        "type": column.type_code,
        "nbits": column.bits,
        "field_id": column.field.0,
        "repr_idx": column.representation,
        "first_element_index": column.first_element.unwrap_or(0),
        "min_value": column.value_range.map(|range| range.0),
        "max_value": column.value_range.map(|range| range.1),
    })
}

fn alias(alias: &AliasColumn) -> Value {
    json!({"physical_id": alias.physical.0, "field_id": alias.field.0})
}
