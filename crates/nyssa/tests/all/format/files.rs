//! Finds the RNTuple of a test file without the container reader: the key of an anchor is
//! recognised by its class name, its payload by the checksum.

use std::path::{Path, PathBuf};

use nyssa_rntuple::format::{Anchor, EnvelopePosition, Footer, Header, PageList};
use nyssa_rntuple::schema::Locator;
use nyssa_rntuple::schema::Schema;
use nyssa_root::compression::decompress;
use nyssa_testdata::{data, testdata};

/// Everything that describes one RNTuple, and the envelopes as stored in the file.
pub struct Loaded {
    pub anchor: Anchor,
    pub anchor_bytes: Vec<u8>,
    pub header: Header,
    pub header_bytes: Vec<u8>,
    pub footer: Footer,
    pub footer_bytes: Vec<u8>,
    pub page_lists: Vec<PageList>,
    pub page_list_bytes: Vec<Vec<u8>>,
    pub schema: Schema,
}

/// Returns every file with an RNTuple of `testdata`, but for those whose envelopes are in several keys.
pub fn own_files() -> Vec<PathBuf> {
    let mut files = root_files(&[testdata("rntuple"), testdata("streamed")]);
    files.retain(|path| !path.display().to_string().contains("keys-"));
    files
}

/// Returns every file with an RNTuple of `NYSSA_TEST_DATA`.
pub fn real_files() -> Vec<PathBuf> {
    root_files(&[data("rntuple"), data("rntuple-validation/write")])
}

fn root_files(folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut files: Vec<_> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("folder of files"))
        .map(|entry| entry.expect("folder entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "root"))
        .collect();
    files.sort();
    assert!(files.len() >= 27, "only {} RNTuple files", files.len());
    files
}

/// Returns the payloads of all anchor keys in a file.
pub fn anchors(file: &[u8]) -> Vec<Vec<u8>> {
    let class = b"\x0dROOT::RNTuple";
    let mut payloads = Vec::new();
    for at in 0..file.len().saturating_sub(class.len()) {
        if &file[at..at + class.len()] != class {
            continue;
        }
        for fixed in [26, 34] {
            let Some(key) = at.checked_sub(fixed) else { continue };
            let number = |from: usize, len: usize| {
                file[key + from..key + from + len].iter().fold(0u64, |n, b| n << 8 | u64::from(*b))
            };
            let large = number(4, 2) > 1000;
            let seek = number(18, if large { 8 } else { 4 });
            if large != (fixed == 34) || seek != key as u64 {
                continue;
            }
            let (nbytes, objlen, keylen) = (number(0, 4), number(6, 4), number(14, 2));
            let stored = &file[key + keylen as usize..key + nbytes as usize];
            let mut payload = vec![0; objlen as usize];
            decompress(stored, &mut payload).expect("anchor key");
            payloads.push(payload);
        }
    }
    payloads
}

/// Returns the uncompressed bytes of an envelope.
pub fn envelope(file: &[u8], position: EnvelopePosition) -> Vec<u8> {
    let stored = &file[position.seek as usize..(position.seek + position.nbytes) as usize];
    let mut out = vec![0; position.len as usize];
    decompress(stored, &mut out).expect("envelope");
    out
}

fn position(locator: Locator, len: u64) -> EnvelopePosition {
    EnvelopePosition { seek: locator.offset, nbytes: locator.size, len }
}

/// Reads everything that describes the RNTuple of an anchor.
pub fn load(file: &[u8], anchor_bytes: Vec<u8>) -> nyssa_root::Result<Loaded> {
    let anchor = Anchor::parse(&anchor_bytes)?;
    let header_bytes = envelope(file, anchor.header);
    let header = Header::parse(&header_bytes)?;
    let footer_bytes = envelope(file, anchor.footer);
    let footer = Footer::parse(&footer_bytes)?;
    footer.check_header(&header)?;
    let schema = header.schema(&footer.extension)?;
    let (mut page_lists, mut page_list_bytes) = (Vec::new(), Vec::new());
    for group in &footer.cluster_groups {
        let bytes = envelope(file, position(group.page_list.locator, group.page_list.length));
        let list = PageList::parse(&bytes, &schema)?;
        list.check(header.checksum, group)?;
        page_lists.push(list);
        page_list_bytes.push(bytes);
    }
    Ok(Loaded {
        anchor,
        anchor_bytes,
        header,
        header_bytes,
        footer,
        footer_bytes,
        page_lists,
        page_list_bytes,
        schema,
    })
}

/// Loads the first RNTuple of a file of `NYSSA_TEST_DATA`.
pub fn load_file(name: &str) -> Loaded {
    load_first(&data(name))
}

/// Loads the first RNTuple of a file of `testdata`.
pub fn load_testdata(name: &str) -> Loaded {
    load_first(&testdata(&format!("rntuple/{name}.root")))
}

fn load_first(path: &Path) -> Loaded {
    let file = std::fs::read(path).expect("test file");
    load(&file, anchors(&file).remove(0)).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}
