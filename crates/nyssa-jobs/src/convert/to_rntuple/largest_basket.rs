//! Finds the largest entries of a tree before its data are read. The tables of baskets give the number of entries of
//! each basket, the keys give the decompressed sizes of baskets, and the offsets give the sizes of entries.

use std::ops::Range;

use nyssa_ttree::{Basket, Branch, Reader};

use super::clusters::fixed;
use super::model::Input;
use crate::heuristics::convert;
use crate::job::largest_part::DataPart;

/// Returns the basket of `inputs` that needs the most memory, and the path of its branch. `memory` is the budget in
/// bytes. A branch that cannot exceed it is not checked.
pub(super) fn largest<'a>(
    reader: &Reader,
    inputs: impl Iterator<Item = &'a Input<'a>>,
    entries: &Range<u64>,
    memory: u64,
) -> Option<(DataPart, String)> {
    let mut branches = Vec::new();
    inputs.for_each(|input| with_members(input.branch, &mut branches));
    let mut largest: Option<(DataPart, &Branch)> = None;
    let mut add = |part: DataPart, branch| {
        let known = largest.as_ref().map_or(DataPart::default(), |(known, _)| known.clone());
        if known.clone().or_larger(part.clone()) != known {
            largest = Some((part, branch));
        }
    };
    let mut unknown = Vec::new();
    for branch in branches {
        let inside = branch.baskets.iter().filter(|item| {
            item.first_entry < entries.end && range(item).end > entries.start && item.entries > 0
        });
        match fixed(branch, &(0..1)) {
            Some(entry) => {
                let bytes = |basket: &Basket| entry.saturating_mul(basket.entries);
                inside.for_each(|item| {
                    add(DataPart::new(range(item), bytes(item), bytes(item)), branch)
                });
            }
            None => unknown.extend(probably_large(branch, inside, memory)),
        }
    }
    unknown.sort_by(|(item, ..), (other, ..)| other.total_cmp(item));
    unknown.truncate(convert::LARGEST_KEYS);
    let baskets: Vec<_> = unknown.iter().map(|(_, _, basket)| *basket).collect();
    // A basket that cannot be read is an error when its values are read.
    let sizes = reader.uncompressed_sizes(&baskets).unwrap_or_default();
    let mut of_several: Option<(u64, &Branch, &Basket)> = None;
    for (&(_, branch, basket), size) in unknown.iter().zip(sizes) {
        let Some(size) = size else { continue };
        add(DataPart::new(range(basket), size, size), branch);
        if basket.entries > 1 && of_several.is_none_or(|(largest, ..)| size > largest) {
            of_several = Some((size, branch, basket));
        }
    }
    // The offsets of the largest basket with several entries give the size of its largest entry.
    if let Some((unpacked, branch, basket)) = of_several
        && unpacked.saturating_mul(2) > memory
        && let Ok(Some(entry)) = reader.largest_entry(basket)
    {
        add(DataPart { entries: range(basket), unpacked, entry }, branch);
    }
    largest.map(|(part, branch)| (part, branch.path.clone()))
}

/// Adds a branch, or the branches of the members of a split branch. Branches in other files are left out.
fn with_members<'a>(branch: &'a Branch, all: &mut Vec<&'a Branch>) {
    match &branch.split {
        Some(_) => branch.branches.iter().for_each(|member| with_members(member, all)),
        None if branch.is_elsewhere => {}
        None => all.push(branch),
    }
}

fn range(basket: &Basket) -> Range<u64> {
    basket.first_entry..basket.first_entry.saturating_add(basket.entries)
}

/// Returns the baskets of a branch with their approximate decompressed bytes. Returns none if all together are so
/// small that no entry can exceed the memory.
fn probably_large<'a>(
    branch: &'a Branch,
    baskets: impl Iterator<Item = &'a Basket>,
    memory: u64,
) -> Vec<(f64, &'a Branch, &'a Basket)> {
    let baskets: Vec<_> = baskets.filter(|basket| basket.bytes > 0).collect();
    let stored = baskets.iter().map(|basket| basket.bytes).fold(0, u64::saturating_add);
    let all = branch.stated.uncompressed_bytes.max(stored);
    if all.saturating_mul(2) <= memory {
        return Vec::new();
    }
    let factor = all as f64 / stored.max(1) as f64;
    baskets.into_iter().map(|basket| (basket.bytes as f64 * factor, branch, basket)).collect()
}
