//! Reads a stored tree with the places of the members that new baskets change.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use nyssa_io::Source;
use nyssa_root::distinct::Distinct;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::values::{EditedObject, ObjectId, Value, View};

use super::form::{CLASS_NAMES, LeafForm, form};
use super::{ClusterRuns, References};
use crate::model::{Basket, Files, JoinedFiles, basket_table, first_entry, place_in_file};
use crate::read::basket_header::GENERATE_OFFSETS;
use crate::read::{EntryReferences, Renumbering};

/// The classes of leaves of integers.
const INTEGERS: [&str; 4] = ["TLeafB", "TLeafS", "TLeafI", "TLeafL"];
/// The classes of the leaves of other numbers that are stored as they are.
const FLOATS: [&str; 3] = ["TLeafF", "TLeafD", "TLeafO"];

/// The class of the branch of a `TClonesArray` that is split the old way.
const CLONES: &str = "TBranchClones";

/// A tree in its stored form.
pub struct StoredTree {
    /// The number of entries.
    pub entries: u64,
    /// The bytes of all baskets with their keys, before compression and as stored.
    pub bytes: (i64, i64),
    /// The clusters.
    pub clusters: ClusterRuns,
    /// All branches. A branch comes before the branches below it.
    pub branches: Vec<StoredBranch>,
    /// The number of entries for which the tree has ranges of clusters.
    pub ranged: u64,
    /// Whether the tree has an index of its entries.
    pub has_index: bool,
    /// The table of the references between objects (`TTree::fBranchRef`). Its branch is the last branch.
    pub references: Option<References>,
    /// The numbers that the processes of its references get.
    pub processes: Renumbering,
    /// The finder of the references in entries that move.
    pub entry_references: EntryReferences,
    /// The bytes of the file, and of the other files with baskets.
    source: Arc<dyn Source>,
    /// The file and the other files, if there are other files.
    files: Option<Arc<JoinedFiles>>,
    pub(super) object: EditedObject,
}

/// How a counter gives the size of each entry of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The branch that counts the items.
    pub counter: usize,
    /// The size of an item in bytes.
    pub item_size: usize,
}

/// A branch of a stored tree.
#[derive(Debug)]
pub struct StoredBranch {
    /// The unique path.
    pub path: String,
    /// The name.
    pub name: String,
    /// The properties that must be equal in trees that are joined, with their values.
    pub(super) form: Vec<(String, String)>,
    /// The baskets in order of entries.
    pub baskets: Vec<Basket>,
    /// The bytes of its baskets with their keys, before compression and as stored.
    pub bytes: (i64, i64),
    /// The compression as ROOT's number (`fCompress`).
    pub compression: i64,
    /// The size of a basket with its key, in bytes (`fBasketSize`).
    pub basket_size: i64,
    /// Whether baskets have the offsets of their entries (`fEntryOffsetLen`).
    pub has_offsets: bool,
    /// The largest number of items, for a collection that is split.
    pub maximum: Option<i64>,
    /// The bits (`TObject::fBits`).
    pub(super) bits: i64,
    /// Whether a basket may leave out the offsets that a counter gives (`kGenerateOffsetMap`).
    pub(super) generates_offsets: bool,
    /// The branch above it.
    pub parent: Option<usize>,
    /// The branches that count its items.
    pub counters: Vec<usize>,
    /// Whether its baskets are in another file (`fFileName`); the reason if this file may not be read.
    pub(super) elsewhere: Option<std::result::Result<(), String>>,
    /// The leaves.
    pub leaves: Vec<StoredLeaf>,
    pub(super) id: ObjectId,
}

/// The properties of a leaf that more entries change.
#[derive(Clone, Copy, Debug)]
pub struct StoredLeaf {
    /// The smallest and the largest value, if they are integers.
    pub range: Option<(i64, i64)>,
    /// The length of the longest string with its end, for a leaf of strings.
    pub text: Option<i64>,
    pub(super) id: ObjectId,
}

impl StoredTree {
    /// Reads the tree of a key, to which entries are added.
    ///
    /// # Errors
    /// The reasons that [`Self::read`] lists; `Unsupported` for trees with baskets in other files, and for trees with
    /// references between objects.
    pub fn read_to_append(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let tree = Self::read_in_place(file, key)?;
        let far = tree.branches.iter().find(|branch| branch.elsewhere.is_some());
        let refused = match (&tree.references, far) {
            (Some(_), _) => {
                Err(Error::unsupported("it has references between objects (TBranchRef)"))
            }
            (None, Some(far)) => {
                Err(Error::unsupported("its baskets are in another file")).in_field(&far.path)
            }
            (None, None) => Ok(()),
        };
        refused.in_file(file.name()).in_object(&key.path)?;
        Ok(tree)
    }

    /// Reads the tree of a key, whose baskets come into another file. Other files with its baskets are not opened.
    ///
    /// # Errors
    /// `Unsupported` with the reason for trees to which no baskets can be added, and for objects that only files of this
    /// version have in their form; an error if the object is damaged or cannot be read.
    pub fn read(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let tree = Self::read_in_place(file, key)?;
        match file.streamer_infos()?.untagged_array(tree.classes()) {
            None => Ok(tree),
            Some(member) => Err(Error::unsupported(format!(
                "{member} is an array of pointers, which files of ROOT before 5.15/09 have in a form of their own: the \
                 objects would not be read from a file of today"
            )))
            .in_file(file.name())
            .in_object(&key.path),
        }
    }

    fn read_in_place(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let payload = file.payload(key)?;
        let object = EditedObject::read(infos.complete(), &key.class, payload, key.keylen);
        let tree = object.and_then(|object| Self::of(object, file, key));
        tree.in_file(file.name()).in_object(&key.path)
    }

    /// Returns the bytes of the file of the tree, and of the other files with baskets.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Returns the bytes of [`Self::source`] that are a basket of the file, or of another file, which is then opened.
    ///
    /// # Errors
    /// `OutOfSpecification` for a basket beyond the end of its file; `Unsupported` with its name for another file that is
    /// missing or that may not be read; `Io`.
    pub fn range(&self, basket: &Basket) -> Result<Range<u64>> {
        let file = match &self.files {
            Some(files) => files.extent(basket.seek)?,
            None => 0..self.source.size(),
        };
        let range = basket.seek..basket.seek.saturating_add(basket.bytes);
        match range.end <= file.end {
            true => Ok(range),
            false => Err(Error::out_of_spec(format!(
                "the basket is said to end at byte {}, the file ends at byte {}",
                place_in_file(basket.seek).saturating_add(basket.bytes),
                file.end - file.start
            ))),
        }
    }

    /// Returns how a counter gives the size of each entry of a branch: it is an array of numbers that one branch of
    /// integers counts.
    pub fn counted(&self, at: usize) -> Option<Counted> {
        let branch = self.branches.get(at).filter(|branch| branch.may_lack_offsets())?;
        let (item, [counter]) = (branch.only_leaf()?, &branch.counters[..]) else { return None };
        let counts = self.branches.get(*counter)?.only_leaf()?;
        let counts = INTEGERS.contains(&counts.class.as_str()) && counts.len == 1;
        let is_number =
            INTEGERS.contains(&item.class.as_str()) || FLOATS.contains(&item.class.as_str());
        (counts && is_number && item.len > 0)
            .then_some(Counted { counter: *counter, item_size: item.len.checked_mul(item.size)? })
    }

    /// Opens the other file with the baskets of a branch, if they are in another file.
    ///
    /// # Errors
    /// `Unsupported` with branch and file for a file that is missing or that may not be read; `Io`.
    pub fn reach(&self, branch: &StoredBranch) -> Result<()> {
        let first = || branch.baskets.iter().find(|basket| basket.embedded.is_none());
        let reached = match (&branch.elsewhere, &self.files) {
            (None, _) => return Ok(()),
            (Some(Err(reason)), _) => Err(Error::unsupported(reason.clone())),
            (Some(Ok(())), Some(files)) if let Some(basket) = first() => {
                files.extent(basket.seek).map(drop)
            }
            _ => Ok(()),
        };
        reached.in_field(&branch.path)
    }

    /// Returns the names of the classes of its branches.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let form = self.branches.iter().flat_map(|branch| &branch.form);
        form.filter(|(name, _)| CLASS_NAMES.contains(&&**name)).map(|(_, class)| class.as_str())
    }

    fn of(object: EditedObject, file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let source = file.source();
        let view = object.object().root();
        let mut files = Files::new(Some(Arc::clone(source)));
        find_files(view, &mut files, &mut HashSet::new())?;
        let entries = view.u64("fEntries")?;
        let optional = |name: &str| match view.get(name) {
            Some(_) => view.i64s(name),
            None => Ok(Vec::new()),
        };
        let (ends, sizes) = (optional("fClusterRangeEnd")?, optional("fClusterSize")?);
        let ranged =
            ends.last().map_or(0, |&end| u64::try_from(end.saturating_add(1)).unwrap_or(0));
        let ranges = ends.into_iter().zip(sizes);
        let auto_flush = if view.get("fAutoFlush").is_some() { view.i64("fAutoFlush")? } else { 0 };
        let has_index = matches!(view.get("fTreeIndex"), Some(Value::Object(_)));
        let mut branches = Vec::new();
        collect(view, (None, ""), (entries, &files), &mut Distinct::default(), &mut branches)?;
        let mut references = None;
        if let Some(Value::Object(id)) = view.get("fBranchRef") {
            let table = view.of(*id);
            let path = table.str("fName")?;
            let known: Vec<_> = branches.iter().map(|item| (item.id, item.path.as_str())).collect();
            references = Some(References::read(table, &known).in_field(path)?);
            branches.push(branch(table, path, (entries, &files)).in_field(path)?);
        }
        for (branch, counters) in counters(view, &branches)?.into_iter().enumerate() {
            branches[branch].counters = counters;
        }
        let table =
            references.as_ref().map(|table: &References| branches[table.branch].path.clone());
        let files = files.joined();
        Ok(Self {
            entries,
            bytes: bytes(view)?,
            clusters: ClusterRuns::of(entries, ranges, auto_flush),
            branches,
            ranged: ranged.min(entries),
            has_index,
            processes: Renumbering::new(file, key, table),
            entry_references: EntryReferences::new(file, key),
            references,
            source: files
                .as_ref()
                .map_or_else(|| Arc::clone(source), |files| Arc::clone(files) as _),
            files,
            object,
        })
    }
}

impl StoredBranch {
    /// Returns whether only the counter of a branch may say where the entries of its baskets begin.
    pub fn may_lack_offsets(&self) -> bool {
        self.has_offsets && self.generates_offsets && !self.counters.is_empty()
    }

    /// Returns whether the branches below it hold the members of a `TClonesArray` that is split the old way
    /// (`TBranchClones`). No branch can be removed below it.
    pub fn is_old_clones(&self) -> bool {
        self.property("class") == Some(CLONES)
    }

    /// Returns the leaf of a branch without a class that has one leaf.
    fn only_leaf(&self) -> Option<LeafForm> {
        let is_plain = self.leaves.len() == 1 && self.property("class") == Some("TBranch");
        if is_plain { LeafForm::of(&self.form) } else { None }
    }

    /// Returns a member of the branch that must be equal in trees that are joined, as text.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Finds the files that the branches below `parent` name.
fn find_files(parent: View<'_>, files: &mut Files, seen: &mut HashSet<ObjectId>) -> Result<()> {
    for branch in parent.list("fBranches")?.into_iter().flatten() {
        if !seen.insert(branch.id()) {
            return Err(Error::out_of_spec("branch is listed twice"))
                .in_field(branch.str("fName")?);
        }
        files.find(branch.str_or_empty("fFileName")?);
        find_files(branch, files, seen)?;
    }
    Ok(())
}

/// Reads a branch that is streamed alone, without baskets, and all branches below it.
pub(crate) fn branches_of(view: View<'_>) -> Result<Vec<StoredBranch>> {
    let files = Files::new(None);
    let (own, mut paths) = (view.str("fName")?, Distinct::default());
    let path = paths.give(own, true);
    let mut branches = vec![branch(view, &path, (0, &files))?];
    collect(view, (Some(0), &format!("{path}/")), (0, &files), &mut paths, &mut branches)?;
    Ok(branches)
}

/// Adds the branches below `parent`.
fn collect(
    parent: View<'_>,
    (above, prefix): (Option<usize>, &str),
    tree: (u64, &Files),
    paths: &mut Distinct,
    out: &mut Vec<StoredBranch>,
) -> Result<()> {
    for view in parent.list("fBranches")?.into_iter().flatten() {
        let path = paths.give(&format!("{prefix}{}", view.str("fName")?), true);
        let branch = branch(view, &path, tree).in_field(&path)?;
        let own = out.len();
        out.push(StoredBranch { parent: above, ..branch });
        collect(view, (Some(own), &format!("{path}/")), tree, paths, out)?;
    }
    Ok(())
}

/// Reads a branch of a tree that has some entries, and some other files.
fn branch(view: View<'_>, path: &str, tree: (u64, &Files)) -> Result<StoredBranch> {
    let (entries, files) = tree;
    if view.class() == CLONES {
        return clones(view, path, entries);
    }
    if let first @ 1.. = first_entry(view)? {
        return Err(Error::unsupported(format!(
            "it has no values before entry {first} of the tree"
        )));
    }
    let own = view.u64("fEntries")?;
    let has_branches = !view.list("fBranches")?.is_empty();
    let mut table = basket_table(view, 0..own)?;
    let elsewhere = match view.str_or_empty("fFileName")? {
        "" => None,
        file => Some(match files.known(file) {
            Ok(start) => {
                table.shift(start, files.most_offset());
                Ok(())
            }
            Err(reason) => Err(format!("its baskets are in another file, {file:?}: {reason}")),
        }),
    };
    if !(table.baskets.is_empty() && has_branches) {
        table.complete.map_err(Error::unsupported)?;
        if own != entries {
            let message = format!("it has {own} entries, the tree has {entries}");
            return Err(Error::unsupported(message));
        }
    }
    if table.baskets.iter().any(|basket| basket.embedded.is_none() && basket.bytes == 0) {
        return Err(Error::unsupported("it does not say how large its baskets are"));
    }
    if view.get("fBasketSeek").is_none() || view.get("fBasketBytes").is_none() {
        return Err(Error::unsupported("it is of a very old version of ROOT"));
    }
    let leaves: Vec<View<'_>> = view.list("fLeaves")?.into_iter().flatten().collect();
    Ok(StoredBranch {
        path: path.to_owned(),
        name: view.str("fName")?.to_owned(),
        form: form(view, &leaves)?,
        baskets: table.baskets,
        bytes: bytes(view)?,
        compression: view.i64("fCompress")?,
        basket_size: view.i64("fBasketSize")?,
        has_offsets: view.i64("fEntryOffsetLen")? != 0,
        maximum: view.get("fMaximum").and_then(Value::as_i64),
        bits: view.get("fBits").and_then(Value::as_i64).unwrap_or(0),
        generates_offsets: generates_offsets(view)?,
        parent: None,
        counters: Vec::new(),
        elsewhere,
        leaves: leaves.iter().map(|&leaf| stored_leaf(leaf)).collect::<Result<_>>()?,
        id: view.id(),
    })
}

/// Reads the branch of a `TClonesArray` that is split the old way. It has no baskets: the first branch below it counts
/// the objects.
fn clones(view: View<'_>, path: &str, entries: u64) -> Result<StoredBranch> {
    let own = view.u64("fEntries")?;
    if own != entries {
        return Err(Error::unsupported(format!("it has {own} entries, the tree has {entries}")));
    }
    let class = view.str("fClassName")?.to_owned();
    Ok(StoredBranch {
        path: path.to_owned(),
        name: view.str("fName")?.to_owned(),
        form: vec![("class".to_owned(), CLONES.to_owned()), (CLASS_NAMES[0].to_owned(), class)],
        baskets: Vec::new(),
        bytes: (0, 0),
        compression: 0,
        basket_size: 0,
        has_offsets: false,
        maximum: None,
        bits: 0,
        generates_offsets: false,
        parent: None,
        counters: Vec::new(),
        elsewhere: None,
        leaves: Vec::new(),
        id: view.id(),
    })
}

/// Returns the branches that count the items of each branch: by their leaves (`fLeafCount`), or as branches
/// (`fBranchCount`, `fBranchCount2`).
fn counters(tree: View<'_>, branches: &[StoredBranch]) -> Result<Vec<Vec<usize>>> {
    let mut owners = HashMap::new();
    for (at, branch) in branches.iter().enumerate() {
        owners.insert(branch.id, at);
        owners.extend(branch.leaves.iter().map(|leaf| (leaf.id, at)));
    }
    let of_branch = |(at, branch): (usize, &StoredBranch)| {
        let view = tree.of(branch.id);
        let leaves = branch.leaves.iter().map(|leaf| tree.of(leaf.id).get("fLeafCount"));
        let counters = leaves.chain(["fBranchCount", "fBranchCount2"].map(|name| view.get(name)));
        let mut counter_branches = Vec::new();
        for counter in counters {
            let Some(Value::Object(id)) = counter else { continue };
            let other = || Error::unsupported("a part of another tree counts its items");
            let owner = *owners.get(id).ok_or_else(other).in_field(&branch.path)?;
            if owner != at && !counter_branches.contains(&owner) {
                counter_branches.push(owner);
            }
        }
        Ok(counter_branches)
    };
    branches.iter().enumerate().map(of_branch).collect()
}

/// Returns whether baskets of a branch may leave out offsets (`fIOFeatures`).
fn generates_offsets(view: View<'_>) -> Result<bool> {
    let Some(Value::Object(features)) = view.get("fIOFeatures") else { return Ok(false) };
    Ok(view.of(*features).u64("fIOBits")? & u64::from(GENERATE_OFFSETS) != 0)
}

fn stored_leaf(view: View<'_>) -> Result<StoredLeaf> {
    let limit = |name: &str| view.get(name).and_then(Value::as_i64);
    let text = if view.class() == "TLeafC" { Some(view.i64("fLen")?) } else { None };
    let range = limit("fMinimum").zip(limit("fMaximum"));
    Ok(StoredLeaf { range, text, id: view.id() })
}

fn bytes(view: View<'_>) -> Result<(i64, i64)> {
    Ok((view.i64("fTotBytes")?, view.i64("fZipBytes")?))
}
