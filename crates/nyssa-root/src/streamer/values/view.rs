//! Gives access to the members of an object by name.

use crate::error::{Error, Result};
use crate::guard;
use crate::streamer::builtin::ITEMS;
use crate::streamer::values::{Instance, Numbers, Object, ObjectId, Value};

/// The name of the elements of a base class such as `TArrayD`.
pub const ARRAY: &str = "fArray";

/// The view of one object. Members of base classes are found like members of the class itself.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    object: &'a Object,
    id: ObjectId,
}

impl<'a> View<'a> {
    pub(super) fn new(object: &'a Object, id: ObjectId) -> Self {
        Self { object, id }
    }

    fn instance(&self) -> Option<&'a Instance> {
        self.object.instances.get(self.id.0 as usize)
    }

    /// Returns the number of the object. Two pointers to one object have the same number.
    pub fn id(&self) -> ObjectId {
        self.id
    }

    /// Returns a view of another object of the record.
    pub fn of(&self, id: ObjectId) -> Self {
        Self { object: self.object, id }
    }

    /// Returns the class name.
    pub fn class(&self) -> &'a str {
        self.instance().map_or("", |instance| &instance.plan.class)
    }

    /// Returns the class version as streamed.
    pub fn version(&self) -> i32 {
        self.instance().map_or(0, |instance| instance.version)
    }

    /// Returns whether this is an object of `class` or of a class derived from it.
    pub fn is_a(&self, class: &str) -> bool {
        self.class() == class || self.bases().any(|base| base.is_a(class))
    }

    /// Returns the members of the class itself in order. Base classes are named `:_0`, `:_1`, ...
    pub fn members(&self) -> impl Iterator<Item = (&'a str, &'a Value)> + use<'a> {
        let object = self.object;
        let id = self.id;
        let steps = self.instance().map_or(&[][..], |instance| &instance.plan.layout.steps);
        steps
            .iter()
            .enumerate()
            .filter_map(move |(index, member)| Some((&*member.name, object.member(id, index)?)))
    }

    fn bases(&self) -> impl Iterator<Item = View<'a>> + use<'a> {
        let object = self.object;
        let steps = self.instance().map_or(&[][..], |instance| &instance.plan.layout.steps);
        let named = self.members();
        steps.iter().zip(named).filter_map(move |(step, (_, value))| match value {
            Value::Object(id) if step.base => Some(View::new(object, *id)),
            _ => None,
        })
    }

    /// Returns a member of this class or of a base class.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        let own = self.members().find(|(member, _)| *member == name);
        own.map(|(_, value)| value).or_else(|| self.bases().find_map(|base| base.get(name)))
    }

    /// Returns the elements of the base class that is a `TArray`.
    pub fn array(&self) -> Option<&'a Numbers> {
        let steps = self.instance().map_or(&[][..], |instance| &instance.plan.layout.steps);
        let mut bases = steps.iter().zip(self.members()).filter(|(step, _)| step.base);
        bases.find_map(|(_, (_, value))| match value {
            Value::Numbers(numbers) => Some(numbers),
            Value::Object(id) => View::new(self.object, *id).array(),
            _ => None,
        })
    }

    fn require(&self, name: &str) -> Result<&'a Value> {
        match self.get(name) {
            Some(Value::Unknown(reason)) => Err(Error::unsupported(format!(
                "{}::{name} cannot be read: {reason}",
                self.class()
            ))),
            Some(value) => Ok(value),
            None => Err(Error::unsupported(format!(
                "class {} version {} has no member {name}",
                self.class(),
                self.version()
            ))),
        }
    }

    fn wrong(&self, name: &str, value: &Value, wanted: &str) -> Error {
        Error::unsupported(format!("{}::{name} is {}, not {wanted}", self.class(), value.kind()))
    }

    /// Returns an integer member. A floating-point member is accepted if it holds a whole number, since
    /// `fEntries` is a `double` in old versions.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member or it is not an integer.
    pub fn i64(&self, name: &str) -> Result<i64> {
        let value = self.require(name)?;
        let whole = match *value {
            // A double above 2^53 does not hold every integer.
            Value::Float(float) if float.fract() == 0.0 && float.abs() < 9.0e15 =>
            {
                #[allow(clippy::cast_possible_truncation)]
                Some(float as i64)
            }
            _ => value.as_i64(),
        };
        whole.ok_or_else(|| self.wrong(name, value, "an integer"))
    }

    /// Returns an integer member that is not negative.
    ///
    /// # Errors
    /// `OutOfSpecification` when it is negative.
    pub fn u64(&self, name: &str) -> Result<u64> {
        let value = self.i64(name)?;
        u64::try_from(value)
            .map_err(|_| Error::out_of_spec(format!("{}::{name} is {value}", self.class())))
    }

    /// Returns an integer member that is not negative as a size.
    ///
    /// # Errors
    /// `OutOfSpecification` when it is negative, `LimitExceeded` when it does not fit.
    pub fn usize(&self, name: &str) -> Result<usize> {
        guard::to_usize(self.u64(name)?, name)
    }

    /// Returns a member that is a number.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member or it is not a number.
    pub fn f64(&self, name: &str) -> Result<f64> {
        match self.require(name)? {
            Value::Float(value) => Ok(*value),
            #[allow(clippy::cast_precision_loss)]
            value => value
                .as_i64()
                .map(|value| value as f64)
                .ok_or_else(|| self.wrong(name, value, "a number")),
        }
    }

    /// Returns a string member.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member or it is not a string.
    pub fn str(&self, name: &str) -> Result<&'a str> {
        match self.require(name)? {
            Value::Text(text) => Ok(text),
            value => Err(self.wrong(name, value, "a string")),
        }
    }

    /// Returns a string member. It is empty if an old version of the class has no such member.
    ///
    /// # Errors
    /// `Unsupported` if the member is not a string.
    pub fn str_or_empty(&self, name: &str) -> Result<&'a str> {
        if self.get(name).is_none() { Ok("") } else { self.str(name) }
    }

    /// Returns an embedded object or the object that a pointer points to. Returns `None` for a null pointer.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member or it is not an object.
    pub fn view(&self, name: &str) -> Result<Option<View<'a>>> {
        match self.require(name)? {
            Value::Object(id) => Ok(Some(View::new(self.object, *id))),
            Value::Null => Ok(None),
            value => Err(self.wrong(name, value, "an object")),
        }
    }

    /// Returns the items of a collection member (`TObjArray`, `TList`, ...), `None` for null pointers. A null
    /// pointer to a collection has no items.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member, it is not a collection, or an item cannot be read.
    pub fn list(&self, name: &str) -> Result<Vec<Option<View<'a>>>> {
        match self.require(name)? {
            Value::Object(id) => View::new(self.object, *id).items(),
            Value::List(items) => self.views(items),
            Value::Null => Ok(Vec::new()),
            value => Err(self.wrong(name, value, "a collection")),
        }
    }

    /// Returns the items of this collection, `None` for null pointers.
    ///
    /// # Errors
    /// `Unsupported` if this is not a collection or an item cannot be read.
    pub fn items(&self) -> Result<Vec<Option<View<'a>>>> {
        match self.require(ITEMS)? {
            Value::List(items) => self.views(items),
            value => Err(self.wrong(ITEMS, value, "a list")),
        }
    }

    fn views(&self, items: &'a [Value]) -> Result<Vec<Option<View<'a>>>> {
        let view = |item: &'a Value| match item {
            Value::Object(id) => Ok(Some(View::new(self.object, *id))),
            Value::Null => Ok(None),
            Value::Unknown(reason) => Err(Error::unsupported(reason.to_string())),
            value => Err(self.wrong(ITEMS, value, "an object")),
        };
        items.iter().map(view).collect()
    }

    /// Returns a member that is an array of integers. A null pointer has none.
    ///
    /// # Errors
    /// `Unsupported` if there is no such member or it is not an array of integers.
    pub fn i64s(&self, name: &str) -> Result<Vec<i64>> {
        match self.require(name)? {
            Value::Numbers(numbers) => numbers.to_i64().ok_or_else(|| {
                self.wrong(name, &Value::Numbers(numbers.clone()), "an array of integers")
            }),
            Value::Null => Ok(Vec::new()),
            value => Err(self.wrong(name, value, "an array of numbers")),
        }
    }
}
