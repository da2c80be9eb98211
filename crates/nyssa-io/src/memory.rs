//! Bytes in memory, for tests and for data that never touches a disk.
pub struct MemorySource {}
pub struct MemorySink {}
