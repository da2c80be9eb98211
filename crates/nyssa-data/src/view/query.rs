//! Defines the queries of a user: columns, some of which are expressions, of the entries that pass a cut.

use std::ops::Range;
use std::sync::Arc;

use nyssa_root::Context;
use nyssa_root::error::Result;

use super::computed::named_columns;
use super::{Computed, Selected};
use crate::cut::{Cut, Formula};
use crate::dataset::{AnyDataset, Dataset, glob};

/// Names and formulas of aliases.
pub type Aliases = Vec<(String, String)>;

/// Expressions and cuts, with their aliases replaced.
#[derive(Clone, Debug, Default)]
pub struct Query {
    cuts: Vec<Cut>,
    formulas: Vec<Formula>,
}

impl Query {
    /// Finds the expressions among `names`: names that are neither a column nor a glob of columns. The expressions
    /// and the cut may use the `aliases`, and the aliases that `stored` returns. `stored` is called if a name is not
    /// known otherwise.
    ///
    /// # Errors
    /// `InvalidArgument` for text that does not parse, with its place; `NotFound` for unknown names; an error if
    /// `stored` fails.
    pub fn new(
        dataset: &dyn Dataset,
        names: &[String],
        cut: Option<&str>,
        aliases: Aliases,
        stored: impl Fn() -> Result<Aliases>,
    ) -> Result<Self> {
        Self::with_cuts(dataset, names, cut.as_slice(), aliases, stored)
    }

    /// Finds the expressions as [`Query::new`] does, for several cuts, which an entry must all pass.
    ///
    /// # Errors
    /// `InvalidArgument` for text that does not parse, with its place; `NotFound` for unknown names; an error if
    /// `stored` fails.
    pub fn with_cuts(
        dataset: &dyn Dataset,
        names: &[String],
        cuts: &[&str],
        aliases: Aliases,
        stored: impl Fn() -> Result<Aliases>,
    ) -> Result<Self> {
        let mut words = Words { dataset, aliases, stored: Some(stored) };
        let mut formulas: Vec<Formula> = Vec::new();
        for name in names {
            if let Some(formula) = words.expression(name)?
                && !formulas.iter().any(|known| known.to_string() == formula.to_string())
            {
                formulas.push(formula);
            }
        }
        let cut = |cut: &&str| words.replaced(Formula::parse(cut)?).map(Cut::from);
        Ok(Self { cuts: cuts.iter().map(cut).collect::<Result<_>>()?, formulas })
    }

    /// Returns whether the query has neither a cut nor an expression.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.formulas.is_empty()
    }

    /// Returns the expressions.
    pub(crate) fn formulas(&self) -> &[Formula] {
        &self.formulas
    }

    /// Returns the cut of [`Query::new`], if it can be evaluated on the columns of this dataset.
    ///
    /// # Errors
    /// As for [`Cut::check`].
    pub(crate) fn checked_cut(&self, dataset: &dyn Dataset) -> Result<Option<Cut>> {
        let Some(cut) = self.cuts.first() else { return Ok(None) };
        cut.check(&named_columns(dataset, cut.fields()))?;
        Ok(Some(cut.clone()))
    }

    /// Returns the names of the columns that the expressions and the cut need.
    pub fn fields(&self) -> Vec<String> {
        let cut = self.cuts.iter().flat_map(Cut::fields);
        cut.chain(self.formulas.iter().flat_map(Formula::fields)).cloned().collect()
    }

    /// Applies the query to `entries` of a dataset. Reads the columns of the cut.
    ///
    /// # Errors
    /// `NotFound` and `InvalidArgument` for expressions that do not fit the columns; an error if the columns of the
    /// cut cannot be read.
    pub fn apply(
        &self,
        dataset: AnyDataset,
        entries: Range<u64>,
        context: &Context,
    ) -> Result<QueryResult> {
        let mut result = QueryResult { dataset, entries, selected: None, passed: Vec::new() };
        if !self.cuts.is_empty() {
            let (selected, passed) =
                Selected::passing_all(result.dataset, &self.cuts, result.entries, context)?;
            result.passed = passed;
            let selected = Arc::new(selected);
            result.entries = 0..selected.num_entries();
            result.dataset = Arc::<Selected<AnyDataset>>::clone(&selected);
            result.selected = Some(selected);
        }
        if !self.formulas.is_empty() {
            result.dataset = Arc::new(Computed::new(result.dataset, self.formulas.clone())?);
        }
        Ok(result)
    }
}

/// The result of a query on some entries of a dataset.
pub struct QueryResult {
    /// The dataset with the columns of the expressions.
    pub dataset: AnyDataset,
    /// Its entries: the entries that pass the cut, or the entries of the other dataset if there is no cut.
    pub entries: Range<u64>,
    /// The entries that pass the cut. `None` without a cut.
    pub selected: Option<Arc<Selected<AnyDataset>>>,
    /// The numbers of entries that pass each cut and all cuts before it.
    pub passed: Vec<u64>,
}

/// The words that expressions can use.
struct Words<'a, F> {
    dataset: &'a dyn Dataset,
    aliases: Aliases,
    /// Returns further aliases. `None` after the first call.
    stored: Option<F>,
}

impl<F: Fn() -> Result<Aliases>> Words<'_, F> {
    fn is_column(&self, name: &str) -> bool {
        self.dataset.find_column(name).is_some()
    }

    fn is_alias(&self, name: &str) -> bool {
        self.aliases.iter().any(|(alias, _)| alias == name)
    }

    /// Returns whether all names are known. If some are not, gets the stored aliases, and checks again.
    fn knows(&mut self, names: &[String]) -> Result<bool> {
        let known =
            |words: &Self| names.iter().all(|name| words.is_column(name) || words.is_alias(name));
        if known(self) {
            return Ok(true);
        }
        if let Some(stored) = self.stored.take() {
            let stored = stored()?;
            let new: Aliases =
                stored.into_iter().filter(|(name, _)| !self.is_alias(name)).collect();
            self.aliases.extend(new);
        }
        Ok(known(self))
    }

    /// Returns the formula with all aliases replaced.
    fn replaced(&mut self, formula: Formula) -> Result<Formula> {
        let once = formula.clone().with_aliases(&|name| self.is_column(name), &self.aliases)?;
        let before = self.aliases.len();
        match self.knows(once.fields())? && self.aliases.len() == before {
            true => Ok(once),
            false => formula.with_aliases(&|name| self.is_column(name), &self.aliases),
        }
    }

    /// Returns the expression in `text`, if the text is neither a column nor a pattern of columns.
    fn expression(&mut self, text: &str) -> Result<Option<Formula>> {
        if self.is_column(text) {
            return Ok(None);
        }
        let parsed = Formula::parse(text).and_then(|formula| self.replaced(formula));
        let formula = match parsed {
            Ok(formula) if self.knows(formula.fields())? => return Ok(Some(formula)),
            parsed => parsed,
        };
        if text.starts_with('/') || self.is_pattern(text) {
            return Ok(None);
        }
        match formula {
            Ok(formula) if formula.is_name() => Ok(None),
            Err(_) if may_be_name(text) && !self.is_alias(text) => Ok(None),
            // The error names the unknown name.
            formula => {
                let formula = formula?;
                formula.field(&named_columns(self.dataset, formula.fields()))?;
                Ok(Some(formula))
            }
        }
    }

    /// Returns whether the text is a glob that matches a column.
    fn is_pattern(&self, text: &str) -> bool {
        let Ok(glob) = glob(text) else { return false };
        let glob = glob.compile_matcher();
        let all = || self.dataset.columns().iter().chain(self.dataset.subcolumns());
        all().any(|column| glob.is_match(&column.name))
    }
}

/// Characters of expressions that are in neither names nor patterns.
const SIGNS: [char; 16] =
    ['<', '>', '=', '&', '|', '(', ')', '+', '%', '^', '~', ' ', '\n', '"', '\'', '`'];

/// Returns whether a text that does not parse may be a name or a pattern. Brackets of patterns are closed.
fn may_be_name(text: &str) -> bool {
    let opened = text.matches('[').count();
    !text.contains(SIGNS) && opened == text.matches(']').count() && glob(text).is_ok()
}
