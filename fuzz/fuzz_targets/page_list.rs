//! Parses a page list with a corrected checksum, for a schema of some columns.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nyssa_rntuple::format::PageList;
use nyssa_rntuple::schema::{FieldType, Leaf, Schema, SchemaBuilder};
use nyssa_root::compression::Compression;

static SCHEMA: LazyLock<Schema> = LazyLock::new(|| {
    let mut builder = SchemaBuilder::new(Compression::DEFAULT);
    for (name, field_type) in [
        ("x", FieldType::Leaf(Leaf::Float)),
        ("s", FieldType::String),
        ("v", FieldType::vector(FieldType::Leaf(Leaf::Int32))),
    ] {
        assert!(builder.field(None, name, &field_type).is_ok());
    }
    builder.finish()
});

fuzz_target!(|data: &[u8]| {
    let _ = PageList::parse(&nyssa_fuzz::repair::wrap(3, data), &SCHEMA);
});
