//! Says in the metadata of Arrow fields of which classes objects are, and of which versions.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Schema};
use nyssa_data::dataset::{CppType, Dataset};

/// The metadata keys of the name and the version of a class.
const CLASS: &str = "nyssa:class";
const VERSION: &str = "nyssa:version";

/// The C++ types of columns, where they are known.
pub(crate) struct Classes(Vec<Option<CppType>>);

impl Classes {
    /// Returns the types of some columns.
    pub fn of(dataset: &dyn Dataset, names: &[&str]) -> Self {
        let of = |name: &&str| dataset.find_column(name).and_then(|it| dataset.cpp_type(it));
        Self(names.iter().map(of).collect())
    }

    /// Returns the schema of these columns with the classes in its metadata.
    pub fn describe(&self, schema: &Schema) -> Schema {
        let fields = schema.fields().iter().zip(&self.0);
        let described = |(field, cpp_type): (&FieldRef, &Option<CppType>)| match cpp_type {
            Some(cpp_type) => described(field, cpp_type),
            None => Arc::clone(field),
        };
        Schema::new(fields.map(described).collect::<Vec<_>>())
    }
}

/// Returns a field with the classes of its objects.
fn described(field: &FieldRef, cpp_type: &CppType) -> FieldRef {
    let child = |index: usize, child: &FieldRef| described(child, cpp_type.member(index));
    let data_type = match field.data_type() {
        DataType::List(item) => DataType::List(child(0, item)),
        DataType::LargeList(item) => DataType::LargeList(child(0, item)),
        DataType::FixedSizeList(item, size) => DataType::FixedSizeList(child(0, item), *size),
        DataType::Struct(members) => {
            let members = members.iter().enumerate();
            DataType::Struct(members.map(|(index, member)| child(index, member)).collect())
        }
        DataType::Union(members, mode) => {
            // The first child of the union means that there is no value.
            let children = members.iter().enumerate().map(|(index, (tag, member))| {
                let alternative = index.checked_sub(1).map(|index| child(index, member));
                (tag, alternative.unwrap_or_else(|| Arc::clone(member)))
            });
            DataType::Union(children.collect(), *mode)
        }
        other => other.clone(),
    };
    let mut metadata = field.metadata().clone();
    if let Some((name, version)) = &cpp_type.class {
        metadata.insert(CLASS.to_owned(), name.clone());
        metadata.insert(VERSION.to_owned(), version.to_string());
    }
    Arc::new(Field::new(field.name(), data_type, field.is_nullable()).with_metadata(metadata))
}
