//! Tests damaged envelopes: they are refused by the checksum; with a matching checksum, they are refused by a check or
//! read as something else, but there is never a panic, a hang or a huge allocation.

use nyssa_rntuple::format::{Anchor, Envelope, EnvelopeKind, Footer, Header, PageList, checksum};
use nyssa_rntuple::schema::Schema;
use nyssa_root::{Error, Kind};
use proptest::prelude::*;

use super::files::{self, Loaded};

const FILES: [&str; 5] = ["projections", "attributes", "late", "representations", "several"];

/// Parses whatever `bytes` claim to be, and what follows from it.
fn parse(loaded: &Loaded, kind: EnvelopeKind, bytes: &[u8]) -> nyssa_root::Result<()> {
    match kind {
        EnvelopeKind::Header => {
            let header = Header::parse(bytes)?;
            let schema = header.schema(&loaded.footer.extension)?;
            PageList::parse(&loaded.page_list_bytes[0], &schema).map(|_| ())
        }
        EnvelopeKind::Footer => {
            let footer = Footer::parse(bytes)?;
            loaded.header.schema(&footer.extension).map(|_| ())
        }
        EnvelopeKind::PageList => {
            let list = PageList::parse(bytes, &loaded.schema)?;
            list.check(loaded.header.checksum, &loaded.footer.cluster_groups[0])
        }
    }
}

fn envelopes(loaded: &Loaded) -> [(EnvelopeKind, &[u8]); 3] {
    [
        (EnvelopeKind::Header, &loaded.header_bytes),
        (EnvelopeKind::Footer, &loaded.footer_bytes),
        (EnvelopeKind::PageList, &loaded.page_list_bytes[0]),
    ]
}

/// Makes the checksum fit again.
fn fix(bytes: &mut [u8]) {
    let at = bytes.len() - 8;
    let sum = checksum(&bytes[..at]);
    bytes[at..].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn every_flipped_byte_is_noticed() {
    for file in FILES {
        let loaded = files::load_testdata(file);
        for (kind, bytes) in envelopes(&loaded) {
            let mut bytes = bytes.to_vec();
            for at in 0..bytes.len() {
                bytes[at] ^= 0x10;
                let error = parse(&loaded, kind, &bytes).expect_err("a flipped byte");
                assert_eq!(error.kind(), Kind::Checksum, "byte {at}: {error}");
                bytes[at] ^= 0x10;
            }
        }
        let mut anchor = loaded.anchor_bytes.clone();
        for at in 0..anchor.len() {
            anchor[at] ^= 0x10;
            // The class version is outside the checksum and does not matter.
            assert_eq!(Anchor::parse(&anchor).is_err(), !(4..6).contains(&at), "byte {at}");
            anchor[at] ^= 0x10;
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let loaded = files::load_testdata(FILES[0]);
    for (kind, bytes) in envelopes(&loaded) {
        for len in 0..bytes.len() {
            assert!(parse(&loaded, kind, &bytes[..len]).is_err(), "{kind} of {len} bytes");
        }
    }
    for len in 0..loaded.anchor_bytes.len() {
        assert!(Anchor::parse(&loaded.anchor_bytes[..len]).is_err());
    }
}

#[test]
fn wrong_bytes_with_a_right_checksum_do_no_harm() {
    let mut refused = 0;
    for file in FILES {
        let loaded = files::load_testdata(file);
        for (kind, original) in envelopes(&loaded) {
            for at in 0..original.len() - 8 {
                for value in [0, 1, 0x7f, 0x80, 0xff, original[at] ^ 1, original[at] ^ 0x80] {
                    let mut bytes = original.to_vec();
                    bytes[at] = value;
                    fix(&mut bytes);
                    refused += usize::from(parse(&loaded, kind, &bytes).is_err());
                }
            }
        }
    }
    assert!(refused > 1000, "only {refused} refused");
}

proptest! {
    #[test]
    fn wrong_words_with_a_right_checksum_do_no_harm(
        file in 0..FILES.len(),
        kind in 0..3usize,
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), prop_oneof![
                any::<i64>(), Just(i64::MIN), Just(i64::MAX), Just(-1), -200..200i64,
            ], prop_oneof![Just(2usize), Just(4), Just(8)]),
            1..4,
        ),
    ) {
        let loaded = files::load_testdata(FILES[file]);
        let (kind, bytes) = envelopes(&loaded)[kind];
        let mut bytes = bytes.to_vec();
        for (at, value, width) in edits {
            let at = at.index(bytes.len() - 16);
            bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
        }
        fix(&mut bytes);
        let _ = parse(&loaded, kind, &bytes);
    }
}

/// Returns a header whose payload is `payload`.
fn header_of(payload: &[u8]) -> Error {
    let (bytes, _) = Envelope::seal(EnvelopeKind::Header, |out| {
        out.extend_from_slice(payload);
        Ok(())
    })
    .expect("envelope");
    Header::parse(&bytes)
        .and_then(|header| header.schema(&Default::default()))
        .expect_err("a damaged header")
}

/// The feature flags and three empty strings.
const START: [u8; 20] = [0; 20];

#[test]
fn exact_messages() {
    let words = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>();
    for (payload, kind, message) in [
        (
            words(&[1 << 3]),
            Kind::Unsupported,
            "header envelope, byte 8: unsupported format feature: 3",
        ),
        (
            words(&[1 << 63, 1 << 63, 1 << 9]),
            Kind::Unsupported,
            "header envelope, byte 24: unsupported format feature: 137",
        ),
        (
            words(&[1 << 63]),
            Kind::OutOfSpecification,
            "header envelope, byte 16: needs 8 bytes where 0 are left",
        ),
        (
            [&START[..8], &0xFFFF_FFFFu32.to_le_bytes(), &[0; 12]].concat(),
            Kind::OutOfSpecification,
            "header envelope, byte 20: needs 4294967295 bytes where 12 are left",
        ),
        (
            [&START[..8], &1u32.to_le_bytes(), &[0xFF], &[0; 12]].concat(),
            Kind::OutOfSpecification,
            "header envelope, byte 21: string is not UTF-8",
        ),
        (
            [&START[..], &(-12i64).to_le_bytes(), &u32::MAX.to_le_bytes()].concat(),
            Kind::OutOfSpecification,
            "header envelope, byte 28: list of 4294967295 items in 0 bytes",
        ),
        (
            [&START[..], &12i64.to_le_bytes(), &0u32.to_le_bytes()].concat(),
            Kind::OutOfSpecification,
            "header envelope, byte 28: record frame where a list frame is needed",
        ),
        (
            [&START[..], &i64::MIN.to_le_bytes(), &0u32.to_le_bytes()].concat(),
            Kind::OutOfSpecification,
            "header envelope, byte 28: frame of 9223372036854775808 bytes where 12 are left",
        ),
    ] {
        let error = header_of(&payload);
        assert_eq!((error.kind(), error.message()), (kind, message));
    }
}

#[test]
fn envelopes_of_another_kind_and_length() {
    let (bytes, _) = Envelope::seal(EnvelopeKind::Footer, |_| Ok(())).expect("envelope");
    let message = |bytes: &[u8]| Header::parse(bytes).expect_err("refused").message().to_owned();
    assert_eq!(message(&bytes), "header envelope: type 2 where 1 is needed");
    assert_eq!(message(&bytes[..4]), "header envelope, byte 0: needs 8 bytes where 4 are left");
    let mut long = bytes.clone();
    (long[0], long[2]) = (1, 200);
    fix(&mut long);
    assert_eq!(message(&long), "header envelope: says it is 200 bytes long but has 16");
}

#[test]
fn anchors_of_the_pre_release_are_refused() {
    let loaded = files::load_testdata(FILES[0]);
    let mut bytes = loaded.anchor_bytes.clone();
    bytes[7] = 0;
    let sum = checksum(&bytes[6..70]);
    bytes[70..].copy_from_slice(&sum.to_be_bytes());
    let error = Anchor::parse(&bytes).expect_err("refused");
    assert_eq!(error.kind(), Kind::Unsupported);
    assert!(error.message().starts_with("RNTuple anchor: format version 0."), "{error}");
}

#[test]
fn longer_anchors_of_later_versions_are_read() {
    let loaded = files::load_testdata(FILES[0]);
    let mut bytes = loaded.anchor_bytes[..70].to_vec();
    bytes.extend_from_slice(&[1, 2, 3, 4]);
    bytes[3] += 4;
    bytes[5] = 3;
    let sum = checksum(&bytes[6..]);
    bytes.extend_from_slice(&sum.to_be_bytes());
    assert_eq!(Anchor::parse(&bytes).expect("anchor"), loaded.anchor);
}

#[test]
fn page_lists_need_their_schema() {
    let loaded = files::load_testdata(FILES[0]);
    let error = PageList::parse(&loaded.page_list_bytes[0], &Schema::default());
    let error = error.expect_err("refused");
    assert_eq!(
        error.message(),
        "page list envelope, byte 112: pages of 6 columns, the schema has 0"
    );
}
