//! Makes a writer the target of the clusters of one builder.

use nyssa_root::error::Result;

use super::{StoredColumn, Writer};
use crate::page::SealedPage;
use crate::write::cluster_target::{ClusterPage, ClusterTarget, FinishedColumn, SealedCluster};

impl ClusterTarget for Writer {
    fn commit(&mut self, mut cluster: SealedCluster) -> Result<()> {
        if self.settles {
            self.file.line().settle();
        }
        let given: Vec<_> = cluster.columns.iter().map(|column| column.column).collect();
        self.represent(&mut cluster.columns)?;
        self.begin_cluster(cluster.entries)?;
        for column in cluster.columns {
            let FinishedColumn { column, elements, last_offset, compression, pages, .. } = column;
            let pages = self.store_waiting(pages)?.into_iter().filter_map(|page| match page {
                ClusterPage::Stored(page) => Some(page),
                ClusterPage::Sealed(_) => None,
            });
            let pages = pages.collect();
            self.put_stored(StoredColumn { column, elements, last_offset, compression, pages })?;
        }
        self.put_defaults(cluster.entries, &given)?;
        self.commit_cluster()
    }

    fn store(&mut self, pages: Vec<SealedPage>) -> Result<Vec<ClusterPage>> {
        Ok(self.store_pages(pages)?.into_iter().map(ClusterPage::Stored).collect())
    }
}
