//! Builds baskets and trees byte by byte from the format (`TKey::Streamer`, `TBasket::Streamer`).
#![allow(dead_code, clippy::unwrap_used)]

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use bytes::Bytes;
use nyssa_data::Dataset;
use nyssa_io::{Cost, Limits, Source};
use nyssa_root::Context;
use nyssa_ttree::{Basket, Branch, CountSource, Element, Leaf, Plain, Reader, Shape, Tree};

/// The bytes in memory with the limits of a slow, picky source.
pub struct Memory(pub Vec<u8>);

impl Source for Memory {
    fn name(&self) -> &str {
        "test.root"
    }

    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn limits(&self) -> Limits {
        let range = std::time::Duration::from_micros(16);
        let cost = Cost { range, bandwidth: 1_000_000, ..Cost::NOTHING };
        Limits { max_ranges: 3, max_range_bytes: 200, cost, ..Limits::NONE }
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> nyssa_io::Result<Vec<Bytes>> {
        assert!(ranges.len() <= 3 && ranges.iter().all(|range| range.end - range.start <= 200));
        let bytes = |range: &Range<u64>| &self.0[range.start as usize..range.end as usize];
        Ok(ranges.iter().map(|range| Bytes::copy_from_slice(bytes(range))).collect())
    }
}

/// A basket to be written; every field that a corrupt file may have wrong can be set.
#[derive(Clone)]
pub struct Spec {
    pub data: Vec<u8>,
    pub entries: i32,
    pub class: &'static str,
    pub large: bool,
    pub io_bits: u8,
    pub flag: u8,
    /// The entry offsets from the start of the data, or entry sizes where `io_bits` is 1.
    pub offsets: Option<Vec<i32>>,
    /// The payload as stored, for compressed baskets.
    pub stored: Option<Vec<u8>>,
    /// Changes of what the header says: bytes, object size, key length, end of data, seek.
    pub nbytes: i32,
    pub objlen: i32,
    pub keylen: i16,
    pub last: i32,
    pub seek: i64,
}

impl Spec {
    pub fn new(entries: usize, data: impl Into<Vec<u8>>) -> Self {
        Self {
            data: data.into(),
            entries: entries as i32,
            class: "TBasket",
            large: false,
            io_bits: 0,
            flag: 0,
            offsets: None,
            stored: None,
            nbytes: 0,
            objlen: 0,
            keylen: 0,
            last: 0,
            seek: 0,
        }
    }

    pub fn with_offsets(mut self, offsets: &[i32]) -> Self {
        self.offsets = Some(offsets.to_vec());
        self
    }

    fn key(&self, seek: u64, nbytes: i32, objlen: i32, keylen: i16, last: i32) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend((nbytes + self.nbytes).to_be_bytes());
        out.extend(if self.large { 1004_i16 } else { 4 }.to_be_bytes());
        out.extend((objlen + self.objlen).to_be_bytes());
        out.extend(0x7000_0000_u32.to_be_bytes()); // date and time
        out.extend((keylen + self.keylen).to_be_bytes());
        out.extend(3_i16.to_be_bytes()); // cycle
        let seek = seek as i64 + self.seek;
        if self.large {
            out.extend(seek.to_be_bytes());
            out.extend(100_i64.to_be_bytes());
        } else {
            out.extend((seek as i32).to_be_bytes());
            out.extend(100_i32.to_be_bytes());
        }
        for text in [self.class, "old name", "t"] {
            out.push(text.len() as u8);
            out.extend(text.as_bytes());
        }
        out.extend(3_i16.to_be_bytes()); // version
        out.extend(32000_i32.to_be_bytes()); // buffer size
        if self.io_bits != 0 {
            out.extend((-1000_i32).to_be_bytes());
            out.push(self.io_bits);
        } else {
            out.extend(1000_i32.to_be_bytes());
        }
        out.extend(self.entries.to_be_bytes());
        out.extend((last + self.last).to_be_bytes());
        out.push(self.flag);
        out
    }

    fn keylen(&self) -> i32 {
        self.key(0, 0, 0, 0, 0).len() as i32
    }

    /// Returns the entry offsets as streamed: a count and the numbers.
    fn offset_array(&self, one_more: bool) -> Vec<u8> {
        let Some(offsets) = &self.offsets else { return Vec::new() };
        let base = if self.io_bits & 1 == 1 { 0 } else { self.keylen() };
        let mut numbers: Vec<i32> = offsets.iter().map(|offset| offset + base).collect();
        if one_more {
            numbers.push(0);
        }
        let mut out = (numbers.len() as i32).to_be_bytes().to_vec();
        out.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        out
    }

    /// Returns the basket as it lies in a file at `seek`.
    pub fn on_disk(&self, seek: u64) -> Vec<u8> {
        let keylen = self.keylen();
        let last = keylen + self.data.len() as i32;
        let payload = [self.data.clone(), self.offset_array(true)].concat();
        let stored = self.stored.clone().unwrap_or_else(|| payload.clone());
        let nbytes = keylen + stored.len() as i32;
        let mut out = self.key(seek, nbytes, payload.len() as i32, keylen as i16, last);
        out.extend(stored);
        out
    }

    /// Returns the basket as it is streamed inside its tree.
    pub fn embedded(&self) -> Vec<u8> {
        let keylen = self.keylen();
        let mut spec = self.clone();
        spec.flag = if self.offsets.is_some() { 11 } else { 12 };
        let mut out = spec.key(0, 0, 32000, keylen as i16, keylen + self.data.len() as i32);
        out.extend(self.offset_array(false));
        out.extend(vec![0xEE; keylen as usize]);
        out.extend(&self.data);
        out
    }
}

/// A file under construction with the tree that describes it.
pub struct File {
    pub bytes: Vec<u8>,
    pub tree: Tree,
}

impl File {
    pub fn new(entries: u64) -> Self {
        let tree = Tree {
            name: "t".to_owned(),
            title: String::new(),
            entries,
            branches: Vec::new(),
            cluster_starts: Vec::new(),
        };
        Self { bytes: vec![0xAA; 100], tree }
    }

    /// Adds a branch; with `embed`, the last basket is streamed inside the tree.
    pub fn branch(mut self, name: &str, shape: Shape, specs: &[Spec], embed: bool) -> Self {
        let mut baskets = Vec::new();
        let mut first_entry = 0;
        for (index, spec) in specs.iter().enumerate() {
            let entries = spec.entries.max(0) as u64;
            let mut basket = Basket { seek: 0, bytes: 0, first_entry, entries, embedded: None };
            if embed && index + 1 == specs.len() {
                basket.embedded = Some(spec.embedded().into());
            } else {
                basket.seek = self.bytes.len() as u64;
                let bytes = spec.on_disk(basket.seek);
                basket.bytes = bytes.len() as u64;
                self.bytes.extend(bytes);
                self.bytes.extend(vec![0xBB; 7 * (index % 4)]);
            }
            first_entry += entries;
            baskets.push(basket);
        }
        self.tree.branches.push(Branch {
            name: name.to_owned(),
            path: name.to_owned(),
            title: name.to_owned(),
            class: "TBranch".to_owned(),
            first_entry: 0,
            entries: first_entry,
            leaves: Vec::new(),
            baskets,
            branches: Vec::new(),
            shape: Ok(shape),
            complete: true,
            is_elsewhere: false,
            stated: Default::default(),
            split: None,
        });
        self
    }

    pub fn reader(self) -> Reader {
        Reader::from_tree(Arc::new(Memory(self.bytes)), "t", self.tree)
    }

    pub fn read(self, name: &str) -> nyssa_root::Result<ArrayRef> {
        let entries = self.tree.entries;
        read(&self.reader(), name, 0..entries)
    }

    pub fn error(self, name: &str) -> String {
        self.read(name).unwrap_err().to_string()
    }
}

pub fn read(reader: &Reader, name: &str, entries: Range<u64>) -> nyssa_root::Result<ArrayRef> {
    let context = Context::new(Some(2))?;
    Ok(reader.read(&[name], entries, &context)?.remove(0))
}

pub fn leaf(name: &str, element: impl Into<Element>, dimensions: &[u64]) -> Leaf {
    Leaf {
        title: String::new(),
        name: name.to_owned(),
        class: "TLeaf".to_owned(),
        element: Some(element.into()),
        dimensions: dimensions.to_vec(),
        counter: None,
        unsigned: false,
        len: dimensions.iter().product(),
    }
}

pub fn flat(element: impl Into<Element>) -> Shape {
    Shape::Plain(Plain { element: element.into(), dimensions: Vec::new(), counter: None })
}

pub fn array(element: impl Into<Element>, dimensions: &[u64]) -> Shape {
    Shape::Plain(Plain { element: element.into(), dimensions: dimensions.to_vec(), counter: None })
}

pub fn jagged(element: impl Into<Element>, dimensions: &[u64]) -> Shape {
    let counter = CountSource { branch: "n".to_owned(), leaf: "n".to_owned() };
    Shape::Plain(Plain {
        element: element.into(),
        dimensions: dimensions.to_vec(),
        counter: Some(counter),
    })
}

pub fn be_i32(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

pub fn be_f32(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}
