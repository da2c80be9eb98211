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
    /// The units of work, in the order of the file.
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

/// Pages that are fetched and decoded together, by one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetch {
    /// The bytes of each page, in ascending order; none where all pages were decoded before.
    pub ranges: Vec<Range<u64>>,
    /// The pages, in the same order.
    pub pages: Vec<PageRef>,
    /// Number of bytes; those that pages share count once.
    pub bytes: u64,
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

impl Plan {
    /// Bytes of all pages that are fetched.
    pub fn bytes(&self) -> u64 {
        self.fetches.iter().map(|fetch| fetch.bytes).sum()
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

    /// Cuts all pages into units of work of about `target` bytes, in the order of the file. Those that are
    /// `known` need not be fetched.
    pub(super) fn make_fetches(&mut self, target: u64, known: impl Fn(PageRef) -> bool) {
        let all = self.pages().map(|(page, _, wanted)| (wanted.bytes.clone(), page));
        let (there, mut pages): (Vec<_>, Vec<_>) = all.partition(|(_, page)| known(*page));
        pages.sort_by_key(|(bytes, page)| (bytes.start, bytes.end, page.stream, page.part));
        let mut fetch = Fetch::default();
        let mut end = 0;
        for (bytes, page) in pages {
            // Pages may share their bytes.
            let more = bytes.end.saturating_sub(bytes.start.max(end));
            if more > 0 && fetch.bytes > 0 && fetch.bytes.saturating_add(more) > target {
                self.fetches.push(std::mem::take(&mut fetch));
            }
            fetch.bytes += more;
            end = end.max(bytes.end);
            fetch.ranges.push(bytes);
            fetch.pages.push(page);
        }
        if !fetch.pages.is_empty() {
            self.fetches.push(fetch);
        }
        for pages in there.chunks(KNOWN_PAGES) {
            let pages = pages.iter().map(|(_, page)| *page).collect();
            self.fetches.push(Fetch { pages, ..Fetch::default() });
        }
    }
}

/// Pages that need no request, in one unit of work.
const KNOWN_PAGES: usize = 32;

/// Bytes of one unit of work: so few that they are still in the cache of the CPU when they are decompressed.
pub(super) const FETCH_BYTES: u64 = 256 << 10;

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ranges: usize = self.fetches.iter().map(|fetch| fetch.ranges.len()).sum();
        writeln!(
            f,
            "{} streams, {} fetches, {ranges} pages, {} bytes",
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
            writeln!(f, "fetch {number}: {:?}", fetch.ranges)?;
        }
        for field in &self.waiting {
            writeln!(f, "then {field}, once its offsets are read")?;
        }
        Ok(())
    }
}
