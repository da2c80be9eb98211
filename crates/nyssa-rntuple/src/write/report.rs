//! Defines the report of a writer.

/// The totals of one RNTuple.
///
/// ```
/// # use std::sync::Arc;
/// # use nyssa::arrow_array::Float32Array;
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("muons.root");
/// let context = nyssa::Context::new(None)?;
/// let schema = Schema::new(vec![Field::new("pt", DataType::Float32, false)]);
/// let options = nyssa::RNTupleWriteOptions::default();
/// let file = nyssa::create(&path, false)?;
/// let mut muons = file.table("Muons", &schema, options, &context)?;
/// muons.extend(&[Arc::new(Float32Array::from(vec![41.5; 1000]))])?;
/// let report = muons.finish()?;
/// file.finish()?;
/// assert_eq!((report.entries, report.clusters), (1000, 1));
/// assert!(report.compressed_bytes < report.uncompressed_bytes);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct WriteReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// The number of pages. Shared pages count each time.
    pub pages: u64,
    /// The number of pages whose bytes were already in the file.
    pub shared_pages: u64,
    /// The number of bytes of all pages before compression. Shared pages count each time.
    pub uncompressed_bytes: u64,
    /// The number of bytes of all stored pages, without checksums. Shared pages count once.
    pub compressed_bytes: u64,
}
