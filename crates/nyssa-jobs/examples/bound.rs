//! The bound of the benchmarks: seconds on one core for nothing but the compression library.
//!
//! `bound TREE_FILE RNTUPLE_FILE` prints, as JSON, the seconds to decompress every page of the
//! RNTuple `Events`, and the seconds to decompress every basket of the TTree `Events` and compress
//! the content of these pages with zstd level 1. Reading the files is outside the clock.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use nyssa_io::Source;
use nyssa_rntuple::encoding::Encoding;
use nyssa_rntuple::read;
use nyssa_root::compression::{Codec, Compressor, decompress};
use nyssa_root::rootfile::RootFile;
use nyssa_ttree::{self, Branch};

/// Name of both datasets.
const NAME: &str = "Events";

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let [tree, rntuple] = paths.as_slice() else {
        return Err("give TREE_FILE RNTUPLE_FILE".into());
    };
    let (decompress_pages, compress_pages) = pages(rntuple)?;
    let baskets = baskets(tree)?;
    let transcode = baskets + compress_pages;
    println!(
        "{{\"decompress_pages\": {}, \"decompress_baskets\": {}, \"transcode\": {}}}",
        decompress_pages.as_secs_f64(),
        baskets.as_secs_f64(),
        transcode.as_secs_f64()
    );
    Ok(())
}

/// Seconds to decompress, and to compress with zstd 1, every page.
fn pages(path: &str) -> Result<(Duration, Duration), Box<dyn Error>> {
    let file = RootFile::open(nyssa_io::open(path)?)?;
    let reader = read::Reader::open(&file, NAME)?;
    let mut compressor = Compressor::with_codec(&Codec::zstd(1))?;
    let (mut unpacking, mut packing) = (Duration::ZERO, Duration::ZERO);
    let (mut content, mut packed) = (Vec::new(), Vec::new());
    for cluster in reader.clusters_info()? {
        for (column, range) in reader.schema().columns.iter().zip(&cluster.columns) {
            let Some(column_type) = column.column_type else { continue };
            let encoding = Encoding { column_type, bits: column.bits, range: column.value_range };
            for page in &range.pages {
                let stored = page.locator.offset..page.locator.offset + page.locator.size;
                let stored = reader.source().read_range(stored)?;
                content.resize(encoding.packed_size(page.elements as usize), 0);
                let start = Instant::now();
                decompress(&stored, &mut content)?;
                unpacking += start.elapsed();
                packed.clear();
                let start = Instant::now();
                compressor.compress(&content, &mut packed)?;
                packing += start.elapsed();
            }
        }
    }
    Ok((unpacking, packing))
}

/// Seconds to decompress every basket.
fn baskets(path: &str) -> Result<Duration, Box<dyn Error>> {
    let source: Arc<dyn Source> = nyssa_io::open(path)?;
    let file = RootFile::open(source.clone())?;
    let tree = nyssa_ttree::load(&file, &file.find(NAME)?)?;
    let mut seconds = Duration::ZERO;
    let mut content = Vec::new();
    for branch in &tree.branches {
        seconds += branch_seconds(&*source, branch, &mut content)?;
    }
    Ok(seconds)
}

fn branch_seconds(
    source: &dyn Source,
    branch: &Branch,
    content: &mut Vec<u8>,
) -> Result<Duration, Box<dyn Error>> {
    let mut seconds = Duration::ZERO;
    for basket in branch.baskets.iter().filter(|basket| basket.embedded.is_none()) {
        let bytes = source.read_range(basket.seek..basket.seek + basket.bytes)?;
        // Key: nbytes 4, version 2, object length 4, date 4, key length 2.
        let objlen = u32::from_be_bytes(bytes[6..10].try_into()?) as usize;
        let keylen = u16::from_be_bytes(bytes[14..16].try_into()?) as usize;
        content.resize(objlen, 0);
        let start = Instant::now();
        decompress(&bytes[keylen..], content)?;
        seconds += start.elapsed();
    }
    Ok(seconds)
}
