//! Decodes a streamed object with a list of streamer infos. The input has the size of the list in two bytes
//! (big-endian), the list as in the extra type information of an RNTuple, and one object of any class in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa::rntuple::format::ExtraType;
use nyssa::streamer::{ObjectLayout, StreamerInfos};
use nyssa_fuzz as _;

/// The maximum number of classes that are tried for an object.
const MAX_CLASSES: usize = 16;

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
});
