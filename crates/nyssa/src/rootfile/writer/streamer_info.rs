//! What the class `ROOT::RNTuple` looks like, so that every ROOT can read the anchor
//! (`TStreamerInfo`, `TObjArray`, `TStreamerBasicType`).

use crate::error::Result;
use crate::rootfile::encode;
use crate::rootfile::streamer_list::{Part, Pointee};

/// `TObject` bits of a streamer info that ROOT writes: kIsCompiled.
const COMPILED: u32 = 1 << 16;

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

/// The streamer info of the anchor's class.
pub(super) fn of_rntuple() -> Result<Pointee> {
    let mut head = INFO_VERSION.to_be_bytes().to_vec();
    put_named(&mut head, "ROOT::RNTuple", COMPILED)?;
    head.extend_from_slice(&RNTUPLE_CHECKSUM.to_be_bytes());
    head.extend_from_slice(&RNTUPLE_VERSION.to_be_bytes());
    let mut array = ARRAY_VERSION.to_be_bytes().to_vec();
    put_object(&mut array, 0);
    encode::string(&mut array, "")?;
    encode::size(&mut array, RNTUPLE_MEMBERS.len(), "list")?;
    array.extend_from_slice(&0u32.to_be_bytes());
    let mut parts = vec![Part::Bytes(array)];
    for (name, member) in RNTUPLE_MEMBERS {
        parts.push(element(name, member)?);
    }
    let elements = Pointee { class: "TObjArray".to_owned(), parts };
    let parts = vec![Part::Bytes(head), Part::Pointer(elements)];
    Ok(Pointee { class: "TStreamerInfo".to_owned(), parts })
}

fn element(name: &str, member: Member) -> Result<Part> {
    let (kind, size, type_name) = member.describe();
    let mut out = BASIC_TYPE_VERSION.to_be_bytes().to_vec();
    encode::versioned(&mut out, ELEMENT_VERSION, |out| {
        put_named(out, name, 0)?;
        // Type, size, array length, array dimension, five maximum indices.
        for number in [kind, size, 0, 0, 0, 0, 0, 0, 0] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        encode::string(out, type_name)
    })?;
    let parts = vec![Part::Bytes(out)];
    Ok(Part::Pointer(Pointee { class: "TStreamerBasicType".to_owned(), parts }))
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::compression::decompress;
    use crate::rootfile::StreamerList;

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
        let mut list = StreamerList::default();
        list.push(super::of_rntuple().expect("streamer info"));
        assert_eq!(list.serialize(64).expect("list"), expected);
        assert_eq!(StreamerList::parse(&expected, 64).expect("list"), list);
    }
}
