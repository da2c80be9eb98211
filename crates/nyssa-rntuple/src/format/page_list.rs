//! Reads and writes the page list envelope (specification, "Page List Envelope").

use std::collections::HashMap;

use nyssa_root::cursor::Cursor;
use nyssa_root::error::{Error, Result};

use super::{ClusterGroup, Envelope, EnvelopeKind, frame};
use crate::schema::Locator;
use crate::schema::{Cluster, ColumnRange, FieldId, PageInfo, Schema};

/// The bits of the number of entries. The top byte holds the flags of the cluster.
const ENTRIES_MASK: u64 = (1 << 56) - 1;
/// The cluster flag that is reserved for sharded clusters.
const SHARDED: u64 = 0x01;
/// The element offset that nyssa stores for suppressed columns. Readers test its sign.
const SUPPRESSED: i64 = i64::MIN;

const MIN_CLUSTER: usize = 8 + 16;
const MIN_LIST: usize = 12;
/// The minimum size of a column: an empty list and an element offset.
const MIN_COLUMN: usize = MIN_LIST + 8;
const MIN_PAGE: usize = 4 + Locator::MIN_SIZE;

/// The clusters of one cluster group and their pages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PageList {
    /// The checksum of the header envelope that this page list belongs to.
    pub header_checksum: u64,
    /// The clusters in order.
    pub clusters: Vec<Cluster>,
}

impl PageList {
    /// Parses an uncompressed page list envelope. A suppressed column gets the element range of the
    /// representation that is active in the cluster.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported` for sharded clusters and object stores; `OutOfSpecification`.
    pub fn parse(bytes: &[u8], schema: &Schema) -> Result<Self> {
        let envelope = Envelope::open(bytes, EnvelopeKind::PageList)?;
        Self::read(&mut envelope.cursor(), schema)
            .map_err(|error| EnvelopeKind::PageList.blame(error))
    }

    fn read(cursor: &mut Cursor<'_>, schema: &Schema) -> Result<Self> {
        let header_checksum = cursor.le_u64()?;
        let (count, mut summaries) = frame::list(cursor, MIN_CLUSTER)?;
        let at = cursor.clone();
        let (lists, mut locations) = frame::list(cursor, MIN_LIST)?;
        if lists != count {
            return Err(
                at.error(format!("page locations of {lists} clusters for {count} clusters"))
            );
        }
        // Only suppressed columns need this. It is made once, because a file has a page list for every cluster group.
        let mut groups = None;
        let mut clusters = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let (first_entry, entries) = parse_summary(&mut summaries)?;
            let mut columns = parse_columns(&mut locations, schema)?;
            if columns.iter().any(|column| column.suppressed) {
                groups
                    .get_or_insert_with(|| ColumnGroups::of(schema))
                    .fill_suppressed(&mut columns);
            }
            clusters.push(Cluster { first_entry, entries, columns });
        }
        Ok(Self { header_checksum, clusters })
    }

    /// Checks that this page list belongs to the header and to the cluster group.
    ///
    /// # Errors
    /// `Checksum` for another header; `OutOfSpecification` when clusters are missing or outside the entries of
    /// the group.
    pub fn check(&self, header_checksum: u64, group: &ClusterGroup) -> Result<()> {
        if self.header_checksum != header_checksum {
            return Err(Error::checksum(format!(
                "page list envelope belongs to a header of checksum {:016x}, the header here has \
                 {header_checksum:016x}",
                self.header_checksum
            )));
        }
        if self.clusters.len() as u64 != u64::from(group.clusters) {
            return Err(Error::out_of_spec(format!(
                "page list envelope has {} clusters, its cluster group {}",
                self.clusters.len(),
                group.clusters
            )));
        }
        let end = group.min_entry.saturating_add(group.entry_span);
        for cluster in &self.clusters {
            let cluster_end = cluster.first_entry.saturating_add(cluster.entries);
            if cluster.first_entry < group.min_entry || cluster_end > end {
                return Err(Error::out_of_spec(format!(
                    "cluster of entries {}..{cluster_end} lies outside its cluster group's {}..{end}",
                    cluster.first_entry, group.min_entry
                )));
            }
        }
        Ok(())
    }

    /// Serializes the envelope.
    ///
    /// # Errors
    /// `LimitExceeded` for more than 2^31 elements in a page, 2^56 entries in a cluster, or lists
    /// beyond 32 bits.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        let (bytes, _) = Envelope::seal(EnvelopeKind::PageList, |out| {
            out.extend_from_slice(&self.header_checksum.to_le_bytes());
            frame::put_list(out, &self.clusters, put_summary)?;
            frame::put_list(out, &self.clusters, |out, cluster| {
                frame::put_list(out, &cluster.columns, put_column)
            })
        })?;
        Ok(bytes)
    }
}

fn parse_summary(cursor: &mut Cursor<'_>) -> Result<(u64, u64)> {
    let mut record = frame::record(cursor)?;
    let at = record.clone();
    let first_entry = record.le_u64()?;
    let word = record.le_u64()?;
    let (entries, flags) = (word & ENTRIES_MASK, word >> 56);
    if flags & SHARDED != 0 {
        let offset = at.offset();
        return Err(Error::unsupported("sharded clusters are not supported")
            .at(|place| place.offset = Some(offset)));
    }
    if first_entry.checked_add(entries).is_none_or(|end| end > i64::MAX as u64) {
        return Err(at.error(format!("cluster of {entries} entries from entry {first_entry}")));
    }
    Ok((first_entry, entries))
}

fn parse_columns(cursor: &mut Cursor<'_>, schema: &Schema) -> Result<Vec<ColumnRange>> {
    let at = cursor.clone();
    let (count, mut list) = frame::list(cursor, MIN_COLUMN)?;
    if count as usize > schema.columns.len() {
        return Err(
            at.error(format!("pages of {count} columns, the schema has {}", schema.columns.len()))
        );
    }
    let mut columns = Vec::with_capacity(count as usize);
    for _ in 0..count {
        columns.push(parse_column(&mut list)?);
    }
    Ok(columns)
}

fn parse_column(cursor: &mut Cursor<'_>) -> Result<ColumnRange> {
    let at = cursor.clone();
    let (count, mut list) = frame::list(cursor, MIN_PAGE)?;
    let mut pages = Vec::with_capacity(count as usize);
    let mut elements = 0u64;
    for _ in 0..count {
        // A negative count marks a page with a checksum.
        let signed = list.le_i32()?;
        let page = PageInfo {
            elements: signed.unsigned_abs(),
            checksummed: signed < 0,
            locator: Locator::parse(&mut list)?,
        };
        // The sum cannot overflow: there are at most 2^32 pages of 2^31 elements.
        elements += u64::from(page.elements);
        pages.push(page);
    }
    let first = list.le_i64()?;
    if first < 0 {
        if count != 0 {
            return Err(at.error(format!("suppressed column with {count} pages")));
        }
        return Ok(ColumnRange { suppressed: true, ..ColumnRange::default() });
    }
    let first_element = first.unsigned_abs();
    if first_element + elements > i64::MAX as u64 {
        return Err(at.error(format!("{elements} elements from element {first_element}")));
    }
    let compression = list.le_u32()?;
    Ok(ColumnRange { first_element, elements, compression, suppressed: false, pages })
}

/// Groups the columns that have the same position in the representations of one field. The groups are the
/// same for every cluster of a page list.
struct ColumnGroups {
    /// The number of the group of each column.
    group: Vec<usize>,
    groups: usize,
}

impl ColumnGroups {
    fn of(schema: &Schema) -> Self {
        let mut places: HashMap<(FieldId, u16), u32> = HashMap::new();
        let mut groups: HashMap<(FieldId, u32), usize> = HashMap::new();
        let group = schema
            .columns
            .iter()
            .map(|column| {
                let place = places.entry((column.field, column.representation)).or_default();
                let next = groups.len();
                let group = *groups.entry((column.field, *place)).or_insert(next);
                *place += 1;
                group
            })
            .collect();
        Self { group, groups: groups.len() }
    }

    /// Gives each suppressed column the element range of the active column of its group.
    fn fill_suppressed(&self, columns: &mut [ColumnRange]) {
        let mut active = vec![None; self.groups];
        for (column, &group) in columns.iter().zip(&self.group) {
            if !column.suppressed {
                active[group] = Some((column.first_element, column.elements));
            }
        }
        for (column, &group) in columns.iter_mut().zip(&self.group) {
            if let (true, Some((first_element, elements))) = (column.suppressed, active[group]) {
                (column.first_element, column.elements) = (first_element, elements);
            }
        }
    }
}

fn put_summary(out: &mut Vec<u8>, cluster: &Cluster) -> Result<()> {
    if cluster.entries > ENTRIES_MASK {
        return Err(Error::limit(format!("cluster of {} entries", cluster.entries)));
    }
    frame::put_record(out, |out| {
        out.extend_from_slice(&cluster.first_entry.to_le_bytes());
        out.extend_from_slice(&cluster.entries.to_le_bytes());
        Ok(())
    })
}

fn put_column(out: &mut Vec<u8>, column: &ColumnRange) -> Result<()> {
    // The frame of the list includes the element offset and the compression setting.
    frame::put_list_with(out, column.pages.len(), |out| {
        for page in &column.pages {
            let elements = i32::try_from(page.elements)
                .map_err(|_| Error::limit(format!("page of {} elements", page.elements)))?;
            let signed = if page.checksummed { -elements } else { elements };
            out.extend_from_slice(&signed.to_le_bytes());
            page.locator.serialize(out);
        }
        if column.suppressed {
            out.extend_from_slice(&SUPPRESSED.to_le_bytes());
        } else {
            out.extend_from_slice(&column.first_element.to_le_bytes());
            out.extend_from_slice(&column.compression.to_le_bytes());
        }
        Ok(())
    })
}
