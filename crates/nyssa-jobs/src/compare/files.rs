//! Compares whole files: each dataset with the dataset at its path, and the other objects.

use std::collections::BTreeMap;

use nyssa_data::dataset::{Dataset, Format};
use nyssa_data::view::ChainOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_tables::Reader;
use serde::Serialize;

use super::diff::{DiffOptions, DiffReport, diff};
use crate::open::{self, AnyFile, Datasets, Opened, join, split_path};

/// The differences between whole files, called a and b.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileDiffReport {
    /// Whether there is no difference, and every requested comparison was made.
    pub equal: bool,
    /// The datasets and other objects that only a has, each with its class.
    pub only_in_a: Vec<String>,
    /// The datasets and other objects that only b has, each with its class.
    pub only_in_b: Vec<String>,
    /// The other objects that both have and that differ, each with the difference.
    pub different: Vec<String>,
    /// The number of other objects that were compared. There are none if a or b is several files.
    pub compared_objects: u64,
    /// The datasets that were compared.
    pub datasets: Vec<DatasetDiff>,
}

/// The differences between the datasets at one path.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DatasetDiff {
    /// The path in both files.
    pub path: String,
    /// The differences.
    #[serde(flatten)]
    pub report: DiffReport,
}

/// A dataset of one or several files.
pub struct FileDataset {
    /// The path in the files.
    pub path: String,
    /// The format in the first file.
    pub format: Format,
    /// The files that have it, as `FILE:PATH`.
    pub files: Vec<String>,
}

/// Returns the datasets of whole files, if there are several. Returns none if a path is named, or if the files have one
/// dataset.
///
/// # Errors
/// Returns an error if a file cannot be opened.
pub fn several_datasets(files: &[String]) -> Result<Vec<FileDataset>> {
    let all = datasets(files)?;
    Ok(if all.len() > 1 { all } else { Vec::new() })
}

/// Returns the datasets of whole files, in the order of the files. Returns none if a path is named.
fn datasets(files: &[String]) -> Result<Vec<FileDataset>> {
    let mut all: Vec<FileDataset> = Vec::new();
    if files.iter().any(|file| split_path(file).1.is_some()) {
        return Ok(all);
    }
    for argument in files {
        let file = match whole(argument)? {
            AnyFile::Root(file) => file,
            AnyFile::Table(table) => {
                add_table(&mut all, &table, argument);
                continue;
            }
        };
        for key in open::datasets(&file)? {
            let part = join(&split_path(argument).0, Some(&key.path));
            match all.iter_mut().find(|item| item.path == key.path) {
                Some(known) => known.files.push(part),
                None => {
                    let format = open::format_of(&key).unwrap_or(Format::TTree);
                    all.push(FileDataset { path: key.path, format, files: vec![part] });
                }
            }
        }
    }
    Ok(all)
}

/// Adds the table of a file. Tables are one dataset together, since most are called like their file.
fn add_table(all: &mut Vec<FileDataset>, table: &Reader, file: &str) {
    let (path, format) = (table.dataset().name(), table.dataset().format());
    let is_table = |item: &FileDataset| matches!(item.format, Format::Parquet | Format::Arrow);
    match all.iter_mut().find(|item| item.path == path || is_table(item)) {
        Some(known) => known.files.push(file.to_owned()),
        None => {
            let (path, files) = (path.to_owned(), vec![file.to_owned()]);
            all.push(FileDataset { path, format, files });
        }
    }
}

fn whole(argument: &str) -> Result<AnyFile> {
    AnyFile::open(&nyssa_io::open(&*split_path(argument).0)?)
}

impl FileDataset {
    /// Opens the dataset. `options` are for several files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be opened.
    pub fn open(&self, options: &ChainOptions, context: &Context) -> Result<Datasets> {
        let first = self.files.first();
        let first = first.ok_or_else(|| Error::not_found("no files are named"))?;
        let first = match whole(first)? {
            AnyFile::Root(file) => Opened::of_key(&file, &file.find(&self.path)?)?,
            AnyFile::Table(table) => Opened::Table(table),
        };
        Datasets::new(first, &self.files, options, context)
    }

    fn named(&self) -> String {
        format!("{} ({:?})", self.path, self.format)
    }
}

/// Compares whole files: the datasets at each path, and the other objects if each side is one file. A dataset of several
/// files is opened with `chain`. Returns `None` if there is one dataset on each side at most, or if a path is named:
/// [`diff`] is for two datasets.
///
/// # Errors
/// `InvalidArgument` if the filter matches no column, or if there is nothing to compare; `Cancelled`; an error if a
/// file is damaged or cannot be read.
pub fn diff_files(
    a: &[String],
    b: &[String],
    (options, chain): (&DiffOptions, &ChainOptions),
    context: &Context,
) -> Result<Option<FileDiffReport>> {
    let (in_a, in_b) = (datasets(a)?, datasets(b)?);
    if in_a.is_empty() || in_b.is_empty() || in_a.len().max(in_b.len()) < 2 {
        return Ok(None);
    }
    let mut report = FileDiffReport::default();
    let lacks = |all: &[FileDataset], item: &FileDataset| all.iter().all(|it| it.path != item.path);
    let only = |mine: &[FileDataset], other: &[FileDataset]| {
        mine.iter().filter(|item| lacks(other, item)).map(FileDataset::named).collect()
    };
    (report.only_in_a, report.only_in_b) = (only(&in_a, &in_b), only(&in_b, &in_a));
    let mut takes_some = false;
    for left in &in_a {
        let Some(right) = in_b.iter().find(|item| item.path == left.path) else { continue };
        context.check()?;
        let path = &left.path;
        let (left, right) = (left.open(chain, context)?, right.open(chain, context)?);
        let (left, right) = (left.dataset(), right.dataset());
        if !takes_any(options, left) && !takes_any(options, right) && has_columns(left, right) {
            continue;
        }
        takes_some = true;
        let report_of_dataset = diff(left, right, options, context).in_object(path)?;
        report.datasets.push(DatasetDiff { path: path.clone(), report: report_of_dataset });
    }
    if !takes_some && in_a.iter().any(|item| !lacks(&in_b, item)) {
        return Err(Error::invalid_argument("the filter matches none of the columns"));
    }
    if let ([a], [b]) = (a, b) {
        report.add_objects(&whole(a)?, &whole(b)?)?;
    }
    let no_more = report.only_in_a.is_empty() && report.only_in_b.is_empty();
    report.equal = (options.only_common || no_more)
        && report.different.is_empty()
        && report.datasets.iter().all(|dataset| dataset.report.equal);
    Ok(Some(report))
}

fn takes_any(options: &DiffOptions, dataset: &dyn Dataset) -> bool {
    dataset.columns().iter().any(|column| options.selection.takes(&column.name))
}

/// Returns whether one of the datasets has columns. A dataset without columns is compared by its entries.
fn has_columns(a: &dyn Dataset, b: &dyn Dataset) -> bool {
    !a.columns().is_empty() || !b.columns().is_empty()
}

impl FileDiffReport {
    /// Compares the objects that are neither datasets nor directories: their classes, and their stored bytes before
    /// compression.
    fn add_objects(&mut self, a: &AnyFile, b: &AnyFile) -> Result<()> {
        let (in_a, in_b) = (other_objects(a)?, other_objects(b)?);
        let named = |key: &KeyEntry| format!("{} ({})", key.path, key.class);
        let only = |mine: &Objects, other: &Objects| {
            let gone = mine.iter().filter(|(path, _)| !other.contains_key(*path));
            gone.map(|(_, key)| named(key)).collect::<Vec<_>>()
        };
        self.only_in_a.extend(only(&in_a, &in_b));
        self.only_in_b.extend(only(&in_b, &in_a));
        let (AnyFile::Root(a), AnyFile::Root(b)) = (a, b) else { return Ok(()) };
        for (path, left) in &in_a {
            let Some(right) = in_b.get(path) else { continue };
            self.compared_objects += 1;
            let payload = |file: &RootFile, key: &KeyEntry| {
                file.payload(key).in_file(file.name()).in_object(&key.path)
            };
            if left.class != right.class {
                let (class_a, class_b) = (&left.class, &right.class);
                self.different.push(format!("{path}: a {class_a} in a, a {class_b} in b"));
            } else if payload(a, left)? != payload(b, right)? {
                self.different.push(format!("{}: its stored bytes differ", named(left)));
            }
        }
        Ok(())
    }
}

/// The newest cycle of each object, by its path.
type Objects = BTreeMap<String, KeyEntry>;

/// Returns the objects of a file that are neither datasets nor directories. A table has none.
fn other_objects(file: &AnyFile) -> Result<Objects> {
    let mut newest = Objects::new();
    let AnyFile::Root(file) = file else { return Ok(newest) };
    let (keys, _) = file.list_all()?;
    for key in keys.into_iter().filter(|key| !key.is_directory() && open::format_of(key).is_none())
    {
        if newest.get(&key.path).is_none_or(|other| other.cycle < key.cycle) {
            newest.insert(key.path.clone(), key);
        }
    }
    Ok(newest)
}
