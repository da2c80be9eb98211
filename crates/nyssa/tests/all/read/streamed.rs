//! Tests streamed objects of ROOT with damaged bytes. Python tests that sound ones read to ROOT's values.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_root::Context;
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::ObjectLayout;
use nyssa_testdata::testdata;

fn open(name: &str) -> RootFile {
    let path = testdata(&format!("streamed/{name}.root"));
    RootFile::open(nyssa_io::open(path).unwrap()).unwrap()
}

/// Changes every byte of an object in two ways: each gives an error or values, never a panic, and no memory
/// that its size does not explain.
#[test]
fn no_changed_byte_panics() {
    for class in ["Numbers", "Pointers", "Stl", "Root"] {
        let file = open(class);
        let options =
            RNTupleReadOptions { streamer: StreamerForm::Raw, ..RNTupleReadOptions::default() };
        let reader = Reader::open_with(&file, "ntpl", options).unwrap();
        let context = Context::new(Some(1)).unwrap();
        let raw = reader.read(&["f"], 2..3, &context).unwrap();
        let object = raw[0].as_binary::<i64>().value(0).to_vec();
        let layout = ObjectLayout::compile(&file.streamer_infos().unwrap(), &[class]).unwrap();
        let end = i64::try_from(object.len()).unwrap();
        assert_eq!(layout.decode(&object, &[0, end]).unwrap().len(), 1, "{class}");
        let mut refused = 0;
        for place in 0..object.len() {
            for change in [0x01, 0x40] {
                let mut damaged = object.clone();
                damaged[place] ^= change;
                refused += usize::from(layout.decode(&damaged, &[0, end]).is_err());
            }
        }
        assert!(class == "Numbers" || refused > object.len() / 8, "{class}: {refused}");
        for len in 0..end {
            assert!(layout.decode(&object, &[0, len]).is_err(), "{class} cut to {len} bytes");
        }
    }
}
