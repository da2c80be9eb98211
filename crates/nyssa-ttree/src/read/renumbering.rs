//! Gives the processes of references (`TRef`) other numbers in the baskets of a tree that goes to another file.
//!
//! A reference states the number of a process (`TProcessID`) in its file. ROOT has a number for each basket that it adds to
//! these numbers (`TKey::fPidOffset`), and ROOT 6.40 ignores it, so the numbers in the entries are changed.

use std::sync::OnceLock;

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Kind, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::{ObjectsAs, ProcessNumbers};

use super::Reader;
use super::basket::Contents;
use super::basket_header::{Expected, Header};
use crate::model::Basket;
use crate::stored::renumber;

/// The new numbers of the processes that the baskets of a tree name.
pub struct Renumbering {
    file: RootFile,
    key: KeyEntry,
    /// The table of references, if the tree has one.
    table: Option<Table>,
    numbers: ProcessNumbers,
    /// The reader, which knows the layouts of branches. It is opened when a number has to change.
    reader: OnceLock<Reader>,
}

/// The table of references. It names processes by its own list (`TRefTable::fProcessGUIDs`).
struct Table {
    /// The path of the branch.
    path: String,
    /// The new numbers in this list, by the old numbers.
    numbers: Vec<usize>,
}

/// The new payload of a basket.
pub(crate) struct Renumbered {
    pub payload: Vec<u8>,
    /// The end of the data in bytes, counted from the start of the key.
    pub last: usize,
}

impl Renumbering {
    /// Makes the renumbering of the tree of a key. All processes keep their numbers.
    pub(crate) fn new(file: &RootFile, key: &KeyEntry, table: Option<String>) -> Self {
        let (file, key, numbers) = (file.clone(), key.clone(), ProcessNumbers::default());
        let table = table.map(|path| Table { path, numbers: Vec::new() });
        Self { file, key, table, numbers, reader: OnceLock::new() }
    }

    /// Gives processes new numbers. `table` are the new numbers in the table of references, by the old numbers.
    pub fn set(&mut self, numbers: ProcessNumbers, table: Vec<usize>) {
        self.numbers = numbers;
        self.table.iter_mut().for_each(|known| known.numbers.clone_from(&table));
    }

    /// Returns whether numbers in a stored basket of the branch at `path` may change. `raw` are its bytes, or its key.
    pub fn concerns(&self, path: &str, raw: &[u8]) -> bool {
        if let Some(table) = self.table(path) {
            return !table.is_kept();
        }
        let offset = Header::read(&mut Cursor::new(raw, 0)).map(|header| header.process_offset);
        !self.numbers.are_kept() || offset.is_ok_and(|offset| offset != 0)
    }

    fn table(&self, path: &str) -> Option<&Table> {
        self.table.as_ref().filter(|table| table.path == path)
    }

    /// Returns the payload of a decompressed basket of the branch at `path` with new numbers, if it has some.
    ///
    /// # Errors
    /// `Unsupported` if nyssa cannot know where they are; `OutOfSpecification` for a damaged basket, and for the number of a
    /// process that the file does not have.
    pub(crate) fn change(
        &self,
        path: &str,
        basket: &Basket,
        (header, payload): (&Header, &[u8]),
    ) -> Result<Option<Renumbered>> {
        let offset = header.process_offset;
        let table = self.table(path);
        let is_kept = table.map_or(offset == 0 && self.numbers.are_kept(), Table::is_kept);
        if is_kept {
            return Ok(None);
        }
        let contents = Contents::of(header, payload, &Expected::of(basket))?;
        if let Some(table) = table {
            return table.renumbered(&contents, header).map(Some);
        }
        if contents.data.is_empty() {
            return Ok(None);
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
        if places.is_empty() {
            return Ok(None);
        }
        let mut payload = payload.to_vec();
        self.numbers.change(&mut payload, &places, offset)?;
        Ok(Some(Renumbered { payload, last: header.last }))
    }

    fn reader(&self) -> Result<&Reader> {
        if let Some(reader) = self.reader.get() {
            return Ok(reader);
        }
        let reader = Reader::of_key(&self.file, &self.key, &self.key.path, ObjectsAs::Values)?;
        Ok(self.reader.get_or_init(|| reader))
    }
}

impl Table {
    fn is_kept(&self) -> bool {
        self.numbers.iter().enumerate().all(|(own, new)| own == *new)
    }

    /// Returns the payload of a basket with new numbers. Its entries may have other sizes.
    fn renumbered(&self, contents: &Contents<'_>, header: &Header) -> Result<Renumbered> {
        let offsets = contents.offsets(0..header.entries)?;
        let offsets = offsets.filter(|_| !contents.is_displaced()).ok_or_else(|| {
            Error::unsupported("the baskets of its table of references have no offsets")
        })?;
        let (mut data, mut starts) = (Vec::with_capacity(contents.data.len()), Vec::new());
        for entry in offsets.windows(2) {
            starts.push(header.keylen + data.len());
            let bytes = contents.data.get(entry[0]..entry[1]).unwrap_or_default();
            renumber(bytes, &self.numbers, &mut data)?;
        }
        let last = header.keylen + data.len();
        let limit = |_| Error::limit("a basket of the table of references");
        // The number of offsets, the offsets, and a zero, which ROOT stores for the end of the last entry.
        data.extend((starts.len() as u32 + 1).to_be_bytes());
        for start in starts.into_iter().chain([0]) {
            data.extend(u32::try_from(start).map_err(limit)?.to_be_bytes());
        }
        Ok(Renumbered { payload: data, last })
    }
}
