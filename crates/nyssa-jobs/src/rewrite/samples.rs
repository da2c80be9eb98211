//! Chooses compression effort and encodings with samples from the first cluster of the input.

use std::collections::HashMap;

use arrow_array::ArrayRef;
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::choose::sample;
use nyssa_rntuple::schema::{ColumnId, FieldId, Schema};
use nyssa_rntuple::write::choosing::{apply, choose_field};
use nyssa_rntuple::write::{Scratch, SealSettings, seal_field};
use nyssa_root::Context;
use nyssa_root::effort::Chosen;
use nyssa_root::error::Result;
use rayon::prelude::*;

use super::sizes::Sizes;
use crate::job::{OutputOptions, StorageOptions};

/// The maximum number of decoded bytes of a field that are sealed to estimate its stored size.
const RATIO_SAMPLE_BYTES: u64 = 512 << 10;
/// The minimum number of these bytes.
const MIN_SAMPLE_BYTES: u64 = 4 << 10;

/// The values of a field, and their decoded size in bytes.
struct Sample<'a> {
    array: &'a ArrayRef,
    bytes: f64,
}

/// The input that samples are taken from.
pub(super) struct Sampler<'a> {
    pub dataset: &'a dyn Dataset,
    pub sizes: &'a Sizes,
    /// The fields of the batches.
    pub fields: &'a [(String, FieldId)],
    pub context: &'a Context,
}

impl Sampler<'_> {
    /// Chooses the codec and the encoding of every column by the options. Returns the choices for reports.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input cannot be read.
    pub(super) fn choose(
        &self,
        (output, storage): (&OutputOptions, &StorageOptions),
        ntuple: &str,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let Some(chooser) = storage.chooser(output) else { return Ok(Vec::new()) };
        let (known, sealed) = (&*schema, &*settings);
        let mut profile = storage.profile(output)?;
        let remembered = match &profile {
            Some(profile) => {
                let columns: Vec<_> = (0..known.columns.len() as u32).map(ColumnId).collect();
                profile.known(ntuple, &chooser, (known, sealed), &columns)?
            }
            None => Vec::new(),
        };
        let is_known = |field: FieldId| {
            let known_column = |id: &ColumnId| remembered.iter().any(|(known, _)| known == id);
            !remembered.is_empty() && known.columns_below(field).iter().all(known_column)
        };
        let fields: Vec<_> =
            self.fields.iter().filter(|(_, field)| !is_known(*field)).cloned().collect();
        let bytes = sample::of_field(chooser.objective());
        let choices = self.each(&fields, bytes, |field, sample, scratch| {
            choose_field(&chooser, known, field, sample.array, sealed, scratch)
        })?;
        let choices: Vec<_> = choices.into_iter().flatten().collect();
        if let Some(profile) = &mut profile {
            profile.learn(ntuple, known, sealed, &choices);
            profile.save()?;
        }
        // Choices of the profile come last, so that they take precedence.
        Ok(apply(choices.into_iter().chain(remembered), schema, settings))
    }

    /// Estimates with a sample the stored bytes of each field for one decoded byte. `cluster_size` is the size
    /// of clusters. If all data fit into one cluster, nothing is sampled.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input cannot be read.
    pub(super) fn ratios(
        &self,
        cluster_size: u64,
        schema: &Schema,
        settings: &SealSettings,
    ) -> Result<Vec<f64>> {
        let all = self.sizes.decoded(&(0..self.dataset.num_entries()));
        if all.iter().fold(0u64, |sum, &bytes| sum.saturating_add(bytes)) <= cluster_size {
            return Ok(vec![1.0; self.fields.len()]);
        }
        // A sample is not larger than a cluster.
        let most = cluster_size.saturating_mul(2) / (self.fields.len() as u64).max(1);
        let bytes = RATIO_SAMPLE_BYTES.min(most.max(MIN_SAMPLE_BYTES));
        self.each(self.fields, bytes, |field, sample, scratch| {
            let columns = seal_field(schema, field, sample.array, settings, scratch)?;
            let pages = columns.iter().flat_map(|column| &column.pages);
            let stored: usize = pages.map(|page| page.bytes.len()).sum();
            Ok(stored as f64 / sample.bytes.max(1.0))
        })
    }

    /// Calls `sampler` with a sample of about `bytes` of each field. An input without entries has no samples.
    fn each<T: Send + Default>(
        &self,
        fields: &[(String, FieldId)],
        bytes: u64,
        sampler: impl Fn(FieldId, &Sample<'_>, &mut Scratch) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let Some(cluster) = self.dataset.clusters().first().cloned() else { return Ok(Vec::new()) };
        let decoded = self.sizes.decoded(&cluster);
        let quiet = self.context.quiet();
        let seen = self.context.pool().install(|| {
            let sizes = self.fields.iter().map(|(_, field)| *field).zip(decoded);
            let sizes: HashMap<FieldId, u64> = sizes.collect();
            let fields = fields.par_iter();
            let seen = fields.map_init(Scratch::new, |scratch, (name, field)| {
                let all = sizes.get(field).copied().unwrap_or(0);
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
                    |array| sampler(*field, &Sample { array, bytes }, scratch),
                )
            });
            seen.collect::<Result<Vec<_>>>()
        })?;
        Ok(seen)
    }
}
