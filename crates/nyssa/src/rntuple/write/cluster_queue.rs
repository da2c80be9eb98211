//! Queues clusters. They are kept in memory as far as they fit, and otherwise in a temporary file.

use nyssa_io::Spill;

use super::cluster_target::{ClusterPage, FinishedColumn, SealedCluster};
use crate::error::Result;

/// A cluster in the queue.
pub(super) struct QueuedCluster {
    cluster: SealedCluster,
    /// The position of the bytes of its pages in the temporary file, and their sizes. `None` if they are in
    /// memory.
    spilled: Option<(u64, Vec<usize>)>,
}

/// A queue whose memory has a limit.
pub(super) struct ClusterQueue {
    /// The number of bytes in memory.
    held: u64,
    max_bytes: u64,
    spill: Spill,
}

impl ClusterQueue {
    /// Makes a queue with at most `max_bytes` bytes of pages in memory.
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { held: 0, max_bytes, spill: Spill::default() }
    }

    /// Puts a cluster into the queue.
    ///
    /// # Errors
    /// The errors of the temporary file.
    pub(super) fn push(&mut self, mut cluster: SealedCluster) -> Result<QueuedCluster> {
        if self.held + cluster.bytes <= self.max_bytes {
            self.held += cluster.bytes;
            return Ok(QueuedCluster { cluster, spilled: None });
        }
        let (mut first, mut sizes) = (None, Vec::new());
        for bytes in pages(&mut cluster) {
            let offset = self.spill.append(bytes)?;
            first.get_or_insert(offset);
            sizes.push(bytes.len());
            *bytes = Vec::new();
        }
        Ok(QueuedCluster { cluster, spilled: Some((first.unwrap_or(0), sizes)) })
    }

    /// Takes a cluster from the queue, unchanged.
    ///
    /// # Errors
    /// The errors of the temporary file.
    pub(super) fn pop(&mut self, waiting: QueuedCluster) -> Result<SealedCluster> {
        let QueuedCluster { mut cluster, spilled } = waiting;
        let Some((mut offset, sizes)) = spilled else {
            self.held = self.held.saturating_sub(cluster.bytes);
            return Ok(cluster);
        };
        for (bytes, size) in pages(&mut cluster).zip(sizes) {
            bytes.resize(size, 0);
            self.spill.read(offset, bytes)?;
            offset += size as u64;
        }
        Ok(cluster)
    }
}

/// Returns the bytes of all pages that are not in the file yet.
fn pages(cluster: &mut SealedCluster) -> impl Iterator<Item = &mut Vec<u8>> {
    let pages = cluster.columns.iter_mut().flat_map(all);
    pages.filter_map(|page| match page {
        ClusterPage::Sealed(page) => Some(&mut page.bytes),
        ClusterPage::Stored(_) => None,
    })
}

/// Returns the pages of a column, in all its types.
fn all(column: &mut FinishedColumn) -> impl Iterator<Item = &mut ClusterPage> {
    let FinishedColumn { pages, other, .. } = column;
    pages.iter_mut().chain(other.iter_mut().flat_map(|(_, pages)| pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rntuple::encoding::ColumnType;
    use crate::rntuple::page::SealedPage;
    use crate::rntuple::schema::ColumnId;

    fn cluster(sizes: &[usize]) -> SealedCluster {
        let page = |&size: &usize| {
            let bytes = (0..size).map(|i| (i + size) as u8).collect();
            ClusterPage::Sealed(SealedPage { elements: 1, bytes, checksum: 7, uncompressed: size })
        };
        let column = |id: usize, pages: &[usize]| FinishedColumn {
            column: ColumnId(id as u32),
            column_type: ColumnType::Byte,
            elements: pages.len() as u64,
            last_offset: None,
            compression: 505,
            pages: pages.iter().map(page).collect(),
            other: pages.first().map(|size| (ColumnType::Char, vec![page(&(size + 1))])),
        };
        let columns = sizes.chunks(2).enumerate().map(|(id, pages)| column(id, pages));
        let bytes = sizes.iter().sum::<usize>() as u64;
        SealedCluster { entries: 3, columns: columns.collect(), bytes }
    }

    #[test]
    fn clusters_leave_as_they_came() {
        let all = [&[10, 20, 30][..], &[5, 0, 700], &[1], &[40, 40, 40, 40]];
        let mut queue = ClusterQueue::new(70);
        let waiting = all.map(|sizes| queue.push(cluster(sizes)).unwrap());
        let spilled = waiting.iter().map(|w| w.spilled.is_some()).collect::<Vec<_>>();
        assert_eq!((spilled, queue.held), (vec![false, true, false, true], 61));
        let mut order = waiting.into_iter().zip(all).collect::<Vec<_>>();
        order.swap(0, 3);
        for (waiting, sizes) in order {
            let mut left = queue.pop(waiting).unwrap();
            let expected = pages(&mut cluster(sizes)).map(|b| b.clone()).collect::<Vec<_>>();
            assert_eq!(pages(&mut left).map(|b| b.clone()).collect::<Vec<_>>(), expected);
        }
        assert_eq!(queue.held, 0);
    }
}
