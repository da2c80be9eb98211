//! A wrapper that counts requests and bytes, so that tests can assert I/O traces.
pub struct RecordingSource {}
pub struct Counters {}
