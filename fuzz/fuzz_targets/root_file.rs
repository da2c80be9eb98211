//! Reads a ROOT file: header, directories, keys, free segments, streamer infos, and every object in both ways.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_root::streamer::ObjectReader;

fuzz_target!(|data: &[u8]| {
    let Ok(file) = nyssa_fuzz::open(data) else { return };
    let _ = file.check_container();
    let _ = file.streamer_infos();
    let objects = ObjectReader::new(file.clone());
    let _ = objects.classes();
    for key in file.walk().unwrap_or_default() {
        // The path of a listed key finds a key with its name, whatever bytes the name has.
        let found = file.find(&format!("{};{}", key.path, key.cycle));
        if let Ok(found) = found {
            assert_eq!((&found.name, found.cycle), (&key.name, key.cycle));
        }
        let _ = file.payload(&key);
        let _ = file.object(&key);
        if let Ok(graph) = objects.read(&key) {
            for table in graph.tables() {
                assert_eq!(table.array.data_type(), table.field.data_type());
            }
        }
    }
});
