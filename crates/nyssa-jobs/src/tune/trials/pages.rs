//! Extrapolates from the pages of a trial to the pages of a whole dataset.
//!
//! The pages of a small sample are smaller than the pages of the whole dataset, and compress worse: each has its own
//! tables and headers. So a page of a column is modelled as `content × entries + cost`. The same entries, written
//! whole and in halves, show the cost of one more page of each column. It does not scale with the entries but with
//! the pages, whose number follows from the sizes of clusters and pages.
//!
//! The cost is not such a number if halves are stored in another way: libzstd makes no blocks smaller than 1 KiB, so
//! byte planes of fewer elements share a block. Such a column gets the cost of the other columns.

use super::candidate::Candidate;
use super::measured::{Measured, StoredColumn};

/// The bytes of one more page of each column, for equal entries.
#[derive(Clone, Debug, Default)]
pub(super) struct PageCosts(Vec<f64>);

impl PageCosts {
    /// Returns the costs from the same entries in few pages and in many.
    pub(super) fn of(few: &[StoredColumn], many: &[StoredColumn]) -> Self {
        let cost = |(few, many): (&StoredColumn, &StoredColumn)| {
            let pages = many.pages.saturating_sub(few.pages);
            let bytes = many.stored.saturating_sub(few.stored);
            let alike = few.has_planes() == many.has_planes();
            (pages > 0 && alike).then(|| bytes as f64 / pages as f64)
        };
        let known: Vec<Option<f64>> = few.iter().zip(many).map(cost).collect();
        let sum: f64 = known.iter().flatten().sum();
        let mean = sum / known.iter().flatten().count().max(1) as f64;
        Self(known.into_iter().map(|cost| cost.unwrap_or(mean)).collect())
    }

    fn get(&self, column: usize) -> f64 {
        self.0.get(column).copied().unwrap_or(0.0)
    }
}

/// The size of the whole dataset.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Extrapolated {
    /// The bytes of all pages, and of their descriptions in the page lists.
    pub bytes: f64,
    /// The additional bytes of the pages of the sample compared with pages of the whole dataset, for all entries.
    pub corrected: f64,
    pub clusters: u64,
}

/// Returns the size of `entries` entries that are stored like the entries of a trial. An RNTuple without entries
/// takes `empty` bytes.
pub(super) fn extrapolate(
    measured: &Measured,
    costs: &PageCosts,
    candidate: &Candidate,
    entries: u64,
    empty: u64,
) -> Extrapolated {
    let (seen, entries) = (measured.total_entries().max(1) as f64, entries as f64);
    let columns = &measured.columns;
    let all_pages: u64 = columns.iter().map(|column| column.pages).sum();
    let stored: u64 = columns.iter().map(|column| column.stored).sum();
    let rest = measured.file_bytes.saturating_sub(stored);
    let rest = rest.saturating_sub(empty.saturating_mul(measured.entries.len() as u64));
    // The bytes that are neither in pages nor in a file without entries: the descriptions of the pages.
    let description = rest as f64 / all_pages.max(1) as f64;
    let own = |index: usize, column: &StoredColumn| {
        let cost = costs.get(index) * column.pages as f64;
        cost.min(column.stored as f64)
    };
    let costs_seen: f64 = columns.iter().enumerate().map(|(index, item)| own(index, item)).sum();
    let content = (stored as f64 - costs_seen) / seen * entries;
    let uncompressed = columns.iter().map(|column| column.uncompressed as f64).sum::<f64>();
    let cluster_size = candidate.cluster_size as f64;
    let unzipped = candidate.write_options().max_unzipped_cluster as f64;
    let by_memory = (uncompressed / seen * entries / unzipped).ceil();
    let clusters = (content / cluster_size).ceil().max(by_memory).max(1.0);
    let (mut pages_cost, mut pages) = (0.0, 0.0);
    for (index, column) in columns.iter().enumerate().filter(|(_, column)| column.pages > 0) {
        let in_cluster = column.uncompressed as f64 / seen * entries / clusters;
        let count = clusters * (in_cluster / candidate.page_size as f64).ceil().max(1.0);
        pages_cost += count * own(index, column) / column.pages as f64;
        pages += count;
    }
    Extrapolated {
        bytes: content + pages_cost + pages * description,
        corrected: costs_seen / seen * entries - pages_cost,
        clusters: clusters as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a trial of `files` files of `entries` entries: 8 bytes an entry become 5, and a page costs 100 bytes
    /// more, and 12 in the page list.
    fn trial(files: u64, entries: u64) -> Measured {
        let stored = 5 * entries + 100;
        let columns = vec![StoredColumn {
            pages: files,
            elements: files * entries,
            uncompressed: files * 8 * entries,
            stored: files * stored,
        }];
        Measured {
            entries: vec![entries; files as usize],
            file_bytes: files * (1000 + stored + 12),
            columns,
            ..Measured::default()
        }
    }

    #[test]
    fn pages_cost_what_one_more_costs() {
        let (whole, halves) = (trial(1, 200), trial(2, 100));
        let costs = PageCosts::of(&whole.columns, &halves.columns);
        // A million entries have eight pages of a mebibyte in one cluster.
        let candidate = Candidate::default();
        let extrapolated = extrapolate(&whole, &costs, &candidate, 1_000_000, 1000);
        assert_eq!(extrapolated.clusters, 1);
        assert!(
            (extrapolated.bytes - (5_000_000.0 + 8.0 * 112.0)).abs() < 1e-6,
            "{extrapolated:?}"
        );
        assert!((extrapolated.corrected - (5000.0 - 8.0) * 100.0).abs() < 1e-6, "{extrapolated:?}");
        // Clusters of a mebibyte, where each has two pages.
        let small = Candidate { cluster_size: 1 << 20, ..candidate };
        let extrapolated = extrapolate(&whole, &costs, &small, 1_000_000, 1000);
        assert_eq!(extrapolated.clusters, 5);
        assert!(
            (extrapolated.bytes - (5_000_000.0 + 10.0 * 112.0)).abs() < 1e-6,
            "{extrapolated:?}"
        );
        // Smaller pages.
        let pages = Candidate { page_size: 64 << 10, ..candidate };
        let extrapolated = extrapolate(&whole, &costs, &pages, 1_000_000, 1000);
        assert!(
            (extrapolated.bytes - (5_000_000.0 + 123.0 * 112.0)).abs() < 1e-6,
            "{extrapolated:?}"
        );
    }

    #[test]
    fn halves_that_are_stored_in_another_way_say_nothing() {
        let column = |pages, elements, stored| StoredColumn {
            pages,
            elements,
            stored,
            ..StoredColumn::default()
        };
        let few = [column(1, 2000, 5000), column(1, 9000, 7000), column(1, 10, 9)];
        let many = [column(2, 2000, 6000), column(2, 9000, 7080), column(2, 10, 29)];
        assert_eq!(PageCosts::of(&few, &many).0, [50.0, 80.0, 20.0]);
    }

    #[test]
    fn without_costs_all_scales() {
        let whole = trial(1, 200);
        let candidate = Candidate::default();
        let extrapolated = extrapolate(&whole, &PageCosts::default(), &candidate, 2000, 1000);
        assert!((extrapolated.bytes - (11_000.0 + 12.0)).abs() < 1e-6, "{extrapolated:?}");
        let nothing = Measured::default();
        let extrapolated = extrapolate(&nothing, &PageCosts::default(), &candidate, 10, 0);
        assert_eq!(extrapolated, Extrapolated { bytes: 0.0, corrected: 0.0, clusters: 1 });
    }
}
