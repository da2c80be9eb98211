//! Schema evolution: converts data of one type to another, if nothing is lost or guessed.
//!
//! The allowed conversions follow ROOT (its document "Schema Evolution"):
//!
//! | target | from |
//! |---|---|
//! | number | numbers of which every value fits; any number when narrowing is requested, each value checked |
//! | list | list, fixed array, nullable value (0 or 1 items), items evolved |
//! | fixed array | fixed array of the same size, items evolved |
//! | record | record, members matched by name: reordered, left out, or filled by [`Missing`] |
//! | nullable value | plain or nullable value |
//! | plain value | nullable value without nulls in the data that are read |
//! | variant | variant with as many alternatives, each evolved |
//! | pointer to objects of some classes | pointer to some of these classes, matched by name, each evolved |
//!
//! `std::vector`, `ROOT::RVec`, sets and maps are all lists to Arrow and need no conversion.

mod aliases;
mod classes;
mod common;
mod conversion;
mod default;
mod numbers;
#[cfg(test)]
mod tests;

use std::str::FromStr;
use std::sync::Arc;

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::brief;
use nyssa_root::error::{Error, Result};

pub use aliases::Aliases;
pub use classes::{are_classes, child_of_class, has_classes, with_classes};
pub use common::common;
pub use conversion::Conversion;
use conversion::Step;
pub use default::default_array;

/// The largest depth of nested types that can be converted.
const MAX_DEPTH: usize = 200;

/// The action for a field or member of the target that a file does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Missing {
    /// An error: the field is not read.
    #[default]
    Error,
    /// Null if the type can be null, otherwise zero, false or empty.
    Default,
    /// Null. The field of the target becomes nullable.
    Null,
}

impl FromStr for Missing {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "error" => Ok(Self::Error),
            "default" => Ok(Self::Default),
            "null" => Ok(Self::Null),
            other => Err(Error::invalid_argument(format!(
                "missing={other:?} is not \"error\", \"default\" or \"null\""
            ))),
        }
    }
}

/// The options of [`evolve`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvolutionOptions {
    /// The action for missing fields and members.
    pub missing: Missing,
    /// Whether conversions are allowed that can lose range or precision: integers to narrower integers and to
    /// floats (every value is checked), double to float (values are rounded).
    pub narrowing: bool,
}

/// Finds the conversion of data of `from` to data of `to`. The names of the two fields can differ, but the
/// names of their members must match.
///
/// # Errors
/// `Unsupported` with the path of the field and both types.
pub fn evolve(from: &Field, to: &Field, options: EvolutionOptions) -> Result<Conversion> {
    build(from, to, options, 0).map_err(|error| below(error, to.name()))
}

fn build(from: &Field, to: &Field, options: EvolutionOptions, depth: usize) -> Result<Conversion> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!("types nested more than {MAX_DEPTH} levels deep")));
    }
    let child = |from: &Field, to: &Field| build(from, to, options, depth + 1);
    let all = to.data_type();
    let step = match (from.data_type(), all) {
        (from, to) if from == to => Step::Keep,
        (DataType::LargeList(from), DataType::LargeList(to)) => Step::Below(vec![child(from, to)?]),
        (DataType::FixedSizeList(from, size), DataType::FixedSizeList(to, wanted))
            if size == wanted =>
        {
            Step::Below(vec![child(from, to)?])
        }
        (DataType::FixedSizeList(from, size), DataType::LargeList(to)) => {
            Step::FixedToList(*size, Box::new(child(from, to)?))
        }
        (DataType::Struct(members), DataType::Struct(wanted)) => {
            let member = |wanted: &Arc<Field>| {
                let place = members.iter().position(|member| member.name() == wanted.name());
                let Some(index) = place else {
                    return missing(wanted, options).map(|()| None);
                };
                child(&members[index], wanted).map(|conversion| Some((index, conversion)))
            };
            let member = |wanted| member(wanted).map_err(|error| below(error, wanted.name()));
            Step::Record(wanted.iter().map(member).collect::<Result<_>>()?)
        }
        (DataType::Union(from, mode), DataType::Union(to, wanted))
            if mode == wanted && are_classes(from) && are_classes(to) =>
        {
            // A file describes classes of which it may have no object.
            let class = |(id, own): (i8, &Arc<Field>)| match child_of_class(to, own.name()) {
                Some((new, wanted)) => match child(own, wanted) {
                    Ok(conversion) => (id, Ok((new, conversion))),
                    Err(error) => (id, Err(below(error, own.name()).to_string())),
                },
                None => (id, Err(format!("the class {} is not in {}", own.name(), brief(all)))),
            };
            Step::Classes(from.iter().map(class).collect())
        }
        (DataType::Union(from, mode), DataType::Union(to, wanted))
            if mode == wanted && from.len() == to.len() =>
        {
            let pairs = from.iter().zip(to.iter()).map(|((_, from), (_, to))| child(from, to));
            Step::Below(pairs.collect::<Result<_>>()?)
        }
        (_, DataType::LargeList(item)) if from.is_nullable() => {
            let plain = from.clone().with_nullable(false);
            let conversion = Step::NullableToList(Box::new(child(&plain, item)?));
            return Ok(Conversion::new(to, conversion, false));
        }
        (from, to) if numbers::converts(from, to, options.narrowing) => Step::Number,
        (from, to) if numbers::converts(from, to, true) => {
            let (from, to) = (brief(from), brief(to));
            return Err(Error::unsupported(format!(
                "{from} may not fit into {to}; allow it with narrowing, which checks each value"
            )));
        }
        (from, to) => {
            let (from, to) = (brief(from), brief(to));
            return Err(Error::unsupported(format!("{from} cannot become {to}")));
        }
    };
    Ok(Conversion::new(to, step, from.is_nullable() && !to.is_nullable()))
}

/// Checks that a missing field can be filled.
fn missing(wanted: &Field, options: EvolutionOptions) -> Result<()> {
    if options.missing == Missing::Error {
        return Err(Error::unsupported(format!(
            "there is no {:?}, of type {}; fill it with defaults or nulls, or leave it out of the \
             target schema",
            wanted.name(),
            brief(wanted.data_type())
        )));
    }
    if options.missing == Missing::Null && !wanted.is_nullable() {
        return Err(Error::invalid_argument(format!(
            "{:?} is missing and the target says that it is never null",
            wanted.name()
        )));
    }
    Ok(())
}

/// Puts the name of a field before the path of the field in an error.
fn below(error: Error, name: &str) -> Error {
    let path = match &error.place().field {
        Some(path) if name.is_empty() => path.clone(),
        Some(path) => format!("{name}.{path}"),
        None => name.to_owned(),
    };
    Error::new(error.kind(), error.message()).at(|place| place.field = Some(path))
}
