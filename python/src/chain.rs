//! Makes one dataset of many files, one after the other or side by side.

use nyssa_data::dataset::ColumnInfo;
use nyssa_data::view::evolve::{Aliases, EvolutionOptions};
use nyssa_data::view::{Chain, ChainOptions, ChainSchema, Join, Link, Right};
use nyssa_io::OpenOptions;
use nyssa_rntuple::schema::FieldType;
use nyssa_root::Error;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::array::Array;
use crate::cache::{GivenCache, open_options};
use crate::dataset::Dataset;
use crate::errors;
use crate::job::Job;
use crate::rules::rules;

/// A dataset and its files, each with its first entry and its end in the dataset.
type Chained = (Dataset, Vec<(String, u64, u64)>);

/// A `nyssa.read.chain.ChainOptions`: the arguments of `nyssa.chain`.
#[derive(FromPyObject)]
pub(crate) struct GivenOptions<'py> {
    schema: Option<Bound<'py, PyAny>>,
    missing: Option<String>,
    narrowing: bool,
    aliases: Vec<(String, String)>,
    /// The read rules.
    pub rules: Option<Bound<'py, PyAny>>,
}

/// Chains the datasets of `links`, which are paths or open datasets. `options` are the arguments of
/// `nyssa.chain`.
#[pyfunction]
#[pyo3(signature = (links, options, threads=None, cache=None, allow_other_files=None))]
pub(crate) fn chain(
    py: Python<'_>,
    links: Vec<Bound<'_, PyAny>>,
    options: GivenOptions<'_>,
    threads: Option<usize>,
    cache: GivenCache,
    allow_other_files: Option<bool>,
) -> PyResult<Chained> {
    let by =
        open_options(cache, allow_other_files).map_err(|error| errors::to_python(py, &error))?;
    let links = ruled_links_by(&links, options.rules.as_ref(), &by)?;
    let options = chain_options(py, options)?;
    Job::new(threads).abandonable().run(py, move |context| {
        let chain = Chain::new(links, &options, context)?;
        let files = chain.files();
        let files = files.map(|(file, entries)| (file.to_owned(), entries.start, entries.end));
        let files = files.collect();
        Ok((Dataset::new(std::sync::Arc::new(chain)), files))
    })
}

/// Joins `left` and `rights`, each with a prefix of its columns, on the columns `on`.
#[pyfunction]
#[pyo3(signature = (left, rights, on, threads=None))]
pub(crate) fn join(
    py: Python<'_>,
    left: &Dataset,
    rights: Vec<(PyRef<'_, Dataset>, String)>,
    on: Vec<String>,
    threads: Option<usize>,
) -> PyResult<Dataset> {
    let left = left.inner();
    let right =
        |(right, prefix): (PyRef<'_, Dataset>, String)| Right { dataset: right.inner(), prefix };
    let rights = rights.into_iter().map(right).collect();
    Job::new(threads).abandonable().run(py, move |context| {
        let join = Join::new(left, rights, on, context)?;
        Ok(Dataset::new(std::sync::Arc::new(join)))
    })
}

/// Returns the sources of paths or open datasets, each read with the rules among the options.
pub(crate) fn ruled_links(
    links: &[Bound<'_, PyAny>],
    given: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Link>> {
    ruled_links_by(links, given, &OpenOptions::default())
}

/// Returns links like [`ruled_links`], for files that are opened by `options`.
fn ruled_links_by(
    links: &[Bound<'_, PyAny>],
    given: Option<&Bound<'_, PyAny>>,
    options: &OpenOptions,
) -> PyResult<Vec<Link>> {
    let rules = rules(given.cloned())?;
    let ruled = |link: Link| if rules.is_empty() { link } else { link.with_rules(rules.clone()) };
    links.iter().map(|source| link(source, options).map(ruled)).collect()
}

fn link(source: &Bound<'_, PyAny>, options: &OpenOptions) -> PyResult<Link> {
    if let Ok(dataset) = source.cast::<Dataset>() {
        let dataset = dataset.get().inner();
        let name = format!("{}:{}", dataset.file(), dataset.name());
        let options = dataset.open_options();
        let link = Link::new(name, move || Ok(std::sync::Arc::clone(&dataset)));
        return Ok(link.with_options(options));
    }
    Ok(nyssa_jobs::open::link(source.extract::<String>()?, options))
}

/// Returns the options that say how several schemas become one.
pub(crate) fn chain_options(py: Python<'_>, options: GivenOptions<'_>) -> PyResult<ChainOptions> {
    let raise = |error: Error| errors::to_python(py, &error);
    let aliases = options.aliases.iter().map(|(new, old)| (new.as_str(), old.as_str()));
    let missing = options.missing.map(|text| text.parse()).transpose().map_err(raise)?;
    let target = target(options.schema)?;
    let missing = missing.unwrap_or(target.missing());
    Ok(ChainOptions {
        target,
        aliases: Aliases::new(aliases).map_err(raise)?,
        evolution: EvolutionOptions { missing, narrowing: options.narrowing },
    })
}

/// Reads the schema that is wanted: a word, another dataset, or columns of its types.
fn target(schema: Option<Bound<'_, PyAny>>) -> PyResult<ChainSchema> {
    let Some(schema) = schema.filter(|schema| !schema.is_none()) else {
        return Ok(ChainSchema::First);
    };
    if let Ok(dataset) = schema.cast::<Dataset>() {
        return Ok(ChainSchema::Like(dataset.get().inner()));
    }
    if let Ok(word) = schema.extract::<String>() {
        return ChainSchema::named(&word).map_err(|error| errors::to_python(schema.py(), &error));
    }
    let columns: Vec<PyRef<'_, Array>> =
        schema.extract().map_err(|_| PyTypeError::new_err("a schema is a list of columns"))?;
    let item = |column: &PyRef<'_, Array>| {
        let field = column.field().as_ref().clone();
        let type_name = FieldType::from_arrow(&field).and_then(|of| of.type_name());
        let type_name = type_name.unwrap_or_default();
        ColumnInfo { name: field.name().clone(), type_name, field: Ok(field) }
    };
    Ok(ChainSchema::Stated(columns.iter().map(item).collect()))
}
