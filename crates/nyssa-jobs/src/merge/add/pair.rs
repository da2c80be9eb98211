//! Defines a pair of objects, one of which is added to the other.

use std::collections::HashSet;

use nyssa_root::error::{Error, Result};
use nyssa_root::streamer::values::{ARRAY, EditedObject, Numbers, ObjectId, Value, View};

use super::numbers::{self, floats};

/// An object to which other objects are added, with the objects in it.
pub(in crate::merge) struct Total {
    pub object: EditedObject,
    /// The histograms whose stored sums already include several inputs.
    pub summed: HashSet<ObjectId>,
    /// The title of the object, if it differs from the title of the first input.
    pub title: Option<String>,
}

/// An object of a [`Total`], and the object that is added to it.
pub(super) struct Pair<'a> {
    total: &'a mut Total,
    id: ObjectId,
    /// The object that is added.
    pub other: View<'a>,
    /// The objects to which an object of this input was added.
    done: &'a mut HashSet<ObjectId>,
}

impl<'a> Pair<'a> {
    pub(super) fn new(
        total: &'a mut Total,
        id: ObjectId,
        other: View<'a>,
        done: &'a mut HashSet<ObjectId>,
    ) -> Self {
        Self { total, id, other, done }
    }

    /// Returns the object to which the other is added.
    pub(super) fn own(&self) -> View<'_> {
        self.total.object.object().view(self.id)
    }

    /// Marks that an object of this input was added to the object. Returns whether it is the first.
    pub(super) fn begin(&mut self) -> bool {
        self.done.insert(self.id)
    }

    /// Returns whether the stored sums of the object already include several inputs, and marks that they now do.
    pub(super) fn is_summed(&mut self) -> bool {
        !self.total.summed.insert(self.id)
    }

    /// Returns the pair of the objects in a member, or behind its pointer. `None` if both are null.
    ///
    /// # Errors
    /// `InvalidArgument` if only one is null.
    pub(super) fn inner(&mut self, member: &str) -> Result<Option<Pair<'_>>> {
        let (own, other) = (self.own().view(member)?, self.other.view(member)?);
        match (own.map(|own| own.id()), other) {
            (None, None) => Ok(None),
            (Some(own), Some(other)) => Ok(Some(self.with(own, other))),
            _ => Err(refused(&format!("{member} is not in all inputs"))),
        }
    }

    /// Returns another pair of objects of these inputs.
    pub(super) fn with(&mut self, own: ObjectId, other: View<'a>) -> Pair<'_> {
        Pair { total: self.total, id: own, other, done: self.done }
    }

    /// Sets a member.
    ///
    /// # Errors
    /// `Unsupported` for a member that is not stored as numbers.
    pub(super) fn set(&mut self, member: &str, value: Value) -> Result<()> {
        self.total.object.set(self.id, member, value)
    }

    /// Sets the bits of the object (`TObject::fBits`).
    pub(super) fn set_bits(&mut self, bits: i64) {
        self.total.object.set_int(self.id, "fBits", bits);
    }

    /// Sets the title (`TNamed::fTitle`).
    pub(super) fn set_title(&mut self, title: &str) {
        self.total.object.set_text(self.id, "fTitle", title);
        if self.total.object.object().root().id() == self.id {
            self.total.title = Some(title.to_owned());
        }
    }

    /// Adds a number, or an array of numbers. Members that a version of the class lacks are skipped.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays of different sizes.
    pub(super) fn sum(&mut self, member: &str) -> Result<()> {
        let (Some(own), Some(other)) = (value(self.own(), member), value(self.other, member))
        else {
            return Ok(());
        };
        let sum = match (own, other) {
            (Value::Numbers(own), Value::Numbers(other)) => {
                numbers::add(&own, &other).map(Value::Numbers)
            }
            (Value::Float(own), Value::Float(other)) => Some(Value::Float(own + other)),
            (Value::Int(own), Value::Int(other)) => Some(Value::Int(own.saturating_add(other))),
            _ => None,
        };
        let sum = sum.ok_or_else(|| refused(&format!("{member} differs in size or type")))?;
        self.set(member, sum)
    }
}

/// Returns a member. [`ARRAY`] stands for the elements of a base class such as `TArrayD`.
fn value(view: View<'_>, member: &str) -> Option<Value> {
    match view.get(member) {
        None if member == ARRAY => view.array().cloned().map(Value::Numbers),
        found => found.cloned(),
    }
}

/// Returns an array of numbers as doubles. It is empty if the member is missing.
pub(super) fn doubles(view: View<'_>, member: &str) -> Vec<f64> {
    match value(view, member) {
        Some(Value::Numbers(numbers)) => floats(&numbers),
        _ => Vec::new(),
    }
}

/// Makes an array of doubles.
pub(super) fn array(values: Vec<f64>) -> Value {
    Value::Numbers(Numbers::Float64(values.into()))
}

/// Makes the error for objects that cannot be merged.
pub(super) fn refused(why: &str) -> Error {
    Error::invalid_argument(why.to_owned())
}

/// Returns whether two objects have equal classes and members.
pub(super) fn equal(one: View<'_>, other: View<'_>) -> bool {
    equal_within(one, other, &mut HashSet::new())
}

fn equal_within(one: View<'_>, other: View<'_>, seen: &mut HashSet<(ObjectId, ObjectId)>) -> bool {
    if !seen.insert((one.id(), other.id())) {
        return true;
    }
    let same = |a: &Value, b: &Value, seen: &mut _| equal_values((one, a), (other, b), seen);
    one.class() == other.class()
        && one.version() == other.version()
        && one.members().count() == other.members().count()
        && one.members().zip(other.members()).all(|((_, a), (_, b))| same(a, b, seen))
}

fn equal_values(
    (one, a): (View<'_>, &Value),
    (other, b): (View<'_>, &Value),
    seen: &mut HashSet<(ObjectId, ObjectId)>,
) -> bool {
    match (a, b) {
        (Value::Object(a), Value::Object(b)) => equal_within(one.of(*a), other.of(*b), seen),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| equal_values((one, a), (other, b), seen))
        }
        // Members that cannot be read may differ.
        (Value::Unknown(_), _) => false,
        (a, b) => a == b,
    }
}
