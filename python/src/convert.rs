//! Converts a TTree to an RNTuple, or an RNTuple to a TTree.

use std::path::Path;

use clap::Args;
use nyssa_io::OpenOptions;
use nyssa_jobs::convert::{
    ConvertReport, ConvertedTotal, Direction, ManyOptions, To, ToRNTuple, ToTTree,
    convert as core_convert, convert_file, convert_many as core_many,
};
use nyssa_jobs::open::{only_dataset, open_dataset, open_path, split_path};
use nyssa_jobs::skim::{convert_table, has_table};
use nyssa_root::{Context, Error, Result};
use pyo3::prelude::*;

use crate::file::open_file;
use crate::job::Job;
use crate::keywords::Keywords;
use crate::report::json;

/// The path of a dataset, the format of the output, and the other keywords, from a
/// `nyssa.jobs.convert.Conversion`.
#[derive(FromPyObject)]
pub(crate) struct Conversion {
    tree: Option<String>,
    to: String,
    keywords: Keywords,
}

/// Converts one dataset, or every dataset of the format if none is named, and returns a list of reports as JSON.
/// `progress(done, total)` is called by this thread.
#[pyfunction]
pub(crate) fn convert<'py>(
    py: Python<'py>,
    input: String,
    output: String,
    conversion: Conversion,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    Job::new(threads).progress(progress).run(py, move |context| match conversion.to.parse()? {
        To::RNTuple => file::<ToRNTuple>(&input, &output, None, &conversion, context),
        To::TTree => file::<ToTTree>(&input, &output, None, &conversion, context),
        to => file::<ToRNTuple>(&input, &output, Some(to), &conversion, context),
    })
}

/// Converts many files into a folder, and returns what became of each as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they are parameters in Python")]
pub(crate) fn convert_many<'py>(
    py: Python<'py>,
    inputs: Vec<String>,
    folder: String,
    name_pattern: String,
    skip_bad: bool,
    skip_done: bool,
    conversion: Conversion,
    threads: Option<usize>,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<String> {
    let folder = folder.into();
    let many = ManyOptions { folder, name_pattern, skip_bad, skip_done };
    Job::new(threads).progress(progress).run(py, move |context| match conversion.to.parse()? {
        To::RNTuple => files::<ToRNTuple>(inputs, &many, &conversion, context),
        To::TTree => files::<ToTTree>(inputs, &many, &conversion, context),
        to => Err(Error::invalid_argument(format!(
            "a list of files is converted to files of ROOT, not to {to}: convert each file, or make one table of all with skim"
        ))),
    })
}

/// Returns a conversion with the options that are not the defaults, as journals have it.
#[pyfunction]
pub(crate) fn convert_job(py: Python<'_>, conversion: Conversion) -> PyResult<String> {
    Job::new(None).run(py, move |_| match conversion.to.parse()? {
        To::RNTuple => options::<ToRNTuple>(&conversion.keywords)?.job(),
        To::TTree => options::<ToTTree>(&conversion.keywords)?.job(),
        to => Err(Error::invalid_argument(format!("no journal has conversions to {to}"))),
    })
}

fn file<D: Direction + Args>(
    input: &str,
    output: &str,
    to: Option<To>,
    conversion: &Conversion,
    context: &Context,
) -> Result<String> {
    let Conversion { tree, keywords, .. } = conversion;
    // Before the input is opened, which may take long.
    let mut options: D = options(keywords)?;
    let (path, object) = split_path(input);
    let named = match (tree, object) {
        (Some(tree), None) => format!("{input}:{tree}"),
        _ => input.to_owned(),
    };
    if has_table(&named, Path::new(output), to) {
        return json(&[table::<D>(&named, output, to, keywords, context)?]);
    }
    let file = open_file(&*path, &OpenOptions::default().with_stop(context.stop()))?;
    let tree = tree.as_deref().or(object);
    options.input_mut().entries = keywords.entries(|| {
        let path = match tree {
            Some(tree) => tree.to_owned(),
            None => only_dataset(&file, D::TO.input())?.path,
        };
        Ok(open_dataset(&file, Some(&path))?.num_entries())
    })?;
    let output = Path::new(output);
    match tree {
        Some(tree) => json(&[core_convert(&file, tree, output, &options, context)?]),
        None => json(&convert_file(&file, output, &options, context)?),
    }
}

/// Converts from or to a table.
fn table<D: Direction + Args>(
    input: &str,
    output: &str,
    to: Option<To>,
    keywords: &Keywords,
    context: &Context,
) -> Result<ConvertReport> {
    // Options that have their defaults written out would seem to be given.
    let mut options: D = keywords.parse()?;
    options.input_mut().entries = keywords.entries(|| Ok(open_path(input)?.num_entries()))?;
    convert_table(input, Path::new(output), to, &options, context)
}

fn files<D: Direction + Args>(
    mut paths: Vec<String>,
    many: &ManyOptions,
    conversion: &Conversion,
    context: &Context,
) -> Result<String> {
    let options: D = options(&conversion.keywords)?;
    if let Some(tree) = &conversion.tree {
        let named = |path: String| match split_path(&path).1 {
            None => format!("{path}:{tree}"),
            Some(_) => path,
        };
        paths = paths.into_iter().map(named).collect();
    }
    let done = core_many(&paths, many, &options, context, |_| {})?;
    let total = ConvertedTotal::of(&done);
    json(&serde_json::json!({ "files": done, "total": total }))
}

/// Returns the options of a direction. Entries are counted where the input is open.
fn options<D: Direction + Args>(keywords: &Keywords) -> Result<D> {
    let unknown = keywords.unknown::<D>();
    if !unknown.is_empty() {
        let formats = match D::TO {
            To::RNTuple => "TTrees",
            _ => "RNTuples",
        };
        return Err(Error::invalid_argument(format!(
            "these options are for {formats}, which this conversion does not write: {}",
            unknown.join(", ")
        )));
    }
    let mut options: D = keywords.parse()?;
    options.output_mut().identity = keywords.identity;
    options.settled()
}
