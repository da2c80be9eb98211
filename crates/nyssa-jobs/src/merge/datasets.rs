//! Finds the datasets of an input that are merged: the dataset that it names, or all datasets of its file.

use nyssa_data::dataset::Format;
use nyssa_io::OpenOptions;
use nyssa_rntuple::read::CLASS;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};

use super::input::Input;
use super::input_file::{InputDataset, InputFile, OtherCycle, directories_beside, other_cycles};
use crate::open::{format_of, newest, split_path};

/// The datasets of the first input, by which the names of later inputs are understood.
#[derive(Default)]
pub(super) struct FirstInput {
    /// The dataset that the first input names.
    pub named: Option<KeyEntry>,
    /// The RNTuple of its file, if it is the only one and the input names none.
    ntuple: Option<String>,
    /// The tree of its file, if it is the only one and the input names none.
    tree: Option<String>,
}

/// The file of an input, with its RNTuples.
pub(super) struct OpenedInput {
    pub file: InputFile,
    /// The open RNTuples, in the order of [`InputFile::ntuples`].
    pub ntuples: Vec<Input>,
    pub beside: Beside,
}

/// The objects in the file of an input besides the RNTuples that are merged.
#[derive(Default)]
pub(super) struct Beside {
    /// The paths of the objects that are not directories.
    pub objects: Vec<String>,
    /// Whether some of them are TTrees.
    pub has_trees: bool,
    /// Whether there are directories that contain more than the RNTuples.
    pub has_directories: bool,
    /// The other cycles of the RNTuples.
    pub cycles: Vec<OtherCycle>,
}

impl FirstInput {
    /// Opens the first input. With `joins`, datasets of other names are joined with its only dataset.
    ///
    /// # Errors
    /// `NotFound` for a missing file or dataset; `InvalidArgument` for an object of another class; an error if the file
    /// is damaged.
    pub(super) fn open(
        argument: &str,
        joins: bool,
        options: &OpenOptions,
    ) -> Result<(Self, OpenedInput)> {
        let (file, keys, named) = keys_of(argument, options)?;
        let only = |format| match &newest(keys.clone(), Some(format))[..] {
            [only] if named.is_none() && joins => Some(only.path.clone()),
            _ => None,
        };
        let (ntuple, tree) = (only(Format::RNTuple), only(Format::TTree));
        let first = Self { named: named.clone(), ntuple, tree };
        let opened = first.opened(&file, keys, named)?;
        Ok((first, opened))
    }

    /// Opens a later input.
    ///
    /// # Errors
    /// See [`FirstInput::open`]; also `InvalidArgument` if it does not have the dataset that the first input names.
    pub(super) fn open_next(&self, argument: &str, options: &OpenOptions) -> Result<OpenedInput> {
        let (file, keys, named) = keys_of(argument, options)?;
        self.opened(&file, keys, named)
    }

    fn opened(
        &self,
        file: &RootFile,
        keys: Vec<KeyEntry>,
        named: Option<KeyEntry>,
    ) -> Result<OpenedInput> {
        let (ntuples, tree) = self.parts(&keys, named).in_file(file.name())?;
        let beside = Beside::of(keys, &ntuples);
        let open = |part: &InputDataset| Input::open(file, &part.path());
        let inputs = ntuples.iter().map(open).collect::<Result<_>>()?;
        let file = InputFile::of(file, ntuples, tree);
        Ok(OpenedInput { file, ntuples: inputs, beside })
    }

    /// Returns the RNTuples that are merged, and the tree that is named.
    fn parts(
        &self,
        keys: &[KeyEntry],
        named: Option<KeyEntry>,
    ) -> Result<(Vec<InputDataset>, Option<InputDataset>)> {
        let first = self.named.as_ref();
        if let (Some(first), Some(key)) = (first, &named)
            && format_of(first) != format_of(key)
        {
            return Err(Error::invalid_argument(format!(
                "{} is a {}, and the first input names a {}: convert it first",
                key.path, key.class, first.class
            )));
        }
        let target = |key: &KeyEntry, only: &Option<String>| {
            let first = first.map(|first| &first.path).or(only.as_ref());
            first.unwrap_or(&key.path).clone()
        };
        match (named, first) {
            (Some(key), _) if key.class == CLASS => {
                Ok((vec![InputDataset { target: target(&key, &self.ntuple), key }], None))
            }
            (Some(key), _) => {
                Ok((Vec::new(), Some(InputDataset { target: target(&key, &self.tree), key })))
            }
            (None, Some(first)) if first.class == CLASS => {
                let key = usual(keys, &first.path)?;
                Ok((vec![InputDataset { target: first.path.clone(), key }], None))
            }
            (None, Some(_)) => Ok((Vec::new(), None)),
            (None, None) => {
                let all = newest(keys.to_vec(), Some(Format::RNTuple)).into_iter();
                Ok((all.map(|key| InputDataset { target: key.path.clone(), key }).collect(), None))
            }
        }
    }
}

/// Opens the file of an argument. Returns its keys, and the key of the dataset that the argument names.
fn keys_of(
    argument: &str,
    options: &OpenOptions,
) -> Result<(RootFile, Vec<KeyEntry>, Option<KeyEntry>)> {
    let (name, object) = split_path(argument);
    let file = RootFile::open(nyssa_io::open_with(&*name, options)?)?;
    let named = object.map(|object| file.find(object)).transpose()?;
    if let Some(key) = named.as_ref().filter(|key| format_of(key).is_none()) {
        let message = format!("{} is a {}, neither a TTree nor an RNTuple", key.path, key.class);
        return Err(Error::invalid_argument(message)).in_file(file.name());
    }
    let keys = file.walk()?;
    Ok((file, keys, named))
}

/// Returns the RNTuple at the path that the first input names.
fn usual(keys: &[KeyEntry], path: &str) -> Result<KeyEntry> {
    let ntuples = newest(keys.to_vec(), Some(Format::RNTuple));
    let paths = ntuples.iter().map(|key| key.path.as_str()).collect::<Vec<_>>();
    let found = ntuples.iter().find(|key| key.path == path).cloned();
    found.ok_or_else(|| match paths.is_empty() {
        true => Error::not_found(
            "the file has no RNTuple, and the first input has one: convert it first",
        ),
        false => Error::invalid_argument(format!(
            "the file has no RNTuple {path} as the first input has, but {}: to merge RNTuples of different names into \
             one, name each as FILE:PATH",
            paths.join(", ")
        )),
    })
}

impl Beside {
    fn of(keys: Vec<KeyEntry>, ntuples: &[InputDataset]) -> Self {
        let paths: Vec<&str> = ntuples.iter().map(|part| &*part.key.path).collect();
        let has_directories = !directories_beside(&keys, &paths).is_empty();
        let objects = keys.into_iter().filter(|key| !key.is_directory());
        let (own, others): (Vec<_>, Vec<_>) = objects.partition(|key| paths.contains(&&*key.path));
        let cycles = ntuples.iter().flat_map(|InputDataset { key, .. }| {
            let same = own.iter().filter(|item| item.path == key.path).cloned().collect();
            other_cycles(same, key.cycle, &key.path)
        });
        let has_trees = others.iter().any(|key| format_of(key) == Some(Format::TTree));
        let cycles = cycles.collect();
        let objects = others.into_iter().map(|key| key.path).collect();
        Self { objects, has_trees, has_directories, cycles }
    }
}
