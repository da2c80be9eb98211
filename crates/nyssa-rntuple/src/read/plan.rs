//! Defines the plan of a read as data: (streams × entry range) → pages → byte ranges. Planning does no I/O.
//!
//! The content of a collection or variant can depend on offsets that are not read yet, when an entry range cuts
//! a cluster. Then the plan ends there and lists the content in [`Plan::waiting`]. A further plan continues
//! when the offsets are known. Reads of whole clusters need one plan.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

use super::element::Element;
use crate::heuristics::read;

/// A cluster and a range of its items, for each part.
pub type Items = Vec<(usize, Range<u64>)>;

/// The bytes that one step of a read fetches, and the places of their elements in the output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// The streams: each physical column once, even if several fields share it.
    pub streams: Vec<StreamPlan>,
    /// The paths of the contents of collections and variants whose range depends on offsets that this plan
    /// reads.
    pub waiting: Vec<String>,
    /// The units of work, in order of the file.
    pub fetches: Vec<Fetch>,
}

/// The elements of one column that are read. They are consecutive parts of one output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamPlan {
    /// The path of the field with the column.
    pub field: String,
    /// The type of the elements in memory.
    pub element: Element,
    /// The number of elements in the output.
    pub length: u64,
    /// Whether the output starts with the end offset before the first entry. This is so when the offsets start inside
    /// a cluster.
    pub lead_in: bool,
    /// The parts, one for each cluster, in order.
    pub parts: Vec<StreamPart>,
}

/// The elements of a stream that one cluster has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamPart {
    /// The number of the cluster.
    pub cluster: usize,
    /// The physical column id. `None` when the cluster has no pages of the stream.
    pub column: Option<u32>,
    /// The number of zeros before the first stored element (deferred columns).
    pub zeros: u64,
    /// The stored elements, counted from the first element in the cluster.
    pub elements: Range<u64>,
    /// The pages with these elements.
    pub pages: Vec<PagePart>,
}

/// The wanted elements of one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PagePart {
    /// The number of the page in its column and cluster.
    pub page: usize,
    /// The number of elements in the page.
    pub elements: usize,
    /// The number of elements before the wanted elements.
    pub skip: usize,
    /// The number of wanted elements.
    pub take: usize,
    /// The range in the file, with the checksum if it has one. If it has less than `size` bytes, the page is split
    /// over several keys: then the range has the first bytes of the page and the positions of the other keys, which
    /// are fetched later.
    pub bytes: Range<u64>,
    /// The size in bytes of the stored page.
    pub size: u64,
    /// Whether the last eight bytes are a checksum.
    pub checksummed: bool,
}

/// The pages that one thread fetches and decodes together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fetch {
    /// The bytes of each page, in ascending order. It is empty if all pages were already decoded.
    pub ranges: Vec<Range<u64>>,
    /// The pages, in this order.
    pub pages: Vec<PageRef>,
    /// The number of bytes. Bytes that several pages share count once.
    pub bytes: u64,
}

/// A page of a plan: indices into [`Plan::streams`], [`StreamPlan::parts`], [`StreamPart::pages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct PageRef {
    /// The index of the stream.
    pub stream: usize,
    /// The index of the part.
    pub part: usize,
    /// The index of the page in the part.
    pub page: usize,
}

impl Plan {
    /// Returns the number of bytes of all pages that are fetched.
    pub fn bytes(&self) -> u64 {
        self.fetches.iter().map(|fetch| fetch.bytes).sum()
    }

    /// Returns the page of a reference.
    pub(super) fn page(&self, page: PageRef) -> Option<&PagePart> {
        self.streams.get(page.stream)?.parts.get(page.part)?.pages.get(page.page)
    }

    /// Returns all pages, by stream.
    pub(super) fn pages(&self) -> impl Iterator<Item = (PageRef, &StreamPart, &PagePart)> {
        self.streams.iter().enumerate().flat_map(|(stream, plan)| {
            plan.parts.iter().enumerate().flat_map(move |(part, plan)| {
                let page = move |(page, wanted)| (PageRef { stream, part, page }, plan, wanted);
                plan.pages.iter().enumerate().map(page)
            })
        })
    }

    /// Divides all pages into units of work of about `target` bytes, in order of the file. Pages that are
    /// `known` are not fetched.
    pub(super) fn make_fetches(&mut self, target: u64, known: impl Fn(PageRef) -> bool) {
        let all = self.pages().map(|(page, _, wanted)| (wanted.bytes.clone(), page));
        let (there, mut pages): (Vec<_>, Vec<_>) = all.partition(|(_, page)| known(*page));
        pages.sort_by_key(|(bytes, page)| (bytes.start, bytes.end, page.stream, page.part));
        let mut fetch = Fetch::default();
        let mut end = 0;
        for (bytes, page) in pages {
            // Pages may share bytes.
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
        for pages in there.chunks(read::KNOWN_PAGES) {
            let pages = pages.iter().map(|(_, page)| *page).collect();
            self.fetches.push(Fetch { pages, ..Fetch::default() });
        }
    }
}

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
