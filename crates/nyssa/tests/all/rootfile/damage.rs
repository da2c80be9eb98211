//! Tests damaged files: a closed list with exact messages, then many at random that must never panic, hang or be read
//! as something else.

use nyssa_root::Kind;
use nyssa_root::rootfile::RootFile;

use crate::support::container::{bytes, data, open_bytes};

/// Opens, lists, and reads every object and every tree. Returns the first error.
fn read_all(bytes: Vec<u8>) -> nyssa_root::Result<usize> {
    let file = open_bytes("damaged.root", bytes)?;
    file.free_segments()?;
    let mut read = 0;
    for key in file.walk()?.iter().filter(|key| !key.is_directory()) {
        file.object(key)?;
        if key.class == "TTree" {
            nyssa_ttree::load(&file, key)?;
        }
        read += 1;
    }
    Ok(read)
}

fn patched(original: &[u8], at: usize, with: &[u8]) -> Vec<u8> {
    let mut bytes = original.to_vec();
    bytes[at..at + with.len()].copy_from_slice(with);
    bytes
}

/// A file of 1122 bytes: directory `Lumi` at byte 218, its key list at 505, two strings in it.
const SMALL: &str = "roottest/io__directory__objstring.root";

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn damaged_files_say_what_is_wrong() {
    let folder = data();
    let small = bytes(&folder.join(SMALL));
    let all = small.len();
    for (what, bytes, message) in [
        ("empty", Vec::new(), "not a ROOT file: it is empty (file damaged.root)"),
        (
            "another format",
            b"PAR1\x15\x04\x15\x10more".to_vec(),
            "not a ROOT file: it begins with \"PAR1\\x15\\x04\\x15\\x10\", as Parquet files do: `convert` \
             makes a ROOT file of it, and `skim` one of several (file damaged.root)",
        ),
        (
            "ends in the header",
            small[..40].to_vec(),
            "the file is truncated: its 40 bytes end inside the header (file damaged.root)",
        ),
        (
            "ends before its end",
            small[..1000].to_vec(),
            "the file is truncated: it has 1000 bytes of 1122 (file damaged.root)",
        ),
        (
            "never closed",
            patched(&small, 12, &[0, 0, 0, 0]),
            "the header says that the file ends at byte 0 and its top directory lies at byte 158: \
             the file was not closed, or is damaged (file damaged.root)",
        ),
        (
            "no key list and no object",
            patched(&patched(&small, 184, &[0, 0, 0, 0]), 218, &[0, 0, 0, 0]),
            "the file has no list of keys: it was not closed, and no object in it is complete \
             (file damaged.root)",
        ),
        (
            "key list beyond the end",
            patched(&small, 184, &[0, 0, 5, 0]),
            "the list of keys is said to lie at bytes 1280 to 1376, the file ends at byte 1122 \
             (file damaged.root)",
        ),
        (
            "directory in itself",
            patched(&small, 291, &[0, 0, 2, 0xb8]),
            "directory lies inside itself, or is listed twice (file damaged.root, object \
             Lumi/Lumi, byte 218)",
        ),
        (
            "record that is not what its key says",
            patched(&small, 325 + 9, &[21]),
            "the directory lists TObjString \"physics\";1 (90 bytes, 20 uncompressed, key of 70), \
             but the record is TObjString \"physics\";1 (90 bytes, 21 uncompressed, key of 70) \
             (file damaged.root, object Lumi/physics, byte 325)",
        ),
        (
            "object longer than its record",
            patched(&small, 0x18D, &[0x7F]),
            "byte count of 32528 where 16 bytes are left, at byte 4 of the uncompressed object \
             (file damaged.root, object Lumi/physics)",
        ),
    ] {
        let error = read_all(bytes).unwrap_err();
        assert_eq!(error.kind(), Kind::OutOfSpecification, "{what}: {error}");
        assert_eq!(error.to_string(), message, "{what}");
    }
    assert_eq!(all, 1122);
}

/// Without their lists of keys, directories hold the records that say so, up to the first that is not
/// one.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn files_that_were_not_closed() {
    let folder = data();
    let small = bytes(&folder.join(SMALL));
    let keys = |bytes: Vec<u8>| {
        let file = open_bytes("lost.root", bytes).unwrap();
        let keys = file.walk().unwrap();
        keys.iter().filter(|key| !key.is_directory()).for_each(|key| {
            file.object(key).unwrap();
        });
        let mut keys: Vec<_> =
            keys.iter().map(|key| (key.path.clone(), key.cycle, key.seek)).collect();
        keys.sort();
        (file.was_recovered(), keys)
    };
    let (_, all) = keys(small.clone());
    assert_eq!(all.len(), 3);
    let lost = patched(&small, 184, &[0, 0, 0, 0]);
    assert_eq!(keys(lost.clone()), (true, all.clone()));
    // The list of `Lumi` too.
    let lumi = file_position(&small, "Lumi");
    let both = patched(&lost, lumi, &[0; 4]);
    assert_eq!(keys(both.clone()), (true, all.clone()));
    assert_eq!(keys(patched(&small, lumi, &[0; 4])), (false, all.clone()));
    // A record that was being written: the second of the two strings.
    let second = all.iter().map(|key| key.2).max().unwrap() as usize;
    let cut = patched(&both, second, &[0; 4]);
    assert_eq!(keys(cut).1.len(), 2);
}

/// Returns the offset of the field in a directory record that gives the place of the list of keys.
fn file_position(file: &[u8], directory: &str) -> usize {
    let key = open_bytes("whole.root", file.to_vec()).unwrap().find(directory).unwrap();
    key.seek as usize + usize::from(key.keylen) + 2 + 4 + 4 + 4 + 4 + 4 + 4
}

/// Tests that a file that is truncated anywhere is refused, because the end of a file has data that ROOT needs.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn truncated_files_are_refused() {
    let folder = data();
    for name in [SMALL, "uproot-simple.root", "uproot-issue413.root"] {
        let whole = bytes(&folder.join(name));
        for len in 0..whole.len() {
            let error = open_bytes("cut", whole[..len].to_vec()).err().unwrap();
            assert_eq!(error.kind(), Kind::OutOfSpecification, "{name} {len}: {error}");
        }
    }
}

/// Changes every byte of small files in several ways: each gives an error or a value, never a panic.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn no_changed_byte_panics() {
    let folder = data();
    for name in [SMALL, "uproot-simple.root", "uproot-issue413.root"] {
        let whole = bytes(&folder.join(name));
        let mut refused = 0;
        for at in 0..whole.len() {
            for change in [0xFF, 0x01, 0x80] {
                let bytes = patched(&whole, at, &[whole[at] ^ change]);
                refused += usize::from(read_all(bytes).is_err());
            }
        }
        eprintln!("{name}: {refused} of {} changes refused", 3 * whole.len());
        assert!(refused > 0);
    }
}

/// Changes trees that are stored uncompressed, so that changes reach the object reader: numbers in them are
/// replaced by those that break careless readers.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn no_changed_number_panics() {
    let folder = data();
    let values: [[u8; 4]; 6] = [
        [0xFF; 4],
        [0x7F, 0xFF, 0xFF, 0xFF],
        [0x80, 0, 0, 0],
        [0; 4],
        [0, 0, 0, 0x40],
        [0x40, 0, 0, 4],
    ];
    for version in ["5.23.02", "6.20.04"] {
        let whole = bytes(&folder.join(format!("uproot-sample-{version}-uncompressed.root")));
        let file = open_bytes("sample", whole.clone()).unwrap();
        let key = file.find("sample").unwrap();
        let (start, end) = (key.seek as usize, key.end() as usize);
        // A number that shares no factor with the layout, so that all fields are hit.
        for (turn, at) in (start..end - 4).step_by(37).enumerate() {
            let bytes = patched(&whole, at, &values[turn % values.len()]);
            let _ = read_tree(bytes);
        }
    }
}

fn read_tree(bytes: Vec<u8>) -> nyssa_root::Result<()> {
    let file: RootFile = open_bytes("sample", bytes)?;
    let key = file.find("sample")?;
    nyssa_ttree::load(&file, &key).map(|_| ())
}
