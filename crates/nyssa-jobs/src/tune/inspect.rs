//! Sums the bytes of a dataset by field or branch, by encoding, and by compression.
//!
//! No page or basket is decompressed. Sizes come from metadata, and for TTrees from the keys of baskets. The first
//! bytes of pages and baskets show how they are compressed.

mod layout;
mod ntuple;
mod pages;
mod table;
mod tree;

use nyssa_root::error::Result;
use serde::Serialize;

use crate::open::Opened;

pub use layout::RNTupleLayout;
pub use ntuple::inspect as inspect_ntuple;
pub(in crate::tune) use ntuple::metadata_bytes;
pub use pages::{MappedMetadata, MappedPage, PageMap};
pub use tree::inspect as inspect_tree;

/// Returns the statistics of a TTree, an RNTuple or a table.
///
/// # Errors
/// `OutOfSpecification` when the key of a basket cannot be read; `Io`.
pub fn inspect(dataset: &Opened) -> Result<Inspection> {
    match dataset {
        Opened::Tree(reader) => inspect_tree(reader),
        Opened::NTuple(reader) => inspect_ntuple(reader),
        Opened::Table(reader) => table::inspect(reader),
    }
}

/// The first bytes of compressed data, with the names of the algorithms.
const TAGS: [(&[u8], &str); 5] =
    [(b"ZL", "zlib"), (b"XZ", "lzma"), (b"CS", "old zlib"), (b"L4", "lz4"), (b"ZS", "zstd")];

/// Returns the algorithm of compressed data, which its first bytes show.
fn codec(data: &[u8]) -> &'static str {
    TAGS.iter().find(|(tag, _)| data.starts_with(tag)).map_or("?", |(_, name)| name)
}

/// The statistics of a dataset.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let inspection = nyssa::inspect("../../testdata/rntuple/plain.root")?;
/// for field in &inspection.fields {
///     println!("{}: {} bytes", field.name, field.stored_bytes);
/// }
/// assert!(inspection.stored_bytes < inspection.file_bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Inspection {
    /// The name of the file.
    pub file: String,
    /// The path of the dataset in it.
    pub name: String,
    /// The format: `TTree`, `RNTuple`, `Parquet` or `Arrow`.
    pub format: &'static str,
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of the whole file.
    pub file_bytes: u64,
    /// The number of bytes of pages (with checksums) or baskets (with keys) on storage.
    pub stored_bytes: u64,
    /// The number of bytes of the pages or baskets before compression.
    pub uncompressed_bytes: u64,
    /// The number of bytes of the dataset's own metadata on storage: header, footer, page lists.
    pub metadata_bytes: u64,
    /// The layout of an RNTuple.
    #[serde(flatten)]
    pub layout: Option<RNTupleLayout>,
    /// The fields or branches in the order of the schema.
    pub fields: Vec<PartSizes>,
    /// The physical columns of an RNTuple in order of their ids, the leaves of Parquet, or the columns of Arrow IPC.
    pub columns: Vec<ColumnPart>,
    /// The sums for each column type of an RNTuple, or for each encoding of Parquet, largest first.
    pub encodings: Vec<PartSizes>,
    /// The sums for each compression algorithm, largest first. The data themselves show the algorithm.
    pub compressions: Vec<PartSizes>,
    /// The sums for each compression setting that the writer of an RNTuple recorded in the page lists, largest first.
    /// The real effort of the writer may differ from the setting; the data do not show it.
    pub settings: Vec<PartSizes>,
    /// The sizes of pages or baskets on storage, in bytes.
    pub pages: Distribution,
    /// The sizes of clusters on storage, in bytes. A basket counts for the cluster with its first entry.
    pub clusters: Distribution,
    /// The numbers of entries of the clusters.
    pub cluster_entries: Distribution,
    /// The clusters in order of their entries.
    pub cluster_parts: Vec<ClusterPart>,
}

impl Inspection {
    /// Returns what the parts of the format are called: a column that users see, a stored part, and what is counted in it.
    pub fn words(&self) -> [&'static str; 3] {
        match self.format {
            "RNTuple" => ["field", "pages", "elements"],
            "TTree" => ["branch", "baskets", "entries"],
            "Parquet" => ["column", "pages", "values"],
            _ => ["column", "batches", "entries"],
        }
    }
}

/// A part of the data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PartSizes {
    /// The name of a field, a branch, a column type or a compression setting.
    pub name: String,
    /// The C++ type of a field or branch. It is empty for other parts.
    pub type_name: String,
    /// The number of pages or baskets.
    pub pages: u64,
    /// The number of elements, or the entries of a branch.
    pub elements: u64,
    /// The number of bytes on storage.
    pub stored_bytes: u64,
    /// The number of bytes before compression.
    pub uncompressed_bytes: u64,
}

/// A physical column.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ColumnPart {
    /// The id of the physical column.
    pub id: u32,
    /// The path of the field.
    pub field: String,
    /// The column type.
    pub column_type: String,
    /// The number of bits per element before compression.
    pub bits: u16,
    /// The compression algorithms of its pages.
    pub codecs: Vec<&'static str>,
    /// The sizes of its pages on storage, in bytes.
    pub pages: Distribution,
    /// The sizes of the column. The name is the name of its field.
    pub part: PartSizes,
}

/// A cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClusterPart {
    /// The first entry.
    pub first_entry: u64,
    /// The number of entries.
    pub entries: u64,
    /// The sizes of its pages, or of the baskets that begin in it. It has no name.
    pub part: PartSizes,
}

/// The smallest, the median and the largest of some numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Distribution {
    /// The number of values.
    pub count: u64,
    /// The sum of the values.
    pub total: u64,
    /// The smallest number, or 0 if there are none.
    pub min: u64,
    /// The number in the middle. If there are two, it is the lower number.
    pub median: u64,
    /// The largest number.
    pub max: u64,
}

impl Distribution {
    /// Returns the distribution of these numbers.
    pub fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let at = |index: usize| values.get(index).copied().unwrap_or(0);
        Self {
            count: values.len() as u64,
            total: values.iter().fold(0, |sum, value| sum.saturating_add(*value)),
            min: at(0),
            median: at(values.len().saturating_sub(1) / 2),
            max: at(values.len().saturating_sub(1)),
        }
    }
}

impl PartSizes {
    fn named(name: &str, type_name: &str) -> Self {
        Self { name: name.to_owned(), type_name: type_name.to_owned(), ..Self::default() }
    }

    fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.elements = self.elements.saturating_add(other.elements);
        self.stored_bytes = self.stored_bytes.saturating_add(other.stored_bytes);
        self.uncompressed_bytes = self.uncompressed_bytes.saturating_add(other.uncompressed_bytes);
    }
}

/// The sums of parts with one name.
#[derive(Default)]
struct Groups(Vec<PartSizes>);

impl Groups {
    fn add(&mut self, name: &str, part: &PartSizes) {
        match self.0.iter_mut().find(|group| group.name == name) {
            Some(group) => group.add(part),
            None => self.0.push(PartSizes {
                name: name.to_owned(),
                type_name: String::new(),
                ..part.clone()
            }),
        }
    }

    fn largest_first(mut self) -> Vec<PartSizes> {
        self.0.sort_by(|a, b| b.stored_bytes.cmp(&a.stored_bytes).then(a.name.cmp(&b.name)));
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions() {
        let distribution = Distribution::of(vec![5, 1, 9, 3]);
        assert_eq!(distribution, Distribution { count: 4, total: 18, min: 1, median: 3, max: 9 });
        assert_eq!(Distribution::of(vec![7]).median, 7);
        assert_eq!(Distribution::of(vec![]), Distribution::default());
    }
}
