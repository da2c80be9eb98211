//! The binary format of RNTuple and the writing of ROOT files.

mod corrupt;
mod descriptors;
mod files;
mod real_files;
mod round_trip;
mod written;
