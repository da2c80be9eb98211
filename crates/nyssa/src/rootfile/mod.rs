//! The ROOT file container: header, keys, directories, free segments, streamer info, objects.

pub mod writer;
