//! Says which globs concern which datasets, if a file is taken whole: a glob has to match something in one of them.

use nyssa_root::error::{Error, Kind, Result};

/// The globs of the columns that are taken, and of those that are left out.
pub(crate) type Globs = (Vec<String>, Vec<String>);

/// The reason why a dataset of a whole file is left out.
pub(crate) const NO_MATCH: &str = "none of the globs of include matches something in it";

/// Returns the globs that match something in each dataset. `None` is for a dataset in which none of `include` matches.
/// `probe` takes from a dataset what matches a glob. Globs for a single dataset are not changed.
///
/// # Errors
/// `NotFound` for a glob that matches nothing in any of the datasets.
pub(crate) fn of_each<T>(
    datasets: &[T],
    (include, exclude): (&[String], &[String]),
    probe: impl Fn(&T, &str) -> Result<()>,
) -> Result<Vec<Option<Globs>>> {
    if datasets.len() < 2 {
        return Ok(vec![Some((include.to_vec(), exclude.to_vec())); datasets.len()]);
    }
    let mut each = vec![Globs::default(); datasets.len()];
    for (glob, is_included) in
        include.iter().map(|glob| (glob, true)).chain(exclude.iter().map(|glob| (glob, false)))
    {
        let (mut unmatched, mut is_known): (Option<Error>, bool) = (None, false);
        for (dataset, globs) in datasets.iter().zip(&mut each) {
            match probe(dataset, glob) {
                Err(error) if error.kind() == Kind::NotFound => {
                    unmatched.get_or_insert(error);
                }
                // Other errors are for the job that takes the dataset.
                _ => {
                    is_known = true;
                    let list = if is_included { &mut globs.0 } else { &mut globs.1 };
                    list.push(glob.clone());
                }
            }
        }
        if let Some(error) = unmatched.filter(|_| !is_known) {
            return Err(error);
        }
    }
    let some = |globs: Globs| (include.is_empty() || !globs.0.is_empty()).then_some(globs);
    Ok(each.into_iter().map(some).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_matches_in_one_dataset() {
        let probe = |name: &&str, glob: &str| match name.contains(glob) {
            true => Ok(()),
            false => Err(Error::not_found(format!("{glob} in {name}"))),
        };
        let strings = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let filters = |include: &[&str], exclude: &[&str]| {
            of_each(&["ab", "bc", "cd"], (&strings(include), &strings(exclude)), probe)
        };
        let ab = Some((strings(&["b"]), strings(&["a"])));
        let bc = Some((strings(&["b"]), strings(&[])));
        assert_eq!(filters(&["b"], &["a"]).unwrap(), [ab, bc, None]);
        let cd = Some((strings(&[]), strings(&["d"])));
        let none = Some(Globs::default());
        assert_eq!(filters(&[], &["d"]).unwrap(), [none.clone(), none, cd]);
        assert_eq!(filters(&["b", "x"], &[]).unwrap_err().message(), "x in ab");
        assert_eq!(filters(&["b"], &["x"]).unwrap_err().message(), "x in ab");
    }
}
