//! Fields and classes by C++ type names, as JSON.

use std::sync::Arc;

use arrow_schema::FieldRef;
use nyssa_rntuple::schema::{FieldType, SchemaBuilder};
use nyssa_root::definitions::{Definition, Definitions, Entry};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::StreamerList;
use nyssa_ttree::write::column_of;
use serde::Deserialize;

use crate::pairs::Pairs;

/// Fields and classes of the user.
#[derive(Default)]
pub(crate) struct Defined {
    fields: Vec<(String, String)>,
    /// The classes.
    pub classes: Definitions,
    /// The streamer infos of the classes whose objects are bytes.
    pub streamer_infos: StreamerList,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    fields: Pairs<String>,
    #[serde(default)]
    classes: Pairs<Pairs<Value>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(u32),
    Text(String),
    Texts(Vec<String>),
}

impl Defined {
    /// Parses a document; an empty text has nothing.
    ///
    /// # Errors
    /// `InvalidArgument` with what is wrong in it; an error if the file with streamer infos cannot be read.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let document: Document = serde_json::from_str(text).map_err(|error| {
            Error::invalid_argument(format!("the definitions are wrong: {error}"))
        })?;
        let mut defined = Self { fields: document.fields.0, ..Self::default() };
        for (name, entries) in document.classes.0 {
            let mut given = Vec::new();
            for (key, value) in entries.0 {
                if let (Definition::STREAMED, Value::Text(path)) = (key.as_str(), &value) {
                    let list = RootFile::open(nyssa_io::open(path)?)?.streamer_list();
                    defined.streamer_infos.merge(&list.in_file(path)?);
                }
                let value = match value {
                    Value::Number(number) => Entry::Number(number),
                    Value::Text(text) => Entry::Text(text),
                    Value::Texts(texts) => Entry::Texts(texts),
                };
                given.push((key, value));
            }
            defined.classes.define(&name, Definition::of_entries(&name, given)?)?;
        }
        Ok(defined)
    }

    /// Adds the fields to a schema.
    ///
    /// # Errors
    /// `InvalidArgument` for a name or a type that is not known; `Unsupported` for a type that RNTuple does not have.
    pub fn add_fields(&self, builder: &mut SchemaBuilder) -> Result<()> {
        self.fields.iter().try_for_each(|(name, type_name)| {
            let field_type = FieldType::parse(type_name, &self.classes).in_field(name)?;
            builder.field(None, name, &field_type).map(drop)
        })
    }

    /// Returns the fields as Arrow.
    ///
    /// # Errors
    /// `InvalidArgument` and `Unsupported`, as [`Defined::add_fields`] gives them.
    pub fn arrow_fields(&self) -> Result<Vec<FieldRef>> {
        self.fields.iter().map(|(name, type_name)| self.arrow_field(name, type_name)).collect()
    }

    /// Returns the fields as columns of a TTree.
    ///
    /// # Errors
    /// `InvalidArgument` for a type that is not known; `Unsupported` for a type that a TTree cannot hold.
    pub fn tree_fields(&self) -> Result<Vec<FieldRef>> {
        let field =
            |(name, type_name): &(String, String)| match column_of(name, type_name, &self.classes)
                .in_field(name)?
            {
                Some(column) => Ok(Arc::new(column)),
                None => self.arrow_field(name, type_name),
            };
        self.fields.iter().map(field).collect()
    }

    fn arrow_field(&self, name: &str, type_name: &str) -> Result<FieldRef> {
        let field_type = FieldType::parse(type_name, &self.classes).in_field(name)?;
        field_type.to_arrow(name).map(Arc::new)
    }
}
