//! Adds the streamer infos of classes to an RNTuple that is written.

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::info::{ClassInfo, StreamerInfos, StreamerList};
use nyssa_root::streamer::{Declarations, ObjectLayout};
use nyssa_root::type_name;

use crate::format::ExtraType;
use crate::schema::{Classes, Definition, Schema, Structure};

/// The class version that ROOT gives all standard containers.
const CONTAINERS: u32 = 6;

/// Gives each streamer field of `schema` the version and the checksum of the newest streamer info of its
/// class. Returns the record of extra type information (specification, "Extra type information").
///
/// # Errors
/// `InvalidArgument` for a class that is not in `infos` and is not a container.
pub(super) fn describe(schema: &mut Schema, infos: &StreamerList) -> Result<ExtraType> {
    let extra = ExtraType::of_streamer_list(&infos.serialize(ExtraType::LIST_OFFSET.into())?)?;
    let list = extra.streamer_list()?;
    let known = StreamerInfos::parse_lists(list.as_slice(), ExtraType::LIST_OFFSET)?;
    let found = schema.fields.iter().enumerate();
    let found = found.filter(|(_, field)| field.structure == Structure::Streamer);
    let found = found.map(|(index, field)| match newest(&known, &field.type_name) {
        Some(info) => Ok((index, u32::try_from(info.version).unwrap_or(0), Some(info.checksum))),
        // A container needs no streamer info, because its name describes its content.
        None if ObjectLayout::is_container(&field.type_name) => Ok((index, CONTAINERS, None)),
        None => Err(Error::invalid_argument(format!(
            "the streamer infos do not describe class {}",
            field.type_name
        )))
        .in_field(&field.name),
    });
    for (index, version, checksum) in found.collect::<Result<Vec<_>>>()? {
        let field = &mut schema.fields[index];
        (field.type_version, field.type_checksum) = (version, checksum);
    }
    Ok(extra)
}

/// Gives the fields of classes of the user the checksums that ROOT computes, where no other is stated. Returns the streamer
/// infos of these classes, which ROOT writes to the list of the file. A class that they cannot describe, such as one with a
/// member of type `ROOT::RVec`, has neither: readers do not need them.
///
/// # Errors
/// `LimitExceeded` for names that are too long for streamer infos.
pub fn describe_classes(schema: &mut Schema, classes: &Classes) -> Result<StreamerList> {
    let mut declared = Declarations::of_fields(classes);
    let is_class = |name: &str| matches!(classes.get(name), Some(Definition::Class { .. }));
    for field in schema.fields.iter().filter(|field| is_class(&field.type_name)) {
        let _described = declared.declare(&field.type_name).is_ok();
    }
    let infos = declared.infos();
    for field in schema.fields.iter_mut().filter(|field| is_class(&field.type_name)) {
        let info = infos.class(&field.type_name, None);
        field.type_checksum = field.type_checksum.or(info.map(|info| info.checksum));
    }
    StreamerList::of_classes(infos.classes())
}

fn newest<'a>(infos: &'a StreamerInfos, class: &str) -> Option<&'a ClassInfo> {
    let same = infos.classes().iter().filter(|info| type_name::normalize(&info.name) == class);
    same.max_by_key(|info| info.version)
}
