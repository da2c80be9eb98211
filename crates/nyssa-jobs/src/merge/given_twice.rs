//! Notes inputs that are given more than once.

use std::collections::BTreeMap;

use nyssa_io::OpenOptions;
use nyssa_root::error::Error;
use nyssa_root::rootfile::RootFile;

use crate::open::{datasets, split_path};

/// Returns a note on each input that is given more than once, possibly by another name or through a link.
pub(super) fn given_twice(inputs: &[String], options: &OpenOptions) -> Vec<String> {
    let mut files: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        files.entry(nyssa_io::identity(&*split_path(input).0)).or_default().push(number);
    }
    let several = files.into_iter().filter(|(file, all)| file.is_some() && all.len() > 1);
    let several = several.flat_map(|(_, all)| by_object(inputs, &all, options));
    let several = several.filter(|all| all.len() > 1);
    let note = |all: Vec<usize>| {
        let times =
            if all.len() == 2 { "twice".to_owned() } else { format!("{} times", all.len()) };
        let first = all.first().map_or("", |&first| inputs[first].as_str());
        let first = nyssa_io::shown(first);
        format!("input {first} is given {times}: its entries are in the output {times}")
    };
    several.map(note).collect()
}

/// Groups inputs of one file by their objects. An object may be named in several ways, and a file without a path
/// means its only dataset, or the dataset that the other inputs name.
fn by_object(inputs: &[String], numbers: &[usize], options: &OpenOptions) -> Vec<Vec<usize>> {
    let named = |number: usize| split_path(&inputs[number]);
    let object = |number: usize| named(number).1;
    let Some(&first) = numbers.first() else { return Vec::new() };
    if numbers.iter().all(|&number| object(number) == object(first)) {
        return vec![numbers.to_vec()];
    }
    // The merge has already opened this file.
    let file = nyssa_io::open_with(&*named(first).0, options);
    let Ok(file) = file.map_err(Error::from).and_then(RootFile::open) else { return Vec::new() };
    let key = |number: usize| file.find(object(number)?).ok().map(|key| (key.path, key.cycle));
    let usual = match datasets(&file).as_deref() {
        Ok([only]) => Some((only.path.clone(), only.cycle)),
        _ => numbers.iter().find_map(|&number| key(number)),
    };
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for &number in numbers {
        groups.entry(key(number).or_else(|| usual.clone())).or_default().push(number);
    }
    groups.into_values().collect()
}
