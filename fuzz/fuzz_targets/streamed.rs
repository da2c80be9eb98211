//! Decodes a streamed object with a list of streamer infos. The input has the size of the list in two bytes
//! (big-endian), the list as in the extra type information of an RNTuple, and one object of any class in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz as _;
use nyssa_rntuple::format::ExtraType;
use nyssa_root::streamer::{ObjectGraph, ObjectLayout, StreamerInfos};

/// The maximum number of classes that are tried for an object.
const MAX_CLASSES: usize = 16;
/// Classes that no list describes.
const COLLECTIONS: [&str; 3] = ["TList", "TMap", "TClonesArray"];

fuzz_target!(|data: &[u8]| {
    let Some((size, rest)) = data.split_first_chunk::<2>() else { return };
    let Some((list, object)) = rest.split_at_checked(usize::from(u16::from_be_bytes(*size))) else {
        return;
    };
    let Ok(infos) = StreamerInfos::parse_lists(&[list], ExtraType::LIST_OFFSET) else { return };
    for class in infos.classes().iter().take(MAX_CLASSES) {
        let Ok(layout) = ObjectLayout::compile(&infos, &[&class.name]) else { continue };
        let end = object.len() as i64;
        if let Ok(array) = layout.decode(object, &[0, end]) {
            assert_eq!((array.len(), array.data_type()), (1, &layout.data_type()));
        }
    }
    // An object with a key of its own is read with all objects that it leads to.
    let described = infos.classes().iter().take(MAX_CLASSES).map(|info| &*info.name);
    for class in described.chain(COLLECTIONS) {
        if let Ok(graph) = ObjectGraph::read(&infos, class, object, 0) {
            assert!(!graph.objects().is_empty());
            let rows: usize = graph.tables().iter().map(|table| table.array.len()).sum();
            assert!(rows <= graph.objects().len());
        }
    }
});
