//! Samples of branches, by which the codec and the encoding of every column are chosen
//! (`rntuple::choose`).
//!
//! NanoAOD and its like are mostly noise in which only entropy coding gains, next to a few columns
//! with structure. A sample of each branch tells which it is.

use std::ops::Range;

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::clusters::decoded;
use super::model::{Input, OutputField, Source};
use super::streamer::StreamerBranches;
use crate::Context;
use crate::error::Result;
use crate::rntuple::choose::{Chooser, Chosen, Goal, sample};
use crate::rntuple::schema::{ColumnId, FieldId, Schema};
use crate::rntuple::write::choosing::{apply, choose_field, choose_field_at_once, unseen};
use crate::rntuple::write::{Scratch, SealSettings};
use crate::ttree::Reader;
use crate::ttree::read::items;

/// The branches that are looked at.
pub(super) struct Samples<'a> {
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub streamed_branches: &'a StreamerBranches,
    pub units: &'a [OutputField],
    pub entries: &'a Range<u64>,
    /// About the first cluster.
    pub first: &'a Range<u64>,
    pub context: &'a Context,
}

impl Samples<'_> {
    /// Chooses codec and encoding of every column; for reports, what is chosen for each.
    ///
    /// # Errors
    /// Whatever is wrong with the input, `Cancelled`.
    pub fn choose(
        &self,
        chooser: &Chooser,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let (known, sealed) = (&*schema, &*settings);
        let one = |scratch: &mut Scratch, unit: &OutputField| {
            self.context.check()?;
            match (self.sample(unit, chooser.goal())?, chooser.goal()) {
                // The columns of a branch are alike, and it takes less time to look at them together.
                (Some(values), Goal::Time) => {
                    choose_field_at_once(chooser, known, unit.field, &values, sealed, scratch)
                }
                (Some(values), Goal::Size) => {
                    choose_field(chooser, known, unit.field, &values, sealed, scratch)
                }
                (None, Goal::Time) => Ok(unseen(chooser, known, &columns(known, unit))),
                // They keep ROOT's own way.
                (None, Goal::Size) => Ok(Vec::new()),
            }
        };
        let choices = self.context.pool().install(|| {
            self.units.par_iter().map_init(Scratch::new, one).collect::<Result<Vec<_>>>()
        })?;
        Ok(apply(choices.into_iter().flatten(), schema, settings))
    }

    /// Some values from the middle of the first cluster; `None` for what is too small to matter.
    fn sample(&self, unit: &OutputField, goal: Goal) -> Result<Option<ArrayRef>> {
        let (index, only_items) = match unit.source {
            Source::Branch(index) => (index, false),
            Source::Items(index) => (index, true),
            Source::Streamed(index) => (index, false),
            Source::Offsets(_) => return Ok(None),
        };
        let (Some(input), cluster) = (self.inputs.get(index), self.first) else { return Ok(None) };
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        let Some(wanted) = sample::of_branch(goal, bytes) else { return Ok(None) };
        let wanted = u128::from(wanted) * u128::from(entries) / u128::from(bytes);
        let count = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, cluster.end - cluster.start);
        let start = cluster.start + (cluster.end - cluster.start - count) / 2;
        let sample = start..start + count;
        let array = match self.streamed_branches.get(index) {
            Some(streamed) => streamed.read(self.reader, &input.path, &sample),
            None => input.read(self.reader, sample, None),
        };
        let array = array.and_then(|array| if only_items { items(&array) } else { Ok(array) });
        // What is wrong with the branch is met again where it counts.
        Ok(array.ok())
    }
}

/// The physical columns that a unit fills: those of its field and of everything below it. The members of the
/// collection of a counter are units of their own.
fn columns(schema: &Schema, unit: &OutputField) -> Vec<ColumnId> {
    match unit.source {
        Source::Offsets(_) => schema.field(unit.field).columns.clone(),
        Source::Branch(_) | Source::Items(_) | Source::Streamed(_) => below(schema, unit.field),
    }
}

/// The physical columns of a field and of everything below it.
fn below(schema: &Schema, field: FieldId) -> Vec<ColumnId> {
    let field = schema.field(field);
    let children = field.children.iter().flat_map(|&child| below(schema, child));
    field.columns.iter().copied().chain(children).collect()
}
