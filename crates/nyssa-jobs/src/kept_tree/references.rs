//! Keeps the table of the references between the objects of a tree (`TBranchRef`). Each entry is its size in bytes, as a
//! big-endian number of 32 bits, and its bytes.

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::repack::reference_table;
use nyssa_ttree::stored::{ReferenceTable, StoredTree};

use super::{KeptTree, ReferenceFacts};

impl KeptTree {
    /// Reads the table of the tree of a key, if it has a table.
    ///
    /// # Errors
    /// `Unsupported` for a table that no other tree can have; an error if it is damaged or cannot be read.
    pub(super) fn read_references(&mut self, file: &RootFile, key: &KeyEntry) -> Result<()> {
        let Some(table) = reference_table(&StoredTree::read(file, key)?)? else { return Ok(()) };
        let ReferenceTable { parents: branches, processes, entries } = table;
        self.references = entries;
        self.tree.references = Some(ReferenceFacts { branches, processes });
        Ok(())
    }

    /// Removes the table. Returns whether there was a table.
    pub(super) fn remove_references(&mut self) -> bool {
        self.references.clear();
        self.tree.references.take().is_some()
    }

    /// Returns the table.
    pub(crate) fn reference_table(&self) -> Option<ReferenceTable> {
        let ReferenceFacts { branches: parents, processes } = self.tree.references.clone()?;
        Some(ReferenceTable { parents, processes, entries: self.references.clone() })
    }

    /// Returns the bytes of all entries.
    pub(super) fn reference_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for entry in &self.references {
            let size = u32::try_from(entry.len());
            let size = size.map_err(|_| Error::limit("an entry of a table of references"))?;
            bytes.extend_from_slice(&size.to_be_bytes());
            bytes.extend_from_slice(entry);
        }
        Ok(bytes)
    }

    /// Reads the bytes of all entries. A table for another number of entries says nothing about these.
    ///
    /// # Errors
    /// `OutOfSpecification` for bytes that are no entries.
    pub(super) fn set_references(&mut self, bytes: &[u8]) -> Result<()> {
        let mut cursor = Cursor::new(bytes, 0);
        while !cursor.remaining().is_empty() {
            let size = cursor.be_u32()? as usize;
            self.references.push(cursor.bytes(size)?.to_vec());
        }
        if self.references.len() as u64 != self.entries {
            self.remove_references();
        }
        Ok(())
    }
}
