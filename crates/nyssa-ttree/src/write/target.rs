//! Defines the receiver of the baskets of filled branches.

use nyssa_root::error::{Error, Result};
use nyssa_root::fill::Buffers;

use super::compress::HEADER;
use super::in_order::Full;

/// The name of the object that is written, for messages.
pub(super) const OBJECT: &str = "TTree";

/// A complete basket.
#[derive(Debug)]
pub(super) struct CompressedBasket {
    /// The index of the branch.
    pub branch: usize,
    /// The first entry, counted by the filler of the basket.
    pub first: u64,
    pub header: [u8; HEADER],
    /// The stored bytes after the header.
    pub payload: Vec<u8>,
    /// The number of bytes before compression.
    pub objlen: usize,
}

/// The numbers about the entries so far, for the metadata of a branch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BranchState {
    /// The size of a basket with its key, in bytes.
    pub basket_size: usize,
    /// The largest count or the length of the longest string.
    pub maximum: i64,
    /// Whether an entry has an object behind a pointer, so that ROOT notes its class.
    pub has_objects: bool,
}

/// The receiver of compressed baskets.
pub(super) trait BasketTarget: Send {
    /// Takes the next basket, in the order in which the baskets became full. Returns the memory of its payload if it is free
    /// again.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn store(&mut self, basket: CompressedBasket) -> Result<Option<Vec<u8>>>;

    /// Hears of an error that ended the work.
    fn failed(&mut self, _: &Error) {}

    /// Ends a cluster before the entry `end`, counted by the filler of the baskets. All its baskets are stored.
    /// `branches` contains the state of each branch.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()>;
}

/// The receiver of what a filler makes, in its order.
pub(super) trait FilledTarget: Send {
    /// Takes full baskets, in the order in which they became full.
    ///
    /// # Errors
    /// The error of these baskets, or of earlier ones.
    fn take_full(&mut self, full: Vec<Full>) -> Result<()>;

    /// Takes the next compressed basket.
    ///
    /// # Errors
    /// The error of this basket, or of earlier ones.
    fn store(&mut self, basket: CompressedBasket) -> Result<()>;

    /// Ends a cluster before the entry `end`, counted by the filler. `branches` contains the state of each branch.
    ///
    /// # Errors
    /// The error of this cluster, or of earlier baskets.
    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()>;
}

/// A complete cluster.
pub(super) struct CompressedCluster {
    /// The first entry, counted by the filler.
    pub first: u64,
    pub entries: u64,
    pub baskets: Vec<CompressedBasket>,
    pub branches: Vec<BranchState>,
}

impl Buffers for CompressedCluster {
    fn bytes(&self) -> u64 {
        self.baskets.iter().map(|basket| basket.payload.len() as u64).sum()
    }

    fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.baskets.iter_mut().map(|basket| &mut basket.payload)
    }
}
