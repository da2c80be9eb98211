//! Says where the members of an object are in its bytes, so that they can be changed in place.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::streamer::info::StreamerInfos;
use crate::streamer::values::{Object, ObjectId, Value};

/// The name of the elements of a base class such as `TArrayD`.
const ARRAY: &str = "fArray";

/// A member of an object or of one of its base classes.
#[derive(Clone, Debug)]
pub(crate) struct PlacedMember<'a> {
    /// The name. The elements of a base class such as `TArrayD` are `fArray`.
    pub name: &'a str,
    /// The value.
    pub value: &'a Value,
    /// The bytes in the payload. The elements of an array are the last of them.
    pub place: Range<usize>,
}

impl StreamerInfos {
    /// Reads an object as [`crate::rootfile::RootFile::object`] does, and keeps the places of its members.
    ///
    /// # Errors
    /// The same; `Unsupported` for an object without members.
    pub(crate) fn placed_object(&self, class: &str, payload: &[u8], keylen: u16) -> Result<Object> {
        let found = Object::read_with(self.complete(), class, payload, keylen, true)?;
        match found {
            Some(object) if matches!(object.value(), Value::Object(_)) => Ok(object),
            _ => Err(Error::unsupported(format!("class {class} is not known"))),
        }
    }
}

impl Object {
    /// Returns the members of the object and of its base classes, in the order of their bytes. The object must be from
    /// [`StreamerInfos::placed_object`].
    pub(crate) fn placed(&self) -> Vec<PlacedMember<'_>> {
        let mut out = Vec::new();
        if let Value::Object(root) = self.value() {
            self.collect_placed(*root, &mut out);
        }
        out
    }

    fn collect_placed<'a>(&'a self, id: ObjectId, out: &mut Vec<PlacedMember<'a>>) {
        let Some(instance) = self.instances.get(id.0 as usize) else { return };
        for (index, step) in instance.plan.layout.steps.iter().enumerate() {
            let Some(value) = self.member(id, index) else { continue };
            match value {
                Value::Object(base) if step.base => self.collect_placed(*base, out),
                value => {
                    let Some(place) = self.places.get(&(id.0, index)) else { continue };
                    let name = if step.base { ARRAY } else { step.name.as_str() };
                    out.push(PlacedMember { name, value, place: place.clone() });
                }
            }
        }
    }
}
