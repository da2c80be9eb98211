//! Files on a local disk.
pub struct LocalSource {}
pub struct LocalSink {}
