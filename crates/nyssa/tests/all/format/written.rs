//! Tests files made from our own records: the structure of the container here, the values in the Python suite, which
//! opens such files in ROOT. Set NYSSA_TEST_OUT to keep the files.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use nyssa_rntuple::encoding::ColumnType;
use nyssa_rntuple::format::{
    Anchor, ClusterGroup, DEFAULT_MAX_KEY_SIZE, EnvelopePosition, Footer, Header, PageList,
    SchemaDescription, checksum,
};
use nyssa_rntuple::schema::{Cluster, Column, ColumnRange, Field, PageInfo, Schema, Structure};
use nyssa_rntuple::schema::{EnvelopeLink, Locator};
use nyssa_rntuple::write::{self, reserve_blob, write_blob};
use nyssa_root::compression::Compression;
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};

use super::files;

/// A sink that is a plain file from the start.
pub struct FileSink(PathBuf, File);

impl FileSink {
    pub fn create(path: &Path) -> Box<Self> {
        Box::new(Self(path.to_owned(), File::create(path).expect("output file")))
    }
}

impl nyssa_io::Sink for FileSink {
    fn name(&self) -> &str {
        self.0.to_str().expect("UTF-8 path")
    }
    fn write_at(&mut self, offset: u64, data: &[u8]) -> nyssa_io::Result<()> {
        self.1.write_all_at(data, offset).expect("write");
        Ok(())
    }
    fn commit(self: Box<Self>) -> nyssa_io::Result<()> {
        Ok(())
    }
}

pub fn options() -> FileOptions {
    FileOptions { uuid: Some([7; 16]), time: Some(1_700_000_000), ..FileOptions::default() }
}

pub fn int_schema(name: &str) -> Schema {
    let mut schema = Schema::default();
    let field = schema.add_field(Field::new(None, name, "std::int32_t", Structure::Leaf));
    schema.add_column(Column::new(field, ColumnType::Int32));
    schema
}

/// Writes an RNTuple of one `std::int32_t` field, one cluster, one page.
pub fn write_ntuple(
    file: &mut RootFileWriter,
    dir: &str,
    name: &str,
    values: &[i32],
    compression: Compression,
) {
    write_within(file, (dir, name), values, compression, DEFAULT_MAX_KEY_SIZE);
}

/// Writes an RNTuple like [`write_ntuple`], with keys of another size.
fn write_within(
    file: &mut RootFileWriter,
    (dir, name): (&str, &str),
    values: &[i32],
    compression: Compression,
    max_key_size: u64,
) {
    file.add_streamer_infos(&Anchor::streamer_info().expect("class")).expect("list");
    let schema = int_schema("x");
    let mut header = Header {
        name: name.to_owned(),
        writer: concat!("nyssa ", env!("CARGO_PKG_VERSION")).to_owned(),
        records: SchemaDescription::of(&schema, Vec::new()),
        ..Header::default()
    };
    let bytes = header.serialize().expect("header");
    let header_position = put_envelope(file, &bytes, max_key_size);
    let mut footer = Footer { header_checksum: header.checksum, ..Footer::default() };
    if !values.is_empty() {
        let page: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let sum = checksum(&page).to_le_bytes();
        let offset = write_blob(file, &[&page[..], &sum[..]], page.len() as u64, max_key_size)
            .expect("page");
        let range = ColumnRange {
            elements: values.len() as u64,
            pages: vec![PageInfo {
                elements: values.len() as u32,
                checksummed: true,
                locator: Locator { offset, size: page.len() as u64 },
            }],
            ..ColumnRange::default()
        };
        let entries = values.len() as u64;
        let list = PageList {
            header_checksum: header.checksum,
            clusters: vec![Cluster { first_entry: 0, entries, columns: vec![range] }],
        };
        let at = put_envelope(file, &list.serialize().expect("page list"), max_key_size);
        footer.cluster_groups.push(ClusterGroup {
            min_entry: 0,
            entry_span: entries,
            clusters: 1,
            page_list: EnvelopeLink {
                length: at.len,
                locator: Locator { offset: at.seek, size: at.nbytes },
            },
        });
    }
    let version = footer.version();
    let footer = put_envelope(file, &footer.serialize().expect("footer"), max_key_size);
    let anchor = Anchor { version, header: header_position, footer, max_key_size };
    file.write_object(dir, "ROOT::RNTuple", name, "", &anchor.serialize(), compression)
        .expect("anchor");
}

fn put_envelope(file: &mut RootFileWriter, bytes: &[u8], max_key_size: u64) -> EnvelopePosition {
    let len = bytes.len() as u64;
    let seek = write_blob(file, &[bytes], len, max_key_size).expect("envelope");
    EnvelopePosition { seek, nbytes: len, len }
}

/// Returns the folder for this test's files: kept when NYSSA_TEST_OUT is set.
fn out_dir() -> (PathBuf, Option<tempfile::TempDir>) {
    match std::env::var_os("NYSSA_TEST_OUT") {
        Some(dir) => (PathBuf::from(dir), None),
        None => {
            let dir = tempfile::tempdir().expect("temporary folder");
            (dir.path().to_owned(), Some(dir))
        }
    }
}

#[test]
fn several_ntuples_in_directories() {
    let (dir, _guard) = out_dir();
    let path = dir.join("several.root");
    let mut file = RootFileWriter::create(FileSink::create(&path), options()).expect("create");
    write_ntuple(&mut file, "", "empty", &[], Compression::NONE);
    write_ntuple(&mut file, "", "one", &[7, 8, 9], Compression::NONE);
    write_ntuple(&mut file, "a/b", "nested", &[-1, i32::MAX], Compression::DEFAULT);
    write_ntuple(&mut file, "a", "one", &[1], Compression::NONE);
    write_ntuple(&mut file, "a", "one", &[2, 2], Compression::NONE);
    let size = file.finish().expect("finish");
    let bytes = std::fs::read(&path).expect("file");
    assert_eq!(bytes.len() as u64, size);
    let names: Vec<String> = files::anchors(&bytes)
        .into_iter()
        .map(|anchor| files::load(&bytes, anchor).expect("RNTuple").header.name)
        .collect();
    assert_eq!(names, ["empty", "one", "nested", "one", "one"]);
}

#[test]
fn beyond_two_gigabytes() {
    let (dir, _guard) = out_dir();
    let path = dir.join("large.root");
    let mut file = RootFileWriter::create(FileSink::create(&path), options()).expect("create");
    write_ntuple(&mut file, "", "before", &[1, 2, 3], Compression::NONE);
    for _ in 0..5 {
        reserve_blob(&mut file, 1 << 30).expect("gap");
    }
    write_ntuple(&mut file, "", "after", &[4, 5], Compression::NONE);
    write_ntuple(&mut file, "sub", "below", &[6], Compression::NONE);
    let size = file.finish().expect("finish");
    assert!(size > 5 << 30);
    let mut head = [0; 63];
    File::open(&path).expect("file").read_exact_at(&mut head, 0).expect("header");
    assert_eq!(head[..4], *b"root");
    assert_eq!(head[4..8], 1_064_000u32.to_be_bytes(), "version of large files");
    assert_eq!(head[12..20], size.to_be_bytes(), "fEND");
    assert_eq!(head[40], 8, "fUnits");
}

#[test]
fn equal_options_give_equal_bytes() {
    let write = || {
        let (dir, _guard) = (tempfile::tempdir().expect("folder"), ());
        let path = dir.path().join("same.root");
        let mut file = RootFileWriter::create(FileSink::create(&path), options()).expect("create");
        write_ntuple(&mut file, "d", "n", &[3, 4], Compression::DEFAULT);
        file.finish().expect("finish");
        std::fs::read(&path).expect("file")
    };
    assert_eq!(write(), write());
}

#[test]
fn blobs_are_split_at_the_key_size() {
    let (dir, _guard) = out_dir();
    let path = dir.join("split.root");
    let mut file = RootFileWriter::create(FileSink::create(&path), options()).expect("create");
    let values: Vec<i32> = (0..60).collect();
    write_within(&mut file, ("", "split"), &values, Compression::NONE, 64);
    let blob: Vec<u8> = (0..=199).collect();
    let at = write_blob(&mut file, &[&blob[..50], &blob[50..]], 200, 64).expect("blob") as usize;
    file.finish().expect("finish");
    let bytes = std::fs::read(&path).expect("file");
    // 200 bytes in keys of 64: four keys carry 4 * 64 - 3 * 8 = 232 bytes.
    let first = 64 - 3 * 8;
    let mut joined = bytes[at..at + first].to_vec();
    for chunk in 0..3 {
        let pointer = at + first + chunk * 8;
        let offset = u64::from_le_bytes(bytes[pointer..pointer + 8].try_into().expect("8 bytes"));
        let len = 64.min(200 - joined.len());
        joined.extend_from_slice(&bytes[offset as usize..offset as usize + len]);
    }
    assert_eq!(joined, blob);
}

#[test]
fn wrong_names_and_sizes_are_refused() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("wrong.root");
    for max_key_size in [0, (1 << 30) + 1] {
        let wrong =
            write::RNTupleWriteOptions { max_key_size, ..write::RNTupleWriteOptions::default() };
        assert_eq!(
            wrong.validate().expect_err("refused").to_string(),
            format!("the maximum key size is {max_key_size}, but has to be 1 to 1073741824 bytes")
        );
    }
    let mut file = RootFileWriter::create(FileSink::create(&path), options()).expect("create");
    for name in ["", "a/b"] {
        let error = file.write_object("", "C", name, "", b"x", Compression::NONE).err();
        assert_eq!(error.expect("refused").kind(), nyssa_root::Kind::InvalidArgument);
    }
    file.write_object("", "C", "taken", "", b"x", Compression::NONE).expect("object");
    let error = file.write_object("taken", "C", "n", "", b"x", Compression::NONE).err();
    assert!(error.expect("refused").message().contains("an object of that name exists"));
}
