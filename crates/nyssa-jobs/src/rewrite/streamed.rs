//! Stores fields of classes and containers as streamer fields, the opposite of `split`.

use std::collections::HashMap;

use nyssa_data::dataset::Filter;
use nyssa_rntuple::format::ExtraType;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::schema::{Field, FieldId, FieldType, Structure};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::info::StreamerList;
use nyssa_root::streamer::{Layouts, ObjectLayout};
use nyssa_root::type_name;

use super::select::Selection;
use super::split::{NewTypes, check};

/// The fields that become streamer fields.
#[derive(Debug, Default)]
pub(super) struct StreamedFields {
    pub types: NewTypes,
    /// The layout of each field, by name.
    pub layouts: HashMap<String, ObjectLayout>,
    /// The streamer infos of all streamer fields of the output.
    pub infos: StreamerList,
    pub notes: Vec<String>,
}

/// Returns the fields of classes and containers that match one of `globs`, as far as `selection` has them.
///
/// # Errors
/// `NotFound` for a glob that matches no such field, with the nearest names; `Unsupported` with the field whose class
/// cannot be streamed, or is not described by a streamer info; an error if the input is damaged or cannot be read.
pub(super) fn plan(
    input: &RootFile,
    reader: &Reader,
    globs: &[String],
    selection: &Selection,
) -> Result<StreamedFields> {
    if globs.is_empty() {
        return Ok(StreamedFields::default());
    }
    let own = reader.schema().top_level().filter(|(_, field)| field.source.is_none());
    let (objects, others): (Vec<_>, Vec<_>) = own.partition(|(_, field)| is_object(field));
    let named: Vec<_> = objects.iter().map(|(id, field)| (*id, field.name.clone())).collect();
    check(globs, &named, "field of a class or container")?;
    let filter = Filter::new(globs, &[])?;
    let is_chosen = |id: FieldId, field: &Field| selection.keeps(id) && filter.takes(&field.name);
    let compiled = reader.streamer_infos(input)?;
    let mut layouts = Layouts::new(&compiled);
    let described = described(input, reader)?;
    let mut streamed = StreamedFields::default();
    for (id, field) in objects.into_iter().filter(|(id, field)| is_chosen(*id, field)) {
        let class = &field.type_name;
        let layout = layout(&mut layouts, class, &described).map_err(|reason| {
            let message = format!("objects of class {class} cannot be streamed: {reason}");
            Error::unsupported(message).about_fields(vec![field.name.clone()])
        });
        streamed.layouts.insert(field.name.clone(), layout.in_field(&field.name)?);
        streamed.types.insert(id, FieldType::Streamed(class.clone()));
    }
    streamed.infos = ObjectLayout::describe(streamed.layouts.values(), &described);
    // Fields that are streamed already keep their streamer infos.
    for list in lists(reader)? {
        streamed.infos.merge(&list);
    }
    let others = others.into_iter().filter(|(id, field)| is_chosen(*id, field));
    let others: Vec<_> = others.map(|(_, field)| field.name.as_str()).collect();
    if !others.is_empty() {
        streamed.notes.push(format!(
            "not streamed, since they are no objects of a class or container: {}",
            others.join(", ")
        ));
    }
    Ok(streamed)
}

/// Returns whether a field has objects of a class, or a container.
fn is_object(field: &Field) -> bool {
    let is_composed = !matches!(field.structure, Structure::Leaf | Structure::Streamer);
    is_composed && !field.type_name.is_empty() && field.array_size.is_none()
}

/// Returns the layout of a class that streamer infos describe for readers.
fn layout(layouts: &mut Layouts<'_>, class: &str, infos: &StreamerList) -> Result<ObjectLayout> {
    let layout = layouts.object(class)?;
    let own = ObjectLayout::describe_all([&layout], infos)
        .versions(|name| type_name::normalize(name) == class);
    // The name of a container describes its content.
    match own.is_empty() && !ObjectLayout::is_container(class) {
        true => Err(Error::unsupported("no streamer info of the file describes the class")),
        false => Ok(layout),
    }
}

/// Returns the streamer infos of the RNTuple and of its file.
///
/// # Errors
/// `OutOfSpecification` if they are damaged.
pub(super) fn described(input: &RootFile, reader: &Reader) -> Result<StreamerList> {
    let mut all = input.streamer_list().in_file(input.name())?;
    for list in lists(reader)? {
        all.merge(&list);
    }
    Ok(all)
}

/// Returns the streamer infos in the extra type information of an RNTuple.
fn lists(reader: &Reader) -> Result<Vec<StreamerList>> {
    let (header, footer) = (&reader.header().records, &reader.footer().extension);
    let records = header.extra_types.iter().chain(&footer.extra_types);
    let lists = records.filter_map(|record| record.streamer_list().transpose());
    lists.map(|list| StreamerList::parse(list?, ExtraType::LIST_OFFSET)).collect()
}
