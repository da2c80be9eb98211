//! Chooses compression effort and encodings with samples from the first cluster of the input.

use std::ops::Range;

use arrow_array::ArrayRef;
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::choose::{FieldChooser, sample};
use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_rntuple::seal::{Scratch, SealSettings, seal_field};
use nyssa_root::Context;
use nyssa_root::effort::{Chooser, Chosen};
use nyssa_root::error::Result;
use rayon::prelude::*;

use super::sizes::Sizes;
use crate::heuristics::rewrite;
use crate::job::choosing::{Choosing, Earlier};

/// The values of a field, and their decoded size in bytes.
struct Sample {
    array: ArrayRef,
    bytes: f64,
}

/// The input that samples are taken from.
pub(super) struct Sampler<'a> {
    dataset: &'a dyn Dataset,
    /// The fields of the batches.
    fields: &'a [(String, FieldId)],
    /// The first cluster of the input, if there is one.
    cluster: Option<Range<u64>>,
    /// The decoded bytes of each field in the first cluster, and in the whole input.
    decoded: Vec<u64>,
    all: u64,
    context: &'a Context,
    /// The context of reads, which do not count as progress.
    quiet: Context,
}

impl<'a> Sampler<'a> {
    pub(super) fn new(
        dataset: &'a dyn Dataset,
        sizes: &Sizes,
        fields: &'a [(String, FieldId)],
        context: &'a Context,
    ) -> Self {
        let cluster = dataset.clusters().first().cloned();
        let decoded = cluster.as_ref().map_or_else(Vec::new, |cluster| sizes.decoded(cluster));
        let all = sizes.decoded(&(0..dataset.num_entries())).into_iter();
        let all = all.fold(0, u64::saturating_add);
        Self { dataset, fields, cluster, decoded, all, context, quiet: context.quiet() }
    }

    /// Chooses the codec and the encoding of every column. Returns the choices for reports.
    ///
    /// # Errors
    /// `Cancelled`; an error if the input cannot be read.
    pub(super) fn choose(
        &self,
        chooser: &Chooser,
        earlier: Earlier<'_>,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<Vec<Option<Chosen>>> {
        let fields = FieldChooser { chooser, schema: &*schema, settings: &*settings };
        let columns = self.fields.iter().map(|(_, field)| fields.schema.columns_below(*field));
        let choosing = Choosing::new(&fields, &earlier, columns.collect())?;
        let bytes = sample::of_field(chooser.goal());
        let choices = choosing.choose(self.context, |_, index, scratch| {
            let Some((field, sample)) = self.sample(index, bytes)? else { return Ok(Vec::new()) };
            fields.choose_columns(field, &sample.array, scratch)
        })?;
        Ok(choices.apply(earlier, schema, settings))
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
        if self.all <= cluster_size {
            return Ok(vec![1.0; self.fields.len()]);
        }
        // A sample is not larger than a cluster.
        let most = cluster_size.saturating_mul(2) / (self.fields.len() as u64).max(1);
        let bytes = rewrite::RATIO_SAMPLE_BYTES.min(most.max(rewrite::MIN_SAMPLE_BYTES));
        let ratio = |scratch: &mut Scratch, index: usize| {
            self.context.check()?;
            let Some((field, sample)) = self.sample(index, bytes)? else { return Ok(0.0) };
            let columns = seal_field(schema, field, &sample.array, settings, scratch)?;
            let stored: u64 = columns.iter().map(|column| column.page_bytes().1).sum();
            Ok(stored as f64 / sample.bytes.max(1.0))
        };
        self.context.pool().install(|| {
            let fields = (0..self.fields.len()).into_par_iter();
            fields.map_init(Scratch::new, ratio).collect()
        })
    }

    /// Returns a field, and a sample of it of about `bytes`. An input without clusters has no samples.
    fn sample(&self, index: usize, bytes: u64) -> Result<Option<(FieldId, Sample)>> {
        let (Some((name, field)), Some(cluster)) = (self.fields.get(index), &self.cluster) else {
            return Ok(None);
        };
        let decoded = self.decoded.get(index).copied().unwrap_or(0);
        let total = cluster.end - cluster.start;
        let share = u128::from(bytes) * u128::from(total);
        let count = u64::try_from(share / u128::from(decoded.max(1))).unwrap_or(u64::MAX);
        let end = cluster.start + count.clamp(1, total.max(1)).min(total);
        let arrays = self.dataset.read(&[name], cluster.start..end, &self.quiet)?;
        let bytes = decoded as f64 * ((end - cluster.start) as f64 / total.max(1) as f64);
        Ok(arrays.into_iter().next().map(|array| (*field, Sample { array, bytes })))
    }
}
