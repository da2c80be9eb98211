//! Parses tokens to an expression tree by recursive descent. The operators, from the weakest to the
//! strongest: `||`, `&&`, `not`, comparison, `|`, `&`, `+ -`, `* / %`, `- ! ~`, `**`, items and members.

use nyssa_root::error::Error;

use super::expression::{ChainedOperation, Expression, Kind};
use super::functions::Function;
use super::operators::Operator;
use super::token::{self, Kind as Word, Token};
use super::{Checked, CutError};

/// The largest depth of nested brackets and signs.
const MAX_NESTING: usize = 100;
/// The largest depth of an expression tree. Functions that visit a tree call themselves for each level. This
/// number of calls fits on the stack of any thread, even in a build without optimisation.
pub(super) const MAX_DEPTH: usize = 200;
/// The largest number of tokens.
const MAX_TOKENS: usize = 2000;

/// Parses the text of a cut.
pub(super) fn parse(text: &str) -> Checked<Expression> {
    let tokens = token::tokens(text)?;
    if tokens.len() > MAX_TOKENS {
        return Err(CutError::new(
            0,
            format!("an expression has at most {MAX_TOKENS} words and signs"),
        ));
    }
    let mut parser = Parser { tokens, next: 0, depth: 0 };
    if parser.peek().kind == Word::End {
        return Err(CutError::new(0, "the expression is empty"));
    }
    let expression = parser.or()?;
    match &parser.peek().kind {
        Word::End if expression.depth() > MAX_DEPTH => Err(CutError::new(0, TOO_DEEP)),
        Word::End => Ok(expression),
        other => {
            let before = parser.next.checked_sub(1).map(|last| &parser.tokens[last].kind);
            let hint = match (before, other) {
                (Some(Word::Name { name, .. }), Word::Name { name: next, .. }) => {
                    format!(": one name with a space is in back quotes, as `{name} {next}`")
                }
                _ => String::new(),
            };
            Err(parser.unexpected(&format!("{} was not expected here{hint}", shown(other))))
        }
    }
}

const TOO_DEEP: &str = "the expression is nested too deeply";

struct Parser {
    tokens: Vec<Token>,
    next: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> &Token {
        // The last token marks the end and is never taken.
        &self.tokens[self.next.min(self.tokens.len() - 1)]
    }

    /// Takes the next token if it is one of `signs`.
    fn sign(&mut self, signs: &[&'static str]) -> Option<(usize, &'static str)> {
        let Token { at, kind } = self.peek();
        let matching = match kind {
            Word::Sign(sign) => signs.iter().find(|other| *other == sign).map(|sign| (*at, *sign)),
            _ => None,
        };
        self.next += usize::from(matching.is_some());
        matching
    }

    /// Takes the next token if it is this word.
    fn word(&mut self, word: &str) -> Option<usize> {
        let Token { at, kind } = self.peek();
        let at = *at;
        let is_word = matches!(kind, Word::Name { name, quoted: false } if name == word);
        self.next += usize::from(is_word);
        is_word.then_some(at)
    }

    fn unexpected(&self, message: &str) -> CutError {
        CutError::new(self.peek().at, message)
    }

    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        if self.depth >= MAX_NESTING {
            return Err(self.unexpected(TOO_DEEP));
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn or(&mut self) -> Checked<Expression> {
        self.nested(|parser| {
            let mut left = parser.and()?;
            while let Some(at) =
                parser.sign(&["||"]).map(|(at, _)| at).or_else(|| parser.word("or"))
            {
                left = joined(at, Operator::Or, left, parser.and()?);
            }
            Ok(left)
        })
    }

    fn and(&mut self) -> Checked<Expression> {
        let mut left = self.not()?;
        while let Some(at) = self.sign(&["&&"]).map(|(at, _)| at).or_else(|| self.word("and")) {
            left = joined(at, Operator::And, left, self.not()?);
        }
        Ok(left)
    }

    fn not(&mut self) -> Checked<Expression> {
        match self.word("not") {
            Some(at) => {
                let inner = Box::new(self.nested(Self::not)?);
                Ok(Expression { at, kind: Kind::Not(inner) })
            }
            None => self.comparison(),
        }
    }

    fn comparison(&mut self) -> Checked<Expression> {
        const SIGNS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];
        let left = self.bit_or()?;
        let Some((at, sign)) = self.sign(&SIGNS) else { return Ok(left) };
        let right = self.bit_or()?;
        match self.sign(&SIGNS) {
            Some((at, _)) => Err(CutError::new(
                at,
                "comparisons cannot be chained: join them by &&, or put each in brackets next to & or |",
            )),
            None => Ok(joined(at, Operator::of(sign), left, right)),
        }
    }

    fn bit_or(&mut self) -> Checked<Expression> {
        let mut left = self.bit_and()?;
        while let Some((at, sign)) = self.sign(&["|"]) {
            left = joined(at, Operator::of(sign), left, self.bit_and()?);
        }
        Ok(left)
    }

    fn bit_and(&mut self) -> Checked<Expression> {
        let mut left = self.sum()?;
        while let Some((at, sign)) = self.sign(&["&"]) {
            left = joined(at, Operator::of(sign), left, self.sum()?);
        }
        Ok(left)
    }

    fn sum(&mut self) -> Checked<Expression> {
        let mut left = self.product()?;
        while let Some((at, sign)) = self.sign(&["+", "-"]) {
            left = joined(at, Operator::of(sign), left, self.product()?);
        }
        Ok(left)
    }

    fn product(&mut self) -> Checked<Expression> {
        let mut left = self.unary()?;
        while let Some((at, sign)) = self.sign(&["*", "/", "%"]) {
            left = joined(at, Operator::of(sign), left, self.unary()?);
        }
        Ok(left)
    }

    fn unary(&mut self) -> Checked<Expression> {
        match self.sign(&["-", "!", "~"]) {
            Some((at, sign)) => {
                let inner = Box::new(self.nested(Self::unary)?);
                let kind = if sign == "-" { Kind::Negate(inner) } else { Kind::Not(inner) };
                Ok(Expression { at, kind })
            }
            None => self.power(),
        }
    }

    fn power(&mut self) -> Checked<Expression> {
        let base = self.postfix()?;
        let Some((at, sign)) = self.sign(&["**"]) else { return Ok(base) };
        let exponent = self.nested(Self::unary)?;
        Ok(joined(at, Operator::of(sign), base, exponent))
    }

    /// Parses items and members. A member of an item is an item of the member: `jets[0].pt` is `jets.pt[0]`.
    fn postfix(&mut self) -> Checked<Expression> {
        let mut inner = self.primary()?;
        while let Some((at, sign)) = self.sign(&["[", "."]) {
            if sign == "[" {
                let index = self.or()?;
                self.expect("]", at)?;
                match &mut inner.kind {
                    Kind::Item(_, indices) => indices.push(index),
                    _ => {
                        let kind = Kind::Item(Box::new(inner), vec![index]);
                        inner = Expression { at, kind };
                    }
                }
                continue;
            }
            let name = self.name()?;
            let start = inner.at;
            let Some(path) = path(&mut inner) else {
                return Err(CutError::new(at, "only fields have members"));
            };
            path.push(name);
            if self.peek().kind == Word::Sign("(") {
                return Err(unknown(start, &path.join(".")));
            }
        }
        Ok(inner)
    }

    fn name(&mut self) -> Checked<String> {
        let name = match &self.peek().kind {
            Word::Name { name, .. } => name.clone(),
            other => {
                return Err(self.unexpected(&format!("a member's name, not {}", shown(other))));
            }
        };
        self.next += 1;
        Ok(name)
    }

    fn primary(&mut self) -> Checked<Expression> {
        let Token { at, kind } = self.peek().clone();
        let kind = match kind {
            Word::Integer(value) => Kind::Integer(value),
            Word::Real(value) => Kind::Real(value),
            Word::Text(text) => Kind::Text(text),
            Word::Name { name, quoted } => {
                self.next += 1;
                if !quoted && self.peek().kind == Word::Sign("(") {
                    return self.call(at, &name);
                }
                return Ok(Expression {
                    at,
                    kind: match name.as_str() {
                        "true" | "false" if !quoted => Kind::Bool(name == "true"),
                        _ => Kind::Field(vec![name]),
                    },
                });
            }
            Word::Sign("(") => {
                self.next += 1;
                let inner = self.or()?;
                self.expect(")", at)?;
                return Ok(inner);
            }
            other => {
                return Err(self.unexpected(&format!(
                    "a number, a field or a bracket is missing before {}",
                    shown(&other)
                )));
            }
        };
        self.next += 1;
        Ok(Expression { at, kind })
    }

    fn call(&mut self, at: usize, name: &str) -> Checked<Expression> {
        let function = Function::of(name).ok_or_else(|| unknown(at, name))?;
        let open = self.peek().at;
        self.next += 1;
        let mut arguments = vec![self.or()?];
        while let Some((at, _)) = self.sign(&[","]) {
            if arguments.len() == function.most() {
                return Err(CutError::new(at, function.takes()));
            }
            arguments.push(self.or()?);
        }
        self.expect(")", open)?;
        if arguments.len() < function.least() {
            return Err(CutError::new(at, function.takes()));
        }
        Ok(Expression { at, kind: Kind::Call(function, arguments) })
    }

    fn expect(&mut self, close: &'static str, open: usize) -> Checked<()> {
        match self.sign(&[close]) {
            Some(_) => Ok(()),
            None if self.peek().kind == Word::End => Err(CutError::new(
                open,
                format!("this bracket is never closed: {close} is missing"),
            )),
            None => {
                Err(self
                    .unexpected(&format!("{close} was expected, not {}", shown(&self.peek().kind))))
            }
        }
    }
}

/// Returns the error for a function that does not exist, such as `np.sqrt`.
fn unknown(at: usize, name: &str) -> CutError {
    let own = name.rsplit('.').next().unwrap_or(name);
    let error = Error::invalid_argument(format!("there is no function {name}"));
    let error = match Function::like(own) {
        Some(exact) => error.suggest(exact, [exact]),
        None => error.suggest(own, Function::names()),
    };
    CutError { at, error }
}

/// Returns the path of the field whose items are taken.
pub(super) fn path(expression: &mut Expression) -> Option<&mut Vec<String>> {
    match &mut expression.kind {
        Kind::Field(path) => Some(path),
        Kind::Item(inner, _) => path(inner),
        _ => None,
    }
}

/// Joins the complete expression on the left of an operator with the expression on its right.
fn joined(at: usize, operator: Operator, left: Expression, right: Expression) -> Expression {
    let link = ChainedOperation { at, operator, right };
    let kind = match left.kind {
        Kind::Chain(first, mut links) => {
            links.push(link);
            Kind::Chain(first, links)
        }
        _ => Kind::Chain(Box::new(left), vec![link]),
    };
    Expression { at, kind }
}

fn shown(kind: &Word) -> String {
    match kind {
        Word::Integer(value) => value.to_string(),
        Word::Real(value) => value.to_string(),
        Word::Name { name, .. } => name.clone(),
        Word::Text(text) => format!("{text:?}"),
        Word::Sign(sign) => (*sign).to_owned(),
        Word::End => "the end".to_owned(),
    }
}
