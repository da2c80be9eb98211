//! Seals many fields of a cluster at once, page by page on all threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use arrow_array::ArrayRef;
use nyssa_root::Context;
use nyssa_root::error::Result;
use rayon::prelude::*;

use super::column::{ColumnPlan, columns};
use super::column_data::ColumnData;
use super::scratch::Scratch;
use super::settings::SealSettings;
use crate::page::{SealedColumn, SealedPage};
use crate::schema::{FieldId, Schema};

/// A sealer of fields. It reuses the buffers of its threads.
#[derive(Default)]
pub struct Sealer {
    scratches: Mutex<Vec<Scratch>>,
}

impl Sealer {
    /// Seals the columns of `fields`. Each field has the array of its rows of one cluster. The result is in the order
    /// of the fields, and does not depend on the number of threads.
    ///
    /// # Errors
    /// `InvalidArgument` when an array does not fit its field; `Unsupported` for unknown columns; `Cancelled`.
    pub fn seal(
        &self,
        schema: &Schema,
        fields: &[(FieldId, ArrayRef)],
        settings: &SealSettings,
        context: &Context,
    ) -> Result<Vec<SealedColumn>> {
        context.pool().install(|| {
            let columns = fields
                .par_iter()
                .map(|(field, array)| columns(schema, *field, array, settings))
                .collect::<Result<Vec<_>>>()?;
            let columns: Vec<_> = columns.into_iter().flatten().collect();
            let tasks = columns.iter().enumerate().flat_map(|(index, (plan, data))| {
                plan.pages(data.len()).map(move |range| (index, range))
            });
            let pages = tasks
                .collect::<Vec<_>>()
                .into_par_iter()
                .with_max_len(1)
                .map(|(index, range)| {
                    context.check()?;
                    let (plan, data) = &columns[index];
                    Ok((index, self.page(plan, data, range)?))
                })
                .collect::<Result<Vec<_>>>()?;
            let mut by_column = columns.iter().map(|_| Vec::new()).collect::<Vec<_>>();
            for (index, page) in pages {
                by_column[index].push(page);
            }
            let finish = |((plan, data), pages): (&(ColumnPlan<'_>, ColumnData), Vec<_>)| {
                plan.finish(data, pages)
            };
            Ok(columns.iter().zip(by_column).map(finish).collect())
        })
    }

    fn page(
        &self,
        plan: &ColumnPlan<'_>,
        data: &ColumnData,
        range: Range<usize>,
    ) -> Result<SealedPage> {
        let scratches = || self.scratches.lock().unwrap_or_else(PoisonError::into_inner);
        let mut scratch = scratches().pop().unwrap_or_default();
        let page = plan.seal(data, range, &mut scratch);
        scratches().push(scratch);
        page
    }
}
