//! Has helpers of the tests. The crate `nyssa-testdata` knows where their files are.

pub mod baskets;
pub mod container;
pub mod jobs;
pub mod reading;
pub mod writing;

/// The files `uproot-sample-….root` of the test data: the same tree, written by versions of ROOT from 5.23 to
/// 6.20 with every compression that they have.
pub const VERSIONS_OF_SAMPLE: &[&str] = &[
    "5.23.02-uncompressed",
    "5.24.00-uncompressed",
    "5.24.00-zlib",
    "5.25.02-zlib",
    "5.27.02-uncompressed",
    "5.27.02-zlib",
    "5.28.00-uncompressed",
    "5.28.00-zlib",
    "5.30.00-lzma",
    "5.30.00-zlib",
    "6.10.05-lzma",
    "6.10.05-zlib",
    "6.14.00-lz4",
    "6.14.00-uncompressed",
    "6.16.00-lz4",
    "6.18.00-lz4",
    "6.18.00-zlib",
    "6.20.04-lz4",
    "6.20.04-uncompressed",
    "6.20.04-zlib",
];
