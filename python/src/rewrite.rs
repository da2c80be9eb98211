//! Rewrites RNTuples with other options.

use std::path::Path;

use nyssa_data::cut::Cut;
use nyssa_data::view::ReadRule;
use nyssa_io::OpenOptions;
use nyssa_jobs::open::{open_dataset, split_path};
use nyssa_jobs::rewrite::{EntryCut, rewrite as core_rewrite, rewrite_all};
use nyssa_root::Result;
use pyo3::prelude::*;

use crate::file::open_file;
use crate::job::Job;
use crate::options::{OutputOptions, entry_range};
use crate::report::json;
use crate::rules::rules;

/// The options of a rewrite, from a `nyssa.jobs.rewrite.RewriteOptions`.
#[derive(FromPyObject)]
pub struct RewriteOptions {
    ntuple: Option<String>,
    include: Vec<String>,
    exclude: Vec<String>,
    cut: Option<String>,
    /// The mask: its bits, and the number of entries.
    mask: Option<(Vec<u8>, usize)>,
    entry_start: Option<i64>,
    entry_stop: Option<i64>,
    output: OutputOptions,
}

/// Rewrites one RNTuple, or all of a file, and returns the reports as JSON. `own` are read rules.
/// `progress(done, total)` is called by this thread.
#[pyfunction]
pub fn rewrite<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    options: RewriteOptions,
    own: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let rules = rules(own)?;
    Job::new(threads).progress(progress).run(py, move |context| {
        let (start, stop) = (options.entry_start, options.entry_stop);
        let ntuple = options.ntuple.clone();
        let mut options = options.parse(rules)?;
        let (path, object) = split_path(&input);
        let file = open_file(&*path, &OpenOptions::default().with_stop(context.stop()))?;
        let output = Path::new(&output);
        let one = start.is_some() || stop.is_some();
        let reports = match ntuple.as_deref().or(object) {
            None if !one => rewrite_all(&file, output, &options, context)?,
            ntuple => {
                let dataset = open_dataset(&file, ntuple)?;
                if one {
                    options.entries = Some(entry_range(start, stop, dataset.num_entries()));
                }
                let ntuple = ntuple.unwrap_or(dataset.name());
                vec![core_rewrite(&file, ntuple, output, &options, context)?]
            }
        };
        json(&reports)
    })
}

impl RewriteOptions {
    /// Returns the options in the types of the core. Entries are counted where the RNTuple is open.
    fn parse(self, rules: Vec<ReadRule>) -> Result<nyssa_jobs::rewrite::RewriteOptions> {
        let cut = self.cut.map(|cut| Cut::parse(&cut).map(EntryCut::Expression)).transpose()?;
        let mask = self.mask.map(|(bits, count)| EntryCut::from_bits(bits, count)).transpose()?;
        Ok(nyssa_jobs::rewrite::RewriteOptions {
            output: self.output.parse()?,
            include: self.include,
            exclude: self.exclude,
            entries: None,
            cut: mask.or(cut),
            rules,
        })
    }
}
