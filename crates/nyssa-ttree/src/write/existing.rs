//! Makes the plan of a tree that is in the file: its branches, and the columns that fill them. A branch that cannot be
//! filled is refused by its name.

use std::collections::HashMap;

use nyssa_root::arrow::Number;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};

use super::form::{BranchForm, Content, LeafForm};
use super::options::BranchSettings;
use super::plan::{Plan, Shape};
use super::vector::VectorForm;
use crate::model::{Branch, CountSource, Element, Leaf, Shape as Kind, Tree};
use crate::stored::{StoredBranch, StoredTree};

/// Returns the plan of a tree, and how its branches are stored. `default` is the compression of branches that do not
/// state their own.
///
/// # Errors
/// `Unsupported` with the first branch that entries cannot be added to.
pub(super) fn plan(
    tree: &Tree,
    stored: &StoredTree,
    default: Compression,
) -> Result<(Plan, Vec<BranchSettings>)> {
    let counters = counters(tree)?;
    let (mut plan, mut settings) = (Plan::default(), Vec::new());
    for (at, (branch, own)) in tree.branches.iter().zip(&stored.branches).enumerate() {
        // The two lists of branches agree up to the first branch with sub-branches, which is refused.
        let formed = branch_form(branch, own, at, &counters);
        let (form, shape) = formed.in_field(&branch.path)?;
        let compression = compression(own, default);
        settings.push(BranchSettings::stored(compression, own.basket_size));
        plan.branches.push(form);
        plan.columns.push((branch.path.clone(), shape));
    }
    Ok((plan, settings))
}

/// Returns the compression of the new baskets of a branch.
fn compression(branch: &StoredBranch, default: Compression) -> Compression {
    match Compression::of_setting(branch.compression) {
        // uproot states no compression, whatever its baskets have.
        Some(Compression { level: 0, .. }) if branch.bytes.1 < branch.bytes.0 => default,
        Some(compression) => compression,
        None => default,
    }
}

/// Returns the numbers of the branches that count the items of other branches, by their paths.
fn counters(tree: &Tree) -> Result<HashMap<&str, usize>> {
    let mut counters = HashMap::new();
    for branch in &tree.branches {
        let Some(source) = counter_of(branch) else { continue };
        let found = tree.branches.iter().position(|one| one.path == source.branch);
        let found = found.filter(|&at| tree.branches[at].leaves.len() == 1);
        let found = found.ok_or_else(|| {
            refused(&format!("its counter {} is one of several leaves", source.leaf))
        });
        counters.insert(source.branch.as_str(), found.in_field(&branch.path)?);
    }
    Ok(counters)
}

fn counter_of(branch: &Branch) -> Option<&CountSource> {
    branch.shape.as_ref().ok().and_then(Kind::counter)
}

/// Returns the form of a branch, and the shape of its column.
fn branch_form(
    branch: &Branch,
    stored: &StoredBranch,
    at: usize,
    counters: &HashMap<&str, usize>,
) -> Result<(BranchForm, Shape)> {
    if !branch.branches.is_empty() {
        return Err(refused("it has sub-branches"));
    }
    let counter = counter_of(branch).and_then(|source| counters.get(source.branch.as_str()));
    let counter = counter.copied();
    let (content, shape) = match &branch.shape {
        Ok(Kind::Plain(plain)) => match (plain.element, plain.element.number()) {
            (Element::CString, _) => (Content::Text, Shape::Text(at)),
            (_, Some(number)) if counters.contains_key(branch.path.as_str()) => {
                if number.is_float() || !plain.dimensions.is_empty() || counter.is_some() {
                    return Err(refused(
                        "it counts the items of another branch, and is no integer",
                    ));
                }
                (Content::Counter(number), Shape::Counter(at))
            }
            (_, Some(number)) => {
                let leaf = leaf_form(&branch.name, number, &plain.dimensions);
                let shape = Shape::Leaf(at);
                let shape = match counter {
                    Some(counter) => Shape::List(counter, Box::new(shape)),
                    None => shape,
                };
                (Content::Leaves(vec![leaf]), shape)
            }
            (_, None) => return Err(refused("its type cannot be written")),
        },
        Ok(Kind::LeafList) => {
            let leaf = |leaf: &Leaf| {
                let number = leaf.element.and_then(Element::number);
                let number = number.ok_or_else(|| refused("one of its leaves is no number"))?;
                Ok(leaf_form(&leaf.name, number, &leaf.dimensions))
            };
            let leaves = branch.leaves.iter().map(leaf).collect::<Result<Vec<_>>>()?;
            let names = leaves.iter().map(|leaf| leaf.name.clone()).collect();
            (Content::Leaves(leaves), Shape::LeafList(at, names))
        }
        Ok(Kind::Streamed(streamed)) => {
            let whole = stored.property("fID") == Some("-1")
                && matches!(stored.property("fType"), Some("0" | "-1"));
            match VectorForm::of_class(&streamed.type_name) {
                Some(form) if whole => (Content::Vector(form), Shape::Vector(at)),
                // The branch is stored like the strings of a leaf.
                None if whole && streamed.type_name == "string" => (Content::Text, Shape::Text(at)),
                _ => return Err(refused(&format!("its type is {}", streamed.type_name))),
            }
        }
        Err(reason) => return Err(refused(reason)),
    };
    let form = BranchForm {
        name: branch.name.clone(),
        content,
        counter,
        string_class: None,
        leaf: None,
        element: None,
    };
    if form.is_variable() != stored.has_offsets {
        let has = if stored.has_offsets { "have" } else { "lack" };
        return Err(refused(&format!("its baskets {has} offsets of their entries")));
    }
    Ok((form, shape))
}

fn leaf_form(name: &str, number: Number, dimensions: &[u64]) -> LeafForm {
    let dimensions = dimensions.iter().map(|&size| usize::try_from(size).unwrap_or(usize::MAX));
    let dimensions = dimensions.collect();
    LeafForm { name: name.to_owned(), number, dimensions, packed: None }
}

fn refused(reason: &str) -> Error {
    Error::unsupported(format!(
        "no entries can be added to this branch: {reason}. All branches of the tree must be numbers, fixed or jagged \
         arrays of numbers, leaf lists, strings, or std::vector of numbers, of strings or of vectors"
    ))
}
