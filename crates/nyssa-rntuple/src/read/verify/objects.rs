//! Checks streamer fields. Their bytes are sound only if the objects can be decoded.

use nyssa_data::dataset::Dataset;
use nyssa_root::Context;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::problem::{DatasetCheck, Problem};

use crate::read::Reader;
use crate::schema::{ColumnId, Structure};

/// The maximum size in bytes of the objects that are decoded at one time, unless the objects of one entry are larger.
const CHUNK_BYTES: u64 = 8 << 20;

/// The top-level fields with streamed objects whose classes are known.
pub(super) struct Objects<'a> {
    reader: &'a Reader,
    fields: Vec<ObjectField<'a>>,
}

struct ObjectField<'a> {
    name: &'a str,
    /// The columns of the field and of its subfields.
    columns: Vec<ColumnId>,
}

impl<'a> Objects<'a> {
    pub(super) fn of(reader: &'a Reader) -> Self {
        let schema = reader.schema();
        let readable = |name: &str| reader.find_column(name).is_some_and(|item| item.field.is_ok());
        let mut fields = Vec::new();
        for &id in reader.top_level().iter().filter(|_| reader.decodes_objects()) {
            let field = schema.field(id);
            let (mut streamed, mut columns) = (false, Vec::new());
            schema.each_below(id, &mut |id| {
                let field = schema.field(id);
                streamed |= field.structure == Structure::Streamer;
                columns.extend(&field.columns);
            });
            if streamed && field.source.is_none() && readable(&field.name) {
                fields.push(ObjectField { name: &field.name, columns });
            }
        }
        Self { reader, fields }
    }

    /// Decodes the objects of a cluster, except the objects of fields with problems in their columns.
    ///
    /// # Errors
    /// Only `Io` and `Cancelled`.
    pub(super) fn check(
        &self,
        number: usize,
        report: &mut DatasetCheck,
        context: &Context,
    ) -> Result<()> {
        let Some(cluster) = self.reader.clusters_info()?.get(number) else { return Ok(()) };
        let quiet = context.quiet();
        for ObjectField { name, columns } in &self.fields {
            if report.problems.iter().any(|problem| is_of(problem, name, number)) {
                continue;
            }
            let ranges = columns.iter().filter_map(|id| cluster.columns.get(id.0 as usize));
            let pages = ranges.filter(|range| !range.suppressed).flat_map(|range| &range.pages);
            let bytes = pages.fold(0, |sum: u64, page| sum.saturating_add(page.locator.size));
            let chunks = bytes.div_ceil(CHUNK_BYTES).max(1);
            let step = cluster.entries.div_ceil(chunks).max(1);
            let end = cluster.first_entry + cluster.entries;
            let mut start = cluster.first_entry;
            while start < end {
                let stop = end.min(start.saturating_add(step));
                match self.reader.read(&[*name], start..stop, &quiet) {
                    Err(error) if error.kind().ends_check() => {
                        return Err(error);
                    }
                    Err(error) if error.kind() == Kind::Unsupported => {
                        let reason = format!("field {name}: {}", error.message());
                        if !report.unreadable.contains(&reason) {
                            report.unreadable.push(reason);
                        }
                    }
                    Err(error) => {
                        let error: Error = error.at(|place| place.cluster = Some(number as u64));
                        report.problems.push(Problem::from(&error));
                    }
                    Ok(_) => (),
                }
                start = stop;
            }
        }
        Ok(())
    }
}

/// Returns whether a problem is in the columns of a top-level field in a cluster, or in all columns.
fn is_of(problem: &Problem, name: &str, cluster: usize) -> bool {
    let below = |field: &String| {
        field.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    problem.field.as_ref().is_some_and(below)
        && problem.cluster.is_none_or(|number| number == cluster as u64)
}
