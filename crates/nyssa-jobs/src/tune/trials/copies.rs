//! Copies parts of an RNTuple to separate files, without compression.
//!
//! Pages of an RNTuple can be as large as clusters, and reading a part of a cluster takes the time of its whole pages. A job
//! that writes the whole dataset does not take this time. (Baskets of a TTree are small.)

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use nyssa_io::ScratchFolder;
use nyssa_root::Context;
use nyssa_root::compression::Compression;
use nyssa_root::error::Result;
use nyssa_root::rootfile::RootFile;

use crate::job::OutputOptions;
use crate::rewrite::{RewriteOptions, rewrite};

/// The entries and the fields of a copy.
type Copied = (Range<u64>, Vec<String>);

/// The copies that were made.
#[derive(Default)]
pub(super) struct Copies {
    made: Mutex<HashMap<Copied, RootFile>>,
}

impl Copies {
    /// Returns a file that contains only these entries of the RNTuple at `path`, at this path. If fields are named,
    /// it contains only these fields.
    ///
    /// # Errors
    /// `InvalidArgument` for options that are not allowed; `Cancelled`; an error if the part cannot be read or
    /// written.
    pub(super) fn of(
        &self,
        (file, path): (&RootFile, &str),
        (range, include): (&Range<u64>, &[String]),
        folder: &ScratchFolder,
        context: &Context,
    ) -> Result<RootFile> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let part: Copied = (range.clone(), include.to_vec());
        if let Some(copy) = made.get(&part) {
            return Ok(copy.clone());
        }
        let output = folder.file(&format!("copy-{}.root", made.len()));
        let output_options = OutputOptions {
            compression: Some(Compression::NONE.into()),
            no_carry: true,
            ..OutputOptions::default()
        };
        let options = RewriteOptions {
            output: output_options,
            include: include.to_vec(),
            entries: Some(range.clone().into()),
            ..RewriteOptions::default()
        };
        rewrite(file, path, &output, &options, context)?;
        let copy = RootFile::open(nyssa_io::open(&output)?)?;
        made.insert(part, copy.clone());
        Ok(copy)
    }
}
