//! Adds entries to the RNTuples and TTrees of an existing file, and adds new RNTuples and TTrees.
//!
//! The file is changed in place. New data is written after its old end; then two small changes make it part
//! of the file (see [`RootFileWriter::update`]). A crash at any moment leaves the old file or the new file.

use std::path::Path;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::Schema;
use nyssa_data::dataset::Dataset;
use nyssa_io::Sink;
use nyssa_rntuple::read::Reader;
use nyssa_rntuple::write::{Existing, RNTupleWriteOptions, SharedFile, TableWriter};
use nyssa_root::Context;
use nyssa_root::error::{Result, ResultExt};
use nyssa_root::rootfile::writer::{FileOptions, RootFileWriter};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_ttree::model::{CountSource, load};
use nyssa_ttree::read::{Expected, MovedBasket, Reader as TreeReader};
use nyssa_ttree::stored::StoredTree;
use nyssa_ttree::write::{EmbeddedBasket, ExistingTree, TreeWriteOptions, TreeWriter};

/// A file that is open for changes in place.
///
/// ```
/// # use nyssa::arrow_schema::{DataType, Field, Schema};
/// # fn main() -> nyssa::Result<()> {
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("muons.root");
/// let context = nyssa::Context::new(None)?;
/// let schema = Schema::new(vec![Field::new("pt", DataType::Float32, false)]);
/// let options = nyssa::RNTupleWriteOptions::default();
/// let file = nyssa::create(&path, false)?;
/// file.table("Muons", &schema, options.clone(), &context)?.finish()?;
/// file.finish()?;
///
/// let update = nyssa::update(&path)?;
/// update.append("Muons", options, &context)?.finish()?;
/// update.file().finish()?;
/// # Ok(())
/// # }
/// ```
pub struct Update {
    /// The file before the update.
    old: RootFile,
    file: SharedFile,
}

impl Update {
    /// Opens a local file and locks it.
    ///
    /// # Errors
    /// `Io` when the file cannot be written, or when another program writes to it; `Unsupported` for files of a form
    /// that cannot be changed in place; an error if the file is damaged or cannot be read.
    pub fn open(path: &Path, options: FileOptions) -> Result<Self> {
        let update = nyssa_io::update(path)?;
        let old = RootFile::open(Arc::clone(&update.source))?;
        let end = old.header().end;
        Self::over(old, update.into_sink(end), options)
    }

    /// Starts an update of `old`; `sink` changes this file in place.
    ///
    /// # Errors
    /// `Unsupported` for files of a form that cannot be changed in place; an error if the file is damaged or cannot
    /// be read.
    pub fn over(old: RootFile, sink: Box<dyn Sink>, options: FileOptions) -> Result<Self> {
        let file = SharedFile::new(RootFileWriter::update(sink, &old, options)?);
        Ok(Self { old, file })
    }

    /// Returns the file in its state when it was opened.
    pub fn old(&self) -> &RootFile {
        &self.old
    }

    /// Returns the writer, to which new RNTuples are added.
    pub fn file(&self) -> &SharedFile {
        &self.file
    }

    /// Continues the RNTuple at `path`, `dir/name` or `dir/name;cycle`: rows are added after its last entry, in its
    /// encodings. See [`TableWriter::resume`].
    ///
    /// # Errors
    /// `NotFound` if there is no such RNTuple; `InvalidArgument` for options; `Unsupported` for columns of unknown
    /// types; an error if the RNTuple is damaged.
    pub fn append(
        &self,
        path: &str,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<TableWriter> {
        let key = self.old.find(path)?;
        let reader = Reader::open(&self.old, &format!("{};{}", key.path, key.cycle))?;
        let clusters: Vec<_> = reader.clusters_info()?.iter().cloned().collect();
        let existing = Existing {
            path: &key.path,
            cycle: key.cycle,
            anchor: reader.anchor(),
            header: reader.header(),
            footer: reader.footer(),
            schema: reader.schema(),
            clusters: &clusters,
        };
        TableWriter::resume(&self.file, &existing, options, context)
            .in_file(reader.file())
            .in_object(&key.path)
    }

    /// Continues the TTree at `path`, `dir/name` or `dir/name;cycle`: rows are added after its last entry, in new
    /// baskets of its branches. Its old baskets stay unchanged; baskets inside the tree object get their own keys.
    /// The tree object is written again when the rows are complete and replaces the old object, as with ROOT's
    /// `kOverwrite`. Also returns notes on parts that are lost. See [`TreeWriter`].
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` for trees to which no baskets can be added, with the branch and the reason;
    /// `OutOfSpecification` for a damaged tree. [`TreeWriter::check_entries`] says whether all branches can be filled.
    pub fn append_tree(
        &self,
        path: &str,
        options: TreeWriteOptions,
        context: &Context,
    ) -> Result<(TreeWriter, Vec<String>)> {
        let key = self.old.find(path)?;
        let path = key.path.clone();
        self.existing(key)
            .and_then(|existing| {
                let notes = notes(&existing);
                let writer = TreeWriter::resume(&self.file, existing, options, context)?;
                Ok((writer, notes))
            })
            .in_file(self.old.name())
            .in_object(&path)
    }

    /// Adds branches to a tree that [`Update::append_tree`] returned: one array for each column of `schema`, with a value
    /// for each entry so far. Later rows have these columns, too. Lists may have a counter of the tree, whose baskets are
    /// then read; all other baskets are not read. See [`TreeWriter::add_branches`].
    ///
    /// # Errors
    /// The reasons that [`TreeWriter::add_branches`] lists; an error if the counter cannot be read.
    pub fn add_branches(
        &self,
        tree: &mut TreeWriter,
        schema: &Schema,
        arrays: &[ArrayRef],
        options: &TreeWriteOptions,
    ) -> Result<()> {
        let (path, object) = (tree.path().to_owned(), tree.object());
        let mut counts = |name: &str| {
            let reader = TreeReader::open(&self.old, &object)?;
            let leaf = reader.branch(name).and_then(|branch| branch.leaves.first());
            let leaf = leaf.map_or_else(|| name.to_owned(), |leaf| leaf.name.clone());
            let source = CountSource { branch: name.to_owned(), leaf };
            reader.offsets(&source, 0..reader.tree().entries)
        };
        let added = tree.add_branches(schema, arrays, options, &mut counts);
        added.in_file(self.old.name()).in_object(&path)
    }

    fn existing(&self, key: KeyEntry) -> Result<ExistingTree> {
        let model = load(&self.old, &key)?;
        let stored = StoredTree::read_to_append(&self.old, &key)?;
        let mut embedded = Vec::new();
        for (at, branch) in stored.branches.iter().enumerate() {
            for (number, basket) in branch.baskets.iter().enumerate() {
                let Some(raw) = &basket.embedded else { continue };
                let moved = MovedBasket::embedded(raw, &Expected::of(basket));
                let moved = moved.at(|place| place.basket = Some(number as u64));
                let MovedBasket { head, payload, objlen } = moved.in_field(&branch.path)?;
                embedded.push(EmbeddedBasket { branch: at, number, head, payload, objlen });
            }
        }
        Ok(ExistingTree { key, model, stored, embedded })
    }

    /// Adds the written data to the file, and returns the size of the file in bytes. Without this call the file stays
    /// unchanged.
    ///
    /// # Errors
    /// `InvalidArgument` when it was finished before or an object in it is still being written.
    pub fn finish(self) -> Result<u64> {
        self.file.finish()
    }
}

/// Returns notes on the parts that a tree loses.
fn notes(existing: &ExistingTree) -> Vec<String> {
    match existing.stored.has_index {
        true => vec![format!(
            "{}: the index of its entries is left out when entries are added, TTree::BuildIndex makes a new one",
            existing.key.path
        )],
        false => Vec::new(),
    }
}
