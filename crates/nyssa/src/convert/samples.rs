//! Takes samples of branches, and chooses the codec and the encoding of every column with them
//! (`rntuple::choose`).
//!
//! Most columns of NanoAOD and similar files are noise that only entropy coding makes smaller. A few columns
//! have structure. A sample of each branch shows which of the two it is.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::clusters::decoded;
use super::kept::KeptBaskets;
use super::model::{Input, OutputField, Source};
use super::read_ahead;
use super::streamer::StreamerBranches;
use crate::Context;
use crate::error::Result;
use crate::rntuple::choose::{Chooser, Chosen, Objective, sample};
use crate::rntuple::schema::{ColumnId, FieldId, Schema};
use crate::rntuple::write::choosing::{apply, choose_field, choose_field_at_once, unseen};
use crate::rntuple::write::{Scratch, SealSettings};
use crate::ttree::Reader;
use crate::ttree::read::items;

/// The branches that samples are taken from.
pub(super) struct Sampler<'a> {
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub streamed_branches: &'a StreamerBranches,
    pub units: &'a [OutputField],
    pub entries: &'a Range<u64>,
    /// The approximate range of the first cluster.
    pub first: &'a Range<u64>,
    /// The store for the baskets that samples fetch.
    pub kept: &'a Arc<KeptBaskets>,
    pub context: &'a Context,
}

impl Sampler<'_> {
    /// Chooses the codec and the encoding of every column. Returns the choices for reports.
    ///
    /// # Errors
    /// The errors of the input; `Cancelled`.
    pub fn choose(
        &self,
        chooser: &Chooser,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let (known, sealed) = (&*schema, &*settings);
        let ranges: Vec<Option<Range<u64>>> =
            self.units.iter().map(|unit| self.range(unit, chooser.objective())).collect();
        let range = |index: usize| ranges.get(index).cloned().flatten();
        let bytes = self.context.ahead_bytes();
        let Self { reader, inputs, units, kept, .. } = *self;
        let ahead = read_ahead::Plan { reader, inputs, units, kept }.begin_samples(range, bytes);
        let one = |scratch: &mut Scratch, (index, unit): (usize, &OutputField)| {
            self.context.check()?;
            let _held = ahead.as_ref().map(|ahead| ahead.hold(index, self.context));
            match (self.sample(unit, range(index)), chooser.objective()) {
                // The columns of a branch are similar, and one choice for all takes less time.
                (Some(values), Objective::Time) => {
                    choose_field_at_once(chooser, known, unit.field, &values, sealed, scratch)
                }
                (Some(values), Objective::Size) => {
                    choose_field(chooser, known, unit.field, &values, sealed, scratch)
                }
                (None, Objective::Time) => Ok(unseen(chooser, known, &columns(known, unit))),
                // Without a sample, columns keep ROOT's types and codec.
                (None, Objective::Size) => Ok(Vec::new()),
            }
        };
        let choices = self.context.pool().install(|| {
            let units = self.units.par_iter().enumerate();
            units.map_init(Scratch::new, one).collect::<Result<Vec<_>>>()
        })?;
        Ok(apply(choices.into_iter().flatten(), schema, settings))
    }

    /// Returns some entries from the middle of the first cluster. Returns `None` for a unit that is too small
    /// to matter.
    fn range(&self, unit: &OutputField, objective: Objective) -> Option<Range<u64>> {
        let (Source::Branch(index) | Source::Items(index) | Source::Streamed(index)) = unit.source
        else {
            return None;
        };
        let (input, cluster) = (self.inputs.get(index)?, self.first);
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        let wanted = sample::of_branch(objective, bytes)?;
        let wanted = u128::from(wanted) * u128::from(entries) / u128::from(bytes);
        let count = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, cluster.end - cluster.start);
        let start = cluster.start + (cluster.end - cluster.start - count) / 2;
        Some(start..start + count)
    }

    /// Returns the values of a unit in the range of the sample. Returns `None` if they cannot be read; the
    /// conversion itself will report the error.
    fn sample(&self, unit: &OutputField, range: Option<Range<u64>>) -> Option<ArrayRef> {
        let (index, only_items) = match unit.source {
            Source::Branch(index) | Source::Streamed(index) => (index, false),
            Source::Items(index) => (index, true),
            Source::Offsets(_) => return None,
        };
        let (input, range) = (self.inputs.get(index)?, range?);
        let array = match self.streamed_branches.get(index) {
            Some(streamed) => streamed.read(self.reader, &input.path, &range),
            None => input.read(self.reader, range, None),
        };
        let array = array.and_then(|array| if only_items { items(&array) } else { Ok(array) });
        array.ok()
    }
}

/// Returns the physical columns that a unit fills: those of its field and of everything below it. The members
/// of the collection of a counter are units of their own.
fn columns(schema: &Schema, unit: &OutputField) -> Vec<ColumnId> {
    match unit.source {
        Source::Offsets(_) => schema.field(unit.field).columns.clone(),
        Source::Branch(_) | Source::Items(_) | Source::Streamed(_) => below(schema, unit.field),
    }
}

/// Returns the physical columns of a field and of everything below it.
fn below(schema: &Schema, field: FieldId) -> Vec<ColumnId> {
    let field = schema.field(field);
    let children = field.children.iter().flat_map(|&child| below(schema, child));
    field.columns.iter().copied().chain(children).collect()
}
