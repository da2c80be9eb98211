//! The tree of a cut and its evaluation, one whole array after the other.

use arrow_array::ArrayRef;

use super::functions::Function;
use super::operators::{Operator, binary, negate, not};
use super::value::{Data, Value};
use super::{Checked, Fault, load};

/// A part of a cut and the byte at which it starts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Expression {
    pub at: usize,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Integer(i64),
    Real(f64),
    Bool(bool),
    /// A field and members below it.
    Field(Vec<String>),
    /// An item of a list.
    Item(Box<Expression>, Box<Expression>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<Expression>, Box<Expression>),
    Call(Function, Box<Expression>),
    /// What an alias stands for; places in it are those of its formula.
    Alias(String, Box<Expression>),
}

impl Expression {
    fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Integer(_) | Kind::Real(_) | Kind::Bool(_) | Kind::Field(_) => Vec::new(),
            Kind::Negate(inner)
            | Kind::Not(inner)
            | Kind::Call(_, inner)
            | Kind::Alias(_, inner) => vec![inner],
            Kind::Item(left, right) | Kind::Binary(_, left, right) => vec![left, right],
        }
    }

    pub fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.kind {
            Kind::Integer(_) | Kind::Real(_) | Kind::Bool(_) | Kind::Field(_) => Vec::new(),
            Kind::Negate(inner)
            | Kind::Not(inner)
            | Kind::Call(_, inner)
            | Kind::Alias(_, inner) => vec![inner],
            Kind::Item(left, right) | Kind::Binary(_, left, right) => vec![left, right],
        }
    }

    /// Number of expressions in it, itself included.
    pub fn parts(&self) -> usize {
        self.children().into_iter().map(Self::parts).sum::<usize>() + 1
    }

    /// Adds the top-level fields, each once.
    pub fn fields(&self, names: &mut Vec<String>) {
        if let Kind::Field(path) = &self.kind
            && let Some(name) = path.first()
            && !names.contains(name)
        {
            names.push(name.clone());
        }
        self.children().into_iter().for_each(|child| child.fields(names));
    }

    /// Where a field is first named.
    pub fn position(&self, name: &str) -> Option<usize> {
        match &self.kind {
            Kind::Field(path) if path.first().is_some_and(|first| first == name) => Some(self.at),
            Kind::Alias(_, inner) => inner.position(name).map(|_| self.at),
            _ => self.children().into_iter().find_map(|child| child.position(name)),
        }
    }

    /// The value, from the arrays of the fields `names`.
    pub fn evaluate(&self, names: &[String], arrays: &[ArrayRef]) -> Checked<Value> {
        let of = |inner: &Self| inner.evaluate(names, arrays);
        let fault = |message: String| Fault::new(self.at, message);
        match &self.kind {
            Kind::Integer(value) => Ok(Value::constant(Data::Integer(vec![*value]))),
            Kind::Real(value) => Ok(Value::constant(Data::Real(vec![*value]))),
            Kind::Bool(value) => Ok(Value::constant(Data::Bool(vec![*value]))),
            Kind::Field(path) => {
                let field = path.split_first().and_then(|(name, members)| {
                    let index = names.iter().position(|other| other == name)?;
                    Some((arrays.get(index)?, members))
                });
                let (array, members) =
                    field.ok_or_else(|| fault("a field was not read".to_owned()))?;
                load::load(array, members).map_err(|error| Fault { at: self.at, error })
            }
            Kind::Item(list, index) => {
                let (list, at) = (of(list)?, of(index)?);
                list.item(&at).map_err(|message| Fault::new(index.at, message))
            }
            Kind::Negate(inner) => negate(of(inner)?).map_err(fault),
            Kind::Not(inner) => not(of(inner)?).map_err(fault),
            Kind::Alias(name, inner) => of(inner).map_err(|inner| {
                let named = |message: &str| format!("the alias {name:?}: {message}");
                Fault { at: self.at, error: inner.error.map_message(named) }
            }),
            Kind::Call(function, inner) => function.apply(of(inner)?).map_err(fault),
            Kind::Binary(operator, left, right) => {
                binary(*operator, of(left)?, of(right)?).map_err(fault)
            }
        }
    }
}
