//! Jobs on files, by their paths.

use std::path::Path;

use nyssa_data::dataset::Dataset;
use nyssa_jobs::compare::Selection;
use nyssa_jobs::compare::diff::{DiffOptions, DiffReport};
use nyssa_jobs::compare::digest::DigestReport;
use nyssa_jobs::convert::{ConvertReport, Direction};
use nyssa_jobs::merge::{MergeOptions, MergeReport};
use nyssa_jobs::open::{Opened, split_path};
use nyssa_jobs::rewrite::{RewriteOptions, RewriteReport};
use nyssa_jobs::skim::{SkimOptions, SkimReport, convert_table, has_table};
use nyssa_jobs::tune::inspect::Inspection;
use nyssa_jobs::verify::VerifyReport;
use nyssa_root::rootfile::RootFile;
use nyssa_root::{Context, Result};

fn root_file(path: &str) -> Result<(RootFile, Option<&str>)> {
    let (file, object) = split_path(path);
    Ok((RootFile::open(nyssa_io::open(&*file)?)?, object))
}

/// Converts the TTrees of a file to RNTuples ([`crate::ToRNTuple`]), or back ([`crate::ToTTree`]). `FILE:PATH` means one
/// of them. An output with the name of a table (`.parquet`, `.arrow`) gets one dataset, and an input that is a table
/// becomes an RNTuple or TTree. There is one report for each. The output appears when it is complete, and, if the options say so, verified.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let input = "../../testdata/rntuple/plain.root";
/// let reports = nyssa::convert(input, &output, &nyssa::ToTTree::default(), &context)?;
/// assert_eq!(reports[0].written.entries, nyssa::open(output.to_str().unwrap())?.num_entries());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` for the input; `InvalidArgument` for options or an output that are not allowed; `AlreadyExists`;
/// `Unsupported` with all branches or fields that cannot be converted; `Cancelled`; an error if the input is damaged or
/// cannot be read.
pub fn convert<D: Direction>(
    input: &str,
    output: impl AsRef<Path>,
    options: &D,
    context: &Context,
) -> Result<Vec<ConvertReport>> {
    let output = output.as_ref();
    if has_table(input, output, None) {
        return Ok(vec![convert_table(input, output, None, options, context)?]);
    }
    let (file, object) = root_file(input)?;
    match object {
        Some(path) => {
            let report = nyssa_jobs::convert::convert(&file, path, output, options, context)?;
            Ok(vec![report])
        }
        None => nyssa_jobs::convert::convert_file(&file, output, options, context),
    }
}

/// Writes an RNTuple again, with other compression, clusters, column types, fields or entries.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let options = nyssa::RewriteOptions { entries: Some((0..1).into()), ..Default::default() };
/// nyssa::rewrite("../../testdata/rntuple/plain.root", &output, &options, &context)?;
/// assert_eq!(nyssa::open(output.to_str().unwrap())?.num_entries(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` for the RNTuple, and for patterns without a field; `InvalidArgument` for options or an output that are
/// not allowed; `Unsupported` with all fields that cannot be read; `Cancelled`; an error if the input is damaged or
/// cannot be read.
pub fn rewrite(
    input: &str,
    output: impl AsRef<Path>,
    options: &RewriteOptions,
    context: &Context,
) -> Result<RewriteReport> {
    let (file, object) = root_file(input)?;
    let path = match object {
        Some(path) => path.to_owned(),
        None => nyssa_jobs::open::only_dataset(&file, None)?.path,
    };
    nyssa_jobs::rewrite::rewrite(&file, &path, output.as_ref(), options, context)
}

/// Writes some columns of the entries that pass cuts, and new columns, to a new file of any format. Inputs are files,
/// `FILE:PATH`, globs and lists.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.parquet");
/// let context = nyssa::Context::new(None)?;
/// let inputs = ["../../testdata/rntuple/codec-zstd.root".to_owned()];
/// let mut options = nyssa::SkimOptions::default();
/// options.cut.push("some=len(x) > 0".parse()?);
/// let report = nyssa::skim(&inputs, &output, &options, &context)?;
/// assert_eq!(nyssa::open(output.to_str().unwrap())?.num_entries(), report.cut_flow[0].entries);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` for inputs and columns; `InvalidArgument` for options, cuts or an output that are not allowed;
/// `AlreadyExists`; `Unsupported` with all columns that cannot be written; `Cancelled`; an error if an input is damaged or
/// cannot be read.
pub fn skim(
    inputs: &[String],
    output: impl AsRef<Path>,
    options: &SkimOptions,
    context: &Context,
) -> Result<SkimReport> {
    nyssa_jobs::skim::skim(inputs, output.as_ref(), options, context)
}

/// Merges files. Pages of RNTuples and baskets of TTrees are copied without decompressing them; histograms are added.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let output = folder.path().join("out.root");
/// let context = nyssa::Context::new(None)?;
/// let inputs = ["../../testdata/rntuple/plain.root".to_owned()];
/// let report = nyssa::merge(&inputs, &output, &nyssa::MergeOptions::default(), &context)?;
/// assert_eq!(report.inputs.len(), 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` with the first field that differs, if the options do not allow it; `AlreadyExists`; `Checksum`
/// with the page; `Cancelled`; an error if an input is damaged or cannot be read.
pub fn merge(
    inputs: &[String],
    output: impl AsRef<Path>,
    options: &MergeOptions,
    context: &Context,
) -> Result<MergeReport> {
    nyssa_jobs::merge::merge(inputs, output.as_ref(), options, context)
}

/// Checks everything in a file, or in one of its objects: every checksum, every rule of the formats, every value.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let report = nyssa::verify("../../testdata/rntuple/plain.root", &context)?;
/// assert!(report.problems.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound`, `Io` and `Cancelled`. What is wrong with the file is in the report.
pub fn verify(path: &str, context: &Context) -> Result<VerifyReport> {
    let (file, object) = split_path(path);
    nyssa_jobs::verify::verify(nyssa_io::open(&*file)?, object, context)
}

/// Compares two datasets value by value. A TTree and an RNTuple can be compared.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let a = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let b = nyssa::open("../../testdata/rntuple/codec-none.root")?;
/// assert!(nyssa::diff(&*a, &*b, &nyssa::DiffOptions::default(), &context)?.equal);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` if nothing can be compared; an error if the data are damaged or cannot be read.
pub fn diff(
    a: &dyn Dataset,
    b: &dyn Dataset,
    options: &DiffOptions,
    context: &Context,
) -> Result<DiffReport> {
    nyssa_jobs::compare::diff::diff(a, b, options, context)
}

/// Returns a digest of the values of each selected column. It does not depend on the format and its options.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let a = nyssa::open("../../testdata/rntuple/codec-zstd.root")?;
/// let report = nyssa::digest(&*a, &nyssa::Selection::default(), &context)?;
/// assert_eq!(report.digests.len(), a.columns().len());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `InvalidArgument` for entries beyond the dataset; an error if the data are damaged or cannot be read.
pub fn digest(
    dataset: &dyn Dataset,
    selection: &Selection,
    context: &Context,
) -> Result<DigestReport> {
    nyssa_jobs::compare::digest::digest(dataset, selection, context)
}

/// Describes where the bytes of a dataset are: by field or branch, column, page and cluster. No data are read.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let inspection = nyssa::inspect("../../testdata/rntuple/plain.root")?;
/// assert!(!inspection.columns.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `NotFound` with the nearest names; `InvalidArgument` if the object is no dataset, or if no object is named and the
/// file has several datasets; `Unsupported`, `OutOfSpecification` and `Checksum` for what cannot be read; `Io`.
pub fn inspect(path: &str) -> Result<Inspection> {
    let (file, object) = split_path(path);
    nyssa_jobs::tune::inspect::inspect(&Opened::open(&nyssa_io::open(&*file)?, object)?)
}
