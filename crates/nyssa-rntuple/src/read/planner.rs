//! Determines which elements of which columns fields need.

use std::collections::HashMap;
use std::ops::Range;

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;

use super::blob::Blob;
use super::clusters::Clusters;
use super::element::Element;
use super::plan::{PagePart, Plan, StreamPart, StreamPlan};
use super::shape::{Node, NodeKind, StreamSlot};
use super::stream::{Stored, Stream};
use crate::schema::{ColumnId, ColumnRange, FieldId, PageInfo, Schema};

/// The parts of an RNTuple that planning needs.
#[derive(Clone, Copy)]
pub(super) struct PlannedSchema<'a> {
    pub schema: &'a Schema,
    pub clusters: &'a Clusters,
    pub file_size: u64,
    /// The maximum payload of a key, in bytes. Larger blobs are split over several keys.
    pub max_key_size: u64,
}

/// A range of elements of one node in one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The number of the cluster.
    pub cluster: usize,
    /// The wanted elements, counted from the first element of the node in the cluster.
    pub elements: Range<u64>,
    /// The number of elements of the node in the cluster.
    pub total: u64,
}

/// The stream with the positions of the items of a collection, or of the values of an alternative of a variant.
#[derive(Clone, Copy)]
pub(super) struct Parent {
    /// The collection or variant.
    pub field: FieldId,
    /// The index of its offsets or switches among all streams of the read.
    pub stream: usize,
    /// The index of the alternative. `None` for collections.
    pub alternative: Option<usize>,
}

/// The content whose range is known after this step.
pub(super) struct Waiting<'n> {
    pub node: &'n mut Node,
    pub parent: Parent,
}

/// The end of the content of each part, if the metadata contain it.
pub(super) struct Check {
    pub parent: Parent,
    pub ends: Vec<Option<u64>>,
}

/// The maker of the plan of one step.
pub(super) struct Planner<'a, 'n> {
    layout: PlannedSchema<'a>,
    /// The number of streams of earlier steps.
    first: usize,
    known: HashMap<Stream, Vec<(Vec<Span>, usize)>>,
    pub plan: Plan,
    pub waiting: Vec<Waiting<'n>>,
    pub checks: Vec<Check>,
}

impl<'a, 'n> Planner<'a, 'n> {
    pub(super) fn new(layout: PlannedSchema<'a>, first: usize) -> Self {
        Self {
            layout,
            first,
            known: HashMap::new(),
            plan: Plan::default(),
            waiting: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// Plans the reading of `node` for `spans`. There is one span for each cluster; only the first may start inside
    /// its cluster.
    pub(super) fn walk(&mut self, node: &'n mut Node, spans: &[Span]) -> Result<()> {
        let field = node.field;
        let result = match &mut node.kind {
            NodeKind::Values(slot) | NodeKind::Cardinality { offsets: slot, .. } => {
                self.want(slot, spans)
            }
            NodeKind::Bitset { bits, size } => {
                scale(spans, *size).and_then(|spans| self.want(bits, &spans))
            }
            NodeKind::Record(members) => {
                return members.iter_mut().try_for_each(|(_, member)| self.walk(member, spans));
            }
            NodeKind::Array { size, item } => {
                let spans = scale(spans, *size).in_field(&self.layout.schema.path(field))?;
                return self.walk(item, &spans);
            }
            NodeKind::List { offsets, item, .. } => {
                self.want(offsets, spans).in_field(&self.layout.schema.path(field))?;
                let stream = offsets.index.unwrap_or_default();
                return self.walk_items(Parent { field, stream, alternative: None }, item, spans);
            }
            NodeKind::Variant { switch, alternatives } => {
                self.want(switch, spans).in_field(&self.layout.schema.path(field))?;
                let stream = switch.index.unwrap_or_default();
                return alternatives.iter_mut().enumerate().try_for_each(|(number, (_, node))| {
                    let parent = Parent { field, stream, alternative: Some(number) };
                    self.walk_items(parent, node, spans)
                });
            }
        };
        result.map_err(|error| error.at(|place| place.field = Some(self.layout.schema.path(field))))
    }

    fn walk_items(&mut self, parent: Parent, item: &'n mut Node, spans: &[Span]) -> Result<()> {
        let counts = spans.iter().map(|span| self.layout.count(item, span.cluster));
        let counts = counts.collect::<Result<Vec<_>>>()?;
        let whole = |span: &Span| span.elements == (0..span.total);
        if spans.iter().all(whole) && counts.iter().all(Option::is_some) {
            let items = spans.iter().zip(&counts).map(|(span, count)| {
                let total = count.unwrap_or_default();
                Span { cluster: span.cluster, elements: 0..total, total }
            });
            self.walk(item, &items.collect::<Vec<_>>())?;
        } else {
            for span in spans.iter().filter(|span| span.elements.end < span.total) {
                self.layout.check_not_late(item, span.cluster)?;
            }
            self.plan.waiting.push(self.layout.schema.path(item.field));
            self.waiting.push(Waiting { node: item, parent });
        }
        // Variants may point to any values, so the range is known only for whole clusters.
        let known = |span: &Span| match parent.alternative {
            None => span.elements.end == span.total,
            Some(_) => whole(span),
        };
        let last = |(span, count): (&Span, Option<u64>)| count.filter(|_| known(span));
        let ends = spans.iter().zip(counts).map(last).collect();
        self.checks.push(Check { parent, ends });
        Ok(())
    }

    /// Plans a stream, or returns it if it is already planned.
    fn want(&mut self, slot: &mut StreamSlot, spans: &[Span]) -> Result<()> {
        let known = self.known.get(&slot.stream);
        if let Some((_, index)) = known.and_then(|k| k.iter().find(|(other, _)| other == spans)) {
            slot.index = Some(*index);
            return Ok(());
        }
        let stream = &slot.stream;
        let mut parts = Vec::with_capacity(spans.len());
        let mut length = 0u64;
        let mut lead_in = false;
        for (number, span) in spans.iter().enumerate() {
            let mut elements = span.elements.clone();
            if stream.element == Element::Index && number == 0 && elements.start > 0 {
                // The first collection starts at the end of the previous collection.
                elements.start -= 1;
                lead_in = true;
            }
            let stored = stream.stored(self.layout.schema, self.layout.clusters, span.cluster)?;
            let part = self.layout.part(&stored, span, elements);
            let part = part.map_err(|error| {
                error.at(|place| {
                    place.cluster = Some(span.cluster as u64);
                    place.column = stored.column.map(|(id, _)| u64::from(id.0));
                })
            })?;
            let taken = part.zeros + (part.elements.end - part.elements.start);
            length = length
                .checked_add(taken)
                .ok_or_else(|| Error::out_of_spec("more than 2^64 elements"))?;
            parts.push(part);
        }
        let index = self.first + self.plan.streams.len();
        let field = stream.columns.first().map(|&id| self.layout.schema.column(id).field);
        self.plan.streams.push(StreamPlan {
            field: field.map(|id| self.layout.schema.path(id)).unwrap_or_default(),
            element: stream.element,
            length,
            lead_in,
            parts,
        });
        self.known.entry(stream.clone()).or_default().push((spans.to_vec(), index));
        slot.index = Some(index);
        Ok(())
    }
}

/// Returns the spans of the items of fixed-size arrays.
fn scale(spans: &[Span], size: u64) -> Result<Vec<Span>> {
    let times = |count: u64| {
        count.checked_mul(size).ok_or_else(|| Error::out_of_spec("more than 2^64 array elements"))
    };
    let scaled = |span: &Span| {
        Ok(Span {
            cluster: span.cluster,
            elements: times(span.elements.start)?..times(span.elements.end)?,
            total: times(span.total)?,
        })
    };
    spans.iter().map(scaled).collect()
}

impl PlannedSchema<'_> {
    /// Returns the spans of top-level fields for a range of entries.
    pub(super) fn entry_spans(&self, entries: &Range<u64>) -> Result<Vec<Span>> {
        let mut spans = Vec::new();
        for (number, cluster) in self.clusters.of_entries(entries)? {
            let start = entries.start.max(cluster.first_entry) - cluster.first_entry;
            let end = entries.end.saturating_sub(cluster.first_entry).min(cluster.entries);
            if start < end {
                spans.push(Span { cluster: number, elements: start..end, total: cluster.entries });
            }
        }
        Ok(spans)
    }

    /// Returns the number of elements of a node in a cluster, if its columns show it.
    pub(super) fn count(&self, node: &Node, cluster: usize) -> Result<Option<u64>> {
        let stored = |slot: &StreamSlot| {
            let stored = slot.stream.stored(self.schema, self.clusters, cluster);
            let stored = stored.in_field(&self.schema.path(node.field))?;
            Ok(Some(stored.elements()).filter(|_| !stored.deferred))
        };
        let divide = |count: Option<u64>, size: u64| {
            count.filter(|count| size > 0 && count % size == 0).map(|count| count / size)
        };
        match &node.kind {
            NodeKind::Values(slot)
            | NodeKind::Cardinality { offsets: slot, .. }
            | NodeKind::List { offsets: slot, .. }
            | NodeKind::Variant { switch: slot, .. } => stored(slot),
            NodeKind::Bitset { bits, size } => Ok(divide(stored(bits)?, *size)),
            NodeKind::Array { size, item } => Ok(divide(self.count(item, cluster)?, *size)),
            NodeKind::Record(members) => {
                for (_, member) in members {
                    if let Some(count) = self.count(member, cluster)? {
                        return Ok(Some(count));
                    }
                }
                Ok(None)
            }
        }
    }

    /// Refuses a part of the content of collections if its columns start inside the cluster, because only the last
    /// offset shows the number of leading zeros.
    fn check_not_late(&self, node: &Node, cluster: usize) -> Result<()> {
        let check = |slot: &StreamSlot| {
            let stored = slot.stream.stored(self.schema, self.clusters, cluster)?;
            match stored.column {
                Some(_) if stored.deferred => Err(Error::unsupported(
                    "content of a collection was added inside this cluster: read all of the cluster",
                )
                .at(|place| {
                    place.field = Some(self.schema.path(node.field));
                    place.cluster = Some(cluster as u64);
                })),
                _ => Ok(()),
            }
        };
        match &node.kind {
            NodeKind::Values(slot)
            | NodeKind::Cardinality { offsets: slot, .. }
            | NodeKind::List { offsets: slot, .. }
            | NodeKind::Variant { switch: slot, .. }
            | NodeKind::Bitset { bits: slot, .. } => check(slot),
            NodeKind::Array { item, .. } => self.check_not_late(item, cluster),
            NodeKind::Record(members) => {
                members.iter().try_for_each(|(_, node)| self.check_not_late(node, cluster))
            }
        }
    }

    /// Plans the pages in one cluster for `elements` of a node that has `span.total` elements.
    fn part(&self, stored: &Stored<'_>, span: &Span, elements: Range<u64>) -> Result<StreamPart> {
        let present = stored.elements();
        let leading = match span.total.checked_sub(present) {
            Some(0) => 0,
            Some(missing) if stored.deferred => missing,
            _ => {
                return Err(Error::out_of_spec(format!(
                    "the column has {present} elements where the field has {}",
                    span.total
                )));
            }
        };
        if elements.start > elements.end || elements.end > span.total {
            return Err(Error::out_of_spec(format!(
                "elements {elements:?} are wanted of {}",
                span.total
            )));
        }
        let zeros = elements.end.min(leading) - elements.start.min(leading);
        let wanted = elements.start.max(leading) - leading..elements.end.max(leading) - leading;
        let pages = match stored.column {
            Some((id, range)) => self.pages(id, range, &wanted)?,
            None => Vec::new(),
        };
        let column = stored.column.map(|(id, _)| id.0);
        Ok(StreamPart { cluster: span.cluster, column, zeros, elements: wanted, pages })
    }

    fn pages(
        &self,
        id: ColumnId,
        range: &ColumnRange,
        wanted: &Range<u64>,
    ) -> Result<Vec<PagePart>> {
        let mut pages = Vec::new();
        let mut first = 0u64;
        for (number, page) in range.pages.iter().enumerate() {
            let end = first + u64::from(page.elements);
            if first >= wanted.end {
                break;
            }
            if end > wanted.start && !wanted.is_empty() {
                let part = || -> Result<PagePart> {
                    let blob = self.page_blob(id, page)?;
                    Ok(PagePart {
                        page: number,
                        elements: to_usize(u64::from(page.elements), "page")?,
                        skip: to_usize(wanted.start.saturating_sub(first), "page")?,
                        take: to_usize(end.min(wanted.end) - first.max(wanted.start), "page")?,
                        bytes: blob.first,
                        size: blob.size,
                        checksummed: page.checksummed,
                    })
                };
                pages.push(part().at(|place| place.page = Some(number as u64))?);
            }
            first = end;
        }
        let taken: u64 = pages.iter().map(|page| page.take as u64).sum();
        if taken != wanted.end - wanted.start {
            return Err(Error::out_of_spec(format!(
                "the pages hold {first} elements where the column has {}",
                range.elements
            )));
        }
        Ok(pages)
    }

    /// Returns the place of a page, checked against the size of the file. Also refuses a page that is too large
    /// for its number of stored bytes.
    pub(super) fn page_blob(&self, id: ColumnId, page: &PageInfo) -> Result<Blob> {
        let locator = page.locator;
        // The check of the locator included the checksum, so this does not overflow.
        let size = locator.size + if page.checksummed { 8 } else { 0 };
        let blob = Blob::new(locator.offset, size, self.file_size, self.max_key_size)
            .map_err(|error| error.map_message(|message| format!("the page: {message}")))?;
        let bits = u64::from(page.elements) * u64::from(self.schema.column(id).bits);
        // A compressed block has a header of 9 bytes and at most 2^24 - 1 bytes of content.
        let most = (locator.size / 9 + 1).saturating_mul(1 << 24);
        if bits.div_ceil(8) > most || locator.size == 0 && bits > 0 {
            return Err(Error::out_of_spec(format!(
                "{} bytes cannot hold a page of {} elements",
                locator.size, page.elements
            )));
        }
        Ok(blob)
    }
}
