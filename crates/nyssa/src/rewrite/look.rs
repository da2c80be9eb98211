//! Encodings chosen by looking at the first cluster of the input.

use rayon::prelude::*;

use super::sizes::Sizes;
use crate::Context;
use crate::compression::Compression;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::schema::{FieldId, Schema};
use crate::write::auto::Chooser;
use crate::write::{Effort, Scratch, SealSettings};

/// Decoded bytes of a field, with all that is below it, that are looked at.
const SAMPLE_BYTES: u64 = 4 << 20;

/// What is looked at.
pub(super) struct Look<'a> {
    pub dataset: &'a dyn Dataset,
    pub sizes: &'a Sizes,
    /// As those of the batches.
    pub fields: &'a [(String, FieldId)],
    pub context: &'a Context,
}

impl Look<'_> {
    /// Chooses types and codecs of all columns.
    ///
    /// # Errors
    /// Those of reading, `Cancelled`.
    pub fn choose(
        &self,
        compression: Compression,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<()> {
        let Some(chooser) = Chooser::of(compression, Effort::Auto) else { return Ok(()) };
        let Some(cluster) = self.dataset.clusters().first().cloned() else { return Ok(()) };
        let decoded = self.sizes.decoded(&cluster);
        let quiet = self.context.quiet();
        let choices = self.context.pool().install(|| {
            let fields = self.fields.par_iter().zip(decoded);
            let choices = fields.map_init(Scratch::new, |scratch, ((name, field), bytes)| {
                self.context.check()?;
                let total = cluster.end - cluster.start;
                let share = u128::from(SAMPLE_BYTES) * u128::from(total);
                let count = u64::try_from(share / u128::from(bytes.max(1))).unwrap_or(u64::MAX);
                let end = cluster.start + count.clamp(1, total.max(1)).min(total);
                let arrays = self.dataset.read(&[name], cluster.start..end, &quiet)?;
                match arrays.first() {
                    Some(array) => chooser.choose_field(schema, *field, array, settings, scratch),
                    None => Ok(Vec::new()),
                }
            });
            choices.collect::<Result<Vec<_>>>()
        })?;
        for (column, choice) in choices.iter().flatten() {
            choice.apply(*column, schema, settings);
        }
        Ok(())
    }
}
