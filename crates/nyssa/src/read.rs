//! Opens datasets and reads their columns as Arrow arrays.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use nyssa_data::dataset::{AnyDataset, Dataset, fields};
use nyssa_data::view::{Chain, ChainOptions, Query};
use nyssa_io::OpenOptions;
use nyssa_root::error::ResultExt;
use nyssa_root::{Context, Error, Result};

/// Opens the dataset at `file.root:dir/Events`, or the only dataset of a file. The file is a path or a URL.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let events = nyssa::open("../../testdata/rntuple/several.root:n0")?;
/// assert_eq!(events.format(), nyssa::Format::RNTuple);
/// assert_eq!(nyssa::open("missing.root").unwrap_err().kind(), nyssa::Kind::NotFound);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` with the nearest names; `InvalidArgument` if the object is no dataset, or if no object is named and the
/// file has several datasets; `Unsupported`, `OutOfSpecification` and `Checksum` for what cannot be read; `Io`.
pub fn open(path: &str) -> Result<AnyDataset> {
    nyssa_jobs::open::open_path(path)
}

/// Opens a dataset like [`open`], with options for its file: a cache, counters, other files that it may name.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let options = nyssa::OpenOptions::default();
/// nyssa::open_with("../../testdata/rntuple/plain.root", &options)?;
/// let counts = options.stats.counts();
/// assert!(counts.bytes_read + counts.bytes_readv > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` with the nearest names; `InvalidArgument` if the object is no dataset, or if no object is named and the
/// file has several datasets; `Unsupported`, `OutOfSpecification` and `Checksum` for what cannot be read; `Io`.
pub fn open_with(path: &str, options: &OpenOptions) -> Result<AnyDataset> {
    nyssa_jobs::open::open_path_with(path, options)
}

/// Returns the entries of several datasets, one after the other, as one dataset. TTrees and RNTuples can be mixed.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let paths = ["../../testdata/rntuple/plain.root"; 2];
/// let both = nyssa::chain(&paths, &nyssa::ChainOptions::default(), &context)?;
/// assert_eq!(both.num_entries(), 2 * nyssa::open(paths[0])?.num_entries());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` for columns that differ, if the options do not allow it; a dataset cannot be opened, for the reasons
/// that [`open`] lists.
pub fn chain<S: AsRef<str>>(
    paths: &[S],
    options: &ChainOptions,
    context: &Context,
) -> Result<AnyDataset> {
    let open = OpenOptions::default();
    let links = paths.iter().map(|path| nyssa_jobs::open::link(path.as_ref(), &open)).collect();
    Ok(Arc::new(Chain::new(links, options, context)?))
}

/// Reads columns of a range of entries.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(Some(2))?;
/// let events = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let name = events.columns()[0].name.clone();
/// let batch = nyssa::read(&*events, &[&name], 0..1, &context)?;
/// assert_eq!(batch.num_columns(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` with the nearest names; `InvalidArgument` for a range beyond the entries; `Unsupported`; `Checksum`, `Io`
/// and `OutOfSpecification` with the place in the file; `Cancelled`.
pub fn read(
    dataset: &dyn Dataset,
    columns: &[&str],
    entries: Range<u64>,
    context: &Context,
) -> Result<RecordBatch> {
    let schema = Arc::new(Schema::new(fields(dataset, columns)?));
    let arrays = dataset.read(columns, entries, context)?;
    let batch = RecordBatch::try_new(schema, arrays);
    batch
        .map_err(|error| Error::invalid_argument("the columns form no table").with_source(error))
        .in_file(dataset.file())
}

/// Reads columns in batches: each has the entries of one cluster of the file, the unit that is read at little cost.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let events = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let name = events.columns()[0].name.clone();
/// let mut rows = 0;
/// for batch in nyssa::batches(&*events, &[&name], &context) {
///     rows += batch?.num_rows() as u64;
/// }
/// assert_eq!(rows, events.num_entries());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Each batch may be an error, for the reasons that [`read`] lists.
pub fn batches<'a>(
    dataset: &'a dyn Dataset,
    columns: &'a [&'a str],
    context: &'a Context,
) -> impl Iterator<Item = Result<RecordBatch>> + 'a {
    dataset.clusters().into_iter().map(move |entries| read(dataset, columns, entries, context))
}

/// Returns the entries of a dataset that pass a cut, an expression such as `nMuon >= 2 && any(Muon_pt > 20)`. The
/// columns of the cut are read at once.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let all = nyssa::open("../../testdata/rntuple/plain.root")?;
/// let name = all.columns()[0].name.clone();
/// let some = nyssa::select(all.clone(), &format!("{name} == {name}"), &context)?;
/// assert_eq!(some.num_entries(), all.num_entries());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` with the place where the cut is wrong; `NotFound` for a column that is missing; an error
/// if the data are damaged or cannot be read.
pub fn select(dataset: AnyDataset, cut: &str, context: &Context) -> Result<AnyDataset> {
    let query = Query::new(&*dataset, &[], Some(cut), Vec::new(), || Ok(Vec::new()))?;
    let entries = 0..dataset.num_entries();
    Ok(query.apply(dataset, entries, context)?.dataset)
}
