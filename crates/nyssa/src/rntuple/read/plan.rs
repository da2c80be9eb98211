//! The plan of a read as data: (streams × entry range) → pages → byte ranges. No I/O.
//!
//! Where the content of a collection or variant depends on offsets that are not read yet (an entry
//! range that cuts a cluster), the plan ends there and names the content in [`Plan::waiting`]; a further
//! plan continues once the offsets are known. Reads of whole clusters need one plan.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::element::Element;

/// Per part its cluster and a range of items in it.
pub type Items = Vec<(usize, Range<u64>)>;

/// What one wave of a read fetches and where it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Each physical column once, however many fields share it.
    pub streams: Vec<StreamPlan>,
    /// Field paths of the contents of collections and variants whose range depends on offsets in this plan.
    pub waiting: Vec<String>,
    /// Vectored requests in file order.
    pub fetches: Vec<Fetch>,
}

/// The elements of one column that are read, as consecutive parts of one output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamPlan {
    /// Path of the field that has the column.
    pub field: String,
    /// In-memory type.
    pub element: Element,
    /// Number of elements in the output.
    pub length: u64,
    /// The output starts with the end offset before the first entry (offsets that start inside a cluster).
    pub lead_in: bool,
    /// One part per cluster, in order.
    pub parts: Vec<Part>,
}

/// The elements of a stream from one cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// Cluster number.
    pub cluster: usize,
    /// Physical column id; `None` when the cluster has no pages of the stream.
    pub column: Option<u32>,
    /// Zeros before the first stored element (deferred columns).
    pub zeros: u64,
    /// Stored elements, counted from the first one in the cluster.
    pub elements: Range<u64>,
    /// The pages that hold them.
    pub pages: Vec<PagePart>,
}

/// The part of one page that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagePart {
    /// Page number in its column and cluster.
    pub page: usize,
    /// Number of elements in the page.
    pub elements: usize,
    /// Elements before the wanted ones.
    pub skip: usize,
    /// Wanted elements.
    pub take: usize,
    /// Bytes in the file, with the checksum if there is one; only the first of them when there are fewer
    /// than `size`. Then they end with the places of the others, which are fetched afterwards.
    pub bytes: Range<u64>,
    /// Number of stored bytes.
    pub size: u64,
    /// The last eight of the bytes are a checksum.
    pub checksummed: bool,
}

/// One vectored request and the pages it brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetch {
    /// Byte ranges in ascending order, not overlapping.
    pub ranges: Vec<Range<u64>>,
    /// The pages, in order of their bytes.
    pub pages: Vec<PageRef>,
}

/// A page of a plan: indices into [`Plan::streams`], [`StreamPlan::parts`], [`Part::pages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PageRef {
    /// Index of the stream.
    pub stream: usize,
    /// Index of the part.
    pub part: usize,
    /// Index of the page in the part.
    pub page: usize,
}

impl Fetch {
    /// Bytes that travel.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.end - range.start).sum()
    }
}

impl Plan {
    /// Bytes that travel, gaps included.
    pub fn bytes(&self) -> u64 {
        self.fetches.iter().map(Fetch::bytes).sum()
    }

    /// The page that `page` refers to.
    pub(super) fn page(&self, page: PageRef) -> Option<&PagePart> {
        self.streams.get(page.stream)?.parts.get(page.part)?.pages.get(page.page)
    }

    /// All pages, stream by stream.
    pub(super) fn pages(&self) -> impl Iterator<Item = (PageRef, &Part, &PagePart)> {
        self.streams.iter().enumerate().flat_map(|(stream, plan)| {
            plan.parts.iter().enumerate().flat_map(move |(part, plan)| {
                let page = move |(page, wanted)| (PageRef { stream, part, page }, plan, wanted);
                plan.pages.iter().enumerate().map(page)
            })
        })
    }

    /// Cuts all pages into requests of about `target` bytes ([`fetch_bytes`]): pages in file order, near
    /// ones joined. Those that are `known` need none.
    pub(super) fn make_fetches(
        &mut self,
        limits: nyssa_io::Limits,
        target: u64,
        known: impl Fn(PageRef) -> bool,
    ) {
        let all = self.pages().map(|(page, _, wanted)| (wanted.bytes.clone(), page));
        let (there, mut pages): (Vec<_>, Vec<_>) = all.partition(|(_, page)| known(*page));
        pages.sort_by_key(|(bytes, page)| (bytes.start, bytes.end, page.stream, page.part));
        let mut fetch = Fetch::default();
        let mut wanted = 0;
        for (bytes, page) in pages {
            // The last range with this page in it, or `None` when the page needs a range of its own.
            let joined = fetch.ranges.last().map(|last| last.start..last.end.max(bytes.end));
            let joined = joined.filter(|joined| {
                let last = fetch.ranges.last().map_or(0, |last| last.end);
                let near = bytes.start <= last.saturating_add(limits.coalesce_gap());
                bytes.is_empty()
                    || bytes.end <= last
                    || near && joined.end - joined.start <= limits.max_range_bytes
            });
            let known = fetch.ranges.last().is_some_and(|last| bytes.end <= last.end);
            let more = if known { 0 } else { bytes.end - bytes.start };
            let full = wanted > 0 && wanted + more > target
                || joined.is_none() && fetch.ranges.len() >= limits.max_ranges.max(1);
            if full && more > 0 {
                self.fetches.push(std::mem::take(&mut fetch));
                wanted = 0;
            }
            wanted += more;
            match (fetch.ranges.last_mut(), joined) {
                _ if bytes.is_empty() => (),
                (Some(last), Some(joined)) => *last = joined,
                _ => fetch.ranges.push(bytes),
            }
            fetch.pages.push(page);
        }
        if !fetch.pages.is_empty() {
            self.fetches.push(fetch);
        }
        for pages in there.chunks(KNOWN_PAGES) {
            let pages = pages.iter().map(|(_, page)| *page).collect();
            self.fetches.push(Fetch { ranges: Vec::new(), pages });
        }
    }
}

/// Pages that need no request, in one unit of work.
const KNOWN_PAGES: usize = 32;

/// Smallest and largest number of bytes of one fetch, the unit of work of one thread. A cheap request
/// (small gap) is kept small so that its bytes are still in the CPU's cache when they are decompressed;
/// a dear one is made large.
const FETCH_BYTES: Range<u64> = 256 << 10..16 << 20;

/// Bytes that a request to a source brings.
pub(super) fn fetch_bytes(limits: nyssa_io::Limits) -> u64 {
    limits.coalesce_gap().saturating_mul(16).clamp(FETCH_BYTES.start, FETCH_BYTES.end)
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges: usize = self.fetches.iter().map(|fetch| fetch.ranges.len()).sum();
        writeln!(
            f,
            "{} streams, {} requests, {ranges} ranges, {} bytes",
            self.streams.len(),
            self.fetches.len(),
            self.bytes()
        )?;
        for stream in &self.streams {
            writeln!(f, "{} as {:?}, {} elements", stream.field, stream.element, stream.length)?;
            for part in &stream.parts {
                write!(f, "  cluster {}", part.cluster)?;
                match part.column {
                    Some(column) => write!(f, ", column {column}, elements {:?}", part.elements)?,
                    None => write!(f, ", not stored")?,
                }
                if part.zeros > 0 {
                    write!(f, ", {} zeros before", part.zeros)?;
                }
                if let (Some(first), Some(last)) = (part.pages.first(), part.pages.last()) {
                    write!(f, ", pages {}..{}", first.page, last.page + 1)?;
                }
                writeln!(f)?;
            }
        }
        for (number, fetch) in self.fetches.iter().enumerate() {
            writeln!(f, "request {number}: {:?}", fetch.ranges)?;
        }
        for field in &self.waiting {
            writeln!(f, "then {field}, once its offsets are read")?;
        }
        Ok(())
    }
}
