//! Defines the expression tree of a cut, and evaluates it. Each step works on whole arrays.

use std::cell::RefCell;

use arrow_array::ArrayRef;

use super::functions::Function;
use super::operators::{Operator, binary, negate, not};
use super::value::{Data, Value};
use super::{Checked, CutError, lists, load};

/// What an expression is computed of.
pub(super) struct Scope<'a> {
    /// The names of the fields.
    pub names: &'a [String],
    /// The arrays of the fields.
    pub arrays: &'a [ArrayRef],
    pub known: &'a Known,
}

/// The values of aliases for some entries, which expressions of these entries share.
#[derive(Debug, Default)]
pub struct Known(RefCell<Vec<(String, Expression, Value)>>);

impl Known {
    /// Returns the value of an alias. It is computed once.
    fn get_or(
        &self,
        name: &str,
        expression: &Expression,
        compute: impl FnOnce() -> Checked<Value>,
    ) -> Checked<Value> {
        let is_same =
            |known: &&(String, Expression, Value)| known.0 == name && known.1 == *expression;
        let known = self.0.borrow().iter().find(is_same).map(|(.., value)| value.clone());
        if let Some(value) = known {
            return Ok(value);
        }
        let value = compute()?;
        self.0.borrow_mut().push((name.to_owned(), expression.clone(), value.clone()));
        Ok(value)
    }
}

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

    /// Computes the value.
    pub(super) fn evaluate(&self, scope: &Scope<'_>) -> Checked<Value> {
        let of = |inner: &Self| inner.evaluate(scope);
        let fault = |message: String| CutError::new(self.at, message);
        match &self.kind {
            Kind::Integer(value) => Ok(Value::constant(Data::Integer(vec![*value]))),
            Kind::Real(value) => Ok(Value::constant(Data::Real(vec![*value]))),
            Kind::Bool(value) => Ok(Value::constant(Data::Bool(vec![*value]))),
            Kind::Text(_) => {
                Err(fault("text is compared by == or != with a column of text".to_owned()))
            }
            Kind::Field(path) => self.field(path, scope, None),
            Kind::Item(list, indices) => {
                let one = indices
                    .split_first()
                    .and_then(|(index, rest)| Some((list.combination(index, scope)?, rest)));
                let (value, rest) = match one {
                    Some((value, rest)) => (value?, rest),
                    None => (of(list)?, indices.as_slice()),
                };
                rest.iter().try_fold(value, |list, index| {
                    list.item(&of(index)?).map_err(|message| CutError::new(index.at, message))
                })
            }
            Kind::Negate(inner) => negate(of(inner)?).map_err(fault),
            Kind::Not(inner) => not(of(inner)?).map_err(fault),
            Kind::Alias(name, inner) => {
                let value = match inner.kind {
                    Kind::Field(_) => of(inner),
                    _ => scope.known.get_or(name, inner, || of(inner)),
                };
                value.map_err(|inner| {
                    let named = |message: &str| format!("the alias {name:?}: {message}");
                    CutError { at: self.at, error: inner.error.map_message(named) }
                })
            }
            Kind::Call(function, arguments) => {
                let values = arguments.iter().map(of).collect::<Checked<Vec<_>>>()?;
                function.apply(values).map_err(fault)
            }
            Kind::Chain(first, links) => {
                let text = links
                    .split_first()
                    .and_then(|(link, rest)| Some((first.compare_text(link, scope)?, rest)));
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

    /// Returns an item of combinations without making the others. `None` if this is no call of `combinations`.
    fn combination(&self, index: &Self, scope: &Scope<'_>) -> Option<Checked<Value>> {
        let Kind::Call(function, arguments) = &self.kind else { return None };
        let [x, count, slot] = arguments.as_slice() else { return None };
        if !function.is_combinations() {
            return None;
        }
        let all = || -> Checked<_> {
            let of = |inner: &Self| inner.evaluate(scope);
            Ok((of(x)?, of(count)?, of(slot)?, of(index)?))
        };
        let (x, count, slot, at) = match all() {
            Ok(values) => values,
            Err(error) => return Some(Err(error)),
        };
        let item = lists::combination(&x, &count, &slot, &at)?;
        Some(item.map_err(|message| CutError::new(index.at, message)))
    }

    /// Returns whether a column has a text, or another one. `None` if this compares no text.
    fn compare_text(&self, link: &ChainedOperation, scope: &Scope<'_>) -> Option<Checked<Value>> {
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
        let equal = expression.field(path, scope, Some(text));
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
    fn field(&self, path: &[String], scope: &Scope<'_>, text: Option<&str>) -> Checked<Value> {
        let field = path.split_first().and_then(|(name, members)| {
            let index = scope.names.iter().position(|other| other == name)?;
            Some((scope.arrays.get(index)?, members))
        });
        let (array, members) =
            field.ok_or_else(|| CutError::new(self.at, "a field was not read"))?;
        load::load(array, members, text).map_err(|error| CutError { at: self.at, error })
    }
}
