//! Holds an open RNTuple of an input. The RNTuples of remote inputs stay open.

use std::sync::Arc;

use nyssa_rntuple::read::{RNTupleReadOptions, Reader};
use nyssa_rntuple::schema::{ColumnRange, PageInfo};
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;

use crate::heuristics::merge;

/// An open RNTuple of an input.
pub(super) struct Input {
    pub file: RootFile,
    pub reader: Arc<Reader>,
    /// The path and the cycle of the RNTuple.
    pub path: String,
}

impl Input {
    /// Opens the RNTuple at `path` of a file.
    ///
    /// # Errors
    /// `NotFound`; an error if the RNTuple is damaged.
    pub(super) fn open(file: &RootFile, path: &str) -> Result<Self> {
        let reader = Arc::new(Reader::open(file, path)?);
        Ok(Self { file: file.clone(), reader, path: path.to_owned() })
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
