//! Records the places of the baskets of one branch.

use nyssa_root::compression::Compression;
use nyssa_root::rootfile::writer::RootFileWriter;

use super::compress::HEADER;
use super::form::BranchForm;
use super::options::{BranchSettings, TreeWriteOptions};
use super::target::BranchState;

/// The baskets of a branch that are stored.
#[derive(Debug)]
pub(super) struct StoredBranch {
    pub form: BranchForm,
    /// The title that the options give.
    pub title: Option<String>,
    pub compression: Compression,
    /// The size of the key of a basket, in bytes.
    pub keylen: usize,
    pub state: BranchState,
    pub places: Vec<Place>,
    /// The number of bytes of all baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The number of bytes of all baskets with their keys.
    pub zip_bytes: u64,
}

/// The place of a basket in the file, and its first entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub seek: u64,
    pub bytes: u64,
    pub first: u64,
}

impl StoredBranch {
    /// Starts a branch of the tree `tree`.
    pub(super) fn new(
        form: BranchForm,
        tree: &str,
        settings: BranchSettings,
        options: &TreeWriteOptions,
    ) -> Self {
        let BranchSettings { compression, basket_size, .. } = settings;
        Self {
            title: options.title_of(&form.name).map(str::to_owned),
            compression,
            keylen: RootFileWriter::basket_keylen(&form.name, tree, HEADER),
            state: BranchState { basket_size, ..BranchState::default() },
            places: Vec::new(),
            tot_bytes: 0,
            zip_bytes: 0,
            form,
        }
    }
}
