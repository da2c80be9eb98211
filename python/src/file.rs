//! Shows an open ROOT file to Python.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use nyssa_io::{OpenOptions, Source};
use nyssa_jobs::job::MadeOf;
use nyssa_rntuple::read::{RNTupleReadOptions, StreamerForm};
use nyssa_root::rootfile::{self, KeyEntry, RootFile};
use nyssa_root::streamer::{ClassInfo, Element, Linked, ObjectReader, ObjectTable};
use pyo3::prelude::*;

use crate::array::Array;
use crate::bridge::PythonSource;
use crate::cache::{GivenCache, open_options};
use crate::dataset::Dataset;
use crate::errors::to_python;
use crate::job::Job;
use crate::observe;

/// An open ROOT file.
#[pyclass(frozen, module = "nyssa._core")]
pub struct File {
    file: RootFile,
    options: RNTupleReadOptions,
    objects: Arc<ObjectReader>,
}

impl File {
    /// Returns the file.
    pub fn root_file(&self) -> &RootFile {
        &self.file
    }
}

/// A member: its name, its C++ type, and whether it is a base class.
type MemberRow = (String, String, bool);

/// A member: the class of its element, its name, title and C++ type, and the version of a base class.
type ElementRow = (String, String, String, String, i32);

/// Objects of one class.
type TableRow = (String, Array);

/// The place of an object, as `File::object` returns it.
#[derive(IntoPyObject)]
enum Place {
    Row((usize, usize)),
    Null(Option<usize>),
    Undecoded((String, String)),
}

/// An object: its path, cycle, class and title.
type KeyRow = (String, u16, String, String);

/// Opens a ROOT file, by its path or URL or by a `nyssa.files.bridge.Ranges`, and reads its header and list of keys.
/// With `raw`, streamer fields of its RNTuples are read as bytes. A file object has no cache.
#[pyfunction]
#[pyo3(signature = (path, raw=false, cache=None, allow_other_files=None))]
pub(crate) fn open(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    raw: bool,
    cache: GivenCache,
    allow_other_files: Option<bool>,
) -> PyResult<File> {
    let given = match path.extract::<String>() {
        Ok(path) => Given::Path(path),
        Err(_) => Given::Source(Arc::new(PythonSource::new(&path)?)),
    };
    let streamer = if raw { StreamerForm::Raw } else { StreamerForm::Decoded };
    let options = RNTupleReadOptions { streamer, ..RNTupleReadOptions::default() };
    Job::new(None).abandonable().run(py, move |_| {
        let file = match given {
            Given::Path(path) => open_file(&path, &open_options(cache, allow_other_files)?)?,
            Given::Source(source) => {
                let mut by = OpenOptions::default();
                by.allow_other_files = allow_other_files;
                RootFile::open(nyssa_io::open_by(&by, || Ok(source))?)?
            }
        };
        let objects = Arc::new(ObjectReader::new(file.clone()));
        Ok(File { file, options, objects })
    })
}

/// Opens a Parquet or Arrow IPC file as [`open`] opens a ROOT file. Returns `None` if it is no table. `name` is the name of
/// the table, if one is requested.
#[pyfunction]
#[pyo3(signature = (path, name=None, cache=None, allow_other_files=None))]
pub(crate) fn open_table(
    py: Python<'_>,
    path: Bound<'_, PyAny>,
    name: Option<String>,
    cache: GivenCache,
    allow_other_files: Option<bool>,
) -> PyResult<Option<Dataset>> {
    let given = match path.extract::<String>() {
        Ok(path) => Given::Path(path),
        Err(_) => Given::Source(Arc::new(PythonSource::new(&path)?)),
    };
    Job::new(None).abandonable().run(py, move |_| {
        let source = match given {
            Given::Path(path) => {
                nyssa_io::open_with(&path, &open_options(cache, allow_other_files)?)?
            }
            Given::Source(source) => source,
        };
        let Some(table) = nyssa_jobs::open::open_table(&source)? else { return Ok(None) };
        let table = nyssa_jobs::open::named_table(table, name.as_deref())?;
        Ok(Some(Dataset::new(Arc::clone(table.dataset()))))
    })
}

/// The source from which a file is opened.
enum Given {
    /// A path or URL.
    Path(String),
    /// A Python object that reads the file.
    Source(Arc<dyn Source>),
}

/// Opens the file of a path or URL.
pub(crate) fn open_file(
    path: impl AsRef<Path>,
    options: &OpenOptions,
) -> nyssa_root::Result<RootFile> {
    RootFile::open(nyssa_io::open_with(path, options)?)
}

/// Splits `"file.root:Events"` into the file and the path inside it, if there is one.
#[pyfunction]
pub(crate) fn split_path(path: &str) -> (String, Option<String>) {
    let (file, object) = nyssa_jobs::open::split_path(path);
    (file.into_owned(), object.map(str::to_owned))
}

/// Returns the name of the file at a location, without the folder, and without the query and the secrets of a URL.
#[pyfunction]
pub(crate) fn file_name(location: &str) -> String {
    nyssa_io::file_name(location)
}

/// Returns a digest of what the query of a URL asks for, or `None` if it asks for nothing.
#[pyfunction]
pub(crate) fn query_digest(location: &str) -> Option<String> {
    nyssa_io::query_digest(location)
}

/// Returns the name that the last part of a path stands for, as text.
#[pyfunction]
pub(crate) fn name_of(path: &str) -> String {
    rootfile::name_of(rootfile::split(path).1).to_string()
}

/// Returns the files that an argument names: one file, or the files of a list, a folder or a glob. These may be none,
/// unless one `must_exist`.
#[pyfunction]
#[pyo3(signature = (argument, *, must_exist = false))]
pub(crate) fn files(py: Python<'_>, argument: String, must_exist: bool) -> PyResult<Vec<String>> {
    Job::new(None).abandonable().run(py, move |_| match must_exist {
        true => nyssa_jobs::open::files(&argument),
        false => nyssa_jobs::open::matching_files(&argument),
    })
}

/// Returns the size of a file in bytes, or `None` if there is no such file.
#[pyfunction]
pub(crate) fn size(py: Python<'_>, location: String) -> PyResult<Option<u64>> {
    Job::new(None).abandonable().run(py, move |_| match nyssa_io::open(&location) {
        Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        opened => Ok(Some(opened?.size())),
    })
}

/// Returns the size of a file and what tells this version of it from others, as far as its server or the file itself says
/// that; `None` if there is no such file.
#[pyfunction]
pub(crate) fn about(py: Python<'_>, location: String) -> PyResult<Option<(u64, Option<String>)>> {
    Job::new(None).abandonable().run(py, move |_| {
        let source = match nyssa_io::open(&location) {
            Err(error) if error.source.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let is_far = nyssa_io::is_remote(&location);
        let stated = || match is_far {
            true => None,
            false => RootFile::open(Arc::clone(&source)).ok().map(|file| file.version()),
        };
        Ok(Some((source.size(), source.version().or_else(stated))))
    })
}

/// Returns the identity (UUID) that the first bytes of a file state, or `None` if it is no ROOT file.
#[pyfunction]
pub(crate) fn identity(py: Python<'_>, location: String) -> PyResult<Option<[u8; 16]>> {
    Job::new(None).abandonable().run(py, move |_| RootFile::identity(&nyssa_io::open(&location)?))
}

/// Returns the identity (UUID) of the output that a job makes of inputs (their locations, sizes, versions and digests of
/// queries), and verifies or not.
#[pyfunction]
pub(crate) fn identity_of(
    inputs: Vec<(String, i64, Option<String>, Option<String>)>,
    job: &str,
    verified: bool,
) -> [u8; 16] {
    let inputs = inputs.iter().map(|(location, bytes, version, query)| MadeOf {
        location,
        query: query.as_deref(),
        bytes: *bytes,
        version: version.as_deref(),
    });
    nyssa_jobs::job::identity(inputs, job, verified)
}

/// Returns the path, or the URL of another machine, for a process that runs in another folder.
#[pyfunction]
pub(crate) fn absolute(py: Python<'_>, location: &str) -> PyResult<String> {
    let path = match nyssa_io::is_remote(location) {
        true => Ok(location.into()),
        // The path of a file:// URL is absolute.
        false => nyssa_io::local_path(location.as_ref(), "find").and_then(nyssa_io::absolute),
    };
    let absolute = path.map_err(|error| to_python(py, &error.into()))?;
    Ok(absolute.display().to_string())
}

/// Returns a path or URL for people, without the secrets that a URL may have.
#[pyfunction]
pub(crate) fn shown(location: &str) -> String {
    nyssa_io::shown(location)
}

/// Returns a text of a file or a server on one line, without what would change a terminal.
#[pyfunction]
pub(crate) fn printable(text: &str) -> String {
    nyssa_io::printable(text)
}

/// Returns a message without the secrets of URLs, and without what would change a terminal.
#[pyfunction]
pub(crate) fn printable_message(text: &str) -> String {
    nyssa_io::printable_message(&nyssa_io::without_secrets(text))
}

/// Returns the names of `known` that are most similar to `name`, and the text about them for a message.
#[pyfunction]
pub(crate) fn did_you_mean(name: &str, known: Vec<String>) -> (Vec<String>, String) {
    let near = nyssa_root::names::nearest(name, known.iter().map(String::as_str));
    let text = match near.is_empty() {
        true => String::new(),
        false => format!("; did you mean {}?", nyssa_root::error::alternatives(&near)),
    };
    (near, text)
}

#[pymethods]
impl File {
    /// Returns the path of the file.
    #[getter]
    fn name(&self) -> &str {
        self.file.name()
    }

    /// Returns the path or URL that opens the file again. It may have secrets.
    #[getter]
    fn location(&self) -> String {
        self.file.source().location().to_string_lossy().into_owned()
    }

    /// Returns whether streamed objects are read as their bytes.
    #[getter]
    fn raw(&self) -> bool {
        self.options.streamer == StreamerForm::Raw
    }

    /// Closes the file. Nothing can be read from it any more.
    fn close(&self) {
        self.file.source().close();
    }

    /// Returns whether the file was closed.
    #[getter]
    fn closed(&self) -> bool {
        self.file.source().check_open().is_err()
    }

    /// Returns the numbers in the header of the file by ROOT's names, and its UUID.
    fn header(&self) -> (Vec<(&'static str, i64)>, [u8; 16]) {
        let header = self.file.header();
        let large = i32::from(header.large);
        let numbers = vec![
            ("fVersion", i64::from(header.version + 1_000_000 * large)),
            ("fBEGIN", header.begin.cast_signed()),
            ("fEND", header.end.cast_signed()),
            ("fSeekFree", header.seek_free.cast_signed()),
            ("fNbytesFree", header.nbytes_free.into()),
            ("nfree", header.num_free.into()),
            ("fNbytesName", header.nbytes_name.into()),
            ("fUnits", if header.large { 8 } else { 4 }),
            ("fCompress", header.compression.into()),
            ("fSeekInfo", header.seek_info.cast_signed()),
            ("fNbytesInfo", header.nbytes_info.into()),
        ];
        (numbers, header.uuid)
    }

    /// Returns path, class and title of the key at `path`, which may end with a cycle, and its numbers by ROOT's names.
    fn key(&self, py: Python<'_>, path: String) -> PyResult<(KeyRow, Vec<(&'static str, u64)>)> {
        let file = self.file.clone();
        Job::new(None).abandonable().run(py, move |_| {
            let key = file.find(&path)?;
            let version = key.version + if key.is_large { 1000 } else { 0 };
            let numbers = vec![
                ("fNbytes", key.nbytes.into()),
                ("fVersion", version.into()),
                ("fObjlen", key.objlen.into()),
                ("fDatime", key.datime.into()),
                ("fKeylen", key.keylen.into()),
                ("fCycle", key.cycle.into()),
                ("fSeekKey", key.seek),
                ("fSeekPdir", key.parent),
            ];
            Ok((row(key), numbers))
        })
    }

    /// Returns what was opened and read because of the file, as JSON.
    fn io_stats(&self, py: Python<'_>) -> PyResult<String> {
        observe::io_stats_of(py, &[self.file.options()])
    }

    /// Returns what is wrong with a file that was not closed; `None` for others.
    #[getter]
    fn not_closed(&self) -> Option<&str> {
        self.file.not_closed()
    }

    /// Returns `(path, cycle, class, title)` of every object, also of those in directories, and why directories
    /// cannot be listed.
    fn keys(&self, py: Python<'_>) -> PyResult<(Vec<KeyRow>, Vec<String>)> {
        let file = self.file.clone();
        Job::new(None).abandonable().run(py, move |_| {
            let (keys, lost) = file.list_all()?;
            let lost = lost.iter().map(ToString::to_string).collect();
            Ok((keys.into_iter().map(row).collect(), lost))
        })
    }

    /// Returns `(path, cycle, class, title)` of the key at `path` in a directory, or `None`.
    fn find(&self, py: Python<'_>, directory: String, path: String) -> PyResult<Option<KeyRow>> {
        let file = self.file.clone();
        let job = Job::new(None).abandonable();
        job.run(py, move |_| Ok(file.look_up(&directory, &path)?.map(row)))
    }

    /// Opens the TTree or RNTuple at `path`, which may end with a cycle. Without a path it opens the only
    /// dataset of the file.
    #[pyo3(signature = (path=None))]
    fn dataset(&self, py: Python<'_>, path: Option<String>) -> PyResult<Dataset> {
        let (file, options) = (self.file.clone(), self.options);
        Job::new(None).abandonable().run(py, move |_| {
            nyssa_jobs::open::open_dataset_with(&file, path.as_deref(), options).map(Dataset::new)
        })
    }

    /// Reads the object at `path`, which may end with a cycle, and the objects that it leads to. Returns the class and
    /// the objects of each table, and table and row of each object: the whole object is the first, pointers have the
    /// numbers of objects, which count from 1. A null pointer has no place, and an object that is not decoded has class
    /// and reason. If the file was opened with `raw`, the only object is the bytes.
    fn object(&self, py: Python<'_>, path: String) -> PyResult<(Vec<TableRow>, Vec<Place>)> {
        let (objects, raw) = (Arc::clone(&self.objects), self.raw());
        Job::new(None).abandonable().run(py, move |_| {
            let key = objects.file().find(&path)?;
            let graph = if raw { objects.read_raw(&key)? } else { objects.read(&key)? };
            let table = |table: &ObjectTable| {
                let array = Array::new(Arc::clone(&table.array), Arc::new(table.field.clone()));
                array.layout()?;
                Ok((table.class.clone(), array))
            };
            let tables = graph.tables().iter().map(table).collect::<nyssa_root::Result<_>>()?;
            Ok((tables, graph.objects().iter().map(place).collect()))
        })
    }

    /// Returns `(name, C++ type, whether it is a base class)` of the members of the newest version of each class
    /// that the file describes.
    fn classes(&self, py: Python<'_>) -> PyResult<HashMap<String, Vec<MemberRow>>> {
        let objects = Arc::clone(&self.objects);
        Job::new(None).abandonable().run(py, move |_| {
            let class = |info: ClassInfo| (info.name.clone(), members(info));
            Ok(objects.classes()?.into_iter().map(class).collect())
        })
    }

    /// Returns the name and version of each class that the file describes, with `(kind, name, title, C++ type, version of
    /// a base class)` of its members.
    fn streamers(&self, py: Python<'_>) -> PyResult<Vec<(String, i32, Vec<ElementRow>)>> {
        let file = self.file.clone();
        Job::new(None).abandonable().run(py, move |_| {
            let row = |item: &Element| {
                let Element { class, name, title, type_name, base_version, .. } = item.clone();
                (class, name, title, type_name, base_version)
            };
            let class = |info: &ClassInfo| {
                (info.name.clone(), info.version, info.elements.iter().map(row).collect())
            };
            Ok(file.streamer_infos()?.classes().iter().map(class).collect())
        })
    }

    /// Returns the members of a class that the file does not describe but nyssa knows, in the form of `classes`.
    /// For other classes there are none.
    #[staticmethod]
    fn built_in(class_name: &str) -> Vec<MemberRow> {
        ObjectReader::built_in(class_name).map_or_else(Vec::new, members)
    }

    fn __repr__(&self) -> String {
        format!("<nyssa._core.File {:?}>", self.file.name())
    }
}

fn place(object: &Linked) -> Place {
    match object {
        Linked::Row { table, row } => Place::Row((*table, *row)),
        Linked::Null => Place::Null(None),
        Linked::Undecoded(object) => {
            Place::Undecoded((object.class.clone(), object.reason.clone()))
        }
    }
}

fn row(key: KeyEntry) -> KeyRow {
    (key.path, key.cycle, key.class, key.title.to_string())
}

fn members(info: ClassInfo) -> Vec<MemberRow> {
    let member = |element: Element| {
        let base = element.class == "TStreamerBase";
        (element.name, element.type_name, base)
    };
    info.elements.into_iter().map(member).collect()
}
