//! Measures the cost of the sizes of the baskets of a TTree: their number, their keys, and how well they compress.

use std::time::{Duration, Instant};

use nyssa_data::dataset::Dataset;
use nyssa_root::Context;
use nyssa_root::compression::{Compression, Compressor, decompress_to_vec};
use nyssa_root::cursor::Cursor;
use nyssa_root::error::Result;
use nyssa_root::fetch::read_all;
use nyssa_root::rootfile::KeyEntry;
use nyssa_ttree::{Basket, Branch, Reader};
use serde::{Deserialize, Serialize};

use crate::heuristics::tune;
use crate::tune::inspect::Inspection;

/// The baskets of a TTree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BasketReport {
    /// The number of baskets.
    pub baskets: u64,
    /// The number of clusters, which AutoFlush makes.
    pub clusters: u64,
    /// The median number of entries of a cluster.
    pub cluster_entries: u64,
    /// The number of baskets of a branch in a cluster, on average.
    pub per_cluster: f64,
    /// The cause that ends most baskets: `AutoFlush`, at the end of a cluster, or `basket size`.
    pub ended_by: String,
    /// The bytes of the baskets of a cluster on storage, on average. A reader fetches this number at once.
    pub cluster_bytes: u64,
    /// The bytes of a basket on storage, on average.
    pub mean_bytes: u64,
    /// The bytes of a basket before compression, on average.
    pub mean_uncompressed_bytes: u64,
    /// The memory in bytes of one open basket of each branch, which a writer of the TTree needs.
    pub memory: u64,
    /// The number of baskets that were compressed again.
    pub sampled: u64,
    /// The algorithm and level with which they were compressed.
    pub compression: String,
    /// The sizes and times of larger baskets, for some factors.
    pub larger: Vec<LargerBaskets>,
}

impl BasketReport {
    /// Returns the current baskets, in the form of larger baskets.
    pub fn now(&self) -> LargerBaskets {
        LargerBaskets {
            factor: 1,
            mean_uncompressed_bytes: self.mean_uncompressed_bytes,
            share: 1.0,
            read_share: 1.0,
            auto_flush: self.cluster_entries,
            memory: self.memory,
        }
    }
}

/// The sizes and times of baskets that are larger by a factor.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LargerBaskets {
    /// The factor.
    pub factor: u64,
    /// The bytes of a basket before compression, on average.
    pub mean_uncompressed_bytes: u64,
    /// The bytes of all baskets with their keys, divided by the bytes of the current baskets with this codec.
    pub share: f64,
    /// The time to decompress all baskets, divided by the time for the current baskets with this codec.
    pub read_share: f64,
    /// The AutoFlush that they need: the number of entries of a cluster that is large enough for such baskets.
    pub auto_flush: u64,
    /// The memory in bytes of one open basket of each branch, which a writer of the TTree needs.
    pub memory: u64,
}

/// Returns the costs of the baskets of a tree. It takes at most about `time`.
///
/// # Errors
/// `Cancelled`; an error if baskets cannot be read or compressed.
pub(super) fn baskets(
    reader: &Reader,
    inspection: &Inspection,
    time: Duration,
    context: &Context,
) -> Result<BasketReport> {
    let start = Instant::now();
    let branches: Vec<&Branch> = branches(reader);
    let compression = compression(inspection);
    let mut compressor = Compressor::new(compression)?.with_checksums()?;
    let mut sums = Sums::default();
    for branch in &branches {
        context.check()?;
        if start.elapsed() > time || sums.read >= tune::BASKET_BYTES {
            break;
        }
        sums.add(reader, branch, &mut compressor)?;
    }
    let clusters = inspection.cluster_entries.count.max(1);
    let baskets = inspection.pages.count;
    let in_cluster = (branches.len() as f64 * clusters as f64).max(1.0);
    let uncompressed = inspection.uncompressed_bytes / baskets.max(1);
    let per_cluster = baskets as f64 / in_cluster;
    let cluster_entries = inspection.cluster_entries.median;
    // Branches with few baskets tell nothing about much larger baskets.
    let is_tried = |(factor, sum): &(&usize, Sum)| {
        sums.single.bytes > 0 && 2 * sums.single.count > **factor as u64 * sum.count
    };
    let larger = tune::MERGED.iter().zip(sums.merged).filter(is_tried);
    let larger = larger.map(|(&factor, sum)| LargerBaskets {
        factor: factor as u64,
        mean_uncompressed_bytes: uncompressed * factor as u64,
        share: sum.bytes as f64 / sums.single.bytes as f64,
        read_share: sum.seconds / sums.single.seconds.max(1e-9),
        auto_flush: (cluster_entries as f64 * (factor as f64 / per_cluster).max(1.0)) as u64,
        memory: branches.len() as u64 * uncompressed * factor as u64,
    });
    Ok(BasketReport {
        baskets,
        clusters,
        cluster_entries,
        per_cluster,
        ended_by: if per_cluster < tune::ONE_BASKET { "AutoFlush" } else { "basket size" }
            .to_owned(),
        cluster_bytes: inspection.stored_bytes / clusters,
        mean_bytes: inspection.stored_bytes / baskets.max(1),
        mean_uncompressed_bytes: uncompressed,
        memory: branches.len() as u64 * uncompressed,
        sampled: sums.single.count,
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

/// Returns the algorithm of most baskets, with its default level. The file does not record the level of each basket.
fn compression(inspection: &Inspection) -> Compression {
    let name = inspection.compressions.first().map_or("zlib", |part| part.name.as_str());
    name.parse().unwrap_or(Compression::DEFAULT)
}

/// The baskets that were compressed again.
#[derive(Default)]
struct Sums {
    /// The bytes before compression.
    read: usize,
    /// The current baskets.
    single: Sum,
    /// Joined baskets, for each of [`tune::MERGED`].
    merged: [Sum; tune::MERGED.len()],
}

/// The size and the time of some baskets.
#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    /// The bytes on storage, with keys.
    bytes: u64,
    /// The time in seconds to decompress them.
    seconds: f64,
}

impl Sum {
    /// Adds a basket.
    fn add(&mut self, content: &[u8], key_bytes: u64, codec: &mut Compressor) -> Result<()> {
        let mut out = Vec::new();
        codec.compress(content, &mut out)?;
        self.bytes += out.len().min(content.len()) as u64 + key_bytes;
        if out.len() < content.len() {
            let mut shortest = f64::INFINITY;
            for _ in 0..tune::BASKET_TIMES {
                let begun = Instant::now();
                decompress_to_vec(&out, content.len(), "basket")?;
                shortest = shortest.min(begun.elapsed().as_secs_f64());
            }
            self.seconds += shortest;
        }
        self.count += 1;
        Ok(())
    }
}

impl Sums {
    /// Adds neighbours from the middle of a branch.
    fn add(&mut self, reader: &Reader, branch: &Branch, codec: &mut Compressor) -> Result<()> {
        let on_disk: Vec<&Basket> = branch
            .baskets
            .iter()
            .filter(|basket| basket.embedded.is_none() && basket.bytes > 0)
            .collect();
        let first = on_disk.len().saturating_sub(tune::BASKETS_OF_BRANCH) / 2;
        let chosen = on_disk.iter().skip(first).take(tune::BASKETS_OF_BRANCH);
        let end = on_disk.first().map_or(Ok(0..0), |item| reader.extent(item.seek))?.end;
        let ranges: Vec<_> = chosen
            .map(|item| item.seek.min(end)..item.seek.saturating_add(item.bytes).min(end))
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
        for content in &contents {
            self.single.add(content, key_bytes, codec)?;
        }
        for (sum, factor) in self.merged.iter_mut().zip(tune::MERGED) {
            for some in contents.chunks(factor) {
                sum.add(&some.concat(), key_bytes, codec)?;
            }
        }
        Ok(())
    }
}
