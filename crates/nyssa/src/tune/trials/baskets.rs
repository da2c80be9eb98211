//! Says what the sizes of the baskets of a TTree cost: their number, their keys, and how well they compress.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Context;
use crate::compression::{Codec, Compression, Compressor, decompress_to_vec};
use crate::cursor::Cursor;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::fetch::read_all;
use crate::rootfile::KeyEntry;
use crate::ttree::{Basket, Branch, Reader};
use crate::tune::inspect::Inspection;

/// How many baskets are put together, to see what larger ones would take.
const MERGED: [usize; 2] = [4, 16];
/// The number of baskets of a branch that are looked at: those of the largest merged basket.
const OF_BRANCH: usize = 16;
/// The most bytes that are decompressed.
const MOST_BYTES: usize = 32 << 20;

/// The baskets of a TTree.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct BasketReport {
    /// The number of baskets.
    pub baskets: u64,
    /// The number of clusters, which AutoFlush makes.
    pub clusters: u64,
    /// The median number of entries of a cluster.
    pub cluster_entries: u64,
    /// The number of baskets of a branch in a cluster, on average.
    pub per_cluster: f64,
    /// The bytes of a basket on storage, on average.
    pub mean_bytes: u64,
    /// The bytes of a basket before compression, on average.
    pub mean_uncompressed_bytes: u64,
    /// The number of baskets that were compressed again.
    pub sampled: u64,
    /// The algorithm and level by which they were compressed.
    pub compression: String,
    /// What larger baskets would take, for some factors.
    pub larger: Vec<LargerBaskets>,
}

/// What baskets would take that are larger by a factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LargerBaskets {
    /// The factor.
    pub factor: u64,
    /// The bytes of a basket before compression, on average.
    pub mean_uncompressed_bytes: u64,
    /// The bytes of all baskets with their keys, as a share of those of today's baskets by the same codec.
    pub share: f64,
}

/// Returns what the baskets of a tree cost. It takes at most about `time`.
///
/// # Errors
/// The errors of reading and compressing; `Cancelled`.
pub(super) fn baskets(
    reader: &Reader,
    inspection: &Inspection,
    time: Duration,
    context: &Context,
) -> Result<BasketReport> {
    let start = Instant::now();
    let branches: Vec<&Branch> = branches(reader);
    let compression = compression(inspection);
    let mut compressor = Compressor::with_codec(&Codec::from(compression))?;
    let mut sums = Sums::default();
    for branch in &branches {
        context.check()?;
        if start.elapsed() > time || sums.read >= MOST_BYTES {
            break;
        }
        sums.add(reader, branch, &mut compressor)?;
    }
    let clusters = inspection.cluster_entries.count.max(1);
    let baskets = inspection.pages.count;
    let in_cluster = (branches.len() as f64 * clusters as f64).max(1.0);
    let uncompressed = inspection.uncompressed_bytes / baskets.max(1);
    let larger = MERGED.iter().zip(sums.merged).filter(|_| sums.single > 0);
    let larger = larger.map(|(&factor, bytes)| LargerBaskets {
        factor: factor as u64,
        mean_uncompressed_bytes: uncompressed * factor as u64,
        share: bytes as f64 / sums.single as f64,
    });
    Ok(BasketReport {
        baskets,
        clusters,
        cluster_entries: inspection.cluster_entries.median,
        per_cluster: baskets as f64 / in_cluster,
        mean_bytes: inspection.stored_bytes / baskets.max(1),
        mean_uncompressed_bytes: uncompressed,
        sampled: sums.count,
        compression: compression.to_string(),
        larger: larger.collect(),
    })
}

/// Returns the branches that have baskets in the file of the tree.
fn branches(reader: &Reader) -> Vec<&Branch> {
    let all = reader.columns().iter().chain(reader.subcolumns());
    let all = all.filter_map(|column| reader.branch(&column.name));
    all.filter(|branch| !branch.is_elsewhere && !branch.baskets.is_empty()).collect()
}

/// Returns the algorithm of most baskets, with its default level. The file does not say by which level each basket was
/// compressed.
fn compression(inspection: &Inspection) -> Compression {
    let name = inspection.compressions.first().map_or("zlib", |part| part.name.as_str());
    name.parse().unwrap_or(Compression::DEFAULT)
}

/// The bytes of the baskets that were compressed again, with their keys.
#[derive(Default)]
struct Sums {
    count: u64,
    /// The bytes before compression.
    read: usize,
    /// The bytes of baskets as they are.
    single: u64,
    /// The bytes of merged baskets, for each of [`MERGED`].
    merged: [u64; MERGED.len()],
}

impl Sums {
    /// Adds neighbours from the middle of a branch.
    fn add(&mut self, reader: &Reader, branch: &Branch, codec: &mut Compressor) -> Result<()> {
        let on_disk: Vec<&Basket> =
            branch.baskets.iter().filter(|one| one.embedded.is_none() && one.bytes > 0).collect();
        let first = on_disk.len().saturating_sub(OF_BRANCH) / 2;
        let chosen = on_disk.iter().skip(first).take(OF_BRANCH);
        let end = reader.source().size();
        let ranges: Vec<_> = chosen
            .map(|one| one.seek.min(end)..one.seek.saturating_add(one.bytes).min(end))
            .collect();
        let mut contents = Vec::new();
        let mut key_bytes = 0;
        for (raw, range) in read_all(reader.source(), &ranges)?.iter().zip(&ranges) {
            let key = KeyEntry::parse(&mut Cursor::new(raw, range.start))?;
            let (keylen, objlen) = (usize::from(key.keylen), key.objlen as usize);
            let Some(payload) = raw.get(keylen..) else { continue };
            let content = match payload.len() == objlen {
                true => payload.to_vec(),
                false => decompress_to_vec(payload, objlen, "basket")?,
            };
            key_bytes = keylen as u64;
            self.read += content.len();
            contents.push(content);
        }
        let mut size = |content: &[u8]| -> Result<u64> {
            let mut out = Vec::new();
            codec.compress(content, &mut out)?;
            Ok(out.len().min(content.len()) as u64 + key_bytes)
        };
        for content in &contents {
            self.single += size(content)?;
            self.count += 1;
        }
        for (bytes, factor) in self.merged.iter_mut().zip(MERGED) {
            for some in contents.chunks(factor) {
                *bytes += size(&some.concat())?;
            }
        }
        Ok(())
    }
}
