//! A whole ROOT file: header, directories, keys, free list, streamer infos, every object.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = nyssa_fuzz::open(data) else { return };
    let _ = file.free_segments();
    let _ = file.streamer_infos();
    for key in file.walk().unwrap_or_default() {
        let _ = file.payload(&key);
        let _ = file.object(&key);
    }
});
