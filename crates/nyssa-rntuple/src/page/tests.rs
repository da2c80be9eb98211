//! Tests round trips through every encoding and codec, and damaged pages with their exact messages.

use nyssa_root::compression::{Algorithm, Codec, Compression, Compressor};
use nyssa_root::error::Kind;
use proptest::prelude::*;

use super::*;
use crate::encoding::{ColumnType as T, Encoding};

/// The result of `xxhash.xxh3_64(b"nyssa")` in Python.
const CHECKSUM_OF_NYSSA: u64 = 0xCDB2_15A1_3DFA_8DEB;

const LOSSLESS: [T; 13] = [
    T::Bit,
    T::Char,
    T::UInt16,
    T::Int32,
    T::Real64,
    T::Index64,
    T::Switch,
    T::SplitInt16,
    T::SplitInt32,
    T::SplitInt64,
    T::SplitReal32,
    T::SplitReal64,
    T::SplitIndex64,
];

fn sealed(encoding: &Encoding, elements: &[u8], codec: &Codec) -> SealedPage {
    let mut compressor = Compressor::with_codec(codec).unwrap();
    let count = elements.len() / encoding.native_size();
    seal(elements, count, encoding, &mut compressor, &mut vec![9; 3]).unwrap()
}

fn unsealed(page: &SealedPage, encoding: &Encoding) -> nyssa_root::Result<Vec<u8>> {
    let count = page.elements as usize;
    let mut out = vec![0xAA; count * encoding.native_size()];
    unseal(&page.bytes, Some(page.checksum), encoding, count, &mut out, &mut Vec::new())?;
    Ok(out)
}

#[test]
fn a_page_is_encoded_compressed_and_checksummed() {
    let elements: Vec<u8> = (0..100u32).flat_map(u32::to_le_bytes).collect();
    let page = sealed(&T::SplitUInt32.into(), &elements, &Codec::Store);
    assert_eq!((page.elements, page.uncompressed), (100, 400));
    let expected: Vec<u8> = (0..100).chain([0; 300]).collect();
    assert_eq!(page.bytes, expected);
    assert_eq!(page.checksum, xxhash_rust::xxh3::xxh3_64(&expected));
    let page = sealed(&T::SplitUInt32.into(), &elements, &Codec::zstd(3));
    assert_eq!((page.elements, page.uncompressed), (100, 400));
    assert_eq!(&page.bytes[..3], b"ZS\x01");
    assert!(page.bytes.len() < 200);
}

#[test]
fn the_checksum_is_xxh3_of_the_stored_bytes() {
    verify(b"nyssa", Some(CHECKSUM_OF_NYSSA)).unwrap();
    let error = verify(b"nyssb", Some(CHECKSUM_OF_NYSSA)).unwrap_err();
    assert_eq!(error.kind(), Kind::Checksum);
    assert!(error.to_string().ends_with("is stored: the file is damaged here"), "{error}");
    verify(b"nyssb", None).unwrap();
}

#[test]
fn a_flipped_byte_is_seen_before_anything_else() {
    let encoding = Encoding::from(T::SplitInt16);
    let mut page = sealed(&encoding, &[3; 2000], &Codec::zstd(1));
    page.bytes[0] ^= 1;
    let error = unsealed(&page, &encoding).unwrap_err();
    assert_eq!(error.kind(), Kind::Checksum);
}

#[test]
fn pages_of_another_size_are_refused() {
    let encoding = Encoding::from(T::SplitInt16);
    for codec in [Codec::Store, Codec::zstd(1)] {
        let mut page = sealed(&encoding, &[3; 2000], &codec);
        page.elements = 999;
        let error = unsealed(&page, &encoding).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification, "{error}");
        page.elements = 1001;
        let error = unsealed(&page, &encoding).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification, "{error}");
    }
}

#[test]
fn a_claimed_size_takes_no_memory() {
    let mut scratch = Vec::new();
    let error = open(b"ZS\x01\x02\0\0\xFF\xFF\xFFab", None, 1 << 30, &mut scratch).unwrap_err();
    assert_eq!(
        error.to_string(),
        "compressed block of 11 bytes holds 16777215 bytes where 1073741824 are expected"
    );
    assert_eq!(scratch.capacity(), 0);
    let error = open(b"", None, usize::MAX, &mut scratch).unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded);
}

#[test]
fn scratch_is_used_again() {
    let encoding = Encoding::from(T::SplitReal32);
    let large = sealed(&encoding, &[1; 40_000], &Codec::zstd(1));
    let small = sealed(&encoding, &[2; 400], &Codec::zstd(1));
    let mut scratch = Vec::new();
    for page in [&large, &small, &large] {
        let mut out = vec![0; page.elements as usize * 4];
        unseal(&page.bytes, None, &encoding, page.elements as usize, &mut out, &mut scratch)
            .unwrap();
        assert!(out.iter().all(|&byte| byte == out[0]));
    }
    assert_eq!(scratch.len(), 65_536);
}

#[test]
fn quantized_doubles_keep_their_precision() {
    let encoding = Encoding::of(T::Real32Quant, 30, Some((0.0, 1.0))).unwrap();
    let page = sealed(&encoding, &0.3f32.to_le_bytes(), &Codec::Store);
    let mut out = [0; 8];
    unseal_f64(&page.bytes, Some(page.checksum), &encoding, 1, &mut out, &mut Vec::new()).unwrap();
    let step = 1.0 / ((1 << 30) - 1) as f64;
    assert_eq!(f64::from_le_bytes(out), (0.5 + f64::from(0.3f32) / step).floor() * step);
}

proptest! {
    #[test]
    fn what_is_sealed_is_unsealed(
        column_type in prop::sample::select(LOSSLESS.to_vec()),
        level in 0u8..4,
        algorithm in prop::sample::select(
            vec![Algorithm::Zlib, Algorithm::Lzma, Algorithm::Lz4, Algorithm::Zstd]
        ),
        mut elements in prop::collection::vec(prop_oneof![3 => 0u8..2, 1 => any::<u8>()], 0..4000),
    ) {
        let encoding = Encoding::from(column_type);
        elements.truncate(elements.len() / encoding.native_size() * encoding.native_size());
        if column_type == T::Bit {
            elements.iter_mut().for_each(|byte| *byte &= 1);
        }
        let page = sealed(&encoding, &elements, &Compression { algorithm, level }.into());
        prop_assert_eq!(page.uncompressed, encoding.packed_size(page.elements as usize));
        prop_assert_eq!(unsealed(&page, &encoding).unwrap(), elements);
    }
}
