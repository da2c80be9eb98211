//! Stores streamer fields in columns of their members.
//!
//! The objects are decoded by the streamer infos of the RNTuple and of its file. The fields get the types that a
//! conversion gives to branches of these classes.

use std::collections::HashMap;

use nyssa_data::dataset::{Dataset, Filter, glob};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_rntuple::schema::{Field, FieldId, FieldType, Structure};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;

use super::select::Selection;
use crate::convert::{Classes, type_of_objects};

/// The types of the fields that get another type in the output.
pub(super) type NewTypes = HashMap<FieldId, FieldType>;

/// Opens an RNTuple whose streamer fields give objects if they match one of `globs`, and bytes otherwise. Returns the
/// types of the former, as far as `selection` has them.
///
/// # Errors
/// `NotFound` for a glob that matches no streamer field, with the nearest names; `Unsupported` for a class that cannot
/// be decoded, or that RNTuple has no type for; an error if the input is damaged or cannot be read.
pub(super) fn open(
    input: &RootFile,
    path: &str,
    globs: &[String],
    select: impl Fn(&Reader) -> Result<Selection>,
) -> Result<(Reader, Selection, NewTypes)> {
    let form = if globs.is_empty() { StreamerForm::Raw } else { StreamerForm::Decoded };
    let options = RNTupleReadOptions { streamer: form, ..RNTupleReadOptions::default() };
    let mut reader = Reader::open_with(input, path, options)?;
    let selection = select(&reader)?;
    if globs.is_empty() {
        return Ok((reader, selection, NewTypes::new()));
    }
    let streamed = reader.schema().top_level().filter(|(_, field)| is_streamed(field));
    let streamed: Vec<_> = streamed.map(|(id, field)| (id, field.name.clone())).collect();
    check(globs, &streamed, "streamer field")?;
    let filter = Filter::new(globs, &[])?;
    let chosen: HashMap<_, _> = streamed
        .into_iter()
        .filter(|(id, name)| selection.keeps(*id) && filter.takes(name))
        .collect();
    reader.decode_only(|id| chosen.contains_key(&id));
    let infos = reader.streamer_infos(input)?;
    let classes = Classes::new(&infos);
    let types = chosen
        .iter()
        .map(|(&id, name)| Ok((id, field_type(&reader, &classes, id).in_field(name)?)));
    let types = types.collect::<Result<_>>()?;
    Ok((reader, selection, types))
}

fn is_streamed(field: &Field) -> bool {
    field.structure == Structure::Streamer && field.array_size.is_none()
}

/// Refuses globs that match no field. `kind` is the kind of the `fields`, for the message.
pub(super) fn check(globs: &[String], fields: &[(FieldId, String)], kind: &str) -> Result<()> {
    for pattern in globs {
        let matcher = glob(pattern)?.compile_matcher();
        if !fields.iter().any(|(_, name)| matcher.is_match(name)) {
            let error = Error::not_found(format!("no {kind} matches {pattern:?}"));
            return Err(error.suggest(pattern, fields.iter().map(|(_, name)| name.as_str())));
        }
    }
    Ok(())
}

/// Returns the type of the field that stores the objects of a streamer field in columns.
fn field_type(reader: &Reader, classes: &Classes<'_>, id: FieldId) -> Result<FieldType> {
    let field = reader.schema().field(id);
    let item = reader.columns().iter().find(|item| item.name == field.name);
    let shown = item.ok_or_else(|| Error::not_found("no such field"))?;
    let shown = shown.field.as_ref().map_err(|reason| Error::unsupported(reason.clone()))?;
    type_of_objects(classes, &field.type_name, shown).map_err(|reason| {
        let class = &field.type_name;
        Error::unsupported(format!("objects of class {class} can only be streamed: {reason}"))
    })
}
