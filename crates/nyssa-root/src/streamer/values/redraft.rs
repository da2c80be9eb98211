//! Makes a draft of an object that was read, so that it can be written into another object.

use std::collections::HashSet;

use super::{ARRAY, Numbers, ObjectId, Value, View};
use crate::error::{Error, Result};
use crate::streamer::builtin::ITEMS;
use crate::streamer::{Draft, Target};

/// The prefix of the names of base classes.
const BASE: &str = ":_";
/// The name of the base class of collections.
const OBJECT: &str = "TObject";
/// The character that stands for bytes that are not UTF-8.
const REPLACED: char = '\u{FFFD}';

impl Draft {
    /// Makes a draft of an object with all members and all objects below it.
    ///
    /// # Errors
    /// `Unsupported` with the member for values that a draft cannot have: containers, strings that are not UTF-8, bytes
    /// that were not read, and objects to which several pointers lead.
    pub fn of(view: View<'_>) -> Result<Self> {
        object(view, &mut HashSet::new())
    }
}

fn object(view: View<'_>, seen: &mut HashSet<ObjectId>) -> Result<Draft> {
    if !seen.insert(view.id()) {
        let class = view.class();
        return Err(Error::unsupported(format!("several pointers lead to one {class} in it")));
    }
    with_members(Draft::new(view.class()), view, seen)
}

/// Adds the members of an object, or of its part that a base class describes.
fn with_members(mut draft: Draft, view: View<'_>, seen: &mut HashSet<ObjectId>) -> Result<Draft> {
    for (name, value) in view.members() {
        let is_base = name.starts_with(BASE) || name == OBJECT;
        draft = match value {
            Value::Object(base) if is_base => with_members(draft, view.of(*base), seen)?,
            Value::Numbers(numbers) => {
                let name = if is_base { ARRAY } else { name };
                with_numbers(draft, name, numbers).ok_or_else(|| cannot(view, name))?
            }
            Value::List(_) if name == ITEMS => {
                let items = view.items()?.into_iter();
                let item = |item: Option<View<'_>>| {
                    let item = item.ok_or_else(|| cannot(view, "a null pointer"))?;
                    object(item, seen).map(Target::New)
                };
                draft.items(ITEMS, items.map(item).collect::<Result<_>>()?)
            }
            Value::Null => draft,
            Value::Bool(_) | Value::Int(_) | Value::UInt(_) => {
                let value = value.as_i64().ok_or_else(|| cannot(view, name))?;
                draft.int(name.to_owned(), value)
            }
            Value::Float(value) => draft.float(name.to_owned(), *value),
            Value::Text(text) if !text.contains(REPLACED) => draft.text(name.to_owned(), text),
            Value::Object(id) => draft.object(name.to_owned(), object(view.of(*id), seen)?),
            Value::Text(_) | Value::List(_) | Value::Unknown(_) => return Err(cannot(view, name)),
        };
    }
    Ok(draft)
}

/// Adds an array of numbers. Returns `None` for integers that do not fit 64 bits with a sign.
fn with_numbers(draft: Draft, name: &str, numbers: &Numbers) -> Option<Draft> {
    let name = name.to_owned();
    Some(match numbers {
        Numbers::Float64(values) => draft.floats(name, values.to_vec()),
        Numbers::Float32(values) => {
            draft.floats(name, values.iter().map(|&it| it.into()).collect())
        }
        integers => draft.ints(name, integers.to_i64()?),
    })
}

fn cannot(view: View<'_>, member: &str) -> Error {
    Error::unsupported(format!("{}::{member} cannot be written again", view.class()))
}
