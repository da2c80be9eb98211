//! Says which globs concern which datasets, if a file is taken whole: a glob has to match something in one of them.

use nyssa_rntuple::choose::FieldOptions;
use nyssa_rntuple::schema::Schema;
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

/// Drops the options of fields whose globs match nothing in a dataset. All datasets have the same options. Options for a
/// single dataset are not changed.
///
/// # Errors
/// `InvalidArgument` for a glob that matches nothing in any of the datasets.
pub(crate) fn drop_unmatched(datasets: &mut [(&Schema, &mut Vec<FieldOptions>)]) -> Result<()> {
    if datasets.len() < 2 {
        return Ok(());
    }
    let count = datasets.first().map_or(0, |(_, options)| options.len());
    for at in 0..count {
        let options = datasets.iter().filter_map(|(schema, all)| Some((*schema, all.get(at)?)));
        let matches = options.map(|(schema, options)| options.require_match(schema));
        let matches: Vec<_> = matches.collect();
        if matches.iter().all(Result::is_err) {
            return matches.into_iter().collect();
        }
    }
    for (schema, options) in datasets {
        options.retain(|options| options.require_match(schema).is_ok());
    }
    Ok(())
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

    #[test]
    fn options_of_fields_match_in_one_dataset() {
        let schema = |name: &str| {
            let mut schema = Schema::default();
            let structure = nyssa_rntuple::schema::Structure::Leaf;
            schema.add_field(nyssa_rntuple::schema::Field::new(None, name, "float", structure));
            schema
        };
        let (jets, runs) = (schema("Jet_pt"), schema("run"));
        let settle = |globs: &[&str]| {
            let all: Vec<_> = globs.iter().map(|glob| FieldOptions::new(glob).unwrap()).collect();
            let (mut first, mut second) = (all.clone(), all);
            drop_unmatched(&mut [(&jets, &mut first), (&runs, &mut second)])?;
            let names = |all: Vec<FieldOptions>| {
                all.iter().map(|options| options.glob().to_owned()).collect::<Vec<_>>()
            };
            Ok::<_, Error>((names(first), names(second)))
        };
        let (first, second) = settle(&["Jet_*", "*", "run"]).unwrap();
        assert_eq!(
            (first, second),
            (vec!["Jet_*".into(), "*".into()], vec!["*".into(), "run".into()])
        );
        assert!(settle(&["run", "Muon_*"]).unwrap_err().message().contains("\"Muon_*\""));
        // A single dataset refuses them itself.
        let mut alone = vec![FieldOptions::new("x").unwrap()];
        drop_unmatched(&mut [(&jets, &mut alone)]).unwrap();
        assert_eq!(alone.len(), 1);
    }
}
