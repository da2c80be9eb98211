//! Writes a tree.

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use rayon::prelude::*;

use super::basket::Basket;
use super::branch::{BranchWriter, Place};
use super::clusters::Clusters;
use super::columns::{self, BranchValues, Values};
use super::metadata;
use super::names;
use super::options::TreeWriteOptions;
use super::plan::Plan;
use super::seal::{Compressors, Sealed};
use crate::Context;
use crate::error::{Error, Result, ResultExt};
use crate::rootfile::writer::{RootFileWriter, StoredBasket};
use crate::shared_file::SharedFile;
use crate::streamer::{StreamerInfos, StreamerList};

/// The class of trees.
const CLASS: &str = "TTree";
/// The number of bytes that each thread takes from the rows at once.
const STEP_PER_THREAD: usize = 8 << 20;

/// Writes rows of Arrow arrays as one tree.
pub struct TreeWriter {
    file: SharedFile,
    /// The path in the file: directories and name.
    path: String,
    options: TreeWriteOptions,
    plan: Plan,
    branches: Vec<BranchWriter>,
    clusters: Clusters,
    entries: u64,
    compressors: Compressors,
    context: Context,
    /// Whether an error came in the middle of writing.
    failed: bool,
}

/// The totals of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// The number of entries.
    pub entries: u64,
    /// The number of bytes of all baskets with their keys, before compression.
    pub tot_bytes: u64,
    /// The number of bytes of all baskets with their keys.
    pub zip_bytes: u64,
    /// The number of baskets.
    pub baskets: u64,
}

/// A basket with the branch to which it belongs, sealed.
struct Done {
    branch: usize,
    basket: Basket,
    sealed: Sealed,
}

impl TreeWriter {
    /// Starts the tree `path` in `file` for rows with the columns of `schema`.
    ///
    /// # Errors
    /// `InvalidArgument` for options and names that cannot be written, and when the file already has that path;
    /// `Unsupported` for types that a tree cannot hold.
    pub fn create(
        file: &SharedFile,
        path: &str,
        schema: &Schema,
        options: TreeWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let path = path.trim_matches('/');
        let (_, name) = split(path);
        names::check("a tree", name)?;
        options.validate()?;
        let plan = Plan::new(schema, &options)?;
        let forms = plan.branches.iter().cloned();
        let branches = forms.map(|form| BranchWriter::new(form, name, &options)).collect();
        file.begin(path)?;
        file.add_streamer_infos(&StreamerList::of_trees()?)?;
        Ok(Self {
            file: file.clone(),
            path: path.to_owned(),
            clusters: Clusters::new(options.auto_flush),
            options,
            plan,
            branches,
            entries: 0,
            compressors: Compressors::default(),
            context: context.clone(),
            failed: false,
        })
    }

    /// Returns the number of entries so far.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Returns the names of the columns that rows have, in their order.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.plan.columns.iter().map(|(name, _)| name.as_str())
    }

    /// Appends rows: one array of the same length for each column of the schema, in order. Full baskets are written.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that do not fit; then no row of this call is written. The errors of the sink, and
    /// `Cancelled`.
    pub fn extend(&mut self, arrays: &[ArrayRef]) -> Result<()> {
        self.check()?;
        let rows = arrays.first().map_or(0, |array| array.len());
        let values = columns::split(&self.plan, arrays)?;
        let bytes = values.iter().zip(&self.branches).map(|(one, branch)| size(one, branch)).sum();
        let step = self.rows_of_step(rows, bytes);
        self.guarded(|writer| {
            let mut row = 0;
            while row < rows {
                writer.context.check()?;
                let end = rows.min(row.saturating_add(step));
                row = writer.append(&values, row, end)?;
            }
            Ok(())
        })
    }

    /// Ends the open cluster: all open baskets are written. Otherwise the options say where clusters end.
    ///
    /// # Errors
    /// The errors of the sink.
    pub fn flush(&mut self) -> Result<()> {
        self.check()?;
        self.guarded(|writer| {
            writer.flush_baskets()?;
            writer.clusters.close(writer.entries);
            Ok(())
        })
    }

    /// Writes the open baskets and the tree itself. The file must be finished separately.
    ///
    /// # Errors
    /// As [`TreeWriter::flush`]; `LimitExceeded` for a tree whose metadata have more than 1 GiB.
    pub fn finish(mut self) -> Result<TreeReport> {
        self.check()?;
        if self.clusters.are_automatic() || self.clusters.start > 0 {
            self.flush()?;
        } else {
            self.guarded(Self::flush_baskets)?;
        }
        let (dir, name) = split(&self.path);
        let title = &self.options.title;
        let clusters = self.clusters.describe();
        let tree = metadata::tree(name, &self.options, self.entries, &self.branches, &clusters);
        let keylen = RootFileWriter::object_keylen(CLASS, name, title);
        let tree = tree.serialize(&StreamerInfos::of_trees()?, keylen).in_object(&self.path)?;
        let compression = self.options.compression;
        self.file
            .with(|file| file.write_object(dir, CLASS, name, title, &tree.bytes, compression))?;
        self.file.end(&self.path);
        let sum = |count: fn(&BranchWriter) -> u64| self.branches.iter().map(count).sum();
        Ok(TreeReport {
            entries: self.entries,
            tot_bytes: sum(|branch| branch.tot_bytes),
            zip_bytes: sum(|branch| branch.zip_bytes),
            baskets: sum(|branch| branch.places.len() as u64),
        })
    }

    fn check(&self) -> Result<()> {
        match self.failed {
            true => Err(Error::invalid_argument("an earlier error ended the writing of this tree")),
            false => Ok(()),
        }
    }

    fn guarded<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.failed = true;
        let done = write(self)?;
        self.failed = false;
        Ok(done)
    }

    /// Returns how many rows are taken at once, so that the baskets in flight have a limited size.
    fn rows_of_step(&self, rows: usize, bytes: usize) -> usize {
        let limit = STEP_PER_THREAD * self.context.threads();
        (limit / (bytes / rows.max(1)).max(1)).max(1)
    }

    /// Appends the rows from `row` to `end`, or fewer if a cluster ends before. Returns the next row.
    fn append(&mut self, values: &[BranchValues], row: usize, end: usize) -> Result<usize> {
        let start = self.entries;
        let left = self.clusters.end().map_or(u64::MAX, |end| end.saturating_sub(start));
        let end = end.min(row.saturating_add(usize::try_from(left).unwrap_or(usize::MAX)));
        let full = self.fill(values, row..end)?;
        let done = self.seal(full)?;
        let reached = start + (end - row) as u64;
        if let Some(cluster) = self.cluster_of_bytes(&done) {
            self.cut(done, cluster)?;
            return Ok(row + (cluster - start) as usize);
        }
        self.commit(done)?;
        self.entries = reached;
        if self.clusters.end() == Some(reached) {
            self.flush_baskets()?;
            self.end_cluster(reached);
        }
        Ok(end)
    }

    /// Fills all branches, and returns the baskets that are full in the order in which they became so.
    fn fill(
        &mut self,
        values: &[BranchValues],
        rows: std::ops::Range<usize>,
    ) -> Result<Vec<(usize, Basket)>> {
        let branches = &mut self.branches;
        let filled: Vec<Vec<Basket>> = self.context.pool().install(|| {
            let each = branches.par_iter_mut().zip(values);
            let fill = |(branch, values): (&mut BranchWriter, &BranchValues)| {
                let name = branch.form.name.clone();
                let _span = tracing::trace_span!("encode", column = name.as_str()).entered();
                branch.fill(values, rows.clone()).in_field(&branch.form.name)
            };
            each.map(fill).collect::<Result<_>>()
        })?;
        let numbered = filled.into_iter().enumerate();
        let mut full: Vec<(usize, Basket)> = numbered
            .flat_map(|(at, baskets)| baskets.into_iter().map(move |one| (at, one)))
            .collect();
        full.sort_by_key(|(branch, basket)| (basket.end(), *branch));
        Ok(full)
    }

    /// Compresses baskets on all threads. Their order stays.
    fn seal(&self, full: Vec<(usize, Basket)>) -> Result<Vec<Done>> {
        let (branches, compressors) = (&self.branches, &self.compressors);
        let seal = |(at, mut basket): (usize, Basket)| {
            let branch: &BranchWriter = &branches[at];
            let _span = tracing::trace_span!("seal", column = branch.form.name.as_str()).entered();
            let sealed = compressors.seal(&mut basket, branch.keylen, branch.compression);
            Ok(Done { branch: at, basket, sealed: sealed.in_field(&branch.form.name)? })
        };
        self.context.pool().install(|| full.into_par_iter().map(seal).collect())
    }

    /// Returns the end of the first cluster, if these baskets end it by their compressed bytes.
    fn cluster_of_bytes(&self, done: &[Done]) -> Option<u64> {
        let limit = self.clusters.bytes()?;
        let mut bytes: u64 = self.branches.iter().map(|branch| branch.zip_bytes).sum();
        let last = done.iter().find(|done| {
            bytes += (self.branches[done.branch].keylen + done.sealed.payload.len()) as u64;
            bytes > limit
        })?;
        Some(last.basket.end())
    }

    /// Ends the first cluster at `end`. The entries behind it are dropped: their rows come again.
    fn cut(&mut self, done: Vec<Done>, end: u64) -> Result<()> {
        let open = self.branches.iter_mut().enumerate();
        let open: Vec<_> = open.filter_map(|(at, branch)| Some((at, branch.flush()?))).collect();
        let (before, behind): (Vec<_>, Vec<_>) =
            done.into_iter().partition(|done| done.basket.end() <= end);
        self.commit(before)?;
        let behind = behind.into_iter().map(|done| (done.branch, done.basket));
        let cut = behind.chain(open).filter_map(|(at, mut basket)| {
            (basket.first < end && basket.truncate(end)).then_some((at, basket))
        });
        let mut cut: Vec<_> = cut.collect();
        cut.sort_by_key(|(branch, _)| *branch);
        let done = self.seal(cut)?;
        self.commit(done)?;
        self.branches.iter_mut().for_each(|branch| branch.restart(end));
        self.entries = end;
        self.clusters.settle(end);
        self.end_cluster(end);
        Ok(())
    }

    /// Writes sealed baskets.
    fn commit(&mut self, done: Vec<Done>) -> Result<()> {
        let (dir, tree) = split(&self.path);
        let branches = &mut self.branches;
        self.file.with(|file| {
            for Done { branch, basket, sealed } in done {
                let branch = &mut branches[branch];
                let bytes_in = sealed.payload.len() as u64;
                let name = branch.form.name.as_str();
                let _span = tracing::trace_span!("commit", column = name, bytes_in).entered();
                let stored = StoredBasket {
                    dir,
                    branch: &branch.form.name,
                    tree,
                    number: branch.places.len() as u64,
                    header: &sealed.header,
                    payload: &sealed.payload,
                    objlen: sealed.objlen as u64,
                };
                let (seek, bytes) = file.write_basket(&stored).in_field(&branch.form.name)?;
                branch.places.push(Place { seek, bytes, first: basket.first });
                branch.tot_bytes += (branch.keylen + sealed.objlen) as u64;
                branch.zip_bytes += bytes;
            }
            Ok(())
        })
    }

    fn flush_baskets(&mut self) -> Result<()> {
        let open = self.branches.iter_mut().enumerate();
        let open: Vec<_> = open.filter_map(|(at, branch)| Some((at, branch.flush()?))).collect();
        let done = self.seal(open)?;
        self.commit(done)
    }

    /// Ends a cluster whose size the options say.
    fn end_cluster(&mut self, end: u64) {
        let first = self.clusters.start == 0;
        self.clusters.close(end);
        if first && self.options.optimize_baskets {
            self.branches.iter_mut().for_each(|branch| branch.optimize(end));
        }
    }
}

/// Returns the size in bytes of the values of a branch.
fn size(values: &BranchValues, branch: &BranchWriter) -> usize {
    match (&values.values, &values.items) {
        (Values::Text(ends, bytes), _) => bytes.len() + 5 * ends.len(),
        (Values::Vectors(vectors), _) => {
            let levels = vectors.levels.iter().map(|level| 8 * level.len()).sum::<usize>();
            levels + vectors.items.bytes()
        }
        (Values::Counts, Some(items)) => items.len() * branch.form.item_size(),
        (Values::Leaves(leaves), _) => {
            leaves.iter().map(|leaf| leaf.get_buffer_memory_size().min(leaf.len() * 8)).sum()
        }
        _ => 0,
    }
}

/// Splits a path into directory and name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
