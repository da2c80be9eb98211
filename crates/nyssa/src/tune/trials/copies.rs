//! Copies parts of an RNTuple to files of their own, without compression.
//!
//! Pages of an RNTuple can be as large as clusters, and reading a part of a cluster takes the time of its whole pages. A job
//! that writes the whole dataset does not take this time. (Baskets of a TTree are small.)

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use nyssa_io::ScratchFolder;

use crate::Context;
use crate::compression::Compression;
use crate::error::Result;
use crate::job::OutputOptions;
use crate::rewrite::{RewriteOptions, rewrite};
use crate::rootfile::RootFile;

/// The copies that were made.
#[derive(Default)]
pub(super) struct Copies {
    by_range: Mutex<HashMap<Range<u64>, RootFile>>,
}

impl Copies {
    /// Returns a file that has only these entries of the RNTuple at `path`, at the same path.
    ///
    /// # Errors
    /// Those of [`rewrite`], and of opening the copy.
    pub fn of(
        &self,
        (file, path): (&RootFile, &str),
        range: &Range<u64>,
        folder: &ScratchFolder,
        context: &Context,
    ) -> Result<RootFile> {
        let mut by_range = self.by_range.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(copy) = by_range.get(range) {
            return Ok(copy.clone());
        }
        let output = folder.file(&format!("copy-{}-{}.root", range.start, range.end));
        let options = OutputOptions {
            compression: Compression::NONE,
            carry: false,
            ..OutputOptions::default()
        };
        let entries = Some(range.clone());
        let options = RewriteOptions { output: options, entries, ..RewriteOptions::default() };
        rewrite(file, path, &output, &options, context)?;
        let copy = RootFile::open(nyssa_io::open(&output)?)?;
        by_range.insert(range.clone(), copy.clone());
        Ok(copy)
    }
}
