//! Takes samples of branches, and chooses the codec and the encoding of every column with them.
//!
//! Most columns of NanoAOD and similar files are noise that only entropy coding makes smaller. A few columns have
//! structure. A sample of each branch shows its kind.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_rntuple::choose::{FieldChooser, sample};
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
        let fields = FieldChooser { chooser, schema: &*schema, settings: &*settings };
        let columns = self.units.iter().map(|unit| columns(fields.schema, unit)).collect();
        let choosing = Choosing::new(&fields, &earlier, columns)?;
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
            let path = fields.schema.path(unit.field);
            let _stage = nyssa_observe::stage!("sample", column = path.as_str());
            let chosen = range(index).and_then(|range| {
                let values = self.longer(&fields, unit, &range, self.sample(unit, range.clone())?);
                let others = self.others(&range).filter_map(|place| self.sample(unit, place));
                Some(fields.choose_branch(unit.field, &values, others, scratch))
            });
            match chosen {
                // A value that its column cannot store exactly appears again in the conversion.
                Some(Err(error)) if !unsupported(error.kind()) => Err(error),
                Some(Ok(chosen)) => Ok(chosen),
                _ => Ok(fields.without_sample(choosing.columns(index))),
            }
        })?;
        Ok(choices.apply(earlier, schema, settings))
    }

    /// Returns some entries from the middle of the first cluster, for a unit with this number of columns. Returns
    /// `None` for a unit that is too small to matter.
    fn range(&self, columns: u64, unit: &OutputField, goal: Goal) -> Option<Range<u64>> {
        let (input, cluster) = (self.inputs.get(unit.input()?)?, self.first);
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        let wanted = sample::of_branch(goal, bytes, columns)?;
        let wanted = u128::from(wanted) * u128::from(entries) / u128::from(bytes);
        let count = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, cluster.end - cluster.start);
        let start = cluster.start + (cluster.end - cluster.start - count) / 2;
        Some(start..start + count)
    }

    /// Returns a larger sample than `values`, which are the values of a unit in a range, if it shows more.
    fn longer(
        &self,
        fields: &FieldChooser<'_>,
        unit: &OutputField,
        range: &Range<u64>,
        values: ArrayRef,
    ) -> ArrayRef {
        if !fields.wants_more(unit.field, &values).unwrap_or(false) {
            return values;
        }
        let Range { start, end } = *self.first;
        let count = sample::longer(range.end - range.start).min(end - start);
        let start = start + (end - start - count) / 2;
        self.sample(unit, start..start + count).unwrap_or(values)
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
    fn sample(&self, unit: &OutputField, range: Range<u64>) -> Option<ArrayRef> {
        let index = unit.input()?;
        let input = self.inputs.get(index)?;
        let array = match self.streamed_branches.get(index) {
            Some(streamed) => streamed.read(self.reader, &input.path, &range),
            None => input.read(self.reader, range, None),
        };
        let array = array.ok()?;
        if matches!(unit.source, Source::Items(_)) { items(&array).ok() } else { Some(array) }
    }
}

/// Returns the physical columns that a unit fills: the columns of its field and of all fields below it. The members
/// of the collection of a counter are separate units.
fn columns(schema: &Schema, unit: &OutputField) -> Vec<ColumnId> {
    match unit.source {
        Source::Offsets(_) => schema.field(unit.field).columns.clone(),
        _ => schema.columns_below(unit.field),
    }
}
