//! Stores sealed pages in as few keys as their size allows. Equal pages are stored once.

use std::collections::HashMap;

use nyssa_root::error::Result;
use nyssa_root::rootfile::writer::Unwritten;

use super::{Writer, no_cluster};
use crate::page::SealedPage;
use crate::schema::Locator;
use crate::schema::PageInfo;
use crate::write::blob::{place_blob, write_blob};
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
    pub fn store_pages(&mut self, pages: Vec<SealedPage>) -> Result<Vec<PageInfo>> {
        let info = |page: &SealedPage| PageInfo {
            elements: page.elements,
            checksummed: self.options.checksums,
            locator: Locator { offset: 0, size: page.bytes.len() as u64 },
        };
        let mut infos = pages.iter().map(info).collect::<Vec<_>>();
        let offsets = self.store(pages)?;
        for (info, offset) in infos.iter_mut().zip(offsets) {
            info.locator.offset = offset;
        }
        Ok(infos)
    }

    /// Gives the pages that `work` stores their places, and does not write them. The caller has to write them.
    ///
    /// # Errors
    /// The error of `work`.
    pub(in crate::write) fn placing<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(T, Unwritten)> {
        self.unwritten = self.file.with(|file| Ok(file.unwritten()))?;
        let done = work(self);
        let unwritten = self.unwritten.take().unwrap_or_default();
        Ok((done?, unwritten))
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
    fn store(&mut self, mut pages: Vec<SealedPage>) -> Result<Vec<u64>> {
        let bytes_in = pages.iter().map(|page| page.bytes.len() as u64).sum::<u64>();
        let _stage = nyssa_observe::stage!("commit", bytes_in = bytes_in);
        let merging = self.options.same_page_merging;
        let keys = pages.iter().map(|page| merging.then(|| PageKey::of(page))).collect::<Vec<_>>();
        let mut offsets = vec![0; pages.len()];
        let mut first_of = HashMap::new();
        let mut blob = KeyPages::default();
        for (index, key) in keys.iter().enumerate() {
            let page = &pages[index];
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
            let size = self.stored_size(page);
            if blob.size.saturating_add(size) > self.max_key_size {
                self.flush(&mut blob, &mut pages, &mut offsets)?;
            }
            blob.pages.push(index);
            blob.size += size;
        }
        self.flush(&mut blob, &mut pages, &mut offsets)?;
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

    /// Writes the pages of `blob` into one key, or gives them their places. A checksum follows each page.
    fn flush(
        &mut self,
        blob: &mut KeyPages,
        pages: &mut [SealedPage],
        offsets: &mut [u64],
    ) -> Result<()> {
        if blob.pages.is_empty() {
            return Ok(());
        }
        let blob = std::mem::take(blob);
        let sizes =
            blob.pages.iter().map(|&index| self.stored_size(&pages[index])).collect::<Vec<_>>();
        let objlen = blob.pages.iter().map(|&index| pages[index].uncompressed as u64).sum();
        let mut parts = Vec::with_capacity(2 * blob.pages.len());
        for &index in &blob.pages {
            let page = &mut pages[index];
            parts.push(std::mem::take(&mut page.bytes));
            if self.options.checksums {
                parts.push(page.checksum.to_le_bytes().to_vec());
            }
        }
        let (max_key_size, unwritten) = (self.max_key_size, &mut self.unwritten);
        let mut offset = self.file.with(|file| match unwritten {
            Some(unwritten) if blob.size <= max_key_size => {
                place_blob(file, parts, (blob.size, objlen), unwritten)
            }
            _ => {
                let parts = parts.iter().map(Vec::as_slice).collect::<Vec<_>>();
                write_blob(file, &parts, objlen, max_key_size)
            }
        })?;
        for (&index, size) in blob.pages.iter().zip(sizes) {
            offsets[index] = offset;
            offset += size;
        }
        Ok(())
    }

    fn stored_size(&self, page: &SealedPage) -> u64 {
        page.bytes.len() as u64 + if self.options.checksums { CHECKSUM } else { 0 }
    }
}
