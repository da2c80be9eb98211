//! Replaces aliases in expressions. An alias is a named expression, such as the aliases of a TTree.

use nyssa_root::error::Result;

use super::expression::{Expression, Kind};
use super::{Checked, CutError, Formula, parse};

/// The largest number of parts of an expression, including the parts of its aliases.
const MAX_PARTS: usize = 2000;

/// Replaces the names of aliases by their expressions.
struct Aliases<'a> {
    is_column: &'a dyn Fn(&str) -> bool,
    formulas: &'a [(String, String)],
    /// The nested aliases that are being replaced.
    open: Vec<String>,
    parts: usize,
}

impl Formula {
    /// Returns the expression with each alias replaced by its formula. A name that is both a column and an alias
    /// means the column. A name with points, such as `friend.branch`, is one name if it is the name of a column.
    ///
    /// # Errors
    /// `InvalidArgument` with the name of an alias whose formula does not parse, or that depends on itself.
    pub fn with_aliases(
        self,
        is_column: &dyn Fn(&str) -> bool,
        formulas: &[(String, String)],
    ) -> Result<Self> {
        let Self { text, mut expression, .. } = self;
        let parts = expression.parts();
        let mut aliases = Aliases { is_column, formulas, open: Vec::new(), parts };
        aliases.replace(&mut expression, 1).map_err(|fault| fault.show(&text))?;
        Ok(Self::of(text, expression))
    }
}

impl Aliases<'_> {
    /// Replaces the aliases in an expression at depth `depth` of the tree.
    fn replace(&mut self, expression: &mut Expression, depth: usize) -> Checked<()> {
        let at = expression.at;
        if let Kind::Field(path) = &mut expression.kind {
            // The longest name: only the member of a record is needed.
            if let Some(count) = (1..=path.len()).rev().find(|&n| self.is_column(&path[..n])) {
                let name = path[..count].join(".");
                path.splice(..count, [name]);
                return Ok(());
            }
            let path = std::mem::take(path);
            expression.kind = self.formula(at, path, depth)?;
            return Ok(());
        }
        let mut children = expression.children_mut().into_iter();
        children.try_for_each(|child| self.replace(child, depth + 1))
    }

    fn is_column(&self, path: &[String]) -> bool {
        (self.is_column)(&path.join("."))
    }

    /// Returns the expression of a path. If the path does not begin with an alias, this is the path itself.
    fn formula(&mut self, at: usize, path: Vec<String>, depth: usize) -> Checked<Kind> {
        let definition = path.split_first().and_then(|(name, members)| {
            let (_, formula) = self.formulas.iter().find(|(alias, _)| alias == name)?;
            Some((name.clone(), members.to_vec(), formula))
        });
        let Some((name, members, formula)) = definition else { return Ok(Kind::Field(path)) };
        if self.open.contains(&name) {
            let names = self.open.join(" -> ");
            return Err(CutError::new(
                at,
                format!("the alias {name:?} needs itself: {names} -> {name}"),
            ));
        }
        let wrong =
            |message: &str| CutError::new(at, format!("the alias {name:?} ({formula}): {message}"));
        let mut inner = parse::parse(formula).map_err(|fault| wrong(fault.error.message()))?;
        self.parts += inner.parts();
        if self.parts > MAX_PARTS {
            return Err(wrong("with it the expression has too many parts"));
        }
        if depth + inner.depth() > parse::MAX_DEPTH {
            return Err(wrong("with it the expression is nested too deeply"));
        }
        if !members.is_empty() {
            let path = parse::path(&mut inner).ok_or_else(|| wrong("only fields have members"))?;
            path.extend(members);
        }
        self.open.push(name.clone());
        self.replace(&mut inner, depth + 1).map_err(|fault| CutError { at, error: fault.error })?;
        self.open.pop();
        Ok(Kind::Alias(name, Box::new(inner)))
    }
}
