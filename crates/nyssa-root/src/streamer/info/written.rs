//! Makes the streamer infos of classes that nyssa writes itself, so that every version of ROOT can read their objects
//! (`TStreamerInfo`, `TObjArray`, `TStreamerBasicType`).

use super::StreamerInfos;
use super::list::{Part, Pointee, StreamerList};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::rootfile::encode;
use crate::streamer::basic::Basic;
use crate::streamer::wire;

/// The `TObject` bits of a streamer info that ROOT writes (`kIsCompiled`).
const COMPILED: u32 = 1 << 16;

/// The class version of `TStreamerInfo`. ROOT 6.40 writes 10 with the same contents, but older versions of ROOT
/// know only 9.
const INFO_VERSION: u16 = 9;
const ARRAY_VERSION: u16 = 3;
const ELEMENT_VERSION: u16 = 4;
const BASIC_TYPE_VERSION: u16 = 2;
const NAMED_VERSION: u16 = 1;
const OBJECT_VERSION: u16 = 1;

/// The list that ROOT 6.40 writes beside a `TTree`, made by `written/make.py`.
const TREES: &[u8] = include_bytes!("written/trees.bin");
/// The list that ROOT 6.40 writes beside histograms, graphs, strings and parameters, made by `written/make.py`.
const OBJECTS: &[u8] = include_bytes!("written/objects.bin");
/// The size of the key from which positions in these lists count.
const KEYLEN: u16 = 64;

impl StreamerInfos {
    /// Returns the classes of a `TTree`, its branches and its leaves, in the versions that nyssa writes.
    pub fn of_trees() -> Result<Self> {
        Self::parse(Some((TREES, KEYLEN)))
    }

    /// Returns the classes of histograms, profiles, graphs, strings and parameters, in the versions that nyssa writes.
    pub(crate) fn of_objects() -> Result<Self> {
        Self::parse(Some((OBJECTS, KEYLEN)))
    }
}

impl StreamerList {
    /// Makes the list of the classes of [`StreamerInfos::of_trees`].
    pub fn of_trees() -> Result<Self> {
        Self::parse(TREES, KEYLEN)
    }

    /// Makes the list of the classes of [`StreamerInfos::of_objects`].
    pub(crate) fn of_objects() -> Result<Self> {
        Self::parse(OBJECTS, KEYLEN)
    }

    /// Makes the list with one streamer info, of a class whose members are all numbers.
    pub fn of_class(
        class: &str,
        version: u32,
        checksum: u32,
        members: &[(&str, Number)],
    ) -> Result<Self> {
        let mut head = INFO_VERSION.to_be_bytes().to_vec();
        put_named(&mut head, class, COMPILED)?;
        head.extend_from_slice(&checksum.to_be_bytes());
        head.extend_from_slice(&version.to_be_bytes());
        let mut array = ARRAY_VERSION.to_be_bytes().to_vec();
        put_object(&mut array, 0);
        encode::string(&mut array, "")?;
        encode::size(&mut array, members.len(), "list")?;
        array.extend_from_slice(&0u32.to_be_bytes());
        let mut parts = vec![Part::Bytes(array)];
        for &(name, number) in members {
            parts.push(element(name, number)?);
        }
        let elements = Pointee { class: "TObjArray".to_owned(), parts };
        let parts = vec![Part::Bytes(head), Part::Pointer(elements)];
        let mut list = Self::default();
        list.push(Pointee { class: "TStreamerInfo".to_owned(), parts });
        Ok(list)
    }
}

fn element(name: &str, number: Number) -> Result<Part> {
    let unknown = || Error::unsupported("a number without a type in streamer infos");
    let (code, type_name) = Basic::described(number).ok_or_else(unknown)?;
    let size = number.size();
    let mut out = BASIC_TYPE_VERSION.to_be_bytes().to_vec();
    wire::versioned(&mut out, ELEMENT_VERSION, |out| {
        put_named(out, name, 0)?;
        // The numbers are type, size, array length, array dimension and five maximum indices.
        out.extend_from_slice(&code.to_be_bytes());
        encode::size(out, size, "number")?;
        out.extend_from_slice(&[0; 7 * 4]);
        encode::string(out, type_name)
    })?;
    let parts = vec![Part::Bytes(out)];
    Ok(Part::Pointer(Pointee { class: "TStreamerBasicType".to_owned(), parts }))
}

fn put_named(out: &mut Vec<u8>, name: &str, bits: u32) -> Result<()> {
    wire::versioned(out, NAMED_VERSION, |out| {
        put_object(out, bits);
        encode::string(out, name)?;
        encode::string(out, "")
    })
}

fn put_object(out: &mut Vec<u8>, bits: u32) {
    out.extend_from_slice(&OBJECT_VERSION.to_be_bytes());
    out.extend_from_slice(&0u32.to_be_bytes());
    out.extend_from_slice(&bits.to_be_bytes());
}
