//! Holds the code that the fuzz targets share. A target passes when it returns. An error is a correct answer to
//! bad input. A panic, an overflow, an endless loop or too much memory is not.

pub mod folder;
mod limit;
pub mod repair;
pub mod sink;

use std::sync::{Arc, LazyLock};

use nyssa_data::Dataset;
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;

/// The maximum number of entries that are read. A few bytes of metadata may claim any number.
pub const MAX_ENTRIES: u64 = 10_000;

static CONTEXT: LazyLock<Context> = LazyLock::new(|| match Context::new(Some(1)) {
    Ok(context) => context,
    Err(error) => panic!("no threads to run on: {error}"),
});

/// Returns a context with one thread. It is made once.
pub fn context() -> &'static Context {
    &CONTEXT
}

/// Opens the ROOT file in `bytes`, if it is one.
pub fn open(bytes: &[u8]) -> nyssa_root::Result<RootFile> {
    RootFile::open(Arc::new(nyssa_io::MemorySource::new("fuzz.root", bytes.to_vec())))
}

/// Reads every readable column separately, so that an error in one column does not hide another.
pub fn read_all(dataset: &dyn Dataset) {
    let entries = dataset.num_entries().min(MAX_ENTRIES);
    let all = dataset.columns().iter().chain(dataset.subcolumns());
    for item in all.filter(|item| item.field.is_ok()) {
        if let Ok(arrays) = dataset.read(&[&item.name], 0..entries, context()) {
            assert!(arrays.iter().all(|array| array.len() as u64 == entries), "{}", item.name);
        }
    }
}
