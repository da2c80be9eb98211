//! Aliases: named expressions, such as those of a TTree, that cuts use by their names.

use super::expression::{Expression, Kind};
use super::{Checked, Cut, Fault, parse};
use crate::dataset::ColumnInfo;
use crate::error::Result;

/// Most parts of a cut with all aliases in it: the depth of the tree is bounded by them.
const MAX_PARTS: usize = 2000;

/// Replaces names by what they stand for.
struct Aliases<'a> {
    columns: &'a [ColumnInfo],
    formulas: &'a [(String, String)],
    /// The aliases that are being replaced, one within the other.
    open: Vec<String>,
    parts: usize,
}

impl Cut {
    /// The cut with each alias that it names replaced by its formula. A column goes before an alias of
    /// the same name. Names with points, such as `friend.branch`, are taken together where they are
    /// those of a column.
    ///
    /// # Errors
    /// `InvalidArgument` naming the alias whose formula is no expression of cuts, or that needs itself.
    pub fn with_aliases(
        self,
        columns: &[ColumnInfo],
        formulas: &[(String, String)],
    ) -> Result<Self> {
        let Self { text, mut expression, .. } = self;
        let parts = expression.parts();
        let mut aliases = Aliases { columns, formulas, open: Vec::new(), parts };
        aliases.replace(&mut expression).map_err(|fault| fault.show(&text))?;
        let mut fields = Vec::new();
        expression.fields(&mut fields);
        Ok(Self { text, expression, fields })
    }
}

impl Aliases<'_> {
    fn replace(&mut self, expression: &mut Expression) -> Checked<()> {
        let at = expression.at;
        if let Kind::Field(path) = &mut expression.kind {
            if self.is_column(&path[..1.min(path.len())]) {
                return Ok(());
            }
            if let Some(count) = (2..=path.len()).rev().find(|&n| self.is_column(&path[..n])) {
                let name = path[..count].join(".");
                path.splice(..count, [name]);
                return Ok(());
            }
            let path = std::mem::take(path);
            expression.kind = self.formula(at, path)?;
            return Ok(());
        }
        expression.children_mut().into_iter().try_for_each(|child| self.replace(child))
    }

    fn is_column(&self, path: &[String]) -> bool {
        let name = path.join(".");
        self.columns.iter().any(|item| item.name == name)
    }

    /// What a path stands for: itself, where its beginning is no alias.
    fn formula(&mut self, at: usize, path: Vec<String>) -> Checked<Kind> {
        let found = path.split_first().and_then(|(name, members)| {
            let (_, formula) = self.formulas.iter().find(|(alias, _)| alias == name)?;
            Some((name.clone(), members.to_vec(), formula))
        });
        let Some((name, members, formula)) = found else { return Ok(Kind::Field(path)) };
        if self.open.contains(&name) {
            let names = self.open.join(" -> ");
            return Err(Fault::new(
                at,
                format!("the alias {name:?} needs itself: {names} -> {name}"),
            ));
        }
        let wrong =
            |message: &str| Fault::new(at, format!("the alias {name:?} ({formula}): {message}"));
        let mut inner = parse::parse(formula).map_err(|fault| wrong(fault.error.message()))?;
        self.parts += inner.parts();
        if self.parts > MAX_PARTS {
            return Err(wrong("with it the cut has too many parts"));
        }
        if !members.is_empty() {
            let path = parse::path(&mut inner).ok_or_else(|| wrong("only fields have members"))?;
            path.extend(members);
        }
        self.open.push(name.clone());
        self.replace(&mut inner).map_err(|fault| Fault { at, error: fault.error })?;
        self.open.pop();
        Ok(Kind::Alias(name, Box::new(inner)))
    }
}
