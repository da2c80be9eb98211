//! Stores the baskets or pages of a sample decompressed in a scratch folder, so that trials do not read and
//! decompress the input again and again.

use std::ops::Range;
use std::sync::Arc;

use nyssa_data::dataset::Dataset;
use nyssa_io::ScratchFolder;
use nyssa_io::cache::{Cache, CacheOptions, Form};
use nyssa_root::Context;
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;

/// The name of the folder of the stored baskets in the scratch folder.
const FOLDER: &str = "kept";

/// Opens a file again, such that baskets and pages that are read are stored decompressed in `folder`.
///
/// # Errors
/// Returns an error if the folder cannot be made or the file cannot be opened.
pub(super) fn with_cache(file: &RootFile, folder: &ScratchFolder) -> Result<RootFile> {
    let mut options = CacheOptions::default();
    (options.form, options.limit) = (Form::Raw, None);
    let cache = Cache::open(folder.file(FOLDER), options)?;
    RootFile::open(cache.source(file.name(), Arc::clone(file.source())))
}

/// Reads a range of entries once, cluster by cluster. If the file has a cache, trials then read decompressed data.
///
/// # Errors
/// `Cancelled`. The trials report data that cannot be read.
pub(super) fn read(dataset: &dyn Dataset, range: &Range<u64>, context: &Context) -> Result<()> {
    let readable = dataset.columns().iter().filter(|column| column.field.is_ok());
    let names: Vec<&str> = readable.map(|column| column.name.as_str()).collect();
    for cluster in dataset.clusters() {
        context.check()?;
        let part = range.start.max(cluster.start)..range.end.min(cluster.end);
        if !part.is_empty() && dataset.read(&names, part.clone(), context).is_err() {
            // The job reports a damaged column.
            for name in &names {
                context.check()?;
                let _ = dataset.read(&[name], part.clone(), context);
            }
        }
    }
    Ok(())
}
