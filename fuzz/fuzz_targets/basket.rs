//! Replaces one basket of a valid file with a TTree. The input has the file, the basket, and the new bytes,
//! including the key.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz::{open, read_all};

/// Files with uncompressed baskets of split objects, whole objects and leaves.
const FILES: [&[u8]; 3] = [
    include_bytes!("../corpus/tree/split.root"),
    include_bytes!("../corpus/tree/whole.root"),
    include_bytes!("../corpus/tree/t0.root"),
];
/// The class of a basket in its key, with its length, and where that stands in a key with wide seeks.
const CLASS: &[u8] = b"\x07TBasket";
const CLASS_AT: usize = 34;

fuzz_target!(|data: &[u8]| {
    let Some((&[file, basket], basket_bytes)) = data.split_first_chunk::<2>() else { return };
    let mut bytes = FILES[usize::from(file) % FILES.len()].to_vec();
    let classes = bytes.windows(CLASS.len()).enumerate().filter(|(_, window)| *window == CLASS);
    let keys: Vec<usize> = classes.map(|(class, _)| class - CLASS_AT).collect();
    let start = keys[usize::from(basket) % keys.len()];
    let Some(size) = bytes[start..].first_chunk().map(|size| u32::from_be_bytes(*size)) else {
        return;
    };
    let place = &mut bytes[start..start + size as usize];
    let taken = place.len().min(basket_bytes.len());
    place[..taken].copy_from_slice(&basket_bytes[..taken]);
    let Ok(file) = open(&bytes) else { return };
    for key in nyssa_jobs::open::datasets(&file).unwrap_or_default() {
        if let Ok(reader) = nyssa_ttree::Reader::open(&file, &key.path) {
            read_all(&reader);
        }
    }
});
