//! Adds the streamer infos of streamed classes to an RNTuple that is written.

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::ObjectLayout;
use nyssa_root::streamer::info::{ClassInfo, StreamerInfos, StreamerList};
use nyssa_root::type_name;

use crate::format::ExtraType;
use crate::schema::{Schema, Structure};

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

fn newest<'a>(infos: &'a StreamerInfos, class: &str) -> Option<&'a ClassInfo> {
    let same = infos.classes().iter().filter(|info| type_name::normalize(&info.name) == class);
    same.max_by_key(|info| info.version)
}
