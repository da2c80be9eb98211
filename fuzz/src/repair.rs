//! Corrects the checksums of a damaged RNTuple file, so that later code gets the damage. Without this, nearly every
//! change is found by the first checksum.

use nyssa_rntuple::format::{Anchor, EnvelopePosition, Footer, checksum};
use nyssa_rntuple::read::{RNTupleReadOptions, Reader, StreamerForm};
use nyssa_root::rootfile::RootFile;

/// The start of the checksummed fields in the payload of an anchor.
const ANCHOR_FIELDS: usize = 6;
/// The size of the checksummed fields of an anchor.
const ANCHOR_SIZE: usize = 64;

/// The options for reading an RNTuple without decoding its data.
const RAW: RNTupleReadOptions =
    RNTupleReadOptions { verify_checksums: false, streamer: StreamerForm::Raw };

/// Corrects all checksums of the first RNTuple in the file `data`. Returns the file and the path of the RNTuple.
pub fn repaired(data: &[u8]) -> Option<(String, Vec<u8>)> {
    let name = first_name(&crate::open(data).ok()?)?;
    let mut bytes = data.to_vec();
    repair(&mut bytes, &name);
    repair_pages(&mut bytes, &name);
    Some((name, bytes))
}

/// Sets the checksums of the anchor, header, footer and page lists of the uncompressed RNTuple
/// `name` and its attribute sets, as far as they can be found.
pub fn repair(bytes: &mut [u8], name: &str) -> Option<()> {
    let key = crate::open(bytes).ok()?.find(name).ok()?;
    let payload = usize::try_from(key.seek.checked_add(u64::from(key.keylen))?).ok()?;
    for set in repair_at(bytes, payload)? {
        repair_at(bytes, usize::try_from(set).ok()?);
    }
    Some(())
}

/// Sets the checksums of the RNTuple whose anchor has its payload at a place. Returns the places of the
/// anchors of its attribute sets.
fn repair_at(bytes: &mut [u8], payload: usize) -> Option<Vec<u64>> {
    repair_anchor(bytes.get_mut(payload..)?)?;
    let anchor = Anchor::parse(bytes.get(payload..)?).ok()?;
    repair_envelope(bytes, anchor.header);
    // The footer and the page lists repeat the checksum of the header.
    let header = envelope(bytes, anchor.header)?;
    let header = header[header.len().checked_sub(8)?..].to_vec();
    let footer = range(anchor.footer, bytes.len())?;
    set(bytes, footer.start, 16, &header);
    repair_envelope(bytes, anchor.footer);
    let footer = Footer::parse(envelope(bytes, anchor.footer)?).ok()?;
    for group in &footer.cluster_groups {
        let link = group.page_list;
        let place = EnvelopePosition {
            seek: link.locator.offset,
            nbytes: link.locator.size,
            len: link.length,
        };
        let start = range(place, bytes.len())?.start;
        set(bytes, start, 8, &header);
        repair_envelope(bytes, place);
    }
    Some(footer.attribute_sets.iter().map(|link| link.locator.offset).collect())
}

/// Sets the checksums of all pages of the RNTuple `name`.
fn repair_pages(bytes: &mut [u8], name: &str) -> Option<()> {
    let reader = Reader::open_with(&crate::open(bytes).ok()?, name, RAW).ok()?;
    for page in reader.clusters_info().ok()?.iter().flat_map(|c| &c.columns).flat_map(|c| &c.pages)
    {
        let start = usize::try_from(page.locator.offset).ok()?;
        let end = start.checked_add(usize::try_from(page.locator.size).ok()?)?;
        if let (true, Some(page)) = (page.checksummed, bytes.get(start..end)) {
            let sum = checksum(page).to_le_bytes();
            set(bytes, end, 0, &sum);
        }
    }
    Some(())
}

/// Sets the checksum of an anchor's payload.
pub fn repair_anchor(payload: &mut [u8]) -> Option<()> {
    let end = ANCHOR_FIELDS + ANCHOR_SIZE;
    let sum = checksum(payload.get(ANCHOR_FIELDS..end)?);
    payload.get_mut(end..end + 8)?.copy_from_slice(&sum.to_be_bytes());
    Some(())
}

/// Makes an envelope of the given type around `payload`, with the right length and checksum.
pub fn wrap(kind: u64, payload: &[u8]) -> Vec<u8> {
    let length = payload.len() as u64 + 16;
    let mut out = (kind | length << 16).to_le_bytes().to_vec();
    out.extend_from_slice(payload);
    out.extend_from_slice(&checksum(&out).to_le_bytes());
    out
}

fn range(place: EnvelopePosition, size: usize) -> Option<std::ops::Range<usize>> {
    let start = usize::try_from(place.seek).ok()?;
    let end = usize::try_from(place.seek.checked_add(place.nbytes)?).ok()?;
    (end <= size && end - start >= 16).then_some(start..end)
}

fn envelope(bytes: &[u8], place: EnvelopePosition) -> Option<&[u8]> {
    bytes.get(range(place, bytes.len())?)
}

fn repair_envelope(bytes: &mut [u8], place: EnvelopePosition) {
    let Some(range) = range(place, bytes.len()).filter(|_| place.nbytes == place.len) else {
        return;
    };
    let end = range.end - 8;
    let sum = checksum(&bytes[range.start..end]);
    bytes[end..range.end].copy_from_slice(&sum.to_le_bytes());
}

fn set(bytes: &mut [u8], start: usize, at: usize, value: &[u8]) {
    let place = start.saturating_add(at);
    if let Some(place) = bytes.get_mut(place..place.saturating_add(value.len())) {
        place.copy_from_slice(value);
    }
}

/// Finds an RNTuple of the file, of any name.
pub fn first_name(file: &RootFile) -> Option<String> {
    let keys = file.walk().ok()?;
    keys.into_iter().find(|key| key.class == nyssa_rntuple::read::CLASS).map(|key| key.path)
}
