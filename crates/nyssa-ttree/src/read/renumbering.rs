//! Gives the processes of references (`TRef`) other numbers in the baskets of a tree that goes to another file.
//!
//! A reference states the number of a process (`TProcessID`) in its file. ROOT has a number for each basket that it adds to
//! these numbers (`TKey::fPidOffset`), and ROOT 6.40 ignores it, so the numbers in the entries are changed.

use std::sync::OnceLock;

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Kind, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::ProcessNumbers;

use super::Reader;
use super::basket::{Contents, Opened};
use super::basket_header::{Expected, Header};
use crate::model::Basket;

/// The new numbers of the processes that the baskets of a tree name.
pub struct Renumbering {
    file: RootFile,
    key: KeyEntry,
    /// The path of the table of references. It names processes by its own list (`TRefTable::fProcessGUIDs`).
    table: Option<String>,
    numbers: ProcessNumbers,
    /// The reader, which knows the layouts of branches. It is opened when a number has to change.
    reader: OnceLock<Reader>,
}

impl Renumbering {
    /// Makes the renumbering of the tree of a key. All processes keep their numbers.
    pub(crate) fn new(file: &RootFile, key: &KeyEntry, table: Option<String>) -> Self {
        let (file, key, numbers) = (file.clone(), key.clone(), ProcessNumbers::default());
        Self { file, key, table, numbers, reader: OnceLock::new() }
    }

    /// Gives processes new numbers.
    pub fn set(&mut self, numbers: ProcessNumbers) {
        self.numbers = numbers;
    }

    /// Returns whether numbers in a stored basket may change. `raw` are its bytes, or its key.
    pub fn concerns(&self, raw: &[u8]) -> bool {
        let offset = Header::read(&mut Cursor::new(raw, 0)).map(|header| header.process_offset);
        !self.numbers.are_kept() || offset.is_ok_and(|offset| offset != 0)
    }

    /// Changes the numbers in a decompressed basket of the branch at `path`. Returns whether there are some.
    ///
    /// # Errors
    /// `Unsupported` if nyssa cannot know where they are; `OutOfSpecification` for a damaged basket, and for the number of a
    /// process that the file does not have.
    pub(crate) fn change(
        &self,
        path: &str,
        basket: &Basket,
        (header, payload): (&Header, &mut [u8]),
    ) -> Result<bool> {
        let offset = header.process_offset;
        if offset == 0 && self.numbers.are_kept() || self.table.as_deref() == Some(path) {
            return Ok(false);
        }
        let contents = Contents::of(header, payload, &Expected::of(basket))?;
        if contents.data.is_empty() {
            return Ok(false);
        }
        let places = self.reader().and_then(|reader| reader.processes(path, basket, &contents));
        let places = places.map_err(|error| match error.kind() {
            Kind::Unsupported => error.map_message(|it| {
                format!(
                    "references in it may name processes (TProcessID) that have other numbers in the output, and cannot be \
                     found: {it}; leave the branch out, or copy the entries with ROOT (TTree::CloneTree without \"fast\")"
                )
            }),
            _ => error,
        })?;
        self.numbers.change(payload, &places, offset)?;
        Ok(!places.is_empty())
    }

    /// Changes the numbers in an opened basket of the branch at `path`, as [`Self::change`] does.
    pub(crate) fn change_opened(
        &self,
        path: &str,
        basket: &Basket,
        opened: &mut Opened,
    ) -> Result<bool> {
        self.change(path, basket, opened.parts())
    }

    fn reader(&self) -> Result<&Reader> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        let reader = Reader::of_key(&self.file, &self.key, &self.key.path, false)?;
        Ok(self.reader.get_or_init(|| reader))
    }
}
