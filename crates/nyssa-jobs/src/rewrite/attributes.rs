//! Copies attribute sets. Their ranges become ranges of the selected entries; values do not change. What the RNTuple
//! keeps of a TTree is written for the selected entries and fields.

use std::collections::HashSet;

use arrow_array::UInt64Array;
use arrow_array::cast::AsArray;
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use nyssa_data::dataset::Dataset;
use nyssa_data::view::{Selected, SelectedRange};
use nyssa_rntuple::read::{ATTRIBUTE_FIELDS, Reader};
use nyssa_rntuple::write::{AttributeSetWriter, RNTupleWriteOptions, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::shared_file::SharedFile;

use super::select::Selection;
use super::target::OutputSchema;
use crate::kept_tree::{self, KeptTree};

/// Copies all attribute sets of `reader`, an RNTuple of `input`, to the RNTuple of `writer` in `file`. Ranges become ranges of the entries that
/// `selected` takes. An attribute is left out if none of its entries is taken. Returns notes for reports.
///
/// # Errors
/// Returns an error if a set cannot be read or written.
pub(super) fn copy(
    (input, reader): (&RootFile, &Reader),
    selected: &Selected<&dyn Dataset>,
    (file, writer): (&SharedFile, &mut Writer),
    options: &RNTupleWriteOptions,
    context: &Context,
) -> Result<Vec<String>> {
    let mut notes = keep(input, reader, selected, (file, writer), context)?;
    for link in reader.attribute_links().iter().filter(|link| link.name != kept_tree::NAME) {
        let set = reader.open_attribute_set(&link.name)?;
        let gone = copy_set(&set, &link.name, selected, writer, options, context);
        let gone =
            gone.in_file(reader.file()).in_object(&format!("attribute set {}", link.name))?;
        if gone > 0 {
            notes.push(format!(
                "{gone} attributes of the set {} are left out: none of their entries is taken",
                link.name
            ));
        }
    }
    Ok(notes)
}

/// Writes what `reader` keeps of a TTree. Returns notes for reports.
fn keep(
    input: &RootFile,
    reader: &Reader,
    selected: &Selected<&dyn Dataset>,
    (file, writer): (&SharedFile, &mut Writer),
    context: &Context,
) -> Result<Vec<String>> {
    let (kept, note) = KeptTree::of_known(reader)?;
    let mut notes: Vec<String> = note.into_iter().collect();
    if let Some(mut kept) = kept {
        let entries = selected.num_entries();
        let is_whole = entries == reader.num_entries();
        let fields = writer.schema().top_level().map(|(_, field)| field.name.clone());
        let fields: HashSet<String> = fields.collect();
        notes.extend(kept.narrow(entries, is_whole, |field| fields.contains(field)));
        kept.carry(&input.streamer_list()?, file, writer, context)?;
    }
    Ok(notes)
}

/// Copies one set, and returns the number of attributes that are left out.
fn copy_set(
    set: &Reader,
    name: &str,
    selected: &Selected<&dyn Dataset>,
    writer: &mut Writer,
    options: &RNTupleWriteOptions,
    context: &Context,
) -> Result<usize> {
    let everything = Selection::new(set.schema(), &[], &[])?;
    let compressed = options.compression.setting() != 0;
    let schema = OutputSchema::new(set.schema(), &everything, compressed)?.schema;
    let [.., data] = ATTRIBUTE_FIELDS;
    let item = set.columns().iter().find(|item| item.name == data);
    let fields = match item.map(|item| &item.field) {
        Some(Ok(field)) => match field.data_type() {
            DataType::Struct(fields) => fields.clone(),
            _ => return Err(Error::out_of_spec("the attributes are not a record")),
        },
        Some(Err(reason)) => return Err(Error::unsupported(reason.clone())),
        None => return Err(Error::out_of_spec("an attribute set without attributes")),
    };
    let mut out =
        AttributeSetWriter::with_schema(writer, name, (schema, fields), options.clone(), context)?;
    let ranges = set.attribute_ranges(context)?;
    let mut left = Vec::with_capacity(ranges.len());
    for range in &ranges {
        let (start, end) = (selected.before(range.start), selected.before(range.end));
        // An attribute that belongs to no entry in the input is copied.
        left.push((start < end || range.is_empty()).then_some((start, end - start)));
    }
    let taken = BooleanBuffer::collect_bool(left.len(), |index| left[index].is_some());
    let gone = left.len() - taken.count_set_bits();
    let entries = 0..set.num_entries();
    let rows = Selected::new(set, vec![SelectedRange { entries, mask: Some(taken) }])?;
    let values = rows.read(&[data], 0..rows.num_entries(), context)?;
    let values = values.first().and_then(|array| array.as_struct_opt());
    let values = values.ok_or_else(|| Error::out_of_spec("the attributes are not a record"))?;
    let starts = left.iter().flatten().map(|(start, _)| *start);
    let lengths = left.iter().flatten().map(|(_, length)| *length);
    out.extend(
        UInt64Array::from_iter_values(starts),
        UInt64Array::from_iter_values(lengths),
        values.columns(),
    )?;
    writer.link(out.finish()?)?;
    Ok(gone)
}
