//! Takes samples of branches, and chooses the codec and the encoding of every column with them.
//!
//! Most columns of NanoAOD and similar files are noise that only entropy coding makes smaller. A few columns have
//! structure. A sample of each branch shows its kind.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_rntuple::choose::{
    ColumnStorage, choose_exact_field, choose_field_at_once, sample, unseen,
};
use nyssa_rntuple::schema::{ColumnId, Schema};
use nyssa_rntuple::seal::SealSettings;
use nyssa_root::Context;
use nyssa_root::effort::{Chooser, Chosen, Goal};
use nyssa_root::error::Result;
use nyssa_ttree::Reader;
use nyssa_ttree::read::items;

use super::clusters::decoded;
use super::failures::unsupported;
use super::model::{Input, OutputField, Source};
use super::read_ahead;
use super::sample_baskets::SampleBaskets;
use super::streamer::StreamerBranches;
use crate::job::choosing::{Choosing, Earlier};

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
    pub sample_baskets: &'a Arc<SampleBaskets>,
    pub context: &'a Context,
}

impl Sampler<'_> {
    /// Chooses the codec and the encoding of every column. Returns the choices for reports.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input is damaged or cannot be read.
    pub(super) fn choose(
        &self,
        chooser: &Chooser,
        earlier: Earlier<'_>,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let (known, sealed) = (&*schema, &*settings);
        let columns = self.units.iter().map(|unit| columns(known, unit)).collect();
        let choosing = Choosing::new(chooser, &earlier, (known, sealed), columns)?;
        let range = |(index, unit): (usize, &OutputField)| {
            let columns = choosing.columns(index).len() as u64;
            (!choosing.is_known(index)).then(|| self.range(columns, unit, chooser.goal()))?
        };
        let ranges: Vec<Option<Range<u64>>> = self.units.iter().enumerate().map(range).collect();
        let range = |index: usize| ranges.get(index).cloned().flatten();
        let bytes = self.context.ahead_bytes();
        let Self { reader, inputs, units, sample_baskets, .. } = *self;
        let ahead =
            read_ahead::Plan { reader, inputs, units, sample_baskets }.begin_samples(range, bytes);
        let choices = choosing.choose(self.context, |choosing, index, scratch| {
            let Some(unit) = units.get(index) else { return Ok(Vec::new()) };
            let _held = ahead.as_ref().map(|ahead| ahead.hold(index, self.context));
            let _span =
                tracing::trace_span!("sample", column = known.path(unit.field).as_str()).entered();
            let chosen = match (self.sample(unit, range(index)), chooser.goal()) {
                // The columns of a branch are similar, and one choice for all takes less time.
                (Some(values), Goal::Time) => {
                    choose_field_at_once(chooser, known, unit.field, &values, sealed, scratch)
                }
                (Some(values), Goal::Size) => {
                    let values = self.longer((unit, range(index)), (known, sealed), values);
                    let places = range(index).into_iter().flat_map(|range| self.others(&range));
                    let others = places.filter_map(|place| self.sample(unit, Some(place)));
                    let field = unit.field;
                    choose_exact_field(chooser, known, field, &values, others, sealed, scratch)
                }
                (None, _) => Ok(without_sample(chooser, known, choosing.columns(index))),
            };
            match chosen {
                // A value that its column cannot store exactly appears again in the conversion.
                Err(error) if unsupported(error.kind()) => {
                    Ok(without_sample(chooser, known, choosing.columns(index)))
                }
                chosen => chosen,
            }
        })?;
        Ok(choices.apply(earlier, schema, settings))
    }

    /// Returns some entries from the middle of the first cluster, for a unit with this number of columns. Returns
    /// `None` for a unit that is too small to matter.
    fn range(&self, columns: u64, unit: &OutputField, goal: Goal) -> Option<Range<u64>> {
        let (Source::Branch(index) | Source::Items(index) | Source::Streamed(index)) = unit.source
        else {
            return None;
        };
        let (input, cluster) = (self.inputs.get(index)?, self.first);
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        let wanted = sample::of_branch(goal, bytes, columns)?;
        let wanted = u128::from(wanted) * u128::from(entries) / u128::from(bytes);
        let count = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, cluster.end - cluster.start);
        let start = cluster.start + (cluster.end - cluster.start - count) / 2;
        Some(start..start + count)
    }

    /// Returns a larger sample than `values`, which are the values of a unit in a range, if values repeat often.
    fn longer(
        &self,
        (unit, range): (&OutputField, Option<Range<u64>>),
        (schema, settings): (&Schema, &SealSettings),
        values: ArrayRef,
    ) -> ArrayRef {
        let repeats = sample::field_repeats(schema, unit.field, &values, settings);
        let Some(range) = range.filter(|_| repeats.unwrap_or(false)) else { return values };
        let Range { start, end } = *self.first;
        let count = sample::longer(range.end - range.start).min(end - start);
        let start = start + (end - start - count) / 2;
        self.sample(unit, Some(start..start + count)).unwrap_or(values)
    }

    /// Returns a few entries from other places: the start, the middle and the end of all entries.
    fn others(&self, range: &Range<u64>) -> impl Iterator<Item = Range<u64>> + use<> {
        let Range { start, end } = *self.entries;
        let count = (range.end - range.start).clamp(1, (end - start).max(1));
        let last = end.saturating_sub(count).max(start);
        let places = [start, start + (last - start) / 2, last];
        places.into_iter().map(move |first| first..(first + count).min(end))
    }

    /// Returns the values of a unit in a range; `None` for values that cannot be read, which fail again in the
    /// conversion.
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

/// Returns the storage of columns that have no sample.
pub(super) fn without_sample(
    chooser: &Chooser,
    schema: &Schema,
    columns: &[ColumnId],
) -> Vec<(ColumnId, ColumnStorage)> {
    match chooser.goal() {
        Goal::Time => unseen(chooser, schema, columns),
        // They have ROOT's types and codec.
        Goal::Size => Vec::new(),
    }
}

/// Returns the physical columns that a unit fills: the columns of its field and of all fields below it. The members
/// of the collection of a counter are separate units.
fn columns(schema: &Schema, unit: &OutputField) -> Vec<ColumnId> {
    match unit.source {
        Source::Offsets(_) => schema.field(unit.field).columns.clone(),
        Source::Branch(_) | Source::Items(_) | Source::Streamed(_) => {
            schema.columns_below(unit.field)
        }
    }
}
