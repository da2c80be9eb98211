//! Checks an RNTuple completely. It reads every page, checks every structural rule, and collects all problems.

mod objects;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use nyssa_data::dataset::Dataset;
use nyssa_root::Context;
use nyssa_root::error::{Error, Place, Result, ResultExt};
use nyssa_root::fetch::{FetchUnit, on_all_threads, read_all};
use nyssa_root::guard::try_vec;
use nyssa_root::problem::{DatasetCheck, Problem};

use self::objects::Objects;
use super::blob::Blob;
use super::decode::encoding;
use super::planner::PlannedSchema;
use super::reader::Reader;
use super::shape::{Node, NodeKind, StreamSlot};
use super::switches::behind;
use crate::encoding::{ColumnType, Native, SWITCH_SIZE, switch_parts};
use crate::page;
use crate::schema::{Cluster, ColumnId, ColumnRange, MAX_ALTERNATIVES, PageInfo};

/// The maximum size in bytes of the pages of one column that are in memory at one time, unless one page is
/// larger.
const CHUNK_BYTES: u64 = 8 << 20;

/// The maximum number of columns of clusters whose results are in memory at one time. Clusters with this number of
/// columns are fetched together.
const COLUMNS_AT_ONCE: usize = 1 << 16;

/// Reads all pages, checks their checksums and all rules between columns, and decodes streamed objects. The
/// envelopes were checked when `reader` was opened.
///
/// # Errors
/// Only `Io` and `Cancelled`. The report contains the problems of the file.
pub fn verify(reader: &Reader, context: &Context) -> Result<DatasetCheck> {
    reader.clusters_info()?;
    let layout = reader.layout();
    let mut report = DatasetCheck { entries: reader.num_entries(), ..DatasetCheck::default() };
    let nodes = reader.top_level().iter().map(|&id| Node::new(layout.schema, id));
    let nodes: Vec<Node> = nodes.filter_map(std::result::Result::ok).collect();
    let reasons = reader.every_item().filter_map(|item| item.field.as_ref().err());
    report.unreadable.extend(reasons.cloned());
    let objects = Objects::of(reader);
    check_overlaps(&layout, &mut report);
    check_element_offsets(&layout, &mut report);
    let clusters: Vec<_> = layout.clusters.iter().enumerate().collect();
    let at_once = (COLUMNS_AT_ONCE / layout.schema.columns.len().max(1)).max(1);
    for clusters in clusters.chunks(at_once) {
        let mut checked = check_columns(reader, clusters, context)?.into_iter();
        for &(number, cluster) in clusters {
            let mut ends = HashMap::new();
            let columns = cluster.columns.iter().zip(checked.by_ref());
            for (index, (range, column)) in columns.enumerate() {
                report.parts += range.pages.len() as u64;
                let checksummed = range.pages.iter().filter(|page| page.checksummed).count();
                report.checksummed += checksummed as u64;
                report.bytes += range.pages.iter().map(|page| page.locator.size).sum::<u64>();
                report.decoded += column.decoded;
                report.problems.extend(column.problems);
                if let Some(end) = column.ends {
                    ends.insert(ColumnId(index as u32), end);
                }
            }
            let counts = Counts { layout: &layout, cluster: number, ends: &ends };
            for node in &nodes {
                counts.check(node, cluster.entries, &mut report.problems);
            }
            objects.check(number, &mut report, context)?;
        }
    }
    Ok(report)
}

/// Checks the columns of some clusters, in their order. Reports progress.
fn check_columns(
    reader: &Reader,
    clusters: &[(usize, &Cluster)],
    context: &Context,
) -> Result<Vec<CheckedColumn>> {
    let layout = reader.layout();
    let columns = clusters.iter().flat_map(|(number, cluster)| {
        cluster.columns.iter().enumerate().map(move |(index, range)| (*number, index, range))
    });
    let first = clusters.first().map_or(0, |(number, _)| *number);
    let left: Vec<_> =
        clusters.iter().map(|(_, cluster)| AtomicUsize::new(cluster.columns.len())).collect();
    let done = AtomicUsize::new(first);
    let need = |(order, (number, index, range)): (usize, (usize, usize, _))| {
        let id = ColumnId(index as u32);
        let blobs = blobs(&layout, id, chunk(range, 0));
        let ranges = blobs.into_iter().flatten().map(|blob| blob.first).collect();
        (ranges, (order, number, id, range))
    };
    type Task<'c> = (usize, usize, ColumnId, &'c ColumnRange);
    let units: Vec<FetchUnit<Task<'_>>> = columns.enumerate().map(need).collect();
    let work = |(): &mut (), (order, number, id, range): Task<'_>, bytes: Result<&mut [Bytes]>| {
        let column = check_column(reader, id, number, range, bytes.in_file(reader.file())?)?;
        let left = left.get(number - first).map(|left| left.fetch_sub(1, Ordering::Relaxed));
        if left == Some(1) {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            context.report(done as u64, layout.clusters.len() as u64);
        }
        Ok((order, column))
    };
    let mut columns = on_all_threads(reader.source(), units, context, || (), work)?;
    columns.sort_by_key(|(order, _)| *order);
    Ok(columns.into_iter().map(|(_, column)| column).collect())
}

/// Checks that pages share either all bytes or none (specification, "Page Locations").
fn check_overlaps(layout: &PlannedSchema<'_>, report: &mut DatasetCheck) {
    let mut ranges = Vec::new();
    for (number, cluster) in layout.clusters.iter().enumerate() {
        for (index, column) in cluster.columns.iter().enumerate() {
            for (page, info) in column.pages.iter().enumerate() {
                // If a page is split over several keys, only the first key is compared.
                let Ok(blob) = layout.page_blob(ColumnId(index as u32), info) else { continue };
                let range = blob.first;
                ranges.push((range, place(layout, index, number, page, info)));
            }
        }
    }
    ranges.retain(|(range, _)| !range.is_empty());
    ranges.sort_by_key(|(range, _)| (range.start, range.end));
    let mut last: Range<u64> = 0..0;
    for (range, place) in ranges {
        if range.start < last.end && range != last {
            let error = Error::out_of_spec(format!(
                "the page at bytes {}..{} overlaps another at {}..{}",
                range.start, range.end, last.start, last.end
            ));
            report.problems.push(Problem::from(&error.at(|outer| *outer = place)));
        }
        if range.end > last.end {
            last = range;
        }
    }
}

/// Checks that the first element of a column in a cluster is the number of its earlier elements.
fn check_element_offsets(layout: &PlannedSchema<'_>, report: &mut DatasetCheck) {
    let mut next = vec![0u64; layout.schema.columns.len()];
    for (number, cluster) in layout.clusters.iter().enumerate() {
        for (index, range) in cluster.columns.iter().enumerate() {
            let column = &layout.schema.columns[index];
            // Deferred columns and further representations can start at any element, so only their order is
            // checked.
            let expected = next[index];
            let free = column.first_element.is_some() || column.representation > 0 || expected == 0;
            let wrong = !range.suppressed
                && (range.first_element < expected || !free && range.first_element != expected);
            if wrong {
                let error = Error::out_of_spec(format!(
                    "the column starts at element {} where {expected} is expected",
                    range.first_element
                ));
                let error = error.at(|place| {
                    place.field = Some(layout.schema.path(column.field));
                    place.column = Some(index as u64);
                    place.cluster = Some(number as u64);
                });
                report.problems.push(Problem::from(&error));
            }
            next[index] = range.first_element.saturating_add(range.elements);
        }
    }
}

fn place(
    layout: &PlannedSchema<'_>,
    column: usize,
    cluster: usize,
    page: usize,
    info: &PageInfo,
) -> Place {
    let field = layout.schema.columns.get(column).map(|column| layout.schema.path(column.field));
    Place {
        field,
        column: Some(column as u64),
        cluster: Some(cluster as u64),
        page: Some(page as u64),
        offset: Some(info.locator.offset),
        ..Place::default()
    }
}

/// The result of checking the pages of one column in one cluster.
#[derive(Default)]
struct CheckedColumn {
    problems: Vec<Problem>,
    /// The number of pages that could be decoded.
    decoded: u64,
    /// The ends of the content, for offsets and switches that could be read.
    ends: Option<Ends>,
}

/// The ends of the content: one number for a collection, and one for each alternative of a variant. Alternatives
/// that no entry has may be missing.
type Ends = Vec<u64>;

fn check_column(
    reader: &Reader,
    id: ColumnId,
    cluster: usize,
    range: &ColumnRange,
    fetched: &[Bytes],
) -> Result<CheckedColumn> {
    let layout = reader.layout();
    let mut column = CheckedColumn::default();
    let total: u64 = range.pages.iter().map(|page| u64::from(page.elements)).sum();
    if total != range.elements && !range.suppressed {
        let error = Error::out_of_spec(format!("{total} elements in pages of {}", range.elements));
        column.problems.push(Problem::from(&error));
    }
    let mut ends = match layout.schema.column(id).column_type.map(ColumnType::native) {
        Some(Native::Index) => Some(vec![0]),
        Some(Native::Switch) => Some(Vec::new()),
        _ => None,
    };
    let mut first = 0;
    while first < range.pages.len() {
        let pages = chunk(range, first);
        let count = pages.len();
        let known = (first == 0).then_some(fetched);
        for (number, info, content) in read_pages(&layout, reader, id, pages, known)? {
            let checked =
                content.and_then(|bytes| check_page(&layout, id, info, &bytes, &mut ends));
            if let Err(error) = checked {
                let place = place(&layout, id.0 as usize, cluster, first + number, info);
                column.problems.push(Problem::from(&error.at(|outer| *outer = place)));
                ends = None;
            } else if layout.schema.column(id).column_type.is_some() {
                column.decoded += 1;
            }
        }
        first += count;
    }
    column.ends = ends;
    Ok(column)
}

/// Returns the pages that are in memory at the same time, from page `first` on.
fn chunk(range: &ColumnRange, first: usize) -> &[PageInfo] {
    let pages = range.pages.get(first..).unwrap_or_default();
    let mut bytes = 0_u64;
    let fits = |page: &&PageInfo| {
        bytes = bytes.saturating_add(page.locator.size);
        bytes <= CHUNK_BYTES
    };
    let count = pages.iter().take_while(fits).count().max(1);
    pages.get(..count).unwrap_or_default()
}

fn blobs(layout: &PlannedSchema<'_>, id: ColumnId, pages: &[PageInfo]) -> Vec<Result<Blob>> {
    pages.iter().map(|page| layout.page_blob(id, page)).collect()
}

type Page<'p> = (usize, &'p PageInfo, Result<Bytes>);

/// Reads the bytes of pages. `known` are the bytes of their first keys, if they were already fetched.
fn read_pages<'p>(
    layout: &PlannedSchema<'_>,
    reader: &Reader,
    id: ColumnId,
    pages: &'p [PageInfo],
    known: Option<&[Bytes]>,
) -> Result<Vec<Page<'p>>> {
    let blobs = blobs(layout, id, pages);
    let good = blobs.iter().flatten().cloned().collect::<Vec<_>>();
    let first = match known {
        Some(known) => known.to_vec(),
        None => {
            let ranges = good.iter().map(|blob| blob.first.clone()).collect::<Vec<_>>();
            read_all(reader.source(), &ranges).in_file(reader.file())?
        }
    };
    let mut read = good.iter().zip(first);
    let mut next = || match read.next() {
        Some((blob, first)) => blob.complete(reader.source(), &first),
        None => Ok(Bytes::new()),
    };
    let pages = pages.iter().zip(blobs).enumerate();
    Ok(pages.map(|(number, (page, blob))| (number, page, blob.and_then(|_| next()))).collect())
}

/// Verifies and decodes a page. For index and switch columns, it also updates `ends`.
fn check_page(
    layout: &PlannedSchema<'_>,
    id: ColumnId,
    info: &PageInfo,
    bytes: &[u8],
    ends: &mut Option<Ends>,
) -> Result<()> {
    let (stored, checksum) = match bytes.split_last_chunk::<8>() {
        Some((stored, checksum)) if info.checksummed => {
            (stored, Some(u64::from_le_bytes(*checksum)))
        }
        _ => (bytes, None),
    };
    let column = layout.schema.column(id);
    if column.column_type.is_none() {
        return page::verify(stored, checksum);
    }
    let encoding = encoding(column)?;
    let elements = info.elements as usize;
    let mut scratch = Vec::new();
    // The page is decompressed first, so that its size limits the memory for the elements.
    let packed = page::open(stored, checksum, encoding.packed_size(elements), &mut scratch)?;
    let mut out = try_vec(elements.saturating_mul(encoding.native_size()), "a page")?;
    encoding.decode(packed, elements, &mut out)?;
    match ends {
        None => Ok(()),
        Some(ends) if encoding.column_type == ColumnType::Switch => {
            out.as_chunks().0.iter().try_for_each(|element| follow(ends, *element))
        }
        Some(ends) => {
            let last = ends.first_mut().ok_or_else(|| Error::out_of_spec("no offset"))?;
            for value in out.as_chunks().0 {
                let value = u64::from_le_bytes(*value);
                if value < *last {
                    return Err(Error::out_of_spec("the offsets of a collection descend"));
                }
                *last = value;
            }
            Ok(())
        }
    }
}

/// Updates `ends` with the value that a variant points to. Variants can point to values in any order.
fn follow(ends: &mut Ends, element: [u8; SWITCH_SIZE]) -> Result<()> {
    let (index, tag) = switch_parts(element);
    if tag as usize > MAX_ALTERNATIVES {
        return Err(Error::out_of_spec(format!("a variant holds alternative {tag}")));
    }
    let Some(number) = (tag as usize).checked_sub(1) else { return Ok(()) };
    if ends.len() <= number {
        ends.resize(number + 1, 0);
    }
    let end = index.checked_add(1).ok_or_else(|| Error::out_of_spec("index of 2^64"))?;
    ends[number] = ends[number].max(end);
    Ok(())
}

/// The numbers of elements of all columns of one cluster.
struct Counts<'a> {
    layout: &'a PlannedSchema<'a>,
    cluster: usize,
    ends: &'a HashMap<ColumnId, Ends>,
}

impl Counts<'_> {
    fn check(&self, node: &Node, total: u64, problems: &mut Vec<Problem>) {
        let (slot, total) = match &node.kind {
            NodeKind::Values(slot)
            | NodeKind::Cardinality { offsets: slot, .. }
            | NodeKind::List { offsets: slot, .. }
            | NodeKind::Variant { switch: slot, .. } => (slot, total),
            NodeKind::Bitset { bits, size } => (bits, total.saturating_mul(*size)),
            NodeKind::Array { size, item } => {
                return self.check(item, total.saturating_mul(*size), problems);
            }
            NodeKind::Record(members) => {
                return members.iter().for_each(|(_, node)| self.check(node, total, problems));
            }
        };
        match (self.slot(slot, total), &node.kind) {
            (Ok(Some(ends)), NodeKind::List { item, .. }) => {
                self.check(item, ends.first().copied().unwrap_or_default(), problems);
            }
            (Ok(Some(ends)), NodeKind::Variant { alternatives, .. }) => {
                if ends.len() > alternatives.len() {
                    let error = Error::out_of_spec(format!(
                        "a variant of {} alternatives holds number {}",
                        alternatives.len(),
                        ends.len()
                    ));
                    problems.push(Problem::from(&self.here(node, error)));
                }
                for (number, (_, node)) in alternatives.iter().enumerate() {
                    let end = ends.get(number).copied().unwrap_or_default();
                    match self.values(number, node, end) {
                        Ok(total) => self.check(node, total, problems),
                        Err(error) => problems.push(Problem::from(&self.here(node, error))),
                    }
                }
            }
            (Ok(_), _) => (),
            (Err(error), _) => {
                problems.push(Problem::from(&self.here(node, error)));
            }
        }
    }

    /// Returns the number of values of an alternative, if entries point to values before `end`.
    fn values(&self, number: usize, node: &Node, end: u64) -> Result<u64> {
        match self.layout.count(node, self.cluster)? {
            Some(count) if count < end => Err(behind(end - 1, number, count)),
            count => Ok(count.unwrap_or(end)),
        }
    }

    fn here(&self, node: &Node, error: Error) -> Error {
        error.at(|place| {
            place.field = Some(self.layout.schema.path(node.field));
            place.cluster = Some(self.cluster as u64);
        })
    }

    /// Compares the elements of a column with `total`. Returns the ends of the content of a collection or variant.
    fn slot(&self, slot: &StreamSlot, total: u64) -> Result<Option<Ends>> {
        let layout = self.layout;
        let stored = slot.stream.stored(layout.schema, layout.clusters, self.cluster)?;
        let elements = stored.elements();
        if elements != total && !(stored.deferred && elements < total) {
            return Err(Error::out_of_spec(format!(
                "the column has {elements} elements where the field has {total}"
            ))
            .at(|place| place.column = stored.column.map(|(id, _)| u64::from(id.0))));
        }
        Ok(match stored.column {
            Some((id, _)) => self.ends.get(&id).cloned(),
            None => Some(Vec::new()),
        })
    }
}
