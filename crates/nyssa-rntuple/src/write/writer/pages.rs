//! Stores sealed pages in as few keys as their size allows. Equal pages are stored once.

use std::collections::HashMap;

use nyssa_root::error::Result;

use super::{Writer, no_cluster};
use crate::page::SealedPage;
use crate::schema::Locator;
use crate::schema::PageInfo;
use crate::write::blob::write_blob;
use crate::write::known_pages::PageKey;

/// The size of a page checksum in bytes.
const CHECKSUM: u64 = 8;

/// The pages of one key.
#[derive(Default)]
struct KeyPages {
    pages: Vec<usize>,
    size: u64,
}

impl Writer {
    /// Stores pages and returns their places. [`Writer::put_stored`] makes them a part of this or a later cluster.
    ///
    /// # Errors
    /// Returns an error if the sink cannot be written.
    pub fn store_pages(&mut self, pages: &[SealedPage]) -> Result<Vec<PageInfo>> {
        let offsets = self.store(pages)?;
        let place = |(page, offset): (&SealedPage, u64)| PageInfo {
            elements: page.elements,
            checksummed: self.options.checksums,
            locator: Locator { offset, size: page.bytes.len() as u64 },
        };
        Ok(pages.iter().zip(offsets).map(place).collect())
    }

    /// Stores sealed pages of another file unchanged. `parts` are their bytes in order, with their checksums. Returns
    /// the position of the first byte. The other bytes follow. A cluster must be open.
    ///
    /// # Errors
    /// `InvalidArgument` when no cluster is open; an error if the sink cannot be written.
    pub fn store_moved(&mut self, parts: &[&[u8]], uncompressed: u64) -> Result<u64> {
        self.open.as_ref().ok_or_else(no_cluster)?;
        self.file.with(|file| write_blob(file, parts, uncompressed, self.max_key_size))
    }

    /// Stores the pages that are not in the file yet. Returns the offsets of all pages.
    fn store(&mut self, pages: &[SealedPage]) -> Result<Vec<u64>> {
        let bytes_in = pages.iter().map(|page| page.bytes.len() as u64).sum::<u64>();
        let _stage = nyssa_observe::stage!("commit", bytes_in = bytes_in);
        let merging = self.options.same_page_merging;
        let keys = pages
            .iter()
            .map(|page| merging.then(|| PageKey::new(&page.bytes, page.checksum)))
            .collect::<Vec<_>>();
        let mut offsets = vec![0; pages.len()];
        let mut first_of = HashMap::new();
        let mut blob = KeyPages::default();
        for (index, (page, key)) in pages.iter().zip(&keys).enumerate() {
            self.report.pages += 1;
            self.report.uncompressed_bytes += page.uncompressed as u64;
            if let Some(key) = key {
                let known = self.known.find(key);
                if known.is_some() || first_of.contains_key(key) {
                    self.report.shared_pages += 1;
                    offsets[index] = known.unwrap_or(0);
                    continue;
                }
                first_of.insert(*key, index);
            }
            self.report.compressed_bytes += page.bytes.len() as u64;
            if blob.size.saturating_add(self.stored_size(page)) > self.max_key_size {
                self.flush(&mut blob, pages, &mut offsets)?;
            }
            blob.pages.push(index);
            blob.size += self.stored_size(page);
        }
        self.flush(&mut blob, pages, &mut offsets)?;
        // A page that equals an earlier page of this column now gets the offset of the earlier page.
        for (index, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            match first_of.get(key) {
                Some(&first) if first == index => self.known.insert(*key, offsets[first]),
                Some(&first) => offsets[index] = offsets[first],
                None => {}
            }
        }
        Ok(offsets)
    }

    /// Writes the pages of `blob` into one key. A checksum follows each page.
    fn flush(&self, blob: &mut KeyPages, pages: &[SealedPage], offsets: &mut [u64]) -> Result<()> {
        if blob.pages.is_empty() {
            return Ok(());
        }
        let blob = std::mem::take(blob);
        let checksums =
            blob.pages.iter().map(|&index| pages[index].checksum.to_le_bytes()).collect::<Vec<_>>();
        let mut parts = Vec::with_capacity(2 * blob.pages.len());
        let mut objlen = 0;
        for (&index, checksum) in blob.pages.iter().zip(&checksums) {
            parts.push(&pages[index].bytes[..]);
            objlen += pages[index].uncompressed as u64;
            if self.options.checksums {
                parts.push(&checksum[..]);
            }
        }
        let mut offset =
            self.file.with(|file| write_blob(file, &parts, objlen, self.max_key_size))?;
        for &index in &blob.pages {
            offsets[index] = offset;
            offset += self.stored_size(&pages[index]);
        }
        Ok(())
    }

    fn stored_size(&self, page: &SealedPage) -> u64 {
        page.bytes.len() as u64 + if self.options.checksums { CHECKSUM } else { 0 }
    }
}
