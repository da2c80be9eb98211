//! Compression effort and encodings chosen by looking at the first cluster of the input.

use arrow_array::ArrayRef;
use rayon::prelude::*;

use super::Options;
use super::sizes::Sizes;
use crate::Context;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::schema::{FieldId, Schema};
use crate::write::auto::Chooser;
use crate::write::effort::Codecs;
use crate::write::{Effort, Encodings, Scratch, SealSettings};

/// Decoded bytes of a field, with all that is below it, that are looked at for types and effort,
const SAMPLE_BYTES: u64 = 4 << 20;
/// and for effort alone.
const EFFORT_SAMPLE_BYTES: u64 = 128 << 10;

/// What is looked at.
pub(super) struct Look<'a> {
    pub dataset: &'a dyn Dataset,
    pub sizes: &'a Sizes,
    /// As those of the batches.
    pub fields: &'a [(String, FieldId)],
    pub context: &'a Context,
}

impl Look<'_> {
    /// Chooses codecs of all columns, and their types if the options say so.
    ///
    /// # Errors
    /// Those of reading, `Cancelled`.
    pub fn choose(
        &self,
        options: &Options,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Result<()> {
        let (known, sealed) = (&*schema, &*settings);
        if options.encodings == Encodings::Auto {
            let Some(chooser) = Chooser::of(options.compression, options.effort) else {
                return Ok(());
            };
            let choices = self.each(SAMPLE_BYTES, |field, array, scratch| {
                chooser.choose_field(known, field, array, sealed, scratch)
            })?;
            for (column, choice) in choices {
                choice.apply(column, schema, settings);
            }
        } else if options.effort == Effort::Auto {
            let Some(codecs) = Codecs::of(options.compression) else { return Ok(()) };
            let choices = self.each(EFFORT_SAMPLE_BYTES, |field, array, scratch| {
                codecs.choose_field(known, field, array, sealed, scratch)
            })?;
            for (column, codec) in choices {
                let column = settings.columns.get_mut(column.0 as usize);
                if let Some(column) = column.filter(|column| !column.own_codec) {
                    column.codec = codec;
                }
            }
        }
        Ok(())
    }

    /// What `look` makes of about so many bytes of each field.
    fn each<T: Send>(
        &self,
        bytes: u64,
        look: impl Fn(FieldId, &ArrayRef, &mut Scratch) -> Result<Vec<T>> + Sync,
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
                arrays.first().map_or(Ok(Vec::new()), |array| look(*field, array, scratch))
            });
            seen.collect::<Result<Vec<_>>>()
        })?;
        Ok(seen.into_iter().flatten().collect())
    }
}
