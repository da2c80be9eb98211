//! Opens, reads, describes and verifies a Parquet or Arrow IPC file.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz::{MAX_ENTRIES, context, read_all};
use nyssa_io::{MemorySource, Source};

fuzz_target!(|data: &[u8]| {
    let source: Arc<dyn Source> = Arc::new(MemorySource::new("fuzz.table", data.to_vec()));
    let Ok(Some(table)) = nyssa_jobs::open::open_table(&source) else { return };
    read_all(&**table.dataset());
    let _ = table.layout(context());
    if table.dataset().num_entries() <= MAX_ENTRIES {
        let _ = table.verify(context());
    }
});
