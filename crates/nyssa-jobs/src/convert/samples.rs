//! Takes samples of branches, and chooses the codec and the encoding of every column with them.
//!
//! Most columns of NanoAOD and similar files are noise that only entropy coding makes smaller. A few columns have
//! structure. A sample of each branch shows its kind.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use nyssa_rntuple::choose::sample;
use nyssa_rntuple::schema::{ColumnId, Schema};
use nyssa_rntuple::write::choosing::{
    ColumnStorage, apply, choose_exact_field, choose_field_at_once, has_repeats, unseen,
};
use nyssa_rntuple::write::profile::Profile;
use nyssa_rntuple::write::{Scratch, SealSettings};
use nyssa_root::Context;
use nyssa_root::effort::{Chooser, Chosen, Objective};
use nyssa_root::error::Result;
use nyssa_ttree::Reader;
use nyssa_ttree::read::items;
use rayon::prelude::*;

use super::clusters::decoded;
use super::failures::unsupported;
use super::model::{Input, OutputField, Source};
use super::read_ahead;
use super::sample_baskets::SampleBaskets;
use super::streamer::StreamerBranches;

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
        profile: Option<(&mut Profile, &str)>,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let (known, sealed) = (&*schema, &*settings);
        let columns: Vec<Vec<ColumnId>> =
            self.units.iter().map(|unit| columns(known, unit)).collect();
        let remembered = columns.iter().map(|columns| match &profile {
            Some((profile, ntuple)) => profile.known(ntuple, chooser, (known, sealed), columns),
            None => Ok(Vec::new()),
        });
        let remembered = remembered.collect::<Result<Vec<_>>>()?;
        let is_known = |index: usize| remembered[index].len() == columns[index].len();
        let range_of = |(index, unit): (usize, &OutputField)| match is_known(index) {
            true => None,
            false => self.range(columns[index].len() as u64, unit, chooser.objective()),
        };
        let ranges: Vec<Option<Range<u64>>> = self.units.iter().enumerate().map(range_of).collect();
        let range = |index: usize| ranges.get(index).cloned().flatten();
        let bytes = self.context.ahead_bytes();
        let Self { reader, inputs, units, sample_baskets, .. } = *self;
        let ahead =
            read_ahead::Plan { reader, inputs, units, sample_baskets }.begin_samples(range, bytes);
        let one = |scratch: &mut Scratch, (index, unit): (usize, &OutputField)| {
            self.context.check()?;
            let _held = ahead.as_ref().map(|ahead| ahead.hold(index, self.context));
            if is_known(index) {
                return Ok(Vec::new());
            }
            let _stage = nyssa_observe::stage!("sample", column = known.path(unit.field).as_str());
            let chosen = match (self.sample(unit, range(index)), chooser.objective()) {
                // The columns of a branch are similar, and one choice for all takes less time.
                (Some(values), Objective::Time) => {
                    choose_field_at_once(chooser, known, unit.field, &values, sealed, scratch)
                }
                (Some(values), Objective::Size) => {
                    let values = self.longer((unit, range(index)), (known, sealed), values);
                    let places = range(index).into_iter().flat_map(|range| self.others(&range));
                    let others = places.filter_map(|place| self.sample(unit, Some(place)));
                    let field = unit.field;
                    choose_exact_field(chooser, known, field, &values, others, sealed, scratch)
                }
                (None, _) => Ok(without_sample(chooser, known, &columns[index])),
            };
            match chosen {
                // A value that its column cannot store exactly appears again in the conversion.
                Err(error) if unsupported(error.kind()) => {
                    Ok(without_sample(chooser, known, &columns[index]))
                }
                chosen => chosen,
            }
        };
        let choices = self.context.pool().install(|| {
            let units = self.units.par_iter().enumerate();
            units.map_init(Scratch::new, one).collect::<Result<Vec<_>>>()
        })?;
        let choices: Vec<_> = choices.into_iter().flatten().collect();
        if let Some((profile, ntuple)) = profile {
            profile.learn(ntuple, known, sealed, &choices);
        }
        // Choices of the profile come last, so that they take precedence.
        Ok(apply(choices.into_iter().chain(remembered.into_iter().flatten()), schema, settings))
    }

    /// Returns some entries from the middle of the first cluster, for a unit with this number of columns. Returns
    /// `None` for a unit that is too small to matter.
    fn range(&self, columns: u64, unit: &OutputField, objective: Objective) -> Option<Range<u64>> {
        let (Source::Branch(index) | Source::Items(index) | Source::Streamed(index)) = unit.source
        else {
            return None;
        };
        let (input, cluster) = (self.inputs.get(index)?, self.first);
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        let wanted = sample::of_branch(objective, bytes, columns)?;
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
        let repeats = has_repeats(schema, unit.field, &values, settings);
        let Some(range) = range.filter(|_| repeats.unwrap_or(false)) else { return values };
        let Range { start, end } = *self.first;
        let count = (range.end - range.start).saturating_mul(sample::LONGER).min(end - start);
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
    match chooser.objective() {
        Objective::Time => unseen(chooser, schema, columns),
        // They have ROOT's types and codec.
        Objective::Size => Vec::new(),
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
