//! Reads a ROOT file: header, directories, keys, free segments, streamer infos, and every object in both ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa::streamer::ObjectReader;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = nyssa_fuzz::open(data) else { return };
    let _ = file.free_segments();
    let _ = file.streamer_infos();
    let objects = ObjectReader::new(file.clone());
    let _ = objects.classes();
    for key in file.walk().unwrap_or_default() {
        let _ = file.payload(&key);
        let _ = file.object(&key);
        if let Ok(graph) = objects.read(&key) {
            for table in graph.tables() {
                assert_eq!(table.array.data_type(), table.field.data_type());
            }
        }
    }
});
