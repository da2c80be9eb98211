//! Reads an open RNTuple.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use arrow_array::ArrayRef;
use nyssa_data::dataset::{ColumnInfo, Dataset, check_entries};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;
use nyssa_root::page_pool::{PagePool, keeps_compressed};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::info::StreamerInfos;
use rayon::prelude::*;

use super::assemble::assemble;
use super::blob::{Blob, read_blobs};
use super::clusters::Clusters;
use super::execute::{Data, Executor};
use super::metadata::{Metadata, page_lists};
use super::opened::Opened;
use super::options::{RNTupleReadOptions, StreamerForm};
use super::plan::Plan;
use super::planner::{Check, Parent, PlannedSchema, Planner, Span};
use super::shape::Node;
use super::streamers::{self, Streamers};
use super::subfield;
use crate::format::{Anchor, Footer, Header};
use crate::heuristics::read;
use crate::schema::{ColumnId, FieldId, PageInfo, Schema};

mod dataset;

/// The class name of the key of an RNTuple's anchor.
pub const CLASS: &str = "ROOT::RNTuple";

/// An open RNTuple. Its metadata are read. Threads share it by reference or [`Arc`].
#[derive(Clone)]
pub struct Reader {
    /// The id that distinguishes its pages from the pages of other readers.
    id: u64,
    source: Arc<dyn nyssa_io::Source>,
    path: String,
    anchor: Anchor,
    header: Header,
    footer: Footer,
    pub(super) schema: Schema,
    clusters: Arc<Clusters>,
    entries: u64,
    pub(super) top_level: Vec<FieldId>,
    items: Vec<ColumnInfo>,
    /// The collections that projected fields show completely.
    backing: Vec<ColumnInfo>,
    index: HashMap<String, FieldId>,
    /// The columns of subfields. They are made when they are first needed.
    below: OnceLock<Vec<ColumnInfo>>,
    options: RNTupleReadOptions,
    /// The layouts of streamed objects. `None` when streamer fields are read as bytes.
    pub(super) streamers: Option<Streamers>,
}

impl Reader {
    /// Opens the RNTuple at `path` (`dir/name` or `dir/name;cycle`) with default [`RNTupleReadOptions`]. It
    /// reads the anchor, then the header and the footer with one request, and then all page lists with another.
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` for objects of other classes; `Checksum`; `Unsupported` for feature flags;
    /// `OutOfSpecification`.
    pub fn open(file: &RootFile, path: &str) -> Result<Self> {
        Self::open_with(file, path, RNTupleReadOptions::default())
    }

    /// Opens the RNTuple at `path` with options.
    ///
    /// # Errors
    /// `NotFound`; `InvalidArgument` for objects of other classes; `Checksum`; `Unsupported` for feature flags;
    /// `OutOfSpecification`.
    pub fn open_with(file: &RootFile, path: &str, options: RNTupleReadOptions) -> Result<Self> {
        Self::open_inner(file, path, options).in_file(file.name()).in_object(path)
    }

    fn open_inner(file: &RootFile, path: &str, options: RNTupleReadOptions) -> Result<Self> {
        let _stage = nyssa_observe::stage!("open");
        let key = file.find(path)?;
        if key.class != CLASS {
            return Err(Error::invalid_argument(format!(
                "{path} is a {}, not an RNTuple",
                key.class
            )));
        }
        let anchor = Anchor::parse(&file.metadata(&key)?)?;
        Self::at_anchor(Arc::clone(file.source()), Some(file), key.path, anchor, options)
    }

    /// Opens the RNTuple of an anchor. `file` can contain streamer infos of streamer fields that the RNTuple itself
    /// lacks.
    pub(super) fn at_anchor(
        source: Arc<dyn nyssa_io::Source>,
        file: Option<&RootFile>,
        path: String,
        anchor: Anchor,
        options: RNTupleReadOptions,
    ) -> Result<Self> {
        let Metadata { header, footer, schema, clusters, entries } =
            Metadata::read(&source, &anchor)?;
        let clusters = Arc::new(clusters);
        let top_level = schema.top_level().map(|(id, _)| id).collect::<Vec<_>>();
        let streamers = match options.streamer {
            StreamerForm::Raw => None,
            StreamerForm::Decoded => Some(Streamers::compile(file, &header, &footer, &schema)),
        };
        let mut reader = Self {
            id: PagePool::new_owner(),
            source,
            path,
            anchor,
            header,
            footer,
            schema,
            clusters,
            entries,
            top_level,
            items: Vec::new(),
            backing: Vec::new(),
            index: HashMap::new(),
            below: OnceLock::new(),
            options,
            streamers,
        };
        reader.list();
        Ok(reader)
    }

    /// Makes the columns of the top-level fields.
    fn list(&mut self) {
        let backing = self.schema.backing(&self.top_level);
        let backing: HashSet<FieldId> = backing.into_iter().map(|(id, _)| id).collect();
        let streamers = self.streamers.as_ref();
        let item = |&id: &FieldId| (id, subfield::item(&self.schema, &[id], streamers));
        let all: Vec<(FieldId, ColumnInfo)> = self.top_level.iter().map(item).collect();
        self.index = all.iter().map(|(id, item)| (item.name.clone(), *id)).collect();
        let (hidden, shown): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(id, _)| backing.contains(id));
        self.items = shown.into_iter().map(|(_, item)| item).collect();
        self.backing = hidden.into_iter().map(|(_, item)| item).collect();
    }

    /// Returns the RNTuple whose columns a dataset shows.
    pub fn shown_by(dataset: &dyn Dataset) -> Option<&Self> {
        dataset.reader()?.downcast_ref()
    }

    /// Returns the schema of the header and its extension.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the clusters in order of entries, with the positions of all pages. It reads the page lists that were
    /// not read before.
    ///
    /// # Errors
    /// `Checksum`; `Unsupported`; `OutOfSpecification`; an error if the source cannot be read.
    pub fn clusters_info(&self) -> Result<&Clusters> {
        self.read_page_lists(std::slice::from_ref(&(0..self.entries)))?;
        Ok(&self.clusters)
    }

    /// Reads the page lists of `entries` with one request, unless they were read before.
    fn read_page_lists(&self, entries: &[Range<u64>]) -> Result<()> {
        let missing: Vec<_> =
            entries.iter().flat_map(|entries| self.clusters.missing_in(entries)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let groups: Vec<_> = missing.iter().map(|group| group.footer).collect();
        let read = || {
            let lists =
                page_lists(&self.source, &self.anchor, &self.header, &self.schema, &groups)?;
            missing.iter().zip(lists).try_for_each(|(group, list)| self.clusters.set(group, list))
        };
        read().in_file(self.file()).in_object(&self.path)
    }

    /// Returns the anchor.
    pub fn anchor(&self) -> &Anchor {
        &self.anchor
    }

    /// Returns the header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the footer.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Returns the bytes of the file.
    pub fn source(&self) -> &Arc<dyn nyssa_io::Source> {
        &self.source
    }

    /// Returns the options of reading.
    pub fn options(&self) -> RNTupleReadOptions {
        self.options
    }

    /// Returns the ids of the top-level fields.
    pub fn top_level(&self) -> &[FieldId] {
        &self.top_level
    }

    /// Returns the place of a page of a column, with its checksum, checked against the size of the file. A page
    /// that is too large for its stored bytes is refused. Returns `None` for a page that is split over several
    /// keys. [`Reader::read_page`] reads it.
    ///
    /// # Errors
    /// `OutOfSpecification` with the column.
    pub fn page_range(&self, column: ColumnId, page: &PageInfo) -> Result<Option<Range<u64>>> {
        let blob = self.page_blob(column, page)?;
        Ok((!blob.is_split()).then_some(blob.first))
    }

    /// Reads the sealed bytes of a page of a column, with its checksum.
    ///
    /// # Errors
    /// `OutOfSpecification` with the column; an error if the source cannot be read.
    pub fn read_page(&self, column: ColumnId, page: &PageInfo) -> Result<bytes::Bytes> {
        let blob = self.page_blob(column, page)?;
        let mut read = read_blobs(&self.source, &[blob])?;
        Ok(read.pop().unwrap_or_default())
    }

    fn page_blob(&self, column: ColumnId, page: &PageInfo) -> Result<Blob> {
        self.layout().page_blob(column, page).at(|place| {
            place.field = Some(self.schema.path(self.schema.column(column).field));
            place.column = Some(u64::from(column.0));
        })
    }

    /// Removes all fields except the fields for which `keep` is true, and their parents. In this way records can lose
    /// members. Ids and columns are the ids and columns of the file.
    pub fn retain(&mut self, keep: impl Fn(FieldId) -> bool) {
        for field in &mut self.schema.fields {
            field.children.retain(|&child| keep(child));
        }
        self.top_level.retain(|&id| keep(id));
        self.list();
        self.below = OnceLock::new();
    }

    /// Reads the objects of streamer fields as bytes, except in the top-level fields for which `decoded` is true.
    pub fn decode_only(&mut self, decoded: impl Fn(FieldId) -> bool) {
        let raw = self.top_level.iter().copied().filter(|&id| !decoded(id)).collect();
        if let Some(streamers) = &mut self.streamers {
            streamers.keep_raw(raw);
        }
        self.list();
        self.below = OnceLock::new();
    }

    /// Returns the streamer infos of the RNTuple, and then of its file.
    ///
    /// # Errors
    /// `OutOfSpecification` if a list is damaged, `Unsupported` if it is too old.
    pub fn streamer_infos(&self, file: &RootFile) -> Result<StreamerInfos> {
        streamers::infos(Some(file), &self.header, &self.footer)
    }

    /// Returns the plan of reading `names` for `entries`. It contains all fetches if the range cuts no cluster, or
    /// else only the first step. It does no I/O.
    ///
    /// # Errors
    /// `NotFound`, `Unsupported`, `InvalidArgument` for a range beyond the entries; `OutOfSpecification` for damaged
    /// metadata.
    pub fn plan(&self, names: &[&str], entries: Range<u64>) -> Result<Plan> {
        let mut nodes = self.nodes(names)?;
        let spans = self.spans(&entries)?;
        let mut planner = Planner::new(self.layout(), 0);
        for node in &mut nodes {
            planner.walk(node, &spans).in_file(self.file()).in_object(&self.path)?;
        }
        let mut plan = planner.plan;
        plan.make_fetches(read::FETCH_BYTES, |_| false);
        Ok(plan)
    }

    /// Returns the columns, and the collections that projected fields show completely.
    pub(super) fn every_item(&self) -> impl Iterator<Item = &ColumnInfo> {
        self.items.iter().chain(&self.backing)
    }

    /// Returns whether streamer fields are read as objects where this is possible.
    pub(super) fn decodes_objects(&self) -> bool {
        self.streamers.is_some()
    }

    pub(super) fn layout(&self) -> PlannedSchema<'_> {
        PlannedSchema {
            schema: &self.schema,
            clusters: &self.clusters,
            file_size: self.source.size(),
            max_key_size: self.anchor.max_key_size,
        }
    }

    pub(super) fn nodes(&self, names: &[&str]) -> Result<Vec<Node>> {
        let node = |name: &&str| {
            let field_path = self.field_path(name).ok_or_else(|| self.missing(name))?;
            subfield::node(&self.schema, &field_path, self.streamers.as_ref()).map_err(|reason| {
                Error::unsupported(reason).at(|place| place.field = Some((*name).to_owned()))
            })
        };
        names.iter().map(node).collect::<Result<_>>().in_file(self.file()).in_object(&self.path)
    }

    /// Returns the fields from a top-level field down to the field `name`, which can be the top-level field or
    /// one of its subfields.
    pub(super) fn field_path(&self, name: &str) -> Option<subfield::FieldPath> {
        match self.index.get(name) {
            Some(&id) => Some(vec![id]),
            None => subfield::find(&self.schema, &self.top_level, name),
        }
    }

    fn missing(&self, name: &str) -> Error {
        let all = self.items.iter().chain(self.subcolumns());
        Error::not_found(format!("there is no field {name:?}"))
            .suggest(name, all.map(|item| item.name.as_str()))
    }

    fn spans(&self, entries: &Range<u64>) -> Result<Vec<Span>> {
        check_entries(entries, self.entries)?;
        self.read_page_lists(std::slice::from_ref(entries))?;
        self.layout().entry_spans(entries)
    }

    /// Reads the arrays of `nodes`. `names` are their names.
    pub(super) fn read_all(
        &self,
        mut nodes: Vec<Node>,
        names: &[&str],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let streams = self.read_nodes(&mut nodes, entries, context);
        let arrays = streams.and_then(|streams| {
            let length = to_usize(entries.end.saturating_sub(entries.start), "entry range")?;
            let array = |(node, name): (&Node, &&str)| {
                let _stage = nyssa_observe::stage!("assemble", column = *name);
                assemble(node, &streams, length)
                    .map_err(|error| error.move_entry(|row| row.checked_add(entries.start)))
                    .in_field(name)
            };
            context.pool().install(|| nodes.par_iter().zip(names).map(array).collect())
        });
        arrays.in_file(self.file()).in_object(&self.path)
    }

    fn read_nodes(
        &self,
        nodes: &mut [Node],
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Vec<Data>> {
        let layout = self.layout();
        let mut executor = Executor {
            schema: &self.schema,
            source: &self.source,
            max_key_size: self.anchor.max_key_size,
            options: self.options,
            context,
            opened: None,
        };
        let spans = self.spans(entries)?;
        let mut streams = Vec::new();
        let mut pending = nodes.iter_mut().map(|node| (node, spans.clone())).collect::<Vec<_>>();
        // Each step reads one more level of collections. Whole clusters take one step.
        while !pending.is_empty() {
            let mut planner = Planner::new(layout, streams.len());
            for (node, spans) in pending {
                planner.walk(node, &spans)?;
            }
            let Planner { mut plan, waiting, checks, .. } = planner;
            let opened =
                |all| Opened::new(all, self.id, keeps_compressed(&self.source), layout, &plan);
            let opened = context.page_pool().map(opened);
            let known = |page| opened.as_ref().is_some_and(|opened| opened.has(page));
            plan.make_fetches(context.fetch_bytes(read::FETCH_BYTES), known);
            executor.opened = opened;
            streams.extend(executor.run(&plan)?);
            checks.iter().try_for_each(|check| self.check_ends(check, &mut streams))?;
            let spans = |parent: Parent, node: &Node| items(&layout, &streams, parent, node);
            let next = waiting.into_iter().map(|w| Ok((spans(w.parent, w.node)?, w.node)));
            let next = next.collect::<Result<Vec<_>>>()?;
            pending = next.into_iter().map(|(spans, node)| (node, spans)).collect();
        }
        Ok(streams)
    }

    /// Compares the last offset of each collection, and the values that variants point to, with the number of
    /// stored items.
    fn check_ends(&self, check: &Check, streams: &mut [Data]) -> Result<()> {
        let parent = check.parent;
        let data = streams.get_mut(parent.stream);
        if let (Some(Data::Switches(switches)), Some(number)) = (data, parent.alternative) {
            return switches.settle(number, &check.ends).in_field(&self.schema.path(parent.field));
        }
        let items = streams.get(parent.stream).map(|data| data.items(None));
        for (end, (cluster, items)) in check.ends.iter().zip(items.unwrap_or_default()) {
            if end.is_some_and(|end| end != items.end) {
                return Err(Error::out_of_spec(format!(
                    "the last offset is {}, but the cluster has {} items",
                    items.end,
                    end.unwrap_or_default()
                ))
                .at(|place| {
                    place.cluster = Some(*cluster as u64);
                    place.field = Some(self.schema.path(parent.field));
                }));
            }
        }
        Ok(())
    }
}

/// Returns the spans of the content of a collection or variant whose offsets were read.
fn items(
    layout: &PlannedSchema<'_>,
    streams: &[Data],
    parent: Parent,
    item: &Node,
) -> Result<Vec<Span>> {
    let items = streams.get(parent.stream).map(|data| data.items(parent.alternative));
    let span = |(cluster, elements): &(usize, Range<u64>)| {
        let total = layout.count(item, *cluster)?.unwrap_or(elements.end);
        Ok(Span { cluster: *cluster, elements: elements.clone(), total })
    };
    items.unwrap_or_default().iter().map(span).collect()
}
