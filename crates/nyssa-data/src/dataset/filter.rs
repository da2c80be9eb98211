//! Chooses columns by name.

use globset::{Glob, GlobSet, GlobSetBuilder};
use nyssa_root::error::{Error, Result};

use super::readable::LeftOut;
use super::{ColumnInfo, Dataset};

/// A selection of branches or fields by globs such as `Jet_*`.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let filter = nyssa::Filter::new(&["Muon_*".to_owned()], &["*_charge".to_owned()])?;
/// assert!(filter.takes("Muon_pt") && !filter.takes("Muon_charge") && !filter.takes("Jet_pt"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: GlobSet,
    exclude: GlobSet,
}

impl Filter {
    /// Makes the filter for names that match one of `include` (all names if it is empty) and none of `exclude`.
    ///
    /// # Errors
    /// `InvalidArgument` for a glob that does not parse.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        Ok(Self { include: globs(include)?, exclude: globs(exclude)? })
    }

    /// Returns whether the filter selects the column `name`.
    pub fn takes(&self, name: &str) -> bool {
        (self.include.is_empty() || self.include.is_match(name)) && !self.exclude.is_match(name)
    }
}

/// Refuses globs that match none of the `names` of columns: most likely they are misspelt.
///
/// # Errors
/// `NotFound`, with the most similar names; `InvalidArgument` for a glob that does not parse.
pub fn check_patterns(patterns: &[String], names: &[&str]) -> Result<()> {
    for pattern in patterns {
        let matcher = glob(pattern)?.compile_matcher();
        if !names.iter().any(|name| matcher.is_match(name)) {
            return Err(no_match("branch", pattern, names.iter().copied()));
        }
    }
    Ok(())
}

/// Returns the error for a glob that matches none of `names`, which are the names of `what`, such as a branch. It suggests
/// the most similar names.
pub fn no_match<'n>(what: &str, pattern: &str, names: impl IntoIterator<Item = &'n str>) -> Error {
    let names: Vec<&str> = names.into_iter().collect();
    let message = format!("no {what} matches {pattern:?}");
    let parts: Vec<&str> = pattern.split(',').map(str::trim).collect();
    let matches = |part: &&str| {
        let matcher = glob(part).map(|glob| glob.compile_matcher());
        matcher.is_ok_and(|matcher| names.iter().any(|name| matcher.is_match(name)))
    };
    if parts.len() > 1 && parts.iter().all(matches) {
        let together = parts.join(",");
        return Error::not_found(format!(
            "{message}: it is one name with a comma; name each {what} on its own, or write \"{{{together}}}\""
        ));
    }
    Error::not_found(message).suggest(pattern, names)
}

/// Returns the columns whose names match one of the globs `patterns`, or all columns if there are no patterns.
///
/// A pattern that matches no column selects the subcolumn of this name, and the subcolumns that it matches.
///
/// # Errors
/// `InvalidArgument` for a glob that does not parse.
pub fn select_columns<'d>(
    dataset: &'d dyn Dataset,
    patterns: &[String],
) -> Result<Vec<&'d ColumnInfo>> {
    let filter = Filter::new(patterns, &[])?;
    let columns = || dataset.columns().iter();
    let mut chosen: Vec<_> = columns().filter(|item| filter.takes(&item.name)).collect();
    for pattern in patterns {
        let filter = Filter::new(std::slice::from_ref(pattern), &[])?;
        if columns().any(|item| filter.takes(&item.name)) {
            continue;
        }
        let named = dataset.find_column(pattern).filter(|_| !dataset.subcolumns().is_empty());
        let below = dataset.subcolumns().iter().filter(|item| filter.takes(&item.name));
        for item in named.into_iter().chain(below) {
            if !chosen.iter().any(|other| other.name == item.name) {
                chosen.push(item);
            }
        }
    }
    Ok(chosen)
}

/// Divides the columns that [`select_columns`] returns into columns that can be read and columns that are left out.
///
/// # Errors
/// `InvalidArgument` for a glob that does not parse.
pub fn select_readable<'d>(
    dataset: &'d dyn Dataset,
    patterns: &[String],
) -> Result<(Vec<&'d ColumnInfo>, Vec<LeftOut>)> {
    let mut readable = Vec::new();
    let mut left_out = Vec::new();
    for column in select_columns(dataset, patterns)? {
        match &column.field {
            Ok(_) => readable.push(column),
            Err(reason) => {
                left_out.push(LeftOut { column: column.name.clone(), reason: reason.clone() });
            }
        }
    }
    Ok((readable, left_out))
}

/// Parses a glob.
///
/// # Errors
/// `InvalidArgument` for a glob that does not parse.
pub fn glob(pattern: &str) -> Result<Glob> {
    Glob::new(pattern).map_err(|error| {
        Error::invalid_argument(format!("{pattern:?} is not a glob: {}", error.kind()))
    })
}

fn globs(patterns: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(glob(pattern)?);
    }
    set.build().map_err(|error| Error::invalid_argument(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        let own = |globs: &[&str]| globs.iter().map(|&glob| glob.to_owned()).collect::<Vec<_>>();
        Filter::new(&own(include), &own(exclude)).unwrap()
    }

    #[test]
    fn exclude_is_stronger_than_include() {
        let jets = filter(&["Jet_*", "nJet"], &["Jet_raw*"]);
        assert!(jets.takes("Jet_pt") && jets.takes("nJet"));
        assert!(!jets.takes("Jet_rawPt") && !jets.takes("Muon_pt"));
        assert!(filter(&[], &[]).takes("anything"));
    }

    #[test]
    fn a_glob_that_matches_nothing_gets_a_hint() {
        let names = ["Jet_pt", "Jet_eta", "Muon_pt", "run"];
        for (glob, message) in [
            ("Jet_ptt", "no branch matches \"Jet_ptt\"; did you mean \"Jet_pt\"?"),
            ("Muno_*", "no branch matches \"Muno_*\"; did you mean \"Muon_*\"?"),
            ("*Tau*", "no branch matches \"*Tau*\""),
            (
                "run, Jet_*",
                "no branch matches \"run, Jet_*\": it is one name with a comma; name each branch on its own, or write \
                 \"{run,Jet_*}\"",
            ),
            ("run,tau", "no branch matches \"run,tau\"; did you mean \"run\"?"),
        ] {
            assert_eq!(no_match("branch", glob, names).to_string(), message);
        }
    }

    #[test]
    fn a_bad_glob_is_named() {
        let error = Filter::new(&["Jet_[".to_owned()], &[]).unwrap_err().to_string();
        assert!(error.starts_with("\"Jet_[\" is not a glob: "), "{error}");
    }
}
