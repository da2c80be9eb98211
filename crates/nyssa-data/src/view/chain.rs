//! Reads many files as one dataset, a chain.

mod names;
mod open_files;

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::{Array, ArrayRef};
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::waiting::{AT_ONCE, wait_for_all};
use rayon::prelude::*;

use self::names::{hidden_names, renamed};
use self::open_files::OpenFiles;
use super::evolve::{Aliases, EvolutionOptions};
use super::target::{File, allow_nulls};
use super::with_schema::{Lengths, Mapping, WithSchema};
use super::{ChainSchema, ReadRule, WithRules};
use crate::dataset::{
    AnyDataset, Arrays, Backing, ColumnInfo, Dataset, Format, LeftOut, check_entries, different,
    stored_bytes,
};

/// The largest number of files of a chain that stay open for the next read.
pub const MAX_OPEN: usize = 16;

/// One file of a chain.
#[derive(Clone)]
pub struct Link {
    /// The name of the file in messages, such as `file.root:Events`.
    pub name: String,
    open: Arc<dyn Fn() -> Result<AnyDataset> + Send + Sync>,
    /// Whether opening and reading it wait for a network.
    remote: bool,
    /// The options with which its files are opened.
    options: Vec<OpenOptions>,
}

impl Link {
    /// Makes the link with the name `name`. `open` opens its dataset, also again if it is needed after it was closed.
    pub fn new(
        name: impl Into<String>,
        open: impl Fn() -> Result<AnyDataset> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), open: Arc::new(open), remote: false, options: Vec::new() }
    }

    /// Sets whether opening and reading the dataset wait for a network. A chain opens and reads several such
    /// files at the same time, whatever the number of cores.
    #[must_use]
    pub fn with_remote(self, remote: bool) -> Self {
        Self { remote, ..self }
    }

    /// Sets the options with which the files of the dataset are opened.
    #[must_use]
    pub fn with_options(self, options: Vec<OpenOptions>) -> Self {
        Self { options, ..self }
    }

    /// Returns this dataset read with rules.
    #[must_use]
    pub fn with_rules(self, rules: Vec<ReadRule>) -> Self {
        let open = self.open;
        let ruled = move || Ok(Arc::new(WithRules::new(open()?, &rules)?) as AnyDataset);
        Self::new(self.name, ruled).with_remote(self.remote).with_options(self.options)
    }

    /// Returns this dataset without parts of its columns.
    #[must_use]
    pub fn without(self, parts: Arc<[LeftOut]>, context: Context) -> Self {
        let open = self.open;
        Self::new(self.name, move || {
            let dataset = open()?;
            Ok(dataset.without(&parts, &context)?.unwrap_or(dataset))
        })
        .with_remote(self.remote)
        .with_options(self.options)
    }
}

/// The options of a chain. By default it has the columns of the first file.
///
/// ```
/// # fn main() -> nyssa::Result<()> {
/// let context = nyssa::Context::new(None)?;
/// let options = nyssa::ChainOptions::default();
/// let chain = nyssa::chain(&["../../testdata/rntuple/codec-zstd.root"], &options, &context)?;
/// assert_eq!(chain.num_entries(), 250);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// The rule that gives the columns.
    pub target: ChainSchema,
    /// The old names of columns and members.
    pub aliases: Aliases,
    /// The conversions that are allowed, and the values for columns that a file does not have.
    pub evolution: EvolutionOptions,
}

/// The entries of several datasets, one after the other, with one schema. TTrees and RNTuples can be mixed.
///
/// Every file is opened once to find its columns and entries. At most [`MAX_OPEN`] files stay open. Several remote
/// files are opened and read at the same time, by threads that wait; of these, too, at most [`MAX_OPEN`] are open.
pub struct Chain {
    links: Vec<Link>,
    parts: Vec<FileOfChain>,
    /// The columns. Parts of columns follow from index `below` on.
    items: Arc<[ColumnInfo]>,
    below: usize,
    format: Format,
    object: String,
    title: String,
    options: ChainOptions,
    open: OpenFiles,
    /// Whether the chain is closed. Copies of the chain without some parts of its columns share this flag.
    closed: Arc<AtomicBool>,
}

/// One file of the chain.
struct FileOfChain {
    file: String,
    /// Its entries in the chain.
    entries: Range<u64>,
    clusters: Vec<Range<u64>>,
    mapping: Arc<Mapping>,
}

/// The properties of a file, which are read when it is first opened.
struct FileInfo {
    file: String,
    dataset: Option<AnyDataset>,
    format: Format,
    object: String,
    entries: u64,
    clusters: Vec<Range<u64>>,
    /// Its columns, followed by the parts of columns.
    items: Vec<ColumnInfo>,
    below: usize,
    /// The collections whose contents projected fields show.
    backing: Backing,
    sizes: HashSet<String>,
    /// Groups of columns whose lists have the same lengths.
    equal: Vec<BTreeSet<String>>,
}

impl Chain {
    /// Makes a chain of the datasets of `links`, in order.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no file; an error if a file cannot be opened or does not match the target
    /// schema.
    pub fn new(mut links: Vec<Link>, options: &ChainOptions, context: &Context) -> Result<Self> {
        let mut infos = open_all(&links, context)?;
        leave_void(&mut links, &mut infos);
        let first = infos.first().ok_or_else(|| Error::invalid_argument("a chain needs a file"))?;
        let (format, object) = (first.format, first.object.clone());
        let renamed = renamed(&infos, &hidden_names(&infos), &options.aliases);
        // Consecutive files with one schema are examined once.
        let new = |&index: &usize| index == 0 || !Arc::ptr_eq(&renamed[index], &renamed[index - 1]);
        let files = (0..links.len()).filter(new);
        let files = files.map(|index| {
            let (own, below) = renamed[index].split_at(infos[index].below);
            File { name: links[index].name.as_str(), own, below }
        });
        let files = files.collect::<Vec<_>>();
        let mut items = options.target.resolve(&files, options.evolution.missing)?;
        let below = items.len();
        items.extend(options.target.below(&files, options.evolution.missing));
        if matches!(options.target, ChainSchema::First) && format == Format::Parquet {
            allow_nulls(&mut items, &files);
        }
        let mut lengths = Lengths::default();
        for file in &infos {
            lengths.sizes.extend(file.sizes.iter().cloned());
            lengths.equal.extend(
                file.equal
                    .iter()
                    .filter(|element| !lengths.equal.contains(element))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        if let ChainSchema::Like(dataset) = &options.target {
            lengths.equal.extend(dataset.equal_lengths());
        }
        let mut parts: Vec<FileOfChain> = Vec::with_capacity(links.len());
        let mut open = VecDeque::new();
        let mut end = 0u64;
        for (index, file) in infos.iter().enumerate() {
            let mapping = match parts.last() {
                Some(before) if !new(&index) => Arc::clone(&before.mapping),
                _ => Arc::new(Mapping::between(
                    &file.items,
                    &renamed[index],
                    &items,
                    options.evolution,
                    (&lengths, &file.equal),
                )),
            };
            let start = end;
            end = start
                .checked_add(file.entries)
                .ok_or_else(|| Error::limit("the files have more than 2^64 entries"))?;
            let (name, clusters) = (file.file.clone(), file.clusters.clone());
            parts.push(FileOfChain { file: name, entries: start..end, clusters, mapping });
        }
        for (index, item) in items.iter_mut().enumerate() {
            let reason = links.iter().zip(&parts).find_map(|(link, part)| {
                part.mapping.reason(index).map(|reason| format!("{}: {reason}", link.name))
            });
            if let (Ok(_), Some(reason)) = (&item.field, reason) {
                item.field = Err(reason);
            }
        }
        for (index, file) in infos.into_iter().enumerate() {
            open.extend(file.dataset.map(|dataset| (index, dataset)));
        }
        let title = match &links[..] {
            [only] => only.name.clone(),
            [first, rest @ ..] => format!("{} and {} more", first.name, rest.len()),
            [] => String::new(),
        };
        let (items, open) = (items.into(), OpenFiles::new(open));
        let options = options.clone();
        let closed = Arc::default();
        Ok(Self { links, parts, items, below, format, object, title, options, open, closed })
    }

    /// Returns the names of the files and their entries in the chain.
    pub fn files(&self) -> impl Iterator<Item = (&str, Range<u64>)> {
        self.parts.iter().map(|part| (part.file.as_str(), part.entries.clone()))
    }

    /// Returns the stored bytes of columns in file number `index` of [`Chain::files`], as far as its format knows them.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened, or if its metadata are damaged.
    pub fn stored_bytes(&self, index: usize, columns: &[String]) -> Result<u64> {
        stored_bytes(&self.open(index)?, columns)
    }

    /// Returns the numbers of the files that hold these entries of the chain, each with the entries in the
    /// file.
    fn within(&self, entries: &Range<u64>) -> impl Iterator<Item = (usize, u64, u64)> {
        let Range { start, end } = *entries;
        self.parts.iter().enumerate().filter_map(move |(index, part)| {
            let (from, to) = (start.max(part.entries.start), end.min(part.entries.end));
            (from < to).then(|| (index, from - part.entries.start, to - part.entries.start))
        })
    }

    fn check_not_closed(&self, index: usize) -> Result<()> {
        if !self.closed.load(Ordering::Acquire) {
            return Ok(());
        }
        let message = "the chain is closed; make it again";
        Err(Error::invalid_argument(message)).in_file(&self.links[index].name)
    }

    /// Returns file number `index`, and opens it if it is not open.
    fn open(&self, index: usize) -> Result<WithSchema> {
        let (link, part) = (&self.links[index], &self.parts[index]);
        self.check_not_closed(index)?;
        let open = || {
            let dataset = (link.open)().in_file(&link.name)?;
            if dataset.num_entries() == part.entries.end - part.entries.start {
                return Ok(dataset);
            }
            let message = "the file has changed since it was opened first";
            Err(Error::invalid_argument(message)).in_file(&link.name)
        };
        let dataset = self.open.get(index, open)?;
        Ok(WithSchema::with(dataset, Arc::clone(&self.items), Arc::clone(&part.mapping)))
    }
}

/// Removes the datasets without columns and entries, such as trees that were written before they got branches, if
/// there are other datasets. They say nothing about the columns of the other datasets.
fn leave_void(links: &mut Vec<Link>, infos: &mut Vec<FileInfo>) {
    let speaks = |file: &FileInfo| file.entries > 0 || !file.items.is_empty();
    let mut speaking = infos.iter().map(speaks).collect::<Vec<_>>().into_iter();
    if infos.iter().any(speaks) {
        links.retain(|_| speaking.next().unwrap_or(true));
        infos.retain(speaks);
    }
}

/// Opens all files and reads their properties. The first [`MAX_OPEN`] stay open.
fn open_all(links: &[Link], context: &Context) -> Result<Vec<FileInfo>> {
    let open = |link: &Link, keep: bool| {
        context.check()?;
        open_first(link, keep)
    };
    if !may_wait(links, context) {
        let find = |(index, link): (usize, &Link)| open(link, index < MAX_OPEN);
        return context.pool().install(|| links.par_iter().enumerate().map(find).collect());
    }
    // The files that stay open come last, so that never more files are open.
    let (stay_open, others) = links.split_at(links.len().min(MAX_OPEN));
    let others = wait_for_all(others, |link| open(link, false))?;
    let mut infos = wait_for_all(stay_open, |link| open(link, true))?;
    infos.extend(others);
    Ok(infos)
}

/// Returns whether threads may wait for these files. A worker of the pool may not wait for threads that need the
/// pool.
fn may_wait<'l>(links: impl IntoIterator<Item = &'l Link>, context: &Context) -> bool {
    context.pool().current_thread_index().is_none() && links.into_iter().any(|link| link.remote)
}

fn open_first(link: &Link, keep: bool) -> Result<FileInfo> {
    let dataset = (link.open)().in_file(&link.name)?;
    Ok(FileInfo {
        file: dataset.file().to_owned(),
        format: dataset.format(),
        object: dataset.name().to_owned(),
        entries: dataset.num_entries(),
        clusters: dataset.clusters(),
        items: [dataset.columns(), dataset.subcolumns()].concat(),
        below: dataset.columns().len(),
        backing: dataset.backing(&|name| dataset.find_column(name).is_some()),
        sizes: dataset.size_columns(),
        equal: dataset.equal_lengths(),
        dataset: keep.then_some(dataset),
    })
}

impl Dataset for Chain {
    fn format(&self) -> Format {
        self.format
    }

    fn name(&self) -> &str {
        &self.object
    }

    fn file(&self) -> &str {
        &self.title
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        different(self.links.iter().flat_map(|link| link.options.iter().cloned()))
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        self.open.close();
    }

    fn check_open(&self, entries: &Range<u64>) -> Result<()> {
        for (index, start, end) in self.within(entries) {
            self.check_not_closed(index)?;
            if let Some(dataset) = self.open.find(index) {
                dataset.check_open(&(start..end))?;
            }
        }
        Ok(())
    }

    fn num_entries(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.entries.end)
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.items[..self.below]
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        &self.items[self.below..]
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        let shift = |part: &FileOfChain| {
            let start = part.entries.start;
            let shift = move |range: &Range<u64>| start + range.start..start + range.end;
            part.clusters.iter().map(shift).collect::<Vec<_>>()
        };
        self.parts.iter().flat_map(shift).collect()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        let parts = self.within(&entries).collect::<Vec<_>>();
        let read = |&(index, start, end): &(usize, u64, u64), context: &Context| {
            context.check()?;
            self.open(index)?.read(names, start..end, context)
        };
        // Without entries, any file can give the types.
        if parts.is_empty() {
            return self.open(0)?.read(names, 0..0, context);
        }
        let links = || parts.iter().map(|(index, ..)| &self.links[*index]);
        let pieces: Vec<_> = if parts.len() > 1 && may_wait(links(), context) {
            // All files that are read at one time share the bytes that may be fetched ahead.
            let share = context.ahead_bytes() / parts.len().min(AT_ONCE) as u64;
            let context = context.clone().with_fetch_bytes(share);
            wait_for_all(&parts, |part| read(part, &context))?
        } else {
            let read = |part: &(usize, u64, u64)| read(part, context);
            context.pool().install(|| parts.par_iter().map(read).collect::<Result<_>>())?
        };
        let join = |column: usize| {
            let pieces = pieces.iter().filter_map(|piece| piece.get(column));
            concatenate(&pieces.map(AsRef::as_ref).collect::<Vec<_>>())
        };
        context.pool().install(|| (0..names.len()).into_par_iter().map(join).collect())
    }

    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let mut damaged: Vec<LeftOut> = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let inside = |range: &Range<u64>| {
                let start = range.start.max(part.entries.start);
                let end = range.end.min(part.entries.end);
                (start < end).then(|| start - part.entries.start..end - part.entries.start)
            };
            let entries: Vec<_> = entries.iter().filter_map(inside).collect();
            if entries.is_empty() {
                continue;
            }
            for LeftOut { column, reason } in self.open(index)?.damaged(names, &entries, context)? {
                if damaged.iter().all(|other| other.column != column) {
                    let reason = format!("{}: {reason}", self.links[index].name);
                    damaged.push(LeftOut { column, reason });
                }
            }
        }
        Ok(damaged)
    }

    fn without(&self, parts: &[LeftOut], context: &Context) -> Result<Option<AnyDataset>> {
        let parts: Arc<[LeftOut]> = parts.into();
        let links = self.links.iter().cloned();
        let links = links.map(|link| link.without(Arc::clone(&parts), context.clone()));
        let target = self.options.target.without(&parts, context)?;
        let options = ChainOptions { target, ..self.options.clone() };
        let chain = Self::new(links.collect(), &options, context)?;
        Ok(Some(Arc::new(Self { closed: Arc::clone(&self.closed), ..chain })))
    }
}

/// Joins several arrays of the same type.
fn concatenate(arrays: &[&dyn Array]) -> Result<ArrayRef> {
    arrow_select::concat::concat(arrays)
        .map_err(|error| Error::limit("the files do not fit one array").with_source(error))
}
