//! The list of streamer infos: what the class `ROOT::RNTuple` looks like, so that every ROOT can
//! read the anchor (`TList`, `TStreamerInfo`, `TObjArray`, `TStreamerBasicType`).

use super::encode;
use crate::error::Result;

/// Class name in front of an object of a class that was not seen before in the record.
const NEW_CLASS: u32 = 0xFFFF_FFFF;
/// Marks a reference to a class name seen before.
const CLASS_FLAG: u32 = 0x8000_0000;
/// References count from the start of the key, plus this (`TBufferFile::kMapOffset`).
const MAP_OFFSET: usize = 2;
/// `TObject` bits of a streamer info that ROOT writes: kIsCompiled.
const COMPILED: u32 = 1 << 16;

const LIST_VERSION: u16 = 5;
/// ROOT 6.40 writes 10, with the same contents; older versions of ROOT know 9.
const INFO_VERSION: u16 = 9;
const ARRAY_VERSION: u16 = 3;
const ELEMENT_VERSION: u16 = 4;
const BASIC_TYPE_VERSION: u16 = 2;
const NAMED_VERSION: u16 = 1;
const OBJECT_VERSION: u16 = 1;

/// ROOT's checksum of the class `ROOT::RNTuple` of version 2.
const RNTUPLE_CHECKSUM: u32 = 0x28e6_32ec;
const RNTUPLE_VERSION: u32 = 2;

/// Members of `ROOT::RNTuple` in order (specification, "Anchor schema").
const RNTUPLE_MEMBERS: [(&str, Member); 11] = [
    ("fVersionEpoch", Member::UShort),
    ("fVersionMajor", Member::UShort),
    ("fVersionMinor", Member::UShort),
    ("fVersionPatch", Member::UShort),
    ("fSeekHeader", Member::ULong),
    ("fNBytesHeader", Member::ULong),
    ("fLenHeader", Member::ULong),
    ("fSeekFooter", Member::ULong),
    ("fNBytesFooter", Member::ULong),
    ("fLenFooter", Member::ULong),
    ("fMaxKeySize", Member::ULong),
];

/// A fundamental member type.
#[derive(Clone, Copy)]
enum Member {
    UShort,
    ULong,
}

impl Member {
    /// Type number (`TVirtualStreamerInfo::EReadWrite`), size, name.
    fn describe(self) -> (u32, u32, &'static str) {
        match self {
            Self::UShort => (12, 2, "unsigned short"),
            Self::ULong => (14, 8, "unsigned long"),
        }
    }
}

/// The payload of the streamer info record behind a key of `keylen` bytes.
pub(super) fn serialize(keylen: usize) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    encode::versioned(&mut out, LIST_VERSION, |out| {
        put_object(out, 0);
        encode::string(out, "")?;
        encode::size(out, 1, "list")?;
        encode::counted(out, |out| {
            put_new_class(out, "TStreamerInfo");
            encode::versioned(out, INFO_VERSION, |out| put_info(out, keylen))
        })?;
        // The option of the list's link.
        encode::string(out, "")
    })?;
    Ok(out)
}

fn put_info(out: &mut Vec<u8>, keylen: usize) -> Result<()> {
    put_named(out, "ROOT::RNTuple", COMPILED)?;
    out.extend_from_slice(&RNTUPLE_CHECKSUM.to_be_bytes());
    out.extend_from_slice(&RNTUPLE_VERSION.to_be_bytes());
    encode::counted(out, |out| {
        put_new_class(out, "TObjArray");
        encode::versioned(out, ARRAY_VERSION, |out| {
            put_object(out, 0);
            encode::string(out, "")?;
            encode::size(out, RNTUPLE_MEMBERS.len(), "list")?;
            out.extend_from_slice(&0u32.to_be_bytes());
            put_members(out, keylen)
        })
    })
}

fn put_members(out: &mut Vec<u8>, keylen: usize) -> Result<()> {
    let mut class = None;
    for (name, member) in RNTUPLE_MEMBERS {
        encode::counted(out, |out| {
            match class {
                None => {
                    class = Some(CLASS_FLAG | (out.len() + keylen + MAP_OFFSET) as u32);
                    put_new_class(out, "TStreamerBasicType");
                }
                Some(reference) => out.extend_from_slice(&u32::to_be_bytes(reference)),
            }
            encode::versioned(out, BASIC_TYPE_VERSION, |out| put_element(out, name, member))
        })?;
    }
    Ok(())
}

fn put_element(out: &mut Vec<u8>, name: &str, member: Member) -> Result<()> {
    let (kind, size, type_name) = member.describe();
    encode::versioned(out, ELEMENT_VERSION, |out| {
        put_named(out, name, 0)?;
        // Type, size, array length, array dimension, five maximum indices.
        for number in [kind, size, 0, 0, 0, 0, 0, 0, 0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        encode::string(out, type_name)
    })
}

fn put_named(out: &mut Vec<u8>, name: &str, bits: u32) -> Result<()> {
    encode::versioned(out, NAMED_VERSION, |out| {
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

fn put_new_class(out: &mut Vec<u8>, class: &str) {
    out.extend_from_slice(&NEW_CLASS.to_be_bytes());
    out.extend_from_slice(class.as_bytes());
    out.push(0);
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::compression::decompress;

    /// This file has a key of 64 bytes in front of its compressed list.
    #[test]
    fn the_list_is_the_one_that_root_writes() {
        let name = "rntuple/rntviewer-testfile-uncomp-single-rntuple-v1-0-0-0.root";
        let data = std::env::var("NYSSA_TEST_DATA").unwrap_or_else(|_| {
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_owned()
        });
        let Ok(file) = std::fs::read(Path::new(&data).join(name)) else {
            eprintln!("skipped: no {name} in {data} (set NYSSA_TEST_DATA)");
            return;
        };
        let key = &file[2066..];
        assert_eq!(key[..4], 397u32.to_be_bytes(), "nbytes");
        assert_eq!(key[14..16], 64u16.to_be_bytes(), "keylen");
        let mut expected = vec![0; 0x4e6];
        decompress(&key[64..397], &mut expected).expect("streamer info");
        assert_eq!(super::serialize(64).expect("streamer info"), expected);
    }
}
