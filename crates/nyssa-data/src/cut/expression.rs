//! Defines the expression tree of a cut, and evaluates it. Each step works on whole arrays.

use arrow_array::ArrayRef;

use super::functions::Function;
use super::operators::{Operator, binary, negate, not};
use super::value::{Data, Value};
use super::{Checked, CutError, load};

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
    /// A text, which a field is compared with.
    Text(String),
    /// A field, with members below it.
    Field(Vec<String>),
    /// An item of a list. Several indices take an item of an item.
    Item(Box<Expression>, Vec<Expression>),
    Negate(Box<Expression>),
    Not(Box<Expression>),
    /// Operators that are applied one after the other, from left to right. The tree of a long chain of
    /// operators is flat, so that its depth does not grow with its length.
    Chain(Box<Expression>, Vec<ChainedOperation>),
    Call(Function, Vec<Expression>),
    /// The expression of an alias. Positions in it count in the formula of the alias.
    Alias(String, Box<Expression>),
}

/// An operator of a chain, the byte at which it starts, and the expression on its right side.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ChainedOperation {
    pub at: usize,
    pub operator: Operator,
    pub right: Expression,
}

impl Expression {
    fn children(&self) -> Vec<&Self> {
        match &self.kind {
            Kind::Integer(_) | Kind::Real(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Field(_) => {
                Vec::new()
            }
            Kind::Negate(inner) | Kind::Not(inner) | Kind::Alias(_, inner) => vec![inner],
            Kind::Call(_, arguments) => arguments.iter().collect(),
            Kind::Item(list, indices) => std::iter::once(&**list).chain(indices).collect(),
            Kind::Chain(first, links) => {
                std::iter::once(&**first).chain(links.iter().map(|link| &link.right)).collect()
            }
        }
    }

    pub(super) fn children_mut(&mut self) -> Vec<&mut Self> {
        match &mut self.kind {
            Kind::Integer(_) | Kind::Real(_) | Kind::Bool(_) | Kind::Text(_) | Kind::Field(_) => {
                Vec::new()
            }
            Kind::Negate(inner) | Kind::Not(inner) | Kind::Alias(_, inner) => vec![inner],
            Kind::Call(_, arguments) => arguments.iter_mut().collect(),
            Kind::Item(list, indices) => std::iter::once(&mut **list).chain(indices).collect(),
            Kind::Chain(first, links) => {
                let rights = links.iter_mut().map(|link| &mut link.right);
                std::iter::once(&mut **first).chain(rights).collect()
            }
        }
    }

    /// Returns the number of expressions in the tree.
    pub(super) fn parts(&self) -> usize {
        self.children().into_iter().map(Self::parts).sum::<usize>() + 1
    }

    /// Returns the depth of the tree.
    pub(super) fn depth(&self) -> usize {
        self.children().into_iter().map(Self::depth).max().unwrap_or(0) + 1
    }

    /// Adds the names of the top-level fields, each once.
    pub(super) fn fields(&self, names: &mut Vec<String>) {
        if let Kind::Field(path) = &self.kind
            && let Some(name) = path.first()
            && !names.contains(name)
        {
            names.push(name.clone());
        }
        self.children().into_iter().for_each(|child| child.fields(names));
    }

    /// Returns the byte at which a field appears first.
    pub(super) fn position(&self, name: &str) -> Option<usize> {
        match &self.kind {
            Kind::Field(path) if path.first().is_some_and(|first| first == name) => Some(self.at),
            Kind::Alias(_, inner) => inner.position(name).map(|_| self.at),
            _ => self.children().into_iter().find_map(|child| child.position(name)),
        }
    }

    /// Computes the value from the arrays of the fields `names`.
    pub(super) fn evaluate(&self, names: &[String], arrays: &[ArrayRef]) -> Checked<Value> {
        let of = |inner: &Self| inner.evaluate(names, arrays);
        let fault = |message: String| CutError::new(self.at, message);
        match &self.kind {
            Kind::Integer(value) => Ok(Value::constant(Data::Integer(vec![*value]))),
            Kind::Real(value) => Ok(Value::constant(Data::Real(vec![*value]))),
            Kind::Bool(value) => Ok(Value::constant(Data::Bool(vec![*value]))),
            Kind::Text(_) => {
                Err(fault("text is compared by == or != with a column of text".to_owned()))
            }
            Kind::Field(path) => self.field(path, names, arrays, None),
            Kind::Item(list, indices) => indices.iter().try_fold(of(list)?, |list, index| {
                list.item(&of(index)?).map_err(|message| CutError::new(index.at, message))
            }),
            Kind::Negate(inner) => negate(of(inner)?).map_err(fault),
            Kind::Not(inner) => not(of(inner)?).map_err(fault),
            Kind::Alias(name, inner) => of(inner).map_err(|inner| {
                let named = |message: &str| format!("the alias {name:?}: {message}");
                CutError { at: self.at, error: inner.error.map_message(named) }
            }),
            Kind::Call(function, arguments) => {
                let values = arguments.iter().map(of).collect::<Checked<Vec<_>>>()?;
                function.apply(values).map_err(fault)
            }
            Kind::Chain(first, links) => {
                let text = links.split_first().and_then(|(link, rest)| {
                    Some((first.compare_text(link, names, arrays)?, rest))
                });
                let (value, links) = match text {
                    Some((value, rest)) => (value?, rest),
                    None => (of(first)?, links.as_slice()),
                };
                links.iter().try_fold(value, |left, link| {
                    let right = of(&link.right)?;
                    binary(link.operator, left, right).map_err(|text| CutError::new(link.at, text))
                })
            }
        }
    }

    /// Returns whether a column has a text, or another one. `None` if this compares no text.
    fn compare_text(
        &self,
        link: &ChainedOperation,
        names: &[String],
        arrays: &[ArrayRef],
    ) -> Option<Checked<Value>> {
        let (expression, text) = match (&self.kind, &link.right.kind) {
            (_, Kind::Text(text)) => (self, text),
            (Kind::Text(text), _) => (&link.right, text),
            _ => return None,
        };
        let path = match (&expression.kind, link.operator) {
            (Kind::Field(path), Operator::Equal | Operator::Different) => path,
            (Kind::Alias(_, inner), Operator::Equal | Operator::Different) => match &inner.kind {
                Kind::Field(path) => path,
                _ => return None,
            },
            _ => return None,
        };
        let equal = expression.field(path, names, arrays, Some(text));
        Some(match link.operator {
            // A missing text is neither equal nor different.
            Operator::Different => equal.and_then(|equal| {
                let valid = equal.valid.clone();
                let other = not(equal).map_err(|message| CutError::new(link.at, message))?;
                Ok(load::present(other, valid.as_deref()))
            }),
            _ => equal.map(|equal| {
                let valid = equal.valid.clone();
                load::present(equal, valid.as_deref())
            }),
        })
    }

    /// Returns the value of a field, or of a member below it. With a `text` it is whether it is equal to the text.
    fn field(
        &self,
        path: &[String],
        names: &[String],
        arrays: &[ArrayRef],
        text: Option<&str>,
    ) -> Checked<Value> {
        let field = path.split_first().and_then(|(name, members)| {
            let index = names.iter().position(|other| other == name)?;
            Some((arrays.get(index)?, members))
        });
        let (array, members) =
            field.ok_or_else(|| CutError::new(self.at, "a field was not read"))?;
        load::load(array, members, text).map_err(|error| CutError { at: self.at, error })
    }
}
