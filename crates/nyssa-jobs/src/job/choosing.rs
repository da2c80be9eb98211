//! Chooses how the columns of an output are stored: like earlier choices, or by a sample of each field. A job says where
//! the values of a sample come from.

use nyssa_rntuple::choose::{ColumnStorage, StorageChoices, apply};
use nyssa_rntuple::schema::{ColumnId, Schema};
use nyssa_rntuple::seal::{Scratch, SealSettings};
use nyssa_root::Context;
use nyssa_root::effort::{Chooser, Chosen};
use nyssa_root::error::Result;
use rayon::prelude::*;

/// The file with earlier choices, and the name of the RNTuple in it.
pub(crate) type Earlier<'a> = Option<(&'a mut StorageChoices, &'a str)>;

/// The columns of each sample, and what earlier choices say about them.
pub(crate) struct Choosing {
    columns: Vec<Vec<ColumnId>>,
    remembered: Vec<Vec<(ColumnId, ColumnStorage)>>,
}

/// The storage of columns.
pub(crate) struct Choices {
    sampled: Vec<(ColumnId, ColumnStorage)>,
    remembered: Vec<(ColumnId, ColumnStorage)>,
}

impl Choosing {
    /// Finds the earlier choices for `columns`, which are the columns of each sample.
    ///
    /// # Errors
    /// `InvalidArgument` for an earlier choice that does not fit its column.
    pub(crate) fn new(
        chooser: &Chooser,
        earlier: &Earlier<'_>,
        (schema, settings): (&Schema, &SealSettings),
        columns: Vec<Vec<ColumnId>>,
    ) -> Result<Self> {
        let remembered = columns.iter().map(|columns| match earlier {
            Some((choices, ntuple)) => choices.known(ntuple, chooser, (schema, settings), columns),
            None => Ok(Vec::new()),
        });
        Ok(Self { remembered: remembered.collect::<Result<_>>()?, columns })
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
        self,
        context: &Context,
        choose: impl Fn(&Self, usize, &mut Scratch) -> Result<Vec<(ColumnId, ColumnStorage)>> + Sync,
    ) -> Result<Choices> {
        let one = |scratch: &mut Scratch, sample: usize| {
            context.check()?;
            if self.is_known(sample) { Ok(Vec::new()) } else { choose(&self, sample, scratch) }
        };
        let sampled = context.pool().install(|| {
            let samples = (0..self.columns.len()).into_par_iter();
            samples.map_init(Scratch::new, one).collect::<Result<Vec<_>>>()
        })?;
        let sampled = sampled.into_iter().flatten().collect();
        Ok(Choices { sampled, remembered: self.remembered.into_iter().flatten().collect() })
    }
}

impl Choices {
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
        apply(self.sampled.into_iter().chain(self.remembered), schema, settings)
    }
}
