//! Defines what takes the baskets of filled branches.

use nyssa_root::error::Result;
use nyssa_root::fill::Buffers;

use super::seal::HEADER;

/// A basket that is complete.
#[derive(Debug)]
pub(super) struct SealedBasket {
    /// The index of the branch.
    pub branch: usize,
    /// The first entry, counted by who filled the basket.
    pub first: u64,
    pub header: [u8; HEADER],
    /// The stored bytes behind the header.
    pub payload: Vec<u8>,
    /// The number of bytes before compression.
    pub objlen: usize,
}

/// What the metadata of a branch say about the entries so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BranchState {
    /// The size of a basket with its key, in bytes.
    pub basket_size: usize,
    /// The largest count or the length of the longest string.
    pub maximum: i64,
}

/// The receiver of baskets.
pub(super) trait BasketTarget: Send {
    /// Takes the next basket, in the order in which they became full. Returns it if its memory is free again.
    ///
    /// # Errors
    /// The errors of the sink.
    fn store(&mut self, basket: SealedBasket) -> Result<Option<SealedBasket>>;

    /// Ends a cluster before the entry `end`, counted by who filled the baskets. All its baskets are stored.
    /// `branches` has the state of each branch.
    ///
    /// # Errors
    /// The errors of the sink.
    fn end_cluster(&mut self, end: u64, branches: Vec<BranchState>) -> Result<()>;
}

/// A complete cluster.
pub struct SealedCluster {
    /// The first entry, counted by who filled it.
    pub first: u64,
    pub entries: u64,
    pub baskets: Vec<SealedBasket>,
    pub branches: Vec<BranchState>,
}

impl Buffers for SealedCluster {
    fn bytes(&self) -> u64 {
        self.baskets.iter().map(|basket| basket.payload.len() as u64).sum()
    }

    fn buffers(&mut self) -> impl Iterator<Item = &mut Vec<u8>> {
        self.baskets.iter_mut().map(|basket| &mut basket.payload)
    }
}
