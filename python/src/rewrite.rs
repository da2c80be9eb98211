//! Rewrites RNTuples and TTrees with other options.

use std::path::Path;

use nyssa_data::cut::Cut;
use nyssa_io::OpenOptions;
use nyssa_jobs::open::{open_dataset, split_path};
use nyssa_jobs::rewrite::{EntryCut, RewriteOptions, rewrite as core_rewrite, rewrite_all};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::file::open_file;
use crate::job::Job;
use crate::keywords::Keywords;
use crate::report::json;
use crate::rules::rules;

/// Rewrites one RNTuple or TTree, or all of a file, and returns the reports as JSON. A mask has its bits and the number of
/// entries. `own` are read rules. `progress(done, total)` is called by this thread.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are parameters in Python")]
pub(crate) fn rewrite<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    ntuple: Option<String>,
    keywords: Keywords,
    cut: Option<String>,
    mask: Option<(Vec<u8>, usize)>,
    own: Option<Bound<'py, PyAny>>,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let rules = rules(own)?;
    Job::new(threads).progress(progress).run(py, move |context| {
        let cut = cut.map(|cut| Cut::parse(&cut).map(EntryCut::Expression)).transpose()?;
        let mask = mask.map(|(bits, count)| EntryCut::from_bits(bits, count)).transpose()?;
        let mut options: RewriteOptions = keywords.parse()?;
        options.output.identity = keywords.identity;
        options = RewriteOptions { cut: mask.or(cut), rules, ..options };
        let (path, object) = split_path(&input);
        let file = open_file(&*path, &OpenOptions::default().with_stop(context.stop()))?;
        let output = Path::new(&output);
        let reports = match ntuple.as_deref().or(object) {
            None if !keywords.has_entries() => rewrite_all(&file, output, &options, context)?,
            ntuple => {
                let dataset = open_dataset(&file, ntuple)?;
                options.entries = keywords.entries(|| Ok(dataset.num_entries()))?;
                let ntuple = ntuple.unwrap_or(dataset.name());
                vec![core_rewrite(&file, ntuple, output, &options, context)?]
            }
        };
        json(&reports)
    })
}

/// Refuses options of `rewrite` that a dataset of this format does not have.
#[pyfunction]
pub(crate) fn check_rewrite(py: Python<'_>, keywords: Keywords, is_tree: bool) -> PyResult<()> {
    let options = keywords.parse::<RewriteOptions>();
    let checked = options.and_then(|options| options.check_formats(!is_tree, is_tree));
    checked.map_err(|error| to_python(py, &error))
}
