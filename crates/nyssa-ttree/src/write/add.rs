//! Adds branches to a tree that has entries. They get baskets for all of its entries, which end where its clusters end. Its
//! other baskets stay as they are.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use arrow_schema::Schema;
use nyssa_root::error::{Error, Result, ResultExt};

use super::columns::{self, BranchValues, Values};
use super::form::Content;
use super::numbers::at_entry;
use super::options::{BranchSettings, TreeWriteOptions};
use super::shape::Plan;
use super::start::describe;
use super::writer::TreeWriter;

impl TreeWriter {
    /// Adds branches with the columns of `schema`: one array for each column, with a value for each entry so far. Later rows
    /// have these columns, too, behind the others. Lists may have a counter that the tree has; `counts` returns the offsets
    /// that follow from the counts of such a branch. Only the options of branches are used.
    ///
    /// # Errors
    /// `InvalidArgument` for names that are taken or cannot be written, for another number of values than entries, for
    /// values that do not fit, and for lists whose lengths differ from their counter; `Unsupported` for types that a
    /// tree cannot hold. The tree then stays as it was. `Cancelled`; an error if the sink cannot be written.
    pub fn add_branches(
        &mut self,
        schema: &Schema,
        arrays: &[ArrayRef],
        options: &TreeWriteOptions,
        counts: &mut dyn FnMut(&str) -> Result<OffsetBuffer<i64>>,
    ) -> Result<()> {
        options.validate()?;
        let entries = self.entries();
        check_lengths(schema, arrays, entries, self.path())?;
        let (filler, baskets) = self.filling.settled()?;
        filler.check()?;
        baskets.check()?;
        if schema.fields().is_empty() {
            return Err(Error::invalid_argument("there are no branches to add"));
        }
        let old = Arc::clone(filler.plan());
        let first = old.branches.len();
        let plan = old.extended(schema, options)?;
        let counters = plan.branches[first..].iter().filter_map(|branch| branch.counter);
        let mut counters: Vec<usize> = counters.filter(|&counter| counter < first).collect();
        counters.sort_unstable();
        counters.dedup();
        let new = new_part(&plan, &old, &counters);
        let mut values = columns::split(&new, arrays)?;
        let before = baskets.with(|tree| Ok(tree.entries_before()))?;
        for &counter in &counters {
            let name = &plan.branches[counter].name;
            if before != Some(entries) {
                return Err(Error::invalid_argument(format!(
                    "the lists would be counted by {name:?}, to which this program has added entries: add the branches \
                     before the entries, or name another counter"
                )));
            }
            let known = counts(name)?;
            let largest = agree(&values[counter], &known, name)?;
            filler.set_maximum(counter, largest);
            values[counter] = BranchValues { items: None, values: Values::Nothing };
        }
        baskets.with(|tree| describe(tree.file(), &plan))?;
        let settings = plan.branches.iter().map(|form| options.settings_of(&form.name));
        let settings: Vec<BranchSettings> = settings.collect();
        let rows = arrays.first().map_or(0, |array| array.len());
        let row = |entry: u64| usize::try_from(entry).unwrap_or(rows).min(rows);
        let (name, complete) = baskets.with(|tree| {
            tree.add_branches(&plan.branches, &settings, options);
            let complete = tree.clusters().ranges().map(|item| row(item.start)..row(item.end));
            Ok((tree.name().to_owned(), complete.collect::<Vec<_>>()))
        })?;
        let mut added = filler.adding(new, (&name, &settings));
        let open = row(entries - filler.open_entries())..rows;
        let filled =
            added.fill_clusters(&mut values, complete.into_iter(), rows, baskets).and_then(|()| {
                added.forget_bytes();
                added.fill_clusters(&mut values, std::iter::once(open), rows, baskets)
            });
        filler.adopt(plan, added);
        filled
    }
}

/// Returns the plan that fills the new branches of `plan` only.
fn new_part(plan: &Plan, old: &Plan, counters: &[usize]) -> Plan {
    let mut branches = plan.branches.clone();
    for (at, form) in branches.iter_mut().take(old.branches.len()).enumerate() {
        if !counters.contains(&at) {
            form.content = Content::Nothing;
        }
    }
    Plan { branches, columns: plan.columns[old.columns.len()..].to_vec(), ..Plan::default() }
}

fn check_lengths(schema: &Schema, arrays: &[ArrayRef], entries: u64, tree: &str) -> Result<()> {
    for (field, array) in schema.fields().iter().zip(arrays) {
        if array.len() as u64 != entries {
            return Err(Error::invalid_argument(format!(
                "{} values for the {entries} entries of the tree {tree}: a new branch needs one value for each entry",
                array.len()
            )))
            .in_field(field.name());
        }
    }
    Ok(())
}

/// Compares the lengths of new lists with the counts of their counter. Returns the largest count.
fn agree(new: &BranchValues, known: &OffsetBuffer<i64>, counter: &str) -> Result<i64> {
    let items = new.items.as_deref().unwrap_or_default();
    let lengths = items.windows(2).map(|pair| pair[1] - pair[0]);
    let counts = || known.lengths().map(|count| count as i64);
    let differs = lengths.zip(counts()).enumerate().find(|(_, (own, count))| own != count);
    match differs {
        None => Ok(counts().max().unwrap_or(0)),
        Some((row, (own, count))) => Err(at_entry(
            Error::invalid_argument(format!(
                "a list of {own} items, where the counter {counter:?} of the tree says {count}: make the lists as long, or \
                 name another counter"
            )),
            row,
        )),
    }
}
