//! Makes the streamer info of the class `ROOT::RNTuple`, so that every ROOT can read the anchor.

use nyssa_root::arrow::Number;
use nyssa_root::error::Result;
use nyssa_root::streamer::info::StreamerList;

use super::anchor::Anchor;

/// ROOT's checksum of version 2 of the class `ROOT::RNTuple`.
const CHECKSUM: u32 = 0x28e6_32ec;
const VERSION: u32 = 2;

/// The members of `ROOT::RNTuple` in order (specification, "Anchor schema").
const MEMBERS: [(&str, Number); 11] = [
    ("fVersionEpoch", Number::UInt16),
    ("fVersionMajor", Number::UInt16),
    ("fVersionMinor", Number::UInt16),
    ("fVersionPatch", Number::UInt16),
    ("fSeekHeader", Number::UInt64),
    ("fNBytesHeader", Number::UInt64),
    ("fLenHeader", Number::UInt64),
    ("fSeekFooter", Number::UInt64),
    ("fNBytesFooter", Number::UInt64),
    ("fLenFooter", Number::UInt64),
    ("fMaxKeySize", Number::UInt64),
];

impl Anchor {
    /// Makes the streamer info of the class of the anchor, for the list of the file.
    ///
    /// # Errors
    /// Never fails at present, because the list is small.
    pub fn streamer_info() -> Result<StreamerList> {
        StreamerList::of_class("ROOT::RNTuple", VERSION, CHECKSUM, &MEMBERS)
    }
}

#[cfg(test)]
mod tests {
    use nyssa_root::compression::decompress;
    use nyssa_root::streamer::info::StreamerList;

    /// Tests against a file of ROOT, which has a key of 64 bytes before its compressed list.
    #[test]
    #[ignore = "needs NYSSA_TEST_DATA"]
    fn the_list_is_the_one_that_root_writes() {
        let name = "rntuple/rntviewer-testfile-uncomp-single-rntuple-v1-0-0-0.root";
        let file = std::fs::read(nyssa_testdata::data(name)).expect("test file");
        let key = &file[2066..];
        assert_eq!(key[..4], 397u32.to_be_bytes(), "nbytes");
        assert_eq!(key[14..16], 64u16.to_be_bytes(), "keylen");
        let mut expected = vec![0; 0x4e6];
        decompress(&key[64..397], &mut expected).expect("streamer info");
        let list = super::Anchor::streamer_info().expect("streamer info");
        assert_eq!(list.serialize(64).expect("list"), expected);
        assert_eq!(StreamerList::parse(&expected, 64).expect("list"), list);
    }
}
