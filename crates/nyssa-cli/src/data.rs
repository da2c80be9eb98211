//! Opens the files and datasets that arguments name: `FILE`, `FILE:PATH`, globs, folders and lists.

use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use nyssa_data::dataset::{Dataset, Filter, Format, no_match};
use nyssa_data::view::ChainOptions;
use nyssa_io::{Sink, Source};
use nyssa_jobs::open::{self, AnyFile, Datasets, Opened, format_of};
use nyssa_root::error::alternatives;
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::{Context, Error};

use crate::failure::{Failure, Result};

pub(crate) use nyssa_jobs::open::path_of;

/// Opens the dataset of a key. The error has a hint with the command that lists the datasets.
pub(crate) fn of_key(file: &RootFile, key: &KeyEntry) -> Result<Opened> {
    Opened::of_key(file, key).map_err(|error| match format_of(key) {
        None => {
            let hint = format!("`nyssa ls {}` shows what the file holds", file.name());
            Failure::from(not_data(file, key)).hint(hint)
        }
        Some(_) => error.into(),
    })
}

/// Opens the dataset that an argument names.
pub(crate) fn open_dataset(argument: &str) -> Result<Opened> {
    match open_any(argument)? {
        (AnyFile::Root(file), path) => {
            let key = match path {
                Some(path) => find(&file, path)?,
                None => only(&file, None)?,
            };
            of_key(&file, &key)
        }
        (AnyFile::Table(table), path) => Ok(Opened::Table(open::named_table(table, path)?)),
    }
}

/// Opens the datasets that arguments name as one, see [`files`].
pub(crate) fn open_datasets(
    arguments: &[String],
    options: &ChainOptions,
    context: &Context,
) -> Result<Datasets> {
    let files = files(arguments)?;
    let first = files.first().ok_or_else(|| Error::not_found("no files are named"))?;
    Ok(Datasets::new(open_dataset(first)?, &files, options, context)?)
}

fn not_data(file: &RootFile, key: &KeyEntry) -> Error {
    let message = format!("{:?} is a {}, neither a TTree nor an RNTuple", key.path, key.class);
    Error::invalid_argument(message).at(|place| place.file = Some(file.name().to_owned()))
}

/// Returns the files that arguments name: files, lists, folders and globs, see [`open::files`].
pub(crate) fn files(arguments: &[String]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    for argument in arguments {
        check_input(&open::split_path(argument).0)?;
        all.extend(open::files(argument)?);
    }
    Ok(all)
}

/// Refuses standard input.
fn check_input(path: &str) -> Result<()> {
    if path != "-" {
        return Ok(());
    }
    Err(Failure::Usage(
        "nyssa cannot read standard input, because it does not read the parts of a file in \
         order"
            .to_owned(),
        Some("write the data to a file, and name the file".to_owned()),
    ))
}

/// Refuses globs that select none of the columns. An empty report would look as if nothing were wrong.
pub(crate) fn check_filter(globs: &[String], names: &[&str], file: &str) -> Result<()> {
    let filter = Filter::new(globs, &[])?;
    if names.is_empty() || names.iter().any(|name| filter.takes(name)) {
        return Ok(());
    }
    let message = format!("the filter matches none of the {} columns of {file}", names.len());
    let near = globs.iter().map(|glob| no_match("column", glob, names.iter().copied()));
    let near: Vec<String> = near.flat_map(|error| error.suggestions().to_vec()).collect();
    let mut failure = Failure::from(Error::invalid_argument(message));
    if !near.is_empty() {
        failure = failure.hint(format!("did you mean {}?", alternatives(&near)));
    }
    Err(failure.hint(format!("`nyssa schema {file}` lists their names")))
}

/// Returns the names of the columns of a dataset.
pub(crate) fn names(dataset: &dyn Dataset) -> Vec<&str> {
    dataset.columns().iter().map(|item| item.name.as_str()).collect()
}

/// Opens the file of an argument, of any format. Returns it with the path in it, if there is one.
pub(crate) fn open_any(argument: &str) -> Result<(AnyFile, Option<&str>)> {
    let (source, object) = open_source(argument)?;
    Ok((AnyFile::open(&source)?, object))
}

/// Opens the ROOT file of an argument. Returns it with the path in it, if there is one.
pub(crate) fn open_file(argument: &str) -> Result<(RootFile, Option<&str>)> {
    let (source, object) = open_source(argument)?;
    Ok((RootFile::open(source)?, object))
}

/// Opens the source of an argument. Returns it with the path in it, if there is one.
pub(crate) fn open_source(argument: &str) -> Result<(Arc<dyn Source>, Option<&str>)> {
    let (path, object) = open::split_path(argument);
    check_input(&path)?;
    let source = nyssa_io::open(&*path).map_err(|error| not_one_file(&path, error))?;
    Ok((source, object))
}

/// Returns the error of a file that cannot be opened, with a hint if the argument names several files.
fn not_one_file(path: &str, error: nyssa_io::Error) -> Failure {
    let hint = match error.source.kind() {
        ErrorKind::IsADirectory => "name a file in it",
        ErrorKind::NotFound if path.contains(['*', '?', '[']) => "name one file here",
        _ => return Error::from(error).into(),
    };
    let several = "`nyssa ls`, `schema`, `inspect`, `verify`, `cat`, `diff`, `digest`, `merge` and `convert --into` take folders and globs";
    Failure::from(Error::from(error)).hint(format!("{hint}; {several}"))
}

/// Refuses standard output.
pub(crate) fn check_output(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Failure::Usage(
        "nyssa cannot write a ROOT file to standard output, because it does not write the parts \
         of a file in order"
            .to_owned(),
        Some("name a file; `./-` is a file of that name".to_owned()),
    ))
}

/// Refuses standard output for a file of text that an option names.
pub(crate) fn check_text_output(option: &str, path: Option<&Path>) -> Result<()> {
    if path.is_none_or(|path| path.as_os_str() != "-") {
        return Ok(());
    }
    Err(Failure::Usage(
        format!("{option} writes a file, and not to standard output"),
        Some("name a file; `./-` is a file of that name".to_owned()),
    ))
}

/// Creates a text file that [`write_text`] completes, if it is wanted.
pub(crate) fn create_text(path: Option<&Path>, force: bool) -> Result<Option<Box<dyn Sink>>> {
    Ok(path.map(|path| nyssa_io::create(path, force)).transpose().map_err(Error::from)?)
}

/// Writes the text of a file that is wanted.
pub(crate) fn write_text(
    file: Option<Box<dyn Sink>>,
    text: impl FnOnce() -> Result<String>,
) -> Result<()> {
    let Some(mut sink) = file else { return Ok(()) };
    Ok(sink.write_at(0, text()?.as_bytes()).and_then(|()| sink.commit()).map_err(Error::from)?)
}

/// Finds the key of a path. The error has a hint with the command that lists the keys.
pub(crate) fn find(file: &RootFile, path: &str) -> Result<KeyEntry> {
    file.find(path).map_err(|error| {
        Failure::from(error).hint(format!("`nyssa ls {}` shows what the file holds", file.name()))
    })
}

/// Returns the key of the only dataset of `format`, or of any format.
pub(crate) fn only(file: &RootFile, format: Option<Format>) -> Result<KeyEntry> {
    let keys = open::datasets_of(file, format)?;
    match &keys[..] {
        [] => Err(Failure::Usage(
            format!("{} has no dataset that this command takes", file.name()),
            Some(format!("`nyssa ls {}` shows what the file holds", file.name())),
        )),
        [key] => Ok(key.clone()),
        [first, ..] => {
            let paths: Vec<_> = keys.iter().map(|key| key.path.as_str()).collect();
            Err(Failure::Usage(
                format!("{} has several datasets: {}", file.name(), paths.join(", ")),
                Some(format!("name one of them, such as {}:{}", file.name(), first.path)),
            ))
        }
    }
}
