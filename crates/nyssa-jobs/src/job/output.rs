//! Creates the output file of a job that reads other files: decides where the file may be, and when it appears.

use std::path::Path;

use nyssa_io::Staging;
use nyssa_rntuple::write::SharedFile;
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_tables::{format_of_name, named, other_format_of_name};

/// The time in reproducible files: the first second of 1995, where ROOT's own time begins.
const REPRODUCIBLE_TIME: u64 = 788_918_400;
/// The identity (UUID) of reproducible files.
const REPRODUCIBLE_UUID: [u8; 16] = *b"nyssa-nyssa-nyss";

/// The settings of the output file.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The compression of all records that are not pages.
    pub compression: Compression,
    /// Whether an existing file is replaced.
    pub force: bool,
    /// Whether the file gets a fixed time, and a fixed identity if it has no other.
    pub reproducible: bool,
    /// The identity (UUID) of the file. `None` makes a random UUID.
    pub identity: Option<[u8; 16]>,
    /// The title of the file.
    pub title: String,
}

/// An output that is being written.
pub(crate) struct Output {
    pub file: SharedFile,
    name: String,
    staging: Staging,
}

impl Output {
    /// Creates the file `path`. The file has no name before [`Output::publish`].
    ///
    /// # Errors
    /// `InvalidArgument` for the name of another format, and if it is one of the files at the locations `inputs`; `AlreadyExists`
    /// if it exists and may not be replaced.
    pub(crate) fn create(inputs: &[&Path], path: &Path, settings: Settings) -> Result<Self> {
        let name = nyssa_io::shown(path);
        check_root_name(path)?;
        check_other(inputs, path)?;
        let (sink, staging) = nyssa_io::stage(path, settings.force)?;
        let Settings { compression, reproducible, identity, title, .. } = settings;
        let file = FileOptions {
            compression,
            title,
            uuid: identity.or(reproducible.then_some(REPRODUCIBLE_UUID)),
            time: reproducible.then_some(REPRODUCIBLE_TIME),
            ..FileOptions::default()
        };
        let file = SharedFile::new(RootFileWriter::create(sink, file)?);
        Ok(Self { file, name, staging })
    }

    /// Checks that the ROOT file `path` can be created. Jobs call this before long work.
    ///
    /// # Errors
    /// `InvalidArgument` for the name of another format, and if it is one of the files at the locations `inputs`; `AlreadyExists`
    /// if it exists and may not be replaced.
    pub(crate) fn check(inputs: &[&Path], path: &Path, force: bool) -> Result<()> {
        check_root_name(path)?;
        Self::check_any(inputs, path, force)
    }

    /// Checks that the file `path`, of any format that nyssa writes, can be created.
    ///
    /// # Errors
    /// `InvalidArgument` for the name of a file of another format, and if it is one of the files at the locations
    /// `inputs`; `AlreadyExists` if it exists and may not be replaced.
    pub(crate) fn check_any(inputs: &[&Path], path: &Path, force: bool) -> Result<()> {
        check_own_name(path)?;
        check_other(inputs, path)?;
        nyssa_io::create(path, force).map(drop).map_err(Error::from)
    }

    /// Completes the file, which still has no name, and returns its size in bytes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub(crate) fn finish(&self) -> Result<u64> {
        self.file.finish()
    }

    /// Opens the finished file for reading.
    ///
    /// # Errors
    /// `NotFound` before [`Output::finish`]; an error if the file cannot be opened.
    pub(crate) fn open(&self) -> Result<RootFile> {
        RootFile::open(self.staging.open()?)
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// `AlreadyExists` when a file with this name has appeared meanwhile.
    pub(crate) fn publish(&self) -> Result<()> {
        Ok(self.staging.publish()?)
    }

    /// Returns the path that the user gave.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

/// Refuses the name of a file of a format that nyssa does not write.
fn check_own_name(path: &Path) -> Result<()> {
    let Some(format) = other_format_of_name(path) else { return Ok(()) };
    let message = format!(
        "nyssa writes ROOT, Parquet and Arrow IPC files, and the name is the name of {format} file: choose a name that ends in \
         .root, .parquet or .arrow; pandas, polars and DuckDB make other formats of a .parquet file"
    );
    Err(Error::invalid_argument(message).at(|place| place.file = Some(nyssa_io::shown(path))))
}

/// Refuses a ROOT file with the name of a file of another format, such as Parquet or CSV.
///
/// # Errors
/// `InvalidArgument` with the names that a ROOT file and a table may have.
pub fn check_root_name(path: &Path) -> Result<()> {
    check_own_name(path)?;
    let Some(format) = format_of_name(path) else { return Ok(()) };
    let message = format!(
        "this writes a ROOT file, and the name is the name of {} file: choose a name that ends in .root; `convert` and \
         `skim` write tables",
        named(format)
    );
    Err(Error::invalid_argument(message).at(|place| place.file = Some(nyssa_io::shown(path))))
}

/// Refuses an output that is one of the inputs.
fn check_other(inputs: &[&Path], path: &Path) -> Result<()> {
    if inputs.iter().any(|input| nyssa_io::is_same(input, path)) {
        let message =
            "the output is the input file: choose another name, the input is never overwritten";
        return Err(
            Error::invalid_argument(message).at(|place| place.file = Some(nyssa_io::shown(path)))
        );
    }
    Ok(())
}
