//! Reports the cycles that are not merged, because another cycle of the object is merged.

use std::collections::{BTreeMap, HashSet};

use super::input_file::{InputFile, OtherCycle};
use crate::job::others::{OtherObjects, other_cycle, path_of};

/// Adds the cycles to the objects that are left out, with the numbers of their inputs. A cycle that several inputs
/// have is reported once. A cycle that is an input itself is not left out.
pub(super) fn name(cycles: &[(usize, OtherCycle)], files: &[InputFile], others: &mut OtherObjects) {
    let all = |file: &'_ InputFile| {
        file.datasets().map(|dataset| (file.location.clone(), dataset)).collect::<Vec<_>>()
    };
    let given: HashSet<_> = files.iter().flat_map(all).collect();
    let is_given = |number: usize, item: &OtherCycle| {
        let file = files.get(number).map(|file| file.location.clone());
        file.is_some_and(|file| given.contains(&(file, path_of(&item.key))))
    };
    let mut named: BTreeMap<String, (&OtherCycle, Vec<usize>)> = BTreeMap::new();
    for (number, item) in cycles.iter().filter(|(number, item)| !is_given(*number, item)) {
        let (_, numbers) = named.entry(path_of(&item.key)).or_insert((item, Vec::new()));
        numbers.push(*number);
    }
    for (item, numbers) in named.into_values() {
        let what = if item.is_refused { "is newer" } else { "was merged" };
        let reason = other_cycle(item.merged, what);
        others.leave_out(&item.key, &format!("{reason} (in {})", listed(&numbers, files)));
    }
}

/// Returns the name of the first file, and the number of the other files.
fn listed(numbers: &[usize], files: &[InputFile]) -> String {
    let first = numbers.first().and_then(|&first| files.get(first));
    let first = first.map_or("", |file| &file.name);
    match numbers.len() {
        0 | 1 => first.to_owned(),
        2 => format!("{first} and one more input"),
        all => format!("{first} and {} more inputs", all - 1),
    }
}
