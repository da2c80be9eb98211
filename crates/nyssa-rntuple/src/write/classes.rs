//! Adds streamer infos: of streamed classes to the RNTuple that is written, and of other classes to its file.

use nyssa_root::definitions::{Definition, Definitions};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::shared_file::SharedFile;
use nyssa_root::streamer::info::{ClassInfo, StreamerInfos, StreamerList};
use nyssa_root::streamer::{Declarations, ObjectLayout};
use nyssa_root::type_name;

use crate::format::ExtraType;
use crate::schema::{Field, FieldId, Schema, Structure};

/// The class version that ROOT gives all standard containers.
const CONTAINERS: u32 = 6;

/// Gives each streamer field of `schema` the version and the checksum of the newest streamer info of its
/// class. Returns the record of extra type information (specification, "Extra type information").
///
/// # Errors
/// `InvalidArgument` for a class that is not in `infos` and is not a container.
pub(super) fn describe(schema: &mut Schema, infos: &StreamerList) -> Result<ExtraType> {
    describe_from(schema, 0, infos)
}

/// Does what [`describe`] does for the fields from number `first` on, which are added to `entries` entries without values.
/// Returns `None` if there is no such streamer field, or without `infos`.
///
/// # Errors
/// `InvalidArgument` for a class that is not in `infos` and is not a container, and for a field whose earlier values would
/// be objects without bytes, which no streamer reads.
pub(super) fn describe_late(
    schema: &mut Schema,
    first: usize,
    infos: &StreamerList,
    entries: u64,
) -> Result<Option<ExtraType>> {
    let late = (0u32..).map(FieldId).zip(&schema.fields).skip(first);
    let late: Vec<_> = late.filter(|(_, field)| field.structure == Structure::Streamer).collect();
    if late.is_empty() {
        return Ok(None);
    }
    // Collections are empty in earlier entries.
    let mut given = late.iter().filter(|_| entries > 0);
    if let Some((id, _)) = given.find(|(id, _)| schema.repetitions(*id).is_some()) {
        return Err(Error::invalid_argument(format!(
            "the {entries} earlier entries would have objects without bytes, which no streamer reads: add the field \
             before the first entry, or with its values in an update of the file"
        )))
        .in_field(&schema.path(*id));
    }
    // As in a new RNTuple, whose caller may describe the classes elsewhere.
    match infos.is_empty() {
        true => Ok(None),
        false => describe_from(schema, first, infos).map(Some),
    }
}

fn describe_from(schema: &mut Schema, first: usize, infos: &StreamerList) -> Result<ExtraType> {
    let extra = ExtraType::of_streamer_list(&infos.serialize(ExtraType::LIST_OFFSET.into())?)?;
    let list = extra.streamer_list()?;
    let known = StreamerInfos::parse_lists(list.as_slice(), ExtraType::LIST_OFFSET)?;
    let fields = schema.fields.iter().enumerate().skip(first);
    let fields = fields.filter(|(_, field)| field.structure == Structure::Streamer);
    let versions = fields.map(|(index, field)| match newest(&known, &field.type_name) {
        Some(info) => Ok((index, u32::try_from(info.version).unwrap_or(0), Some(info.checksum))),
        // A container needs no streamer info, because its name describes its content.
        None if ObjectLayout::is_container(&field.type_name) => Ok((index, CONTAINERS, None)),
        None => Err(Error::invalid_argument(format!(
            "the streamer infos do not describe class {}",
            field.type_name
        )))
        .in_field(&field.name),
    });
    for (index, version, checksum) in versions.collect::<Result<Vec<_>>>()? {
        let field = &mut schema.fields[index];
        (field.type_version, field.type_checksum) = (version, checksum);
    }
    Ok(extra)
}

/// Gives the fields of classes that users define the checksums that ROOT computes, where no other is stated. A class that
/// streamer infos cannot describe has none, such as a class with a member of type `ROOT::RVec`: readers do not need it.
pub(super) fn give_checksums(schema: &mut Schema, given: &Definitions) {
    let is_given = |field: &Field| field.is_class() && given.get(&field.type_name).is_some();
    if !schema.fields.iter().any(is_given) {
        return;
    }
    let infos = infos_of_fields(schema, given);
    for field in schema.fields.iter_mut().filter(|field| is_given(field)) {
        let info = infos.class(&field.type_name, None);
        field.type_checksum = field.type_checksum.or(info.map(|info| info.checksum));
    }
}

/// Adds streamer infos of the classes of fields to the list of the file, as ROOT does, if it has none of them. They
/// are made of the `given` definitions, and otherwise of the fields. A class that they cannot describe gets none.
///
/// # Errors
/// An error if the file is finished, or its list is damaged.
pub(super) fn describe_fields(
    file: &SharedFile,
    schema: &Schema,
    given: &Definitions,
) -> Result<()> {
    let classes = schema.classes();
    if classes.is_empty() {
        return Ok(());
    }
    let known = file.with(|file| file.described_classes())?;
    let known: Vec<_> = known.iter().map(|name| type_name::normalize(name)).collect();
    let is_known = |name: &str| known.iter().any(|known| known == name);
    if classes.iter().all(|name| is_known(name)) {
        return Ok(());
    }
    let infos = infos_of_fields(schema, given);
    let is_new = |info: &&ClassInfo| {
        let name = type_name::normalize(&info.name);
        !is_known(&name) && classes.contains(name.as_str())
    };
    let new: Vec<ClassInfo> = infos.classes().iter().filter(is_new).cloned().collect();
    file.add_streamer_infos(&StreamerList::of_classes(&new)?)
}

/// Returns the streamer infos of the classes of fields.
fn infos_of_fields(schema: &Schema, given: &Definitions) -> StreamerInfos {
    let definitions = definitions(schema, given);
    let mut declared = Declarations::of_fields(&definitions);
    for field in schema.fields.iter().filter(|field| field.is_class()) {
        // The errors are about types that streamer infos cannot describe.
        let _not_described = declared.declare(&field.type_name);
    }
    declared.infos()
}

/// Returns the classes, enums and collections of a schema: as they are `given`, or else as the fields show them.
fn definitions(schema: &Schema, given: &Definitions) -> Definitions {
    let mut definitions = given.clone();
    for field in &schema.fields {
        let Some(definition) = definition(schema, field) else { continue };
        if definitions.get(&field.type_name).is_none() {
            // A name that cannot be defined is a type that ROOT knows.
            let _known = definitions.define(&field.type_name, definition);
        }
    }
    definitions
}

fn definition(schema: &Schema, field: &Field) -> Option<Definition> {
    let below = || field.children.iter().map(|&child| schema.field(child));
    let type_of = |field: &Field| match field.type_alias.as_str() {
        "" => field.type_name.clone(),
        alias => alias.to_owned(),
    };
    let item = || below().next().map(type_of);
    match field.structure {
        _ if field.type_name.is_empty() => None,
        Structure::Record if field.is_class() => {
            // ROOT calls the base classes ":_0", ":_1", ...
            let (bases, members): (Vec<_>, Vec<_>) =
                below().partition(|member| member.name.starts_with(':'));
            Some(Definition::Class {
                bases: bases.into_iter().map(type_of).collect(),
                members: members
                    .iter()
                    .map(|member| (member.name.clone(), type_of(member)))
                    .collect(),
                version: field.type_version,
                checksum: field.type_checksum,
            })
        }
        Structure::Leaf => item().map(Definition::Enum),
        Structure::Collection if !field.type_name.starts_with("ROOT::VecOps::RVec<") => {
            item().map(Definition::Collection)
        }
        Structure::Streamer => Some(Definition::Streamed),
        _ => None,
    }
}

fn newest<'a>(infos: &'a StreamerInfos, class: &str) -> Option<&'a ClassInfo> {
    let same = infos.classes().iter().filter(|info| type_name::normalize(&info.name) == class);
    same.max_by_key(|info| info.version)
}
