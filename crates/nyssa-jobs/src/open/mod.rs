//! Opens the dataset at a path. Only this module knows all formats.

mod any_file;
mod datasets;
mod files;
mod friends;
mod opened;
mod options;
mod path;
mod relations;

use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Format};
use nyssa_data::view::Link;
use nyssa_io::OpenOptions;
use nyssa_rntuple::read;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

pub use any_file::{AnyFile, named_table, open_table, table_format};
pub use datasets::Datasets;
pub use files::{files, files_of, matching_files};
pub use friends::open_with_friends;
pub use opened::{Opened, path_of};
pub use options::GivenOpenOptions;
pub(crate) use path::join;
pub use path::split_path;
pub(crate) use path::without_cycle;
pub use relations::{open_again, relations, relations_of, stored_aliases};

/// The classes of TTrees that nyssa reads.
pub const TREE_CLASSES: [&str; 3] = ["TTree", "TNtuple", "TNtupleD"];

/// Returns the format of the object of a key, if it is a dataset.
pub fn format_of(key: &KeyEntry) -> Option<Format> {
    match key.class.as_str() {
        read::CLASS => Some(Format::RNTuple),
        class if TREE_CLASSES.contains(&class) => Some(Format::TTree),
        _ => None,
    }
}

/// Opens the dataset at `path` (`dir/name`, `dir/name;cycle`). Without a path, opens the only dataset of the file.
/// The class of the key distinguishes TTrees and RNTuples.
///
/// # Errors
/// `NotFound` with the nearest names, or if the file has no dataset; `InvalidArgument` if the object at `path` is not
/// a dataset, or if there is no path and the file has several datasets, which the message lists; an error if the file
/// is damaged.
pub fn open_dataset(file: &RootFile, path: Option<&str>) -> Result<AnyDataset> {
    open_dataset_with(file, path, read::RNTupleReadOptions::default())
}

/// Opens the dataset at `path`, or the only dataset of the file, with options. For a TTree only the option for
/// streamed objects is used.
///
/// # Errors
/// `NotFound` if there is no such dataset; `InvalidArgument` if the object at `path` is not a dataset, or if there
/// are several datasets; an error if the file is damaged.
pub fn open_dataset_with(
    file: &RootFile,
    path: Option<&str>,
    options: read::RNTupleReadOptions,
) -> Result<AnyDataset> {
    let key = find_dataset(file, path)?;
    // The cycle is part of the path, because the name alone finds the newest cycle.
    let path = format!("{};{}", key.path, key.cycle);
    Ok(match Opened::new(file, &key, &path, options)? {
        Opened::Tree(reader) => Arc::new(*reader),
        Opened::NTuple(reader) => Arc::new(*reader),
        Opened::Table(table) => Arc::clone(table.dataset()),
    })
}

/// Opens the dataset at `file.root:Events`, or the only dataset of a file. The file is a path or a URL.
///
/// # Errors
/// `NotFound` if there is no such file or dataset; `InvalidArgument` if the object is not a dataset, or if there are
/// several datasets; an error if the file is damaged or cannot be read.
pub fn open_path(path: &str) -> Result<AnyDataset> {
    open_path_with(path, &OpenOptions::default())
}

/// Opens the dataset at `file.root:Events`, or the only dataset of a file, with options for opening the file.
///
/// # Errors
/// `NotFound` if there is no such file or dataset; `InvalidArgument` if the object is not a dataset, or if there are
/// several datasets; an error if the file is damaged or cannot be read.
pub fn open_path_with(path: &str, options: &OpenOptions) -> Result<AnyDataset> {
    let (file, object) = split_path(path);
    match AnyFile::open(&nyssa_io::open_with(&*file, options)?)? {
        AnyFile::Root(file) => open_dataset(&file, object),
        AnyFile::Table(table) => Ok(Arc::clone(named_table(table, object)?.dataset())),
    }
}

/// Returns the dataset at `file.root:Events`, or the only dataset of a file, as a part of a chain. The file is opened
/// with `options`.
pub fn link(path: impl Into<String>, options: &OpenOptions) -> Link {
    let path: String = path.into();
    let remote = nyssa_io::is_remote(&path);
    let by = options.clone();
    let link = Link::new(nyssa_io::shown(&path), move || open_path_with(&path, &by));
    link.with_remote(remote).with_options(vec![options.clone()])
}

/// Returns the newest cycle of each dataset of a file, in the order of the file. Datasets in directories that
/// cannot be listed are missing.
///
/// # Errors
/// `Io` if the file cannot be read.
pub fn datasets(file: &RootFile) -> Result<Vec<KeyEntry>> {
    Ok(newest(file.list_all()?.0, None))
}

/// Returns the newest cycle of each dataset of `format`, or of all datasets, in the order of `keys`.
pub(crate) fn newest(keys: Vec<KeyEntry>, format: Option<Format>) -> Vec<KeyEntry> {
    let is_wanted = |key: &KeyEntry| {
        format_of(key).is_some_and(|own| format.is_none_or(|format| format == own))
    };
    let mut newest: Vec<KeyEntry> = Vec::new();
    for key in keys.into_iter().filter(is_wanted) {
        match newest.iter_mut().find(|other| other.path == key.path) {
            Some(other) if other.cycle < key.cycle => *other = key,
            Some(_) => (),
            None => newest.push(key),
        }
    }
    newest
}

/// Returns the newest cycle of each dataset of `format`. Without a format, returns all datasets.
///
/// # Errors
/// `Io` if the file cannot be read.
pub fn datasets_of(file: &RootFile, format: Option<Format>) -> Result<Vec<KeyEntry>> {
    let mut keys = datasets(file)?;
    keys.retain(|key| format.is_none() || format_of(key) == format);
    Ok(keys)
}

/// Returns the path and cycle of each dataset of `format`, in the order of the file.
///
/// # Errors
/// `NotFound` if there is none; `Io` if the file cannot be read.
pub fn paths_of(file: &RootFile, format: Format) -> Result<Vec<String>> {
    let keys = datasets_of(file, Some(format))?;
    let paths: Vec<_> = keys.iter().map(|key| format!("{};{}", key.path, key.cycle)).collect();
    match paths.is_empty() {
        true => Err(Error::not_found(format!("the file has no {format:?}"))).in_file(file.name()),
        false => Ok(paths),
    }
}

/// Returns the key of the dataset at `path`. Without a path, returns the key of the only dataset of the file.
///
/// # Errors
/// `NotFound` with the nearest names, or if the file has no dataset; `InvalidArgument` if there is no path
/// and the file has several datasets, which the message lists.
pub fn find_dataset(file: &RootFile, path: Option<&str>) -> Result<KeyEntry> {
    match path {
        Some(path) => file.find(path),
        None => only_dataset(file, None),
    }
}

/// Returns the key of the only dataset of `format`. Without a format, returns the key of the only dataset of the file.
///
/// # Errors
/// `NotFound` if there is none; `InvalidArgument` with their names if there are several; `Io` if the file cannot be
/// read.
pub fn only_dataset(file: &RootFile, format: Option<Format>) -> Result<KeyEntry> {
    let mut keys = datasets_of(file, format)?;
    let error = match keys.len() {
        1 => return Ok(keys.swap_remove(0)),
        0 => Error::not_found(match format {
            None => "the file has no TTree and no RNTuple".to_owned(),
            Some(format) => format!("the file has no {format:?}"),
        }),
        _ => {
            let what = format.map_or("dataset".to_owned(), |format| format!("{format:?}"));
            let names = keys.iter().map(|key| key.path.as_str()).collect::<Vec<_>>();
            let names = names.join(", ");
            let message = format!("the file has several {what}s, name one of them: {names}");
            Error::invalid_argument(message)
        }
    };
    Err(error).in_file(file.name())
}
