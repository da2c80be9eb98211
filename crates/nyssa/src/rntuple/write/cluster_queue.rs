//! Clusters that wait for their turn: in memory as far as there is room, else on disk.

use nyssa_io::Spill;

use super::cluster_target::{FinishedColumn, Page, SealedCluster};
use crate::error::Result;

/// A cluster that waits.
pub(super) struct QueuedCluster {
    cluster: SealedCluster,
    /// Where the bytes of its pages lie, one after the other, and their sizes; `None` in memory.
    spilled: Option<(u64, Vec<usize>)>,
}

/// Where clusters wait.
pub(super) struct ClusterQueue {
    /// Bytes in memory, and how many there may be.
    held: u64,
    most: u64,
    spill: Spill,
}

impl ClusterQueue {
    /// A place that holds at most so many bytes of pages in memory.
    pub(super) fn new(most: u64) -> Self {
        Self { held: 0, most, spill: Spill::default() }
    }

    /// Takes a cluster in.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub(super) fn enter(&mut self, mut cluster: SealedCluster) -> Result<QueuedCluster> {
        if self.held + cluster.bytes <= self.most {
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

    /// Lets a cluster out, as it came.
    ///
    /// # Errors
    /// Those of the temporary file.
    pub(super) fn leave(&mut self, waiting: QueuedCluster) -> Result<SealedCluster> {
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

/// The bytes of all pages that are not in the file yet.
fn pages(cluster: &mut SealedCluster) -> impl Iterator<Item = &mut Vec<u8>> {
    let pages = cluster.columns.iter_mut().flat_map(all);
    pages.filter_map(|page| match page {
        Page::Sealed(page) => Some(&mut page.bytes),
        Page::Stored(_) => None,
    })
}

/// Those of a column, in all its types.
fn all(column: &mut FinishedColumn) -> impl Iterator<Item = &mut Page> {
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
            Page::Sealed(SealedPage { elements: 1, bytes, checksum: 7, uncompressed: size })
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
        let mut room = ClusterQueue::new(70);
        let waiting = all.map(|sizes| room.enter(cluster(sizes)).unwrap());
        let spilled = waiting.iter().map(|w| w.spilled.is_some()).collect::<Vec<_>>();
        assert_eq!((spilled, room.held), (vec![false, true, false, true], 61));
        let mut order = waiting.into_iter().zip(all).collect::<Vec<_>>();
        order.swap(0, 3);
        for (waiting, sizes) in order {
            let mut left = room.leave(waiting).unwrap();
            let expected = pages(&mut cluster(sizes)).map(|b| b.clone()).collect::<Vec<_>>();
            assert_eq!(pages(&mut left).map(|b| b.clone()).collect::<Vec<_>>(), expected);
        }
        assert_eq!(room.held, 0);
    }
}
