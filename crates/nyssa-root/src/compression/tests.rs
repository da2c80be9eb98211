//! Tests with oracles made by other libraries, with corrupt blocks and their exact messages, and with round trips.

use proptest::prelude::*;

use super::*;
use crate::error::Kind;

const TEXT: &[u8] = b"nyssa reads ROOT, nyssa writes ROOT, nyssa moves ROOT\
nyssa reads ROOT, nyssa writes ROOT, nyssa moves ROOT";

/// The blocks of [`TEXT`], made by Python's zlib, lzma, lz4 and zstandard packages. The headers were written by
/// hand.
const ZLIB: &str = "5a4c082c00006a000078dacbab2c2e4e54284a4d4c295608f2f70fd151c8038b94176596a4a20ae5e697\
                    4145f2c8d10400cf24250b";
const OLD: &str = "4353082600006a0000cbab2c2e4e54284a4d4c295608f2f70fd151c8038b94176596a4a20ae5e6974145f2\
                   c8d10400";
const XZ: &str = "585a006000006a0000fd377a585a0000016922de360200210110000000a8708e86e0006900275d00371e4aae\
                  4ee4062c11dfd62a43d86dca7b4c37db623f2ff5a66c9fcafd974e3ada17fee96f460000001d79f91300013f\
                  6a51173fd59042990d010000000001595a";
const LZ4: &str = "4c34013900006a0000ac5e5afe27f4b8f1f2036e7973736120726561647320524f4f542c2012005a777269746\
                   51300336d6f7612000223000f3500175020524f4f54";
const ZSTD: &str = "5a53013100006a000028b52ffd206a450100d06e7973736120726561647320524f4f542c2077726974656d6f7\
                    60400c2ea809aeeb029b5c26618";

fn bytes(hex: &str) -> Vec<u8> {
    hex.as_bytes()
        .chunks_exact(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn unpack(block: &[u8], size: usize) -> crate::Result<Vec<u8>> {
    let mut out = vec![0xAA; size];
    decompress(block, &mut out).map(|()| out)
}

fn message(block: &[u8], size: usize) -> String {
    unpack(block, size).unwrap_err().to_string()
}

/// Returns every codec worth a test, with the fastest levels first.
fn codecs() -> Vec<Codec> {
    let mut codecs = vec![Codec::Store];
    for algorithm in [Algorithm::Zlib, Algorithm::Lzma, Algorithm::Lz4, Algorithm::Zstd] {
        for level in [1, 3, 4, 6, 9] {
            codecs.push(Codec::from(Compression { algorithm, level }));
        }
    }
    codecs.push(Codec::Zlib { level: 0 });
    codecs.push(Codec::Zlib { level: 12 });
    codecs.push(Codec::zstd(-5));
    codecs.push(Codec::Zstd {
        level: 3,
        parameters: vec![ZstdParameter::TargetLength(64), ZstdParameter::ChecksumFlag(true)],
    });
    codecs
}

#[test]
fn reads_what_other_libraries_write() {
    for block in [ZLIB, OLD, XZ, LZ4, ZSTD].map(bytes) {
        let tag = block[..2].escape_ascii().to_string();
        assert_eq!(unpack(&block, TEXT.len()).unwrap(), TEXT, "{tag}");
        let two = [block.clone(), block].concat();
        assert_eq!(unpack(&two, 2 * TEXT.len()).unwrap(), TEXT.repeat(2), "two chunks of {tag}");
    }
    let mixed = [ZLIB, LZ4, ZSTD].map(bytes).concat();
    assert_eq!(unpack(&mixed, 3 * TEXT.len()).unwrap(), TEXT.repeat(3));
}

#[test]
fn a_block_as_long_as_its_content_is_stored() {
    assert_eq!(unpack(b"ZS\x01 not a header", 16).unwrap(), b"ZS\x01 not a header");
    assert_eq!(unpack(b"", 0).unwrap(), b"");
}

#[test]
fn corrupt_framing_is_named() {
    let zstd = bytes(ZSTD);
    for (block, size, expected) in [
        (b"".to_vec(), 5, "compressed block of 0 bytes holds 0 bytes where 5 are expected"),
        (
            zstd[..5].to_vec(),
            106,
            "compressed block of 5 bytes ends inside the chunk header at byte 0",
        ),
        (
            zstd[..30].to_vec(),
            106,
            "compressed chunk at byte 0 of its block claims 49 bytes where 21 are left",
        ),
        (zstd.clone(), 107, "compressed block of 58 bytes holds 106 bytes where 107 are expected"),
        (
            zstd.clone(),
            105,
            "compressed chunk at byte 0 of its block claims a content of 106 bytes where 105 are \
             expected",
        ),
        (
            [&zstd[..], b"tail"].concat(),
            106,
            "compressed block has 4 bytes after its content of 106 bytes is complete",
        ),
        (
            [&zstd[..], b"tail"].concat(),
            107,
            "compressed block of 62 bytes ends inside the chunk header at byte 58",
        ),
        (
            [&zstd[..], b"?\x00 is no header"].concat(),
            150,
            "compressed chunk at byte 58 of its block starts with \"?\\x00\", which is not a \
             compression ROOT knows (ZL, CS, XZ, L4, ZS)",
        ),
        (
            b"ZS\x01\0\0\0\0\0\0".to_vec(),
            0,
            "compressed block has 9 bytes after its content of 0 bytes is complete",
        ),
    ] {
        let error = unpack(&block, size).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification);
        assert_eq!(error.to_string(), expected);
    }
    let mut version = zstd;
    version[2] = 2;
    let error = unpack(&version, 106).unwrap_err();
    assert_eq!(error.kind(), Kind::Unsupported);
    assert_eq!(
        error.to_string(),
        "compressed chunk at byte 0 of its block has version 2 of ZS, only version 1 is known"
    );
}

/// Returns `block` with `size` as the size in the header and of the target.
fn resized(hex: &str, size: u8) -> (Vec<u8>, usize) {
    let mut block = bytes(hex);
    block[6] = size;
    (block, usize::from(size))
}

#[test]
fn streams_of_another_size_are_named() {
    for (hex, size, expected) in [
        (ZLIB, 105, "zlib chunk holds more than the 105 bytes its header says"),
        (ZLIB, 107, "zlib chunk holds 106 bytes where its header says 107"),
        (OLD, 107, "deflate chunk holds 106 bytes where its header says 107"),
        (XZ, 107, "lzma chunk holds 106 bytes where its header says 107"),
        (XZ, 104, "lzma chunk holds more than the 104 bytes its header says"),
        (LZ4, 104, "lz4 chunk is corrupt or holds more than the 104 bytes its header says"),
        (LZ4, 107, "lz4 chunk holds 106 bytes where its header says 107"),
        (
            ZSTD,
            105,
            "zstd chunk does not decompress into 105 bytes: Destination buffer is too small",
        ),
        (ZSTD, 107, "zstd chunk holds 106 bytes where its header says 107"),
    ] {
        let (block, size) = resized(hex, size);
        assert_eq!(message(&block, size), expected);
    }
}

#[test]
fn flipped_bytes_in_streams_are_named() {
    let flipped = |hex: &str, at: usize| {
        let mut block = bytes(hex);
        block[at] ^= 0x10;
        message(&block, TEXT.len())
    };
    assert_eq!(flipped(ZLIB, 9), "zlib chunk is corrupt");
    assert_eq!(flipped(XZ, 60), "lzma chunk is corrupt");
    assert_eq!(
        flipped(LZ4, 40),
        "lz4 chunk has XXH64 46eea1841489344b where ac5e5afe27f4b8f1 is stored"
    );
    assert_eq!(
        flipped(ZSTD, 9),
        "zstd chunk does not decompress into 106 bytes: Unknown frame descriptor"
    );
    let short = b"L4\x01\x07\0\0\x6a\0\0abcdefg";
    assert_eq!(message(short, 106), "lz4 chunk of 7 bytes is too short for its checksum");
}

#[test]
fn a_wrong_checksum_of_sound_data_is_a_wrong_checksum() {
    let mut zstd = Vec::new();
    let mut compressor =
        Compressor::new(Compression { algorithm: Algorithm::Zstd, level: 5 }).unwrap();
    compressor = compressor.with_checksums().unwrap();
    compressor.compress(TEXT, &mut zstd).unwrap();
    // The checks of xz come before the index, whose size the footer has, in units of 4 bytes.
    let xz = bytes(XZ);
    let index = 4 * (usize::from(xz[xz.len() - 8]) + 1);
    let check = xz.len() - 12 - index - 1;
    for (block, at) in [
        (bytes(ZLIB), bytes(ZLIB).len() - 1),
        (xz, check),
        (bytes(LZ4), CHUNK_HEADER_SIZE),
        (zstd.clone(), zstd.len() - 1),
    ] {
        let mut wrong = block.clone();
        wrong[at] ^= 0x10;
        assert_eq!(unpack(&block, TEXT.len()).unwrap(), TEXT);
        let error = unpack(&wrong, TEXT.len()).unwrap_err();
        assert_eq!(error.kind(), Kind::Checksum, "{error}");
    }
}

#[test]
fn an_xz_stream_may_not_ask_for_much_memory() {
    // LZMA2 property byte 40 in the block header: a dictionary of 4 GiB - 1, with its CRC32.
    let mut block = bytes(XZ);
    let header = &mut block[9 + 12..9 + 24];
    header[4] = 40;
    let crc = libdeflater::crc32(&header[..8]).to_le_bytes();
    header[8..].copy_from_slice(&crc);
    let error = unpack(&block, TEXT.len()).unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded);
    assert_eq!(error.to_string(), "lzma chunk needs more than 128 MiB of memory to decompress");
}

#[test]
fn blocks_of_several_chunks_come_back() {
    // 17 MB of input: 8 bytes of noise, each repeated sixteen times.
    let input: Vec<u8> = (0..17_000_000u64 / 128)
        .flat_map(|i| [xxhash_rust::xxh3::xxh3_64(&i.to_le_bytes()).to_le_bytes(); 16])
        .flatten()
        .collect();
    for codec in [
        Codec::Zlib { level: 1 },
        Codec::Lzma { preset: 0 },
        Codec::Lz4 { high_compression: None },
        Codec::Lz4 { high_compression: Some(4) },
        Codec::zstd(1),
    ] {
        let mut out = b"before".to_vec();
        Compressor::with_codec(&codec).unwrap().compress(&input, &mut out).unwrap();
        assert_eq!(&out[..6], b"before");
        let block = &out[6..];
        assert!(block.len() < input.len(), "{codec:?}");
        assert_eq!(block[6..9], [0xFF; 3], "{codec:?}: the first chunk is full");
        assert!(unpack(block, input.len()).unwrap() == input, "{codec:?}");
    }
}

#[test]
fn noise_is_stored() {
    let noise: Vec<u8> =
        (0..5_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let noise: Vec<u8> =
        noise.chunks(8).flat_map(|c| xxhash_rust::xxh3::xxh3_64(c).to_le_bytes()).collect();
    for codec in codecs() {
        let mut compressor = Compressor::with_codec(&codec).unwrap();
        let mut out = vec![7];
        compressor.compress(&noise, &mut out).unwrap();
        assert_eq!(out[0], 7);
        assert!(out[1..] == noise, "{codec:?}");
        // The state survives a block that did not shrink.
        out.clear();
        compressor.compress(&[5; 1000], &mut out).unwrap();
        assert_eq!(unpack(&out, 1000).unwrap(), [5; 1000], "{codec:?}");
    }
}

#[test]
fn headers_are_those_of_root() {
    for (setting, start) in [
        ("zlib:1", *b"ZL\x08"),
        ("lzma:1", *b"XZ\0"),
        ("lz4:1", *b"L4\x01"),
        ("lz4:9", *b"L4\x01"),
        ("zstd:5", *b"ZS\x01"),
    ] {
        let mut out = Vec::new();
        let mut compressor = Compressor::new(setting.parse().unwrap()).unwrap();
        compressor.compress(&[b'a'; 300], &mut out).unwrap();
        assert_eq!(out[..3], start, "{setting}");
        assert_eq!(out[3..6], (out.len() as u32 - 9).to_le_bytes()[..3], "{setting}");
        assert_eq!(out[6..9], [300u16.to_le_bytes()[0], 300u16.to_le_bytes()[1], 0], "{setting}");
    }
}

#[test]
fn levels_follow_root() {
    let codec = |text: &str| Codec::from(text.parse::<Compression>().unwrap());
    assert!(matches!(codec("505"), Codec::Zstd { level: 10, .. }));
    assert!(matches!(codec("zstd:9"), Codec::Zstd { level: 18, .. }));
    assert!(matches!(codec("lz4:3"), Codec::Lz4 { high_compression: None }));
    assert!(matches!(codec("404"), Codec::Lz4 { high_compression: Some(4) }));
    assert!(matches!(codec("207"), Codec::Lzma { preset: 7 }));
    assert!(matches!(codec("101"), Codec::Zlib { level: 3 }));
    assert!(matches!(codec("106"), Codec::Zlib { level: 6 }));
    assert!(matches!(codec("none"), Codec::Store));
    for text in
        ["zlib:1", "zlib:9", "lzma:7", "lz4:1", "lz4:4", "lz4:9", "zstd:1", "zstd:5", "none"]
    {
        let compression = text.parse::<Compression>().unwrap();
        assert_eq!(Codec::from(compression).setting(), compression.setting(), "{text}");
    }
    assert_eq!(Codec::zstd(3).setting(), 502);
    assert_eq!(Codec::zstd(-7).setting(), 501);
    assert_eq!(Codec::zstd(22).setting(), 509);
}

#[test]
fn levels_out_of_range_are_refused() {
    let refusal = |codec| match Compressor::with_codec(&codec) {
        Ok(_) => panic!("{codec:?} is accepted"),
        Err(error) => error.to_string(),
    };
    assert_eq!(refusal(Codec::Zlib { level: 13 }), "zlib level 13 is not one of 0 to 12");
    assert_eq!(refusal(Codec::Lzma { preset: 10 }), "lzma preset 10 is not one of 0 to 9");
    assert_eq!(
        refusal(Codec::Lz4 { high_compression: Some(13) }),
        "lz4 level 13 is not one of 1 to 12"
    );
    assert_eq!(refusal(Codec::zstd(23)), "zstd level 23 is not one of -131072 to 22");
    assert_eq!(
        refusal(Codec::Zstd { level: 1, parameters: vec![ZstdParameter::WindowLog(99)] }),
        "zstd refuses a parameter: Parameter is out of bound"
    );
}

proptest! {
    #[test]
    fn every_codec_round_trips(
        input in prop::collection::vec(prop_oneof![4 => 0u8..4, 1 => any::<u8>()], 0..3000),
        codec in prop::sample::select(codecs()),
    ) {
        let mut compressor = Compressor::with_codec(&codec).unwrap();
        let mut out = Vec::new();
        for _ in 0..2 {
            out.clear();
            compressor.compress(&input, &mut out).unwrap();
            prop_assert!(out.len() <= input.len());
            prop_assert_eq!(&unpack(&out, input.len()).unwrap(), &input);
        }
    }

    /// Checks that no bytes make the decoders panic.
    #[test]
    fn damage_never_panics(
        hex in prop::sample::select(vec![ZLIB, OLD, XZ, LZ4, ZSTD]),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        size in 0usize..300,
    ) {
        let mut block = bytes(hex);
        for (at, value) in flips {
            let at = at.index(block.len());
            block[at] = value;
        }
        let _ = unpack(&block, size);
    }
}

#[test]
fn blocks_that_end_with_planes_are_smaller() {
    // Planes with different alphabets. A block across two planes would mix their entropy tables.
    for plane in [100_000, 4096, 1024] {
        let mut state = 1u32;
        let input: Vec<u8> = (0..4 * plane)
            .map(|i| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                ((state >> 24) as u8 & 0x0F) | (((i / plane) as u8) << 4)
            })
            .collect();
        let mut compressor = Compressor::with_codec(&Codec::zstd(1)).unwrap();
        let (mut mixed, mut aligned, mut again) = (Vec::new(), Vec::new(), Vec::new());
        compressor.compress(&input, &mut mixed).unwrap();
        compressor.compress_planes(&input, plane, &mut aligned).unwrap();
        compressor.compress(&input, &mut again).unwrap();
        assert_eq!(mixed, again, "the block size of one page must not reach the next");
        // Each plane has 16 symbols. This is half a byte for each symbol, plus headers.
        assert!(aligned.len() < input.len() / 2 + 500, "{plane}: {}", aligned.len());
        assert!(aligned.len() < mixed.len(), "{plane}: {} of {}", aligned.len(), mixed.len());
        let mut out = vec![0; input.len()];
        decompress(&aligned, &mut out).unwrap();
        assert_eq!(out, input);
    }
}

#[test]
fn metadata_does_not_grow_out_of_proportion() {
    let mut compressor = Compressor::with_codec(&Codec::zstd(3)).unwrap();
    let mut packed = |size: usize| {
        let mut block = Vec::new();
        compressor.compress(&vec![0; size], &mut block).unwrap();
        block
    };
    let block = packed(64 << 20);
    assert!(block.len() < (64 << 20) / 512);
    let error = decompress_metadata(&block, 64 << 20, "an envelope").unwrap_err();
    assert_eq!(error.kind(), Kind::LimitExceeded);
    let message = format!(
        "an envelope of {} bytes claims to have 67108864 bytes when it is decompressed: no metadata shrinks that much",
        block.len()
    );
    assert_eq!(error.to_string(), message);
    // Data may be zeros, and so may a small record.
    assert_eq!(decompress_to_vec(&block, 64 << 20, "an object").unwrap().len(), 64 << 20);
    assert!(decompress_metadata(&packed(MAX_CHUNK_SIZE), MAX_CHUNK_SIZE, "an envelope").is_ok());
}
