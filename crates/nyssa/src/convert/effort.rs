//! Where compression effort pays.
//!
//! NanoAOD and its like are mostly noise in which only entropy coding gains, next to a few columns
//! with structure. A sample of each column tells which it is: the cheap codec is the rule, the
//! strong one is spent where the bytes that it saves are worth its time, and columns that compress
//! better without splitting bytes are stored so. Times are nominal, so the choice depends on the
//! data alone and the output is the same on every machine.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::clusters::decoded;
use super::map::{Input, Source, Unit};
use super::streamer::Products;
use crate::Context;
use crate::compression::Compression;
use crate::error::Result;
use crate::rntuple::encoding::ColumnType;
use crate::rntuple::schema::{ColumnId, FieldId, Schema, Structure};
use crate::rntuple::write::auto::{Chooser, form};
use crate::rntuple::write::chosen::{BY_PRICE, Chosen, TOO_SMALL, Trial};
use crate::rntuple::write::effort::{Candidate, Codecs};
use crate::rntuple::write::{self, Scratch, SealSettings, seal_field};
use crate::ttree::Reader;
use crate::ttree::read::items;

/// One byte in this many is sampled, at most.
const SAMPLE_SHARE: u64 = 128;
/// Decoded bytes of a sample: as long as a few hundred entries, at most an eighth of a page.
const SAMPLE_BYTES: Range<u64> = 8 << 10..128 << 10;
/// The same where size is worth more than time.
const LARGE_SAMPLE_BYTES: Range<u64> = 256 << 10..512 << 10;
/// Columns with fewer decoded bytes than this cannot save enough to be asked.
const LEAST_BYTES: u64 = 64 << 10;

/// What is known when effort is chosen.
pub(super) struct Effort<'a> {
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    pub products: &'a Products,
    pub units: &'a [Unit],
    pub entries: &'a Range<u64>,
    /// About the first cluster.
    pub first: &'a Range<u64>,
    pub compression: Compression,
    pub context: &'a Context,
}

/// What is best for the columns of one unit.
struct Choice<'a> {
    plain: bool,
    candidate: &'a Candidate,
    /// What a sample took; nothing where there was none.
    tried: Option<Vec<Trial>>,
}

impl Effort<'_> {
    /// Chooses codec and encoding of every column. Only zstd knows effort; the other algorithms
    /// keep the level that was asked for. Returns what is chosen for each column.
    ///
    /// # Errors
    /// Whatever is wrong with the input, `Cancelled`.
    pub fn choose(
        &self,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let mut chosen = vec![None; schema.columns.len()];
        let Some(codecs) = Codecs::of(self.compression) else { return Ok(chosen) };
        let sampler = Sampler::new(schema, settings, &codecs);
        let choices: Vec<Choice<'_>> = self.context.pool().install(|| {
            self.units
                .par_iter()
                .map_init(Scratch::new, |scratch, unit| {
                    self.context.check()?;
                    match self.sample(unit, &SAMPLE_BYTES)? {
                        Some(sample) => sampler.choose(unit.field, &sample, scratch),
                        None => Ok(Choice { plain: false, candidate: &codecs.cheap, tried: None }),
                    }
                })
                .collect::<Result<_>>()
        })?;
        for (unit, choice) in self.units.iter().zip(choices) {
            for column in columns(schema, unit.field) {
                let index = column.0 as usize;
                let Some(settings) = settings.columns.get_mut(index) else { continue };
                if !settings.own_codec {
                    settings.codec = Arc::clone(&choice.candidate.codec);
                }
                if choice.plain && !settings.own_type {
                    unsplit(schema, column);
                }
                if let Some(chosen) = chosen.get_mut(index) {
                    let reason = if choice.tried.is_some() { BY_PRICE } else { TOO_SMALL };
                    let tried = choice.tried.clone().unwrap_or_default();
                    let effort = choice.candidate.name.clone();
                    *chosen = Some(Chosen { effort, reason, tried });
                }
            }
        }
        Ok(chosen)
    }

    /// Chooses codec and encoding of every column for size, with a price on time (`write/auto.rs`).
    /// Returns what is chosen for each column.
    ///
    /// # Errors
    /// As [`Effort::choose`].
    pub fn choose_encodings(
        &self,
        effort: write::Effort,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let mut chosen = vec![None; schema.columns.len()];
        let Some(chooser) = Chooser::of(self.compression, effort) else { return Ok(chosen) };
        let choices: Vec<Vec<_>> = self.context.pool().install(|| {
            self.units
                .par_iter()
                .map_init(Scratch::new, |scratch, unit| {
                    self.context.check()?;
                    match self.sample(unit, &LARGE_SAMPLE_BYTES)? {
                        Some(sample) => {
                            chooser.choose_field(schema, unit.field, &sample, settings, scratch)
                        }
                        None => Ok(Vec::new()),
                    }
                })
                .collect::<Result<_>>()
        })?;
        for (column, choice) in choices.iter().flatten() {
            choice.apply(*column, schema, settings);
            if let Some(chosen) = chosen.get_mut(column.0 as usize) {
                *chosen = Some(choice.chosen.clone());
            }
        }
        Ok(chosen)
    }

    /// Some values from the middle of the first cluster, of about so many bytes; `None` for what is
    /// too small to matter.
    fn sample(&self, unit: &Unit, size: &Range<u64>) -> Result<Option<ArrayRef>> {
        let (index, only_items) = match unit.source {
            Source::Branch(index) => (index, false),
            Source::Items(index) => (index, true),
            Source::Streamed(index) => (index, false),
            Source::Offsets(_) => return Ok(None),
        };
        let (Some(input), cluster) = (self.inputs.get(index), self.first) else { return Ok(None) };
        let bytes = decoded(input.branch, self.entries);
        let entries = self.entries.end - self.entries.start;
        if bytes < LEAST_BYTES {
            return Ok(None);
        }
        let wanted = (bytes / SAMPLE_SHARE).clamp(size.start, size.end);
        let wanted = u128::from(wanted) * u128::from(entries) / u128::from(bytes);
        let count = u64::try_from(wanted).unwrap_or(u64::MAX).clamp(1, cluster.end - cluster.start);
        let start = cluster.start + (cluster.end - cluster.start - count) / 2;
        let sample = start..start + count;
        let array = match self.products.get(index) {
            Some(product) => product.read(self.reader, &input.path, &sample),
            None => input.read(self.reader, sample, None),
        };
        let array = array.and_then(|array| if only_items { items(&array) } else { Ok(array) });
        // What is wrong with the branch is met again where it counts.
        Ok(array.ok())
    }
}

/// Seals samples in every way there is.
struct Sampler<'a> {
    split: Schema,
    plain: Schema,
    entropy: Way<'a>,
    cheap: Way<'a>,
    strong: Option<Way<'a>>,
}

/// A codec, for all columns.
struct Way<'a> {
    candidate: &'a Candidate,
    settings: SealSettings,
}

impl<'a> Sampler<'a> {
    fn new(schema: &Schema, settings: &SealSettings, codecs: &'a Codecs) -> Self {
        let mut plain = schema.clone();
        for column in 0..plain.columns.len() {
            // Columns are counted in 32 bits by the format.
            unsplit(&mut plain, ColumnId(column as u32));
        }
        let way = |candidate: &'a Candidate| {
            let mut settings = settings.clone();
            settings.columns.iter_mut().for_each(|c| c.codec = Arc::clone(&candidate.codec));
            Way { candidate, settings }
        };
        let (entropy, cheap) = (way(&codecs.entropy), way(&codecs.cheap));
        let strong = codecs.strong.as_ref().map(way);
        Self { split: schema.clone(), plain, entropy, cheap, strong }
    }

    fn choose(
        &self,
        field: FieldId,
        sample: &ArrayRef,
        scratch: &mut Scratch,
    ) -> Result<Choice<'a>> {
        let first = columns(&self.split, field).into_iter().next_back();
        let mut tried = Vec::new();
        let mut size = |plain: bool, way: &Way<'_>| -> Result<(f64, f64)> {
            let schema = if plain { &self.plain } else { &self.split };
            let sealed = seal_field(schema, field, sample, &way.settings, scratch)?;
            let pages = sealed.iter().flat_map(|column| &column.pages);
            let (raw, stored) = pages.fold((0.0, 0.0), |(raw, stored), page| {
                (raw + page.uncompressed as f64, stored + page.bytes.len() as f64)
            });
            let form = first.and_then(|first| schema.column(first).column_type).map_or("", form);
            let effort = way.candidate.name.clone();
            tried.push(Trial { form, effort, bytes: stored as u64 });
            Ok((raw, stored))
        };
        let (raw, stored) = size(false, &self.cheap)?;
        let mut best = Choice { plain: false, candidate: self.cheap.candidate, tried: None };
        let mut price = best.candidate.price(true, raw, stored);
        let differs = columns(&self.split, field)
            .iter()
            .any(|&column| self.split.column(column) != self.plain.column(column));
        let unsplit = differs.then_some((Some(true), &self.cheap));
        let others = std::iter::once(&self.entropy).chain(&self.strong).map(|way| (None, way));
        for (plain, way) in unsplit.into_iter().chain(others) {
            let (plain, candidate) = (plain.unwrap_or(best.plain), way.candidate);
            // What could not pay even with no bytes at all is not tried, and what finds nothing with
            // less effort will find next to nothing with more.
            let noise = Arc::ptr_eq(&best.candidate.codec, &self.entropy.candidate.codec);
            if !noise && candidate.price(!plain, raw, 0.0) < price {
                let (_, stored) = size(plain, way)?;
                let now = candidate.price(!plain, raw, stored);
                if now < price {
                    (price, best) = (now, Choice { plain, candidate, tried: None });
                }
            }
        }
        best.tried = Some(tried);
        Ok(best)
    }
}

/// The physical columns of a field and everything below it.
fn columns(schema: &Schema, field: FieldId) -> Vec<ColumnId> {
    let field = schema.field(field);
    let below = field.children.iter().flat_map(|&child| columns(schema, child));
    // The record of an untyped collection is filled by units of its own.
    let record = field.type_name.is_empty() && field.structure == Structure::Collection;
    let below: Vec<_> = if record { Vec::new() } else { below.collect() };
    field.columns.iter().copied().chain(below).collect()
}

/// Stores elements as they are instead of bytes of equal significance together; offsets stay.
fn unsplit(schema: &mut Schema, column: ColumnId) -> bool {
    use ColumnType as T;
    let Some(column) = schema.columns.get_mut(column.0 as usize) else { return false };
    let plain = match column.column_type {
        Some(T::SplitInt16) => T::Int16,
        Some(T::SplitUInt16) => T::UInt16,
        Some(T::SplitInt32) => T::Int32,
        Some(T::SplitUInt32) => T::UInt32,
        Some(T::SplitInt64) => T::Int64,
        Some(T::SplitUInt64) => T::UInt64,
        Some(T::SplitReal32) => T::Real32,
        Some(T::SplitReal64) => T::Real64,
        _ => return false,
    };
    column.set_type(plain);
    true
}

#[cfg(test)]
mod tests {
    use arrow_array::{Float32Array, Int32Array};

    use super::*;
    use crate::rntuple::schema::{FieldType, Leaf, SchemaBuilder};
    use crate::rntuple::write::testing::noise;

    /// Whether the bytes stay together, and whether the codec is the one for noise.
    fn choose(leaf: Leaf, sample: ArrayRef) -> (bool, bool) {
        let mut builder = SchemaBuilder::new(Compression::DEFAULT);
        let field = builder.field(None, "x", &FieldType::Leaf(leaf)).unwrap();
        let schema = builder.finish();
        let settings = SealSettings::new(&schema, &write::Options::default());
        let codecs = Codecs::of(Compression::DEFAULT).unwrap();
        let sampler = Sampler::new(&schema, &settings, &codecs);
        let choice = sampler.choose(field, &sample, &mut Scratch::new()).unwrap();
        (choice.plain, Arc::ptr_eq(&choice.candidate.codec, &codecs.entropy.codec))
    }

    #[test]
    fn noise_is_not_worth_effort() {
        let values = noise().take(30_000).map(|bits| bits as f32 / 1e6);
        let sample: ArrayRef = Arc::new(Float32Array::from_iter_values(values));
        assert_eq!(choose(Leaf::Float, sample), (false, true));
    }

    #[test]
    fn whole_values_that_come_again_are_stored_unsplit() {
        // Few distinct values of four noisy bytes in a random order: a value is one match, but four
        // literals when its bytes are apart.
        let table: Vec<i32> = noise().take(64).map(|bits| bits as i32).collect();
        let order = noise().skip(64).take(4000).map(|bits| (bits % 64) as usize);
        let values = order.flat_map(|start| (0..8).map(move |i| (start + i) % 64));
        let sample: ArrayRef =
            Arc::new(Int32Array::from_iter_values(values.map(|index| table[index])));
        assert!(choose(Leaf::Int32, sample).0);
    }
}
