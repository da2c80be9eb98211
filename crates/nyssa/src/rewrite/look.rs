//! Compression effort and encodings chosen by looking at the first cluster of the input.

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::Options;
use super::sizes::Sizes;
use crate::Context;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::rntuple::schema::{FieldId, Schema};
use crate::rntuple::write::auto::Chooser;
use crate::rntuple::write::chosen::Chosen;
use crate::rntuple::write::effort::Codecs;
use crate::rntuple::write::{Effort, Encodings, Scratch, SealSettings, seal_field};

/// Decoded bytes of a field, with all that is below it, that are looked at for types and effort,
const SAMPLE_BYTES: u64 = 4 << 20;
/// and for effort alone.
const EFFORT_SAMPLE_BYTES: u64 = 128 << 10;

/// The same for what fields take on storage,
const RATIO_SAMPLE_BYTES: u64 = 512 << 10;
/// at least.
const LEAST_SAMPLE_BYTES: u64 = 4 << 10;

/// Values of a field and what they take decoded.
struct Sample<'a> {
    array: &'a ArrayRef,
    bytes: f64,
}

/// What is looked at.
pub(super) struct Look<'a> {
    pub dataset: &'a dyn Dataset,
    pub sizes: &'a Sizes,
    /// As those of the batches.
    pub fields: &'a [(String, FieldId)],
    pub context: &'a Context,
}

impl Look<'_> {
    /// Chooses codecs of all columns, and their types if the options say so; what is chosen for each.
    ///
    /// # Errors
    /// Those of reading, `Cancelled`.
    pub fn choose(
        &self,
        options: &Options,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let mut chosen = vec![None; schema.columns.len()];
        let (known, sealed) = (&*schema, &*settings);
        if options.encodings == Encodings::Auto {
            let Some(chooser) = Chooser::of(options.compression, options.effort) else {
                return Ok(chosen);
            };
            let choices = self.each(SAMPLE_BYTES, |field, sample, scratch| {
                chooser.choose_field(known, field, sample.array, sealed, scratch)
            })?;
            for (column, choice) in choices.into_iter().flatten() {
                choice.apply(column, schema, settings);
                if let Some(chosen) = chosen.get_mut(column.0 as usize) {
                    *chosen = Some(choice.chosen);
                }
            }
        } else if options.effort == Effort::Auto {
            let Some(codecs) = Codecs::of(options.compression) else { return Ok(chosen) };
            let choices = self.each(EFFORT_SAMPLE_BYTES, |field, sample, scratch| {
                codecs.choose_field(known, field, sample.array, sealed, scratch)
            })?;
            for (column, choice) in choices.into_iter().flatten() {
                let index = column.0 as usize;
                let column = settings.columns.get_mut(index);
                if let Some(column) = column.filter(|column| !column.own_codec) {
                    column.codec = choice.codec;
                }
                if let Some(chosen) = chosen.get_mut(index) {
                    *chosen = Some(choice.chosen);
                }
            }
        }
        Ok(chosen)
    }

    /// Stored bytes of each field for each decoded byte, by a sample; `cluster_bytes` is what clusters
    /// will take. Nothing has to be known where everything fits into one.
    ///
    /// # Errors
    /// Those of reading, `Cancelled`.
    pub fn ratios(
        &self,
        cluster_bytes: u64,
        schema: &Schema,
        settings: &SealSettings,
    ) -> Result<Vec<f64>> {
        let all = self.sizes.decoded(&(0..self.dataset.num_entries()));
        if all.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes)) <= cluster_bytes {
            return Ok(vec![1.0; self.fields.len()]);
        }
        // No more than a cluster has.
        let most = cluster_bytes.saturating_mul(2) / (self.fields.len() as u64).max(1);
        let bytes = RATIO_SAMPLE_BYTES.min(most.max(LEAST_SAMPLE_BYTES));
        self.each(bytes, |field, sample, scratch| {
            let columns = seal_field(schema, field, sample.array, settings, scratch)?;
            let pages = columns.iter().flat_map(|column| &column.pages);
            let stored: usize = pages.map(|page| page.bytes.len()).sum();
            Ok(stored as f64 / sample.bytes.max(1.0))
        })
    }

    /// What `look` makes of about so many bytes of each field; nothing where there are none.
    fn each<T: Send + Default>(
        &self,
        bytes: u64,
        look: impl Fn(FieldId, &Sample<'_>, &mut Scratch) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let Some(cluster) = self.dataset.clusters().first().cloned() else { return Ok(Vec::new()) };
        let decoded = self.sizes.decoded(&cluster);
        let quiet = self.context.quiet();
        let seen = self.context.pool().install(|| {
            let fields = self.fields.par_iter().zip(decoded);
            let seen = fields.map_init(Scratch::new, |scratch, ((name, field), all)| {
                self.context.check()?;
                let total = cluster.end - cluster.start;
                let share = u128::from(bytes) * u128::from(total);
                let count = u64::try_from(share / u128::from(all.max(1))).unwrap_or(u64::MAX);
                let end = cluster.start + count.clamp(1, total.max(1)).min(total);
                let arrays = self.dataset.read(&[name], cluster.start..end, &quiet)?;
                let share = (end - cluster.start) as f64 / total.max(1) as f64;
                let bytes = all as f64 * share;
                arrays.first().map_or_else(
                    || Ok(T::default()),
                    |array| look(*field, &Sample { array, bytes }, scratch),
                )
            });
            seen.collect::<Result<Vec<_>>>()
        })?;
        Ok(seen)
    }
}
