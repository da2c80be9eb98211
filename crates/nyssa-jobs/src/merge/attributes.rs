//! Merges the attribute sets of the inputs. Sets with one name become one set. Their ranges are moved to the places
//! of the entries in the output. What the inputs keep of TTrees becomes one description.

use std::ops::Range;

use arrow_array::UInt64Array;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_schema::{DataType, Schema as ArrowSchema};
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::{self, ATTRIBUTE_FIELDS, Reader};
use nyssa_rntuple::write::{AttributeSetWriter, Writer};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::shared_file::SharedFile;

use super::inputs::{AllInputs, InputProperties, open};
use crate::heuristics::merge;
use crate::kept_tree::{self, JoinedTrees};

/// Writes the attribute sets of all inputs and links them to `writer`, whose RNTuple is in `file`. Returns notes for
/// reports.
///
/// # Errors
/// `InvalidArgument` for sets of one name with different attributes; an error if a set cannot be read or written.
pub(super) fn carry(
    all_inputs: &AllInputs,
    file: &SharedFile,
    writer: &mut Writer,
    context: &Context,
) -> Result<Vec<String>> {
    let mut sets: Vec<Set> = Vec::new();
    let mut kept = JoinedTrees::default();
    let mut first = 0;
    let mut bases = Vec::new();
    for input in &all_inputs.inputs {
        if input.has_attributes {
            bases.push(first);
        }
        first += input.report.entries;
    }
    let inputs = all_inputs.inputs.iter().filter(|input| input.has_attributes).collect::<Vec<_>>();
    let mut bases = bases.into_iter();
    let open = |input: &InputProperties| open(input, read::RNTupleReadOptions::default());
    all_inputs.each(&inputs, context, open, |input, (input_file, reader)| {
        let base = bases.next().unwrap_or_default();
        kept.add(&input_file, &reader)?;
        for link in reader.attribute_links().iter().filter(|link| link.name != kept_tree::NAME) {
            let source = reader.open_attribute_set(&link.name)?;
            let set = match sets.iter().position(|set| set.name == link.name) {
                Some(known) => &mut sets[known],
                None => {
                    sets.push(Set::begin(&link.name, &source, writer, context)?);
                    let last = sets.len() - 1;
                    &mut sets[last]
                }
            };
            let range = base..base + input.report.entries;
            set.add(&source, &range, context)
                .in_file(&input.report.file)
                .at(|place| place.object = Some(format!("attribute set {}", link.name)))?;
        }
        Ok(())
    })?;
    sets.into_iter().try_for_each(|set| writer.link(set.writer.finish()?))?;
    kept.write(first, file, writer, context)
}

/// An attribute set of the output.
struct Set {
    name: String,
    attributes: DataType,
    writer: AttributeSetWriter,
}

impl Set {
    fn begin(name: &str, source: &Reader, main: &Writer, context: &Context) -> Result<Self> {
        let attributes = attributes(source)?;
        let DataType::Struct(fields) = &attributes else {
            return Err(Error::out_of_spec("attributes that are not a record"));
        };
        let schema = ArrowSchema::new(fields.clone());
        let options = main.options().clone();
        let writer = AttributeSetWriter::create(main, name, &schema, options, context)?;
        Ok(Self { name: name.to_owned(), attributes, writer })
    }

    /// Adds the attributes of an input whose entries are `range` of the output.
    fn add(&mut self, source: &Reader, range: &Range<u64>, context: &Context) -> Result<()> {
        if attributes(source)? != self.attributes {
            return Err(Error::invalid_argument(
                "the set has other attributes than the set of an earlier input",
            ));
        }
        let quiet = context.quiet();
        let mut start = 0;
        while start < source.num_entries() {
            context.check()?;
            let end = source.num_entries().min(start + merge::ATTRIBUTES);
            let arrays = source.read(&ATTRIBUTE_FIELDS, start..end, &quiet)?;
            let [starts, lengths, values] = &arrays[..] else {
                return Err(Error::out_of_spec("an attribute set without its fields"));
            };
            let numbers = (
                starts.as_primitive_opt::<UInt64Type>(),
                lengths.as_primitive_opt::<UInt64Type>(),
                values.as_struct_opt(),
            );
            let (Some(starts), Some(lengths), Some(values)) = numbers else {
                return Err(Error::out_of_spec("ranges of attributes that are not 64-bit numbers"));
            };
            let shifted = starts.values().iter().zip(lengths.values()).map(|(start, length)| {
                let first = start.checked_add(range.start);
                let last = first.and_then(|first| first.checked_add(*length));
                first.filter(|_| last.is_some_and(|last| last <= range.end)).ok_or_else(|| {
                    Error::out_of_spec(format!(
                        "an attribute is for {length} entries from entry {start}, but these do not exist"
                    ))
                })
            });
            let shifted = shifted.collect::<Result<Vec<u64>>>()?;
            let starts = UInt64Array::from(shifted);
            self.writer.extend(starts, lengths.clone(), values.columns())?;
            start = end;
        }
        Ok(())
    }
}

/// Returns the type of the attributes of a set.
fn attributes(source: &Reader) -> Result<DataType> {
    let item = source.columns().iter().find(|item| item.name == ATTRIBUTE_FIELDS[2]);
    match item.map(|item| &item.field) {
        Some(Ok(field)) => Ok(field.data_type().clone()),
        Some(Err(reason)) => Err(Error::unsupported(reason.clone())),
        None => Err(Error::out_of_spec("an attribute set without attributes")),
    }
}
