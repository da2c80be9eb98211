//! Keeps bytes that have their places in a file. A thread writes them while other threads use the file.

use std::sync::Arc;

use nyssa_io::WriteAt;

use super::RootFileWriter;
use super::header::BEGIN;
use super::key::Key;
use crate::error::{Result, ResultExt};
use crate::heuristics::container;

/// Bytes with their places in a file. They must be written before the file is finished.
#[derive(Default)]
pub struct Unwritten {
    /// The file and its name. `None` if there are no bytes.
    file: Option<(Arc<dyn WriteAt>, String)>,
    /// The bytes with their offsets.
    parts: Vec<(u64, Vec<u8>)>,
}

impl Unwritten {
    /// Writes the bytes, in blocks. The memory of each part is free before the next one is written.
    ///
    /// # Errors
    /// The sink cannot be written.
    pub fn write(self) -> Result<()> {
        let Some((file, name)) = self.file else { return Ok(()) };
        let write = |offset, block: &mut Vec<u8>| write_block(&*file, offset, block).in_file(&name);
        let (mut start, mut block) = (0, Vec::new());
        for (offset, part) in self.parts {
            let follows = offset == start + block.len() as u64;
            if !follows || block.len() + part.len() > container::BLOCK {
                write(start, &mut block)?;
                start = offset;
            }
            if part.len() < container::BLOCK {
                block.extend_from_slice(&part);
            } else {
                block = part;
            }
        }
        write(start, &mut block)
    }
}

/// Writes a block, which is empty then.
fn write_block(file: &dyn WriteAt, offset: u64, block: &mut Vec<u8>) -> Result<()> {
    if block.is_empty() {
        return Ok(());
    }
    let _stage = nyssa_observe::stage!("write", bytes_in = block.len() as u64);
    file.write_at(offset, block)?;
    block.clear();
    Ok(())
}

impl RootFileWriter {
    /// Returns a place for bytes that are written later, and not by this. `None` if the sink cannot do this.
    pub fn unwritten(&self) -> Option<Unwritten> {
        let file = (Arc::clone(self.out.beside()?), self.name().to_owned());
        Some(Unwritten { file: Some(file), parts: Vec::new() })
    }

    /// Gives a key of class `class` its place, as [`RootFileWriter::write_key`] does, and leaves its bytes to `unwritten`.
    /// Returns the position of the payload.
    ///
    /// # Errors
    /// `LimitExceeded` beyond what a key can hold; an error if the sink cannot be written.
    pub fn place_key(
        &mut self,
        class: &str,
        parts: impl IntoIterator<Item = Vec<u8>>,
        (stored, objlen): (u64, u64),
        unwritten: &mut Unwritten,
    ) -> Result<u64> {
        let key = self.unlisted_key(class, stored, objlen);
        self.place(&key, parts, unwritten)?;
        Ok(key.payload())
    }

    /// Gives a key its place behind all others, and leaves it and the parts behind its header to `unwritten`.
    pub(super) fn place(
        &mut self,
        key: &Key,
        parts: impl IntoIterator<Item = Vec<u8>>,
        unwritten: &mut Unwritten,
    ) -> Result<()> {
        let mut header = Vec::with_capacity(key.size());
        key.serialize(&mut header).map_err(|error| self.blame(error))?;
        let mut at = key.seek;
        for part in std::iter::once(header).chain(parts) {
            let len = part.len() as u64;
            unwritten.parts.push((at, part));
            at += len;
        }
        self.out.skip(at - key.seek).map_err(|error| self.blame(error))
    }

    /// Makes a key that has no name, and that no directory lists.
    pub(super) fn unlisted_key(&self, class: &str, stored: u64, objlen: u64) -> Key {
        let key = self.key(class, "".into(), "".into(), BEGIN, 1, stored);
        // This number is only for information. So a number that the key cannot hold is replaced, as ROOT does.
        let objlen = if objlen > u64::from(u32::MAX) { stored } else { objlen };
        Key { small: false, objlen, ..key }
    }
}
