//! Reads any object of a file as values, by the streamer info of that file. Only the classes that ROOT streams
//! by code of its own need code here.
//!
//! An [`Object`] holds all objects that were streamed in one record. They refer to each other by [`ObjectId`].
//! A [`View`] gives access to the members of one of them by name.

mod apart;
mod builtin;
mod edited;
mod emitter;
mod number;
mod plan;
mod pointer;
mod reader;
mod redraft;
mod relocate;
mod table;
mod value;
mod view;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::streamer::wire::IS_REFERENCED;

pub use apart::Apart;
pub(in crate::streamer) use apart::Reference;
pub use edited::EditedObject;
pub(crate) use relocate::relocate;
pub(crate) use table::ClassTable;
pub use value::{Numbers, ObjectId, Value};
pub use view::ARRAY;
pub use view::View;

/// All objects that were streamed in one record.
#[derive(Debug, Default)]
pub struct Object {
    root: Option<Value>,
    instances: Vec<Instance>,
    /// The members of all objects, object by object.
    values: Vec<Value>,
    /// The bytes of members in the payload, by object and number of the member, if they were requested.
    places: HashMap<(u32, usize), Range<usize>>,
}

/// One object of the record.
#[derive(Debug)]
struct Instance {
    plan: Arc<plan::Plan>,
    version: i32,
    /// The index of its first value.
    first: usize,
}

impl Object {
    /// Reads the object of class `class` in `payload`, whose key takes `keylen` bytes. Returns `None` if a
    /// class in it is not in `table`, but in nyssa's own tables.
    ///
    /// # Errors
    /// `OutOfSpecification` with class, member and byte; `Unsupported` if the class cannot be read.
    pub(crate) fn read(
        table: &ClassTable,
        class: &str,
        payload: &[u8],
        keylen: u16,
    ) -> Result<Option<Self>> {
        Self::read_with(table, class, payload, keylen, false)
    }

    /// Reads the object of class `class` in `payload`. The places of its members are recorded if `keeps_places`.
    fn read_with(
        table: &ClassTable,
        class: &str,
        payload: &[u8],
        keylen: u16,
        keeps_places: bool,
    ) -> Result<Option<Self>> {
        let Some(id) = table.find(class) else {
            if table.lacks(class, None) {
                return Ok(None);
            }
            return Err(Error::unsupported(format!(
                "the file has no streamer info of class {class}"
            )));
        };
        let mut reader = reader::Reader::new(table, payload, keylen);
        reader.keeps_places = keeps_places;
        let value = reader.class(id);
        if reader.lacks {
            return Ok(None);
        }
        match value.map_err(in_payload)? {
            Value::Unknown(reason) => Err(Error::unsupported(reason.to_string())),
            value => Ok(Some(Self { root: Some(value), ..reader.object })),
        }
    }

    fn with_room(values: usize) -> Self {
        Self { values: Vec::with_capacity(values), ..Self::default() }
    }

    /// Returns the object as a value. Some classes (`TString`, `TArrayD`, ...) have no members.
    pub fn value(&self) -> &Value {
        self.root.as_ref().unwrap_or(&Value::Null)
    }

    /// Returns a view of the object. It has no members if [`Object::value`] is not [`Value::Object`].
    pub fn root(&self) -> View<'_> {
        self.view(ObjectId(0))
    }

    /// Returns a view of any object of the record.
    pub fn view(&self, id: ObjectId) -> View<'_> {
        View::new(self, id)
    }

    /// Returns whether the record has references (`TRef`), is referred to, or has an unknown part.
    pub fn has_references(&self) -> bool {
        let is_unknown = |value: &Value| matches!(value, Value::Unknown(_));
        let is_referenced = |(name, value): (&str, &Value)| {
            let bits = value.as_i64().unwrap_or(0);
            name == "fBits" && bits & i64::from(IS_REFERENCED) != 0
        };
        let refers = |number: usize| {
            let view = self.view(ObjectId(number as u32));
            matches!(view.class(), "TRef" | "TRefArray") || view.members().any(is_referenced)
        };
        self.values.iter().any(is_unknown) || (0..self.instances.len()).any(refers)
    }

    fn set_member(&mut self, id: ObjectId, index: usize, value: Value) {
        let first = self.instances.get(id.0 as usize).map(|instance| instance.first);
        let slot = first.and_then(|first| self.values.get_mut(first.checked_add(index)?));
        if let Some(slot) = slot {
            *slot = value;
        }
    }

    fn member(&self, id: ObjectId, index: usize) -> Option<&Value> {
        let instance = self.instances.get(id.0 as usize)?;
        self.values.get(instance.first.checked_add(index)?)
    }
}

/// Changes an error to say that its offset is in the uncompressed object, not in the file.
pub(crate) fn in_payload(error: Error) -> Error {
    let Some(offset) = error.place().offset else { return error };
    let place = error.place().clone();
    let message = format!("{}, at byte {offset} of the uncompressed object", error.message());
    Error::new(error.kind(), message)
        .at(|fill| *fill = crate::error::Place { offset: None, ..place })
}
