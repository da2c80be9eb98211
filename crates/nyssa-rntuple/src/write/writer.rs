//! Writes sealed columns as clusters of an RNTuple in a ROOT file.

use bstr::ByteSlice;
use nyssa_root::compression::Compressor;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::writer::{RootFileWriter, Unwritten};
use nyssa_root::rootfile::{name_of, split};

use super::classes;
use super::extension::{self, Progress};
use super::known_pages::KnownPages;
use super::open_cluster::{AddedColumn, OpenCluster, complete};
use super::{FinishedSet, RNTupleWriteOptions, SharedFile, WriteReport};
use crate::choose::not_written;
use crate::format::{Anchor, ClusterGroup, EnvelopePosition, ExtraType, FormatVersion, Header};
use crate::heuristics::write;
use crate::page::SealedColumn;
use crate::schema::{
    Cluster, Column, ColumnId, ColumnRange, FieldId, PageInfo, Schema, SchemaBuilder, check_name,
};
use crate::seal::SealSettings;

mod cluster_target;
mod defaults;
mod envelopes;
mod fill_fields;
mod late_fields;
mod pages;
mod represent;
mod resume;

pub use resume::Existing;

/// The class name of the anchor.
const ANCHOR_CLASS: &str = "ROOT::RNTuple";
/// The size of a page record in bytes, in memory and in the page list.
const PAGE_RECORD: u64 = 96;

/// The writer of one RNTuple. Pages are written at once. Only the metadata of the current cluster group stay in
/// memory.
pub struct Writer {
    file: SharedFile,
    owns_file: bool,
    /// Whether clusters wait for the work of other writers of the file, because the caller commits them.
    settles: bool,
    /// The directories and the name. For an attribute set, the path of its RNTuple and its own name.
    path: String,
    name: String,
    /// The maximum payload of one key, in bytes. Pages are put into as few keys as this allows.
    max_key_size: u64,
    schema: Schema,
    extra_types: Vec<ExtraType>,
    /// The extra type information of fields that were added after the header was written.
    late_types: Vec<ExtraType>,
    options: RNTupleWriteOptions,
    /// The header, which is written with the first cluster. Until then the schema may change.
    header: Option<(Header, EnvelopePosition)>,
    /// The number of elements of each column in the committed clusters.
    elements: Vec<u64>,
    open: Option<OpenCluster>,
    clusters: Vec<Cluster>,
    groups: Vec<ClusterGroup>,
    attribute_sets: Vec<FinishedSet>,
    known: KnownPages,
    /// The pages that have their places and that another thread writes later. `None` if pages are written at once.
    unwritten: Option<Unwritten>,
    /// The number of pages of the clusters that are in no cluster group yet.
    page_records: u64,
    compressor: Compressor,
    report: WriteReport,
    represented: represent::Represented,
    /// The parts that stay unchanged, if the RNTuple was already in the file.
    resumed: Option<Resumed>,
}

/// The parts of an existing RNTuple that stay unchanged.
struct Resumed {
    cycle: u16,
    version: FormatVersion,
    max_key_size: u64,
    lists_attribute_sets: bool,
    /// The extra type information of the footer.
    extra_types: Vec<ExtraType>,
    /// The clusters that were in the file.
    clusters: Vec<Cluster>,
    /// The number of their cluster groups.
    groups: usize,
    /// Whether new columns have values in these clusters, so that new page lists are needed.
    filled: bool,
}

impl Writer {
    /// Starts the RNTuple `path` (directories with slashes, then the name) as the only RNTuple of `file`.
    ///
    /// # Errors
    /// `InvalidArgument` for options, names or a schema that cannot be written.
    pub fn create(
        file: RootFileWriter,
        path: &str,
        schema: Schema,
        options: RNTupleWriteOptions,
    ) -> Result<Self> {
        let mut writer = Self::attach(&SharedFile::new(file), path, schema, options)?;
        writer.owns_file = true;
        Ok(writer)
    }

    /// Starts the RNTuple `path` in a file that can contain other objects. [`SharedFile::finish`] ends the file.
    ///
    /// # Errors
    /// `InvalidArgument` for options, names or a schema that cannot be written, and when the file already has that
    /// path.
    pub fn attach(
        file: &SharedFile,
        path: &str,
        schema: Schema,
        options: RNTupleWriteOptions,
    ) -> Result<Self> {
        let path = path.trim_matches('/');
        let name = name_of(split(path).1);
        let name = name.to_str().map_err(|_| {
            Error::invalid_argument(format!(
                "an RNTuple cannot have the name {name:?}: it is not UTF-8"
            ))
        })?;
        check_name("an RNTuple", name)?;
        Self::begin(file, path.to_owned(), name.to_owned(), schema, options)
    }

    /// Commits clusters on the thread of the caller, after all earlier work on the file.
    pub(super) fn settling(self) -> Self {
        Self { settles: true, ..self }
    }

    /// Starts an RNTuple that has the name `path` while it is written.
    pub(super) fn begin(
        file: &SharedFile,
        path: String,
        name: String,
        mut schema: Schema,
        options: RNTupleWriteOptions,
    ) -> Result<Self> {
        options.validate()?;
        check_schema(&schema)?;
        classes::give_checksums(&mut schema, &options.classes);
        let infos = &options.streamer_infos;
        let described = schema.has_streamed_objects() && !infos.is_empty();
        let extra_types = match described {
            true => vec![classes::describe(&mut schema, infos)?],
            false => Vec::new(),
        };
        let max_key_size = options.max_key_size;
        let compressor = Compressor::new(options.compression)?;
        file.begin(&path)?;
        file.add_streamer_infos(&Anchor::streamer_info()?)?;
        if described {
            file.add_streamer_infos(infos)?;
        }
        Ok(Self {
            file: file.clone(),
            owns_file: false,
            settles: false,
            path,
            name,
            max_key_size,
            elements: vec![0; schema.columns.len()],
            schema,
            extra_types,
            late_types: Vec::new(),
            header: None,
            open: None,
            clusters: Vec::new(),
            groups: Vec::new(),
            attribute_sets: Vec::new(),
            known: KnownPages::within(options.memory / write::KNOWN_PAGES_DIVISOR),
            unwritten: None,
            page_records: 0,
            compressor,
            options,
            report: WriteReport::default(),
            represented: represent::Represented::default(),
            resumed: None,
        })
    }

    /// Returns the settings to seal the rows of this writer.
    pub(super) fn seal_settings(&self, options: &RNTupleWriteOptions) -> SealSettings {
        let mut settings = options.seal_settings(&self.schema);
        for (id, column) in (0u32..).map(ColumnId).zip(&mut settings.columns) {
            column.own_type |= self.keeps_type(id);
        }
        settings
    }

    /// Returns the file, and the path in it.
    pub(super) fn place(&self) -> (&SharedFile, &str) {
        (&self.file, &self.path)
    }

    /// Returns the schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the options.
    pub fn options(&self) -> &RNTupleWriteOptions {
        &self.options
    }

    /// Returns the totals of the committed clusters and the stored pages.
    pub fn report(&self) -> WriteReport {
        self.report
    }

    /// Returns the extra type information, with the streamer infos of the options.
    pub fn extra_types(&self) -> &[ExtraType] {
        &self.extra_types
    }

    /// Sets the extra type information. It must be called before the first cluster.
    ///
    /// # Errors
    /// `InvalidArgument` when the header is already written.
    pub fn set_extra_types(&mut self, extra_types: Vec<ExtraType>) -> Result<()> {
        if self.header.is_some() {
            return Err(Error::invalid_argument("the header is written already"));
        }
        self.extra_types = extra_types;
        Ok(())
    }

    /// Extends the schema between clusters, with new fields, representations and projections. Before the first
    /// cluster everything may change. After it, new fields read as zeros (empty collections, invalid variants) in
    /// earlier entries, and go into the footer. Returns the result of `extend`. After an error the schema is
    /// unchanged.
    ///
    /// # Errors
    /// `InvalidArgument` while a cluster is open, when a written field or column has changed, for new members
    /// of fields other than top-level untyped records, and for a schema that cannot be written.
    pub fn extend_schema<T>(
        &mut self,
        extend: impl FnOnce(&mut SchemaBuilder) -> Result<T>,
    ) -> Result<T> {
        if self.open.is_some() {
            return Err(Error::invalid_argument("the schema cannot change within a cluster"));
        }
        let mut builder = SchemaBuilder::extending(self.schema.clone(), self.options.compression);
        let value = extend(&mut builder)?;
        let mut schema = builder.finish();
        if self.header.is_none() {
            check_schema(&schema)?;
            self.elements = vec![0; schema.columns.len()];
            self.schema = schema;
            return Ok(value);
        }
        let progress = Progress {
            entries: self.report.entries,
            elements: &self.elements,
            page_lists: !self.groups.is_empty(),
        };
        let starts = extension::defer(&self.schema, &mut schema, &progress)?;
        validate(&schema)?;
        let represented = schema.columns[self.schema.columns.len()..]
            .iter()
            .any(|column| (column.field.0 as usize) < self.schema.fields.len());
        if represented {
            // Old columns get a new suppressed column beside them, which their page lists must contain.
            for cluster in &mut self.clusters {
                let ranges = std::mem::take(&mut cluster.columns);
                cluster.columns = complete(&schema, ranges.into_iter().map(Some).collect());
            }
        }
        self.elements.extend(starts);
        self.schema = schema;
        Ok(value)
    }

    /// Adds a representation of a field for later clusters. Each cluster has the columns of one representation.
    /// Returns the ids of the columns.
    ///
    /// # Errors
    /// `InvalidArgument` while a cluster is open, for columns that do not fit the field, and when the field has
    /// several columns or lies in a collection, and a cluster group (see [`RNTupleWriteOptions::clusters_per_group`])
    /// is already written.
    pub fn add_representation(
        &mut self,
        field: FieldId,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Vec<ColumnId>> {
        self.extend_schema(|builder| builder.schema_mut().add_representation(field, columns))
    }

    /// Starts a cluster of `entries` entries. All columns of one representation of each field must be put
    /// before the cluster is committed.
    ///
    /// # Errors
    /// `InvalidArgument` when a cluster is open or `entries` is zero.
    pub fn begin_cluster(&mut self, entries: u64) -> Result<()> {
        if self.open.is_some() {
            return Err(Error::invalid_argument("a cluster is still open: commit it first"));
        }
        if entries == 0 {
            return Err(Error::invalid_argument("a cluster needs at least one entry"));
        }
        self.write_header()?;
        self.open = Some(OpenCluster::new(entries, self.schema.columns.len()));
        Ok(())
    }

    /// Stores all pages of a column of the open cluster, at once and in the order of the calls.
    ///
    /// # Errors
    /// `InvalidArgument` when no cluster is open, the column was already put or does not exist, or its pages have
    /// another number of elements; an error if the sink cannot be written.
    pub fn put(&mut self, column: SealedColumn) -> Result<()> {
        let id = column.column;
        self.put_column(column).at(|place| {
            place.column = Some(u64::from(id.0));
            place.cluster = Some(self.report.clusters);
        })
    }

    fn put_column(&mut self, column: SealedColumn) -> Result<()> {
        let SealedColumn { column, elements, last_offset, compression, pages } = column;
        // This is checked before anything is stored.
        self.open.as_ref().ok_or_else(no_cluster)?.expect(column)?;
        let pages = self.store_pages(pages)?;
        self.put_stored(StoredColumn { column, elements, last_offset, compression, pages })
    }

    /// Adds a column to the open cluster. Its pages are already stored.
    ///
    /// # Errors
    /// `InvalidArgument` when no cluster is open, the column was already put or does not exist, or its pages
    /// have another number of elements.
    pub fn put_stored(&mut self, column: StoredColumn) -> Result<()> {
        let open = self.open.as_ref().ok_or_else(no_cluster)?;
        open.expect(column.column)?;
        let sum = column.pages.iter().map(|page| u64::from(page.elements)).sum::<u64>();
        if sum != column.elements || column.pages.iter().any(|page| page.elements == 0) {
            return Err(Error::invalid_argument(format!(
                "pages of {sum} elements do not make a column of {}; none may be empty",
                column.elements
            )));
        }
        let first_element = self.elements.get(column.column.0 as usize).copied().unwrap_or(0);
        let range = ColumnRange {
            first_element,
            elements: column.elements,
            compression: column.compression,
            suppressed: false,
            pages: column.pages,
        };
        if let Some(open) = &mut self.open {
            open.insert(column.column, AddedColumn { range, last_offset: column.last_offset });
        }
        Ok(())
    }

    /// Completes the open cluster.
    ///
    /// # Errors
    /// `InvalidArgument` with the field whose column is missing, or whose number of elements does not follow
    /// from the entries and offsets. The cluster stays open.
    pub fn commit_cluster(&mut self) -> Result<()> {
        let number = self.report.clusters;
        let open = self.open.as_ref().ok_or_else(no_cluster)?;
        open.check(&self.schema).at(|place| place.cluster = Some(number))?;
        let Some(open) = self.open.take() else { return Ok(()) };
        let cluster = open.finish(&self.schema, self.report.entries);
        for (total, column) in self.elements.iter_mut().zip(&cluster.columns) {
            *total += column.elements;
        }
        self.report.entries += cluster.entries;
        self.report.clusters += 1;
        self.page_records += cluster.columns.iter().map(|c| 1 + c.pages.len() as u64).sum::<u64>();
        self.clusters.push(cluster);
        if self.clusters.len() >= self.options.clusters_per_group
            || self.page_records * PAGE_RECORD > self.options.memory / write::PAGE_RECORDS_DIVISOR
        {
            self.represent_rest()?;
            self.commit_group()?;
        }
        Ok(())
    }

    /// Links a finished attribute set. Its entry ranges must lie inside this RNTuple when it is finished.
    ///
    /// # Errors
    /// `InvalidArgument` for a second set of one name.
    pub fn link(&mut self, set: FinishedSet) -> Result<()> {
        if self.attribute_sets.iter().any(|known| known.link.name == set.link.name) {
            return Err(Error::invalid_argument(format!(
                "there is already an attribute set {:?}",
                set.link.name
            )));
        }
        self.attribute_sets.push(set);
        Ok(())
    }

    /// Writes page lists, footer and anchor. Also ends the file if this writer owns it.
    ///
    /// # Errors
    /// `InvalidArgument` when a cluster is open or an attribute has a range that is not in the RNTuple; an error if
    /// the sink cannot be written.
    pub fn finish(mut self) -> Result<WriteReport> {
        let cycle = self.resumed.as_ref().map(|resumed| resumed.cycle);
        let anchor = self.write_footer()?;
        classes::describe_fields(&self.file, &self.schema, &self.options.classes)?;
        let (directory, name) = split(&self.path);
        let compression = self.options.compression;
        let anchor = anchor.serialize();
        self.file.with(|file| match cycle {
            Some(cycle) => {
                file.replace_object(directory, (name, cycle), |_| Ok(anchor), compression)
            }
            None => {
                file.write_object(directory, ANCHOR_CLASS, name, "", &anchor, compression).map(drop)
            }
        })?;
        self.file.end(&self.path);
        if self.owns_file {
            self.file.finish()?;
        }
        Ok(self.report)
    }

    /// Writes page lists, footer and anchor of an attribute set: no directory lists its anchor. Returns the position
    /// and size of the anchor.
    pub(super) fn finish_unlisted(mut self) -> Result<(u64, usize)> {
        let anchor = self.write_footer()?.serialize();
        let offset =
            self.file.with(|file| file.write_unlisted(ANCHOR_CLASS, &self.name, &anchor))?;
        self.file.end(&self.path);
        Ok((offset, anchor.len()))
    }
}

/// A column of one cluster whose pages are stored.
pub struct StoredColumn {
    /// The id of the column.
    pub column: ColumnId,
    /// The number of elements.
    pub elements: u64,
    /// The last offset of an offset column, which the next cluster continues.
    pub last_offset: Option<u64>,
    /// ROOT's compression setting.
    pub compression: u32,
    /// The pages, in order.
    pub pages: Vec<PageInfo>,
}

/// Checks a schema for a header: it is valid and has no deferred columns.
fn check_schema(schema: &Schema) -> Result<()> {
    validate(schema)?;
    match schema.columns.iter().find(|column| column.first_element.is_some()) {
        Some(column) => Err(Error::invalid_argument(
            "a column with a first element cannot be there from the start: add its field with \
             extend_schema, or clear the first element",
        ))
        .in_field(&schema.path(column.field)),
        None => Ok(()),
    }
}

/// Checks the rules of the specification. Here an error is the fault of the caller.
fn validate(schema: &Schema) -> Result<()> {
    schema.validate().map_err(|error| {
        let place = error.place().clone();
        Error::invalid_argument(error.message()).at(|other| *other = place)
    })?;
    let refused = |column: &&Column| column.column_type.is_some_and(|it| !it.is_written());
    let refused = schema.columns.iter().find(refused);
    let error = refused.and_then(|it| Some((not_written(it.column_type?), schema.path(it.field))));
    error.map_or(Ok(()), |(error, path)| Err(error).in_field(&path))
}

fn no_cluster() -> Error {
    Error::invalid_argument("no cluster is open: begin one first")
}
