//! Opens the inputs. Remote inputs stay open.

use std::sync::Arc;

use nyssa_io::OpenOptions;
use nyssa_rntuple::read::{CLASS, RNTupleReadOptions, Reader};
use nyssa_rntuple::schema::{ColumnRange, PageInfo};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::input_file::{InputFile, OtherCycle, directories_beside, other_cycles};
use crate::heuristics::merge;
use crate::open::{TREE_CLASSES, split_path};

/// An open input.
pub(super) struct Input {
    pub file: RootFile,
    pub reader: Arc<Reader>,
    /// The path and the cycle of the RNTuple.
    pub path: String,
    /// The other objects of its file.
    pub beside: Beside,
    /// Whether some of them are TTrees.
    pub has_trees: bool,
}

/// The other objects in the file of an input besides the RNTuple.
#[derive(Default)]
pub(super) struct Beside {
    /// The paths of the objects that are not directories.
    pub objects: Vec<String>,
    /// Whether there are directories that contain more than the RNTuple.
    pub has_directories: bool,
    /// The other cycles of the RNTuple.
    pub cycles: Vec<OtherCycle>,
}

impl Beside {
    fn of(keys: Vec<KeyEntry>, ntuple: &KeyEntry) -> Self {
        let has_directories = !directories_beside(&keys, &ntuple.path).is_empty();
        let objects = keys.into_iter().filter(|key| !key.is_directory());
        let (own, others): (Vec<_>, Vec<_>) = objects.partition(|key| key.path == ntuple.path);
        let cycles = other_cycles(own, ntuple.cycle, &ntuple.path).collect();
        Self { objects: others.into_iter().map(|key| key.path).collect(), has_directories, cycles }
    }
}

/// The first input, which defines what is merged.
pub(super) enum First {
    /// An RNTuple.
    NTuple(Box<Input>),
    /// A file without an RNTuple, or a tree of a file.
    Objects(Box<InputFile>),
}

impl First {
    /// Opens the first of the inputs.
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` for an object of another class, and with the candidates when there are several;
    /// an error if the file is damaged.
    pub(super) fn open(argument: &str, options: &OpenOptions) -> Result<Self> {
        let (name, object) = split_path(argument);
        let file = RootFile::open(nyssa_io::open_with(&*name, options)?)?;
        let keys = file.walk()?;
        let (is_whole, tree) = match object {
            None => (keys.iter().all(|key| key.class != CLASS), None),
            Some(object) => (false, Some(file.find(object)?)),
        };
        let tree = tree.filter(|key| TREE_CLASSES.contains(&key.class.as_str()));
        if is_whole || tree.is_some() {
            return Ok(Self::Objects(Box::new(InputFile::of(file, tree))));
        }
        Input::of(file, keys, object, None).map(|input| Self::NTuple(Box::new(input)))
    }
}

impl Input {
    /// Opens `argument`, a file or `FILE:PATH`. Without a path it opens the RNTuple `usual`, or if that is `None`,
    /// the only RNTuple of the file. The file is opened with `options`.
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` for an object of another class, and with the candidates when there are several;
    /// an error if the file is damaged.
    pub(super) fn open(argument: &str, usual: Option<&str>, options: &OpenOptions) -> Result<Self> {
        let (name, object) = split_path(argument);
        let file = RootFile::open(nyssa_io::open_with(&*name, options)?)?;
        let keys = file.walk()?;
        Self::of(file, keys, object, usual)
    }

    fn of(
        file: RootFile,
        keys: Vec<KeyEntry>,
        object: Option<&str>,
        usual: Option<&str>,
    ) -> Result<Self> {
        let name = file.name().to_owned();
        let key = match object {
            Some(object) => file.find(object)?,
            None => choose(&keys, usual).in_file(&name)?,
        };
        if key.class != CLASS {
            return Err(Error::invalid_argument(format!(
                "{} is a {}, not an RNTuple{}",
                key.path,
                key.class,
                if key.class == "TTree" { ": convert it first" } else { "" }
            )))
            .in_file(&name);
        }
        let path = format!("{};{}", key.path, key.cycle);
        let reader = Arc::new(Reader::open(&file, &path)?);
        let has_trees = keys.iter().any(|key| TREE_CLASSES.contains(&key.class.as_str()));
        let beside = Beside::of(keys, &key);
        Ok(Self { file, reader, path, beside, has_trees })
    }

    /// Returns the approximate number of bytes of memory of an open remote input.
    ///
    /// # Errors
    /// Returns an error if a page list is damaged or cannot be read.
    pub(super) fn memory(&self) -> Result<u64> {
        let columns = self.reader.clusters_info()?.iter().flat_map(|cluster| &cluster.columns);
        let bytes = columns
            .map(|range| size_of::<ColumnRange>() + range.pages.len() * size_of::<PageInfo>());
        Ok((merge::ENDS_BYTES + bytes.sum::<usize>()) as u64)
    }

    /// Returns the file and the RNTuple, read with `options`.
    ///
    /// # Errors
    /// `NotFound`; `Checksum`; `Unsupported`; `OutOfSpecification`.
    pub(super) fn with_options(
        &self,
        options: RNTupleReadOptions,
    ) -> Result<(RootFile, Arc<Reader>)> {
        let reader = match options == RNTupleReadOptions::default() {
            true => Arc::clone(&self.reader),
            false => Arc::new(Reader::open_with(&self.file, &self.path, options)?),
        };
        Ok((self.file.clone(), reader))
    }
}

fn choose(keys: &[KeyEntry], usual: Option<&str>) -> Result<KeyEntry> {
    let mut newest: Vec<&KeyEntry> = Vec::new();
    for key in keys.iter().filter(|key| key.class == CLASS) {
        match newest.iter_mut().find(|other| other.path == key.path) {
            Some(other) if other.cycle < key.cycle => *other = key,
            Some(_) => {}
            None => newest.push(key),
        }
    }
    let paths = newest.iter().map(|key| key.path.as_str()).collect::<Vec<_>>();
    if let Some(usual) = usual.filter(|_| !newest.is_empty()) {
        let key = newest.iter().find(|key| key.path == usual);
        return key.map(|key| (*key).clone()).ok_or_else(|| {
            Error::invalid_argument(format!(
                "the file has no RNTuple {usual} as the first input has, but {}: to merge RNTuples of different \
                 names into one, name each as FILE:PATH",
                paths.join(", ")
            ))
        });
    }
    match newest.as_slice() {
        [] => Err(Error::not_found(
            "the file has no RNTuple, and the first input has one: convert it first",
        )),
        [key] => Ok((*key).clone()),
        _ => Err(Error::invalid_argument(format!(
            "the file has several RNTuples, name one of them: {}",
            paths.join(", ")
        ))),
    }
}
