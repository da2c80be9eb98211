//! Opening.

use std::ffi::c_char;
use std::sync::Arc;

use nyssa_data::dataset::{AnyDataset, Format};
use nyssa_data::view::{Chain, Query};
use nyssa_jobs::open::{datasets, format_of, link, open_path_with, split_path, stored_aliases};
use nyssa_rntuple::read::Reader;
use nyssa_root::Error;
use nyssa_root::rootfile::RootFile;
use serde_json::json;

use crate::call;
use crate::context::{context_of, nyssa_context};
use crate::error::{nyssa_error, nyssa_status};
use crate::handle::{self, Handled};
use crate::options::{ChainArguments, Given, OpenArguments};
use crate::texts::{json, text, text_or_none, texts};

/// An open RNTuple or TTree. Several threads may read it at the same time. It is closed by `nyssa_close`; what was read
/// stays.
pub struct nyssa_dataset {
    _opaque: [u8; 0],
}

/// What is behind a `nyssa_dataset`.
pub(crate) struct Open {
    pub dataset: AnyDataset,
    /// Whether strings are bytes.
    pub raw: bool,
}

impl Handled for Open {
    const WHAT: &'static str = "dataset";
    type Opaque = nyssa_dataset;
}

/// Lists the RNTuples and TTrees of a file as JSON: an array of objects with `name` and `format`.
///
/// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: the options of `nyssa_open`.
/// Errors: `NYSSA_NOT_FOUND`, `NYSSA_IO`, and `NYSSA_OUT_OF_SPECIFICATION` for a file that is no ROOT file.
///
/// # Safety
/// `url` and `options` are texts (`options` may be null); `json` and `error` are null, or places for pointers. The text at
/// `json` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_list(
    url: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    json: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let list = || {
        // SAFETY: the caller promises it.
        let (url, options) =
            unsafe { (text(url, "the URL")?, text_or_none(options, "the text of the options")?) };
        let context = context_of(context)?;
        let (options, _) = Given::parse(options)?.of::<OpenArguments>()?.options(&context)?;
        let file = RootFile::open(nyssa_io::open_with(&*split_path(url).0, &options)?)?;
        let listed: Vec<_> = datasets(&file)?
            .iter()
            .map(|key| json!({ "name": key.path, "format": format_of(key).map(format_name) }))
            .collect();
        self::json(&listed)
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, json, list) }
}

fn format_name(format: Format) -> &'static str {
    match format {
        Format::TTree => "TTree",
        Format::RNTuple => "RNTuple",
        Format::Parquet => "Parquet",
        Format::Arrow => "Arrow",
    }
}

/// Opens the dataset at `file.root:dir/Events`, or the only dataset of a file.
///
/// `url` is a path, or a URL of `file`, `http`, `https`, `root` or `s3`. Options: `strings` (`utf8`: strings are Arrow's
/// large_utf8 and text that is not UTF-8 is an error; `bytes`: they are large_binary), `cache` (a folder, or `none`),
/// `cache_size`, `cache_as`, `cache_max_age`, `allow_other_files`.
/// Errors: `NYSSA_NOT_FOUND` with the nearest names; `NYSSA_INVALID_ARGUMENT` if the object is no dataset, or if no object
/// is named and the file has several datasets; `NYSSA_UNSUPPORTED`, `NYSSA_OUT_OF_SPECIFICATION` and `NYSSA_CHECKSUM` for
/// what cannot be read; `NYSSA_IO`.
///
/// # Safety
/// `url` and `options` are texts (`options` may be null); `dataset` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_open(
    url: *const c_char,
    options: *const c_char,
    context: *const nyssa_context,
    dataset: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let open = || {
        // SAFETY: the caller promises it.
        let (url, options) =
            unsafe { (text(url, "the URL")?, text_or_none(options, "the text of the options")?) };
        let context = context_of(context)?;
        let (options, raw) = Given::parse(options)?.of::<OpenArguments>()?.options(&context)?;
        Ok(handle::open(Open { dataset: open_path_with(url, &options)?, raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, dataset, open) }
}

/// Opens `count` datasets as one, one after the other. RNTuples and TTrees can be mixed.
///
/// Options: the options of `nyssa_open`, and `schema` (`first`: the columns of the first file, the default; `union`: all columns
/// of all files; `intersection`: the columns that all files have; or columns with C++ types, `schema=pt=double`, which can be
/// repeated), `missing` (what a column is where a file lacks it: `error`, `default` for zero or empty, or `null`; the default is
/// `null` for a union and for columns with types, and otherwise `error`), `narrowing` (whether types may become narrower:
/// integers are checked, doubles are rounded), `aliases=NEW=OLD` (an old name of a column or member; can be repeated).
/// Errors: the errors of `nyssa_open`, and `NYSSA_INVALID_ARGUMENT` for options, and for columns that differ.
///
/// # Safety
/// `urls` has `count` texts; `options` is null or a text; `dataset` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_chain(
    urls: *const *const c_char,
    count: usize,
    options: *const c_char,
    context: *const nyssa_context,
    dataset: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let chain = || {
        // SAFETY: the caller promises it.
        let urls = unsafe { texts(urls, count, "the list of URLs") }?;
        // SAFETY: as above.
        let options = unsafe { text_or_none(options, "the text of the options") }?;
        let context = context_of(context)?;
        let given = Given::parse(options)?.of::<ChainArguments>()?;
        let (options, raw, evolution) = given.options(&context)?;
        let links = urls.into_iter().map(|url| link(url, &options)).collect();
        let chain = Chain::new(links, &evolution, &context)?;
        Ok(handle::open(Open { dataset: Arc::new(chain), raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, dataset, chain) }
}

/// Makes the dataset of the entries that pass a cut, such as `nMuon >= 2 && any(Muon_pt > 20)`. It may use the aliases of a
/// TTree. The columns of the cut are read at once. The old dataset stays open, and may be closed.
///
/// Errors: `NYSSA_INVALID_ARGUMENT` with the place where the cut is wrong; `NYSSA_NOT_FOUND` for a column that is missing;
/// the errors of `nyssa_dataset_read`.
///
/// # Safety
/// `cut` is a text; `selected` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_select(
    dataset: *const nyssa_dataset,
    cut: *const c_char,
    context: *const nyssa_context,
    selected: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let select = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let cut = unsafe { text(cut, "the cut") }?;
        let dataset = Arc::clone(&open.dataset);
        let query =
            Query::new(&*dataset, &[], Some(cut), Vec::new(), || stored_aliases(&*dataset))?;
        let entries = 0..dataset.num_entries();
        let dataset = query.apply(dataset, entries, &context_of(context)?)?.dataset;
        Ok(handle::open(Open { dataset, raw: open.raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, selected, select) }
}

/// Opens an attribute set of an RNTuple as a dataset, with the columns `_rangeStart`, `_rangeLen` and `_userData`.
///
/// Errors: `NYSSA_NOT_FOUND` if the dataset has no such set.
///
/// # Safety
/// `name` is a text; `attributes` and `error` are null, or places for pointers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_attribute_set(
    dataset: *const nyssa_dataset,
    name: *const c_char,
    attributes: *mut *mut nyssa_dataset,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let find = || {
        let open = handle::get::<Open>(dataset)?;
        // SAFETY: the caller promises it.
        let name = unsafe { text(name, "the name") }?;
        let Some(reader) = Reader::shown_by(&*open.dataset) else {
            let message = format!("{} has no attribute set {name:?}", open.dataset.name());
            return Err(Error::not_found(message));
        };
        let dataset = Arc::new(reader.open_attribute_set(name)?);
        Ok(handle::open(Open { dataset, raw: open.raw }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, attributes, find) }
}

/// Gives the number of entries of a dataset.
///
/// # Safety
/// `entries` is null, or a place for a number; `error` is null, or a place for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_entries(
    dataset: *const nyssa_dataset,
    entries: *mut u64,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let count = || Ok(handle::get::<Open>(dataset)?.dataset.num_entries());
    // SAFETY: the caller promises it.
    unsafe { call::give(error, entries, count) }
}

/// Describes a dataset as JSON: `name`, `format`, `file`, `entries`, `description`, `clusters` (pairs of the first entry
/// and the end), `attribute_sets` (names), and `columns`: `name`, `type` (of C++), `title`, `arrow` (the Arrow type, or
/// null) and `reason` (why it cannot be read, or null).
///
/// # Safety
/// `json` and `error` are null, or places for pointers. The text at `json` belongs to the caller.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nyssa_dataset_describe(
    dataset: *const nyssa_dataset,
    json: *mut *mut c_char,
    error: *mut *mut nyssa_error,
) -> nyssa_status {
    let describe = || {
        let open = handle::get::<Open>(dataset)?;
        let dataset = &open.dataset;
        let columns = dataset.columns().iter().map(|column| {
            let arrow = column.field.as_ref().ok().map(|field| field.data_type().to_string());
            json!({
                "name": column.name,
                "type": column.type_name,
                "title": dataset.title(&column.name),
                "arrow": arrow,
                "reason": column.field.as_ref().err(),
            })
        });
        let sets = Reader::shown_by(&**dataset).map(Reader::attribute_links).unwrap_or_default();
        let clusters = dataset.clusters().into_iter().map(|range| (range.start, range.end));
        self::json(&json!({
            "name": dataset.name(),
            "format": format_name(dataset.format()),
            "file": dataset.file(),
            "entries": dataset.num_entries(),
            "description": dataset.description(),
            "clusters": clusters.collect::<Vec<_>>(),
            "attribute_sets": sets.iter().map(|set| &set.name).collect::<Vec<_>>(),
            "columns": columns.collect::<Vec<_>>(),
        }))
    };
    // SAFETY: the caller promises it.
    unsafe { call::give(error, json, describe) }
}
