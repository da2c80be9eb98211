//! Shares decoded pages between a read and earlier and later reads.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nyssa_root::page_pool::{CompressedPage, Key, NeededLater, PagePool};

use super::decode::{DecodedPage, PageTask};
use super::element::Element;
use super::plan::{PagePart, PageRef, Plan, StreamPart};
use super::planner::PlannedSchema;

/// The pages of a plan that are shared.
pub(super) struct Opened<'a> {
    page_pool: &'a PagePool,
    reader: u64,
    /// The pages that an earlier read has decoded.
    decoded: HashMap<PageRef, Arc<DecodedPage>>,
    /// The pages that an earlier read has fetched and that are on the local disk.
    compressed: HashMap<PageRef, CompressedPage>,
    /// The pages that a later read also needs.
    beyond: HashSet<PageRef>,
    /// Whether compressed pages are stored on the local disk.
    keeps_compressed: bool,
}

impl<'a> Opened<'a> {
    /// Finds the pages of `plan` in the page pool. `reader` is the id of the reader. With `keeps_compressed`, pages
    /// go to the local disk if there is no memory for them.
    pub(super) fn new(
        page_pool: &'a PagePool,
        reader: u64,
        keeps_compressed: bool,
        layout: PlannedSchema<'_>,
        plan: &Plan,
    ) -> Self {
        let mut opened = Self {
            page_pool,
            reader,
            decoded: HashMap::new(),
            compressed: HashMap::new(),
            beyond: HashSet::new(),
            keeps_compressed,
        };
        for (at, part, page) in plan.pages() {
            let element = plan.streams[at.stream].element;
            let needed_later = needed_later(layout, element == Element::Index, part, at.page, page);
            if needed_later == NeededLater::Yes {
                opened.beyond.insert(at);
            }
            let key = opened.key(part, page);
            let known = key.and_then(|key| page_pool.find::<DecodedPage>(&key, needed_later));
            if let Some(known) = known.filter(|known| known.target == element) {
                opened.decoded.insert(at, known);
            } else if let Some(compressed) =
                key.and_then(|key| page_pool.find_compressed(&key, needed_later))
            {
                opened.compressed.insert(at, compressed);
            }
        }
        opened
    }

    /// Returns the decoded page, if an earlier read stored it.
    pub(super) fn find(&self, page: PageRef) -> Option<&DecodedPage> {
        self.decoded.get(&page).map(AsRef::as_ref)
    }

    /// Returns the compressed page, if an earlier read stored it.
    pub(super) fn compressed(&self, page: PageRef) -> Option<&CompressedPage> {
        self.compressed.get(&page)
    }

    /// Returns whether a page is available, so that it is not fetched.
    pub(super) fn has(&self, page: PageRef) -> bool {
        self.decoded.contains_key(&page) || self.compressed.contains_key(&page)
    }

    /// Returns whether a page should be stored for later reads.
    pub(super) fn wants(&self, page: PageRef, task: &PageTask<'_>) -> bool {
        self.page_pool.wants(task.decoded_bytes(), self.needed_later(page))
    }

    fn needed_later(&self, page: PageRef) -> NeededLater {
        if self.beyond.contains(&page) { NeededLater::Yes } else { NeededLater::No }
    }

    /// Stores a page for later reads.
    pub(super) fn keep(&self, plan: &Plan, page: PageRef, decoded: DecodedPage) {
        if let Some(key) = self.key_of(plan, page) {
            let bytes = decoded.len();
            self.page_pool.keep(key, Arc::new(decoded), bytes);
        }
    }

    /// Stores the compressed form of a page for later reads, if memory may have no room for the page.
    pub(super) fn keep_compressed(&self, plan: &Plan, page: PageRef, compressed: &[u8]) {
        if let Some(key) = self.key_of(plan, page).filter(|_| self.keeps_compressed) {
            self.page_pool.keep_compressed(key, compressed, self.needed_later(page));
        }
    }

    fn key_of(&self, plan: &Plan, page: PageRef) -> Option<Key> {
        let part = plan.streams.get(page.stream).and_then(|stream| stream.parts.get(page.part));
        part.zip(plan.page(page)).and_then(|(part, page)| self.key(part, page))
    }

    fn key(&self, part: &StreamPart, page: &PagePart) -> Option<Key> {
        let column = u64::from(part.column?);
        Some(Key { owner: self.reader, column, place: page.bytes.start })
    }
}

/// Returns whether a later read needs a page: it holds later elements, or the offset at which they begin.
fn needed_later(
    layout: PlannedSchema<'_>,
    index: bool,
    part: &StreamPart,
    number: usize,
    page: &PagePart,
) -> NeededLater {
    let stored = || {
        let cluster = layout.clusters.get(part.cluster)?;
        Some(cluster.columns.get(part.column? as usize)?.elements)
    };
    // A collection begins at the end offset of the previous collection.
    let leads = || index && number + 1 == part.pages.len() && stored() > Some(part.elements.end);
    if page.skip + page.take < page.elements || leads() {
        NeededLater::Yes
    } else {
        NeededLater::No
    }
}
