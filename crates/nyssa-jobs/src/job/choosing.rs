//! Chooses how the columns of an output are stored: like earlier choices, or by a sample of each field. A job says where
//! the values of a sample come from.

use nyssa_rntuple::choose::{Choices, FieldChooser, StorageChoices, apply};
use nyssa_rntuple::schema::{ColumnId, Schema};
use nyssa_rntuple::seal::{Scratch, SealSettings};
use nyssa_root::Context;
use nyssa_root::effort::Chosen;
use nyssa_root::error::Result;
use rayon::prelude::*;

/// The file with earlier choices, and the name of the RNTuple in it.
pub(crate) type Earlier<'a> = Option<(&'a mut StorageChoices, &'a str)>;

/// The storage of columns that is chosen by samples.
pub(crate) struct Choosing {
    /// The columns of each sample.
    columns: Vec<Vec<ColumnId>>,
    /// The earlier choices for these columns.
    remembered: Vec<Choices>,
    /// The choices from samples for the other columns.
    sampled: Choices,
}

impl Choosing {
    /// Finds the earlier choices for `columns`, which are the columns of each sample.
    ///
    /// # Errors
    /// `InvalidArgument` for an earlier choice that does not fit its column.
    pub(crate) fn new(
        fields: &FieldChooser<'_>,
        earlier: &Earlier<'_>,
        columns: Vec<Vec<ColumnId>>,
    ) -> Result<Self> {
        let remembered = columns.iter().map(|columns| match earlier {
            Some((choices, ntuple)) => choices.known(ntuple, fields, columns),
            None => Ok(Vec::new()),
        });
        Ok(Self { remembered: remembered.collect::<Result<_>>()?, columns, sampled: Vec::new() })
    }

    /// Returns the columns of a sample.
    pub(crate) fn columns(&self, sample: usize) -> &[ColumnId] {
        &self.columns[sample]
    }

    /// Returns whether earlier choices say how all columns of a sample are stored, so that no sample is taken.
    pub(crate) fn is_known(&self, sample: usize) -> bool {
        self.remembered[sample].len() == self.columns[sample].len()
    }

    /// Chooses the storage of the other columns, on all threads. `choose` takes and seals the sample with an index.
    ///
    /// # Errors
    /// `Cancelled`; the error of `choose`.
    pub(crate) fn choose(
        mut self,
        context: &Context,
        choose: impl Fn(&Self, usize, &mut Scratch) -> Result<Choices> + Sync,
    ) -> Result<Self> {
        let choose_one = |scratch: &mut Scratch, sample: usize| {
            context.check()?;
            if self.is_known(sample) { Ok(Vec::new()) } else { choose(&self, sample, scratch) }
        };
        let sampled = context.pool().install(|| {
            let samples = (0..self.columns.len()).into_par_iter();
            samples.map_init(Scratch::new, choose_one).collect::<Result<Vec<_>>>()
        })?;
        self.sampled = sampled.into_iter().flatten().collect();
        Ok(self)
    }

    /// Adds the choices of samples to the earlier choices, and sets all choices in schema and settings. Returns the
    /// choices for reports.
    pub(crate) fn apply(
        self,
        earlier: Earlier<'_>,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) -> Vec<Option<Chosen>> {
        if let Some((choices, ntuple)) = earlier {
            choices.learn(ntuple, schema, settings, &self.sampled);
        }
        // Earlier choices come last, so that they take precedence.
        let choices = self.sampled.into_iter().chain(self.remembered.into_iter().flatten());
        apply(choices, schema, settings)
    }
}
