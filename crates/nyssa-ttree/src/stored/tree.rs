//! Reads a stored tree with the places of the members that new baskets change.

use std::collections::HashMap;

use nyssa_root::distinct::Distinct;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::values::{EditedObject, ObjectId, Value, View};

use super::ClusterRuns;
use crate::model::{Basket, basket_table, first_entry};
use crate::read::basket_header::GENERATE_OFFSETS;

/// The properties of branches that are names of classes.
const CLASS_NAMES: [&str; 2] = ["fClassName", "fClonesName"];

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
    /// The branch with the table of the references between objects (`TTree::fBranchRef`), which is the last branch.
    pub references: Option<usize>,
    pub(super) object: EditedObject,
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
    /// Whether a basket may leave out the offsets that a counter gives (`kGenerateOffsetMap`).
    pub(super) generates_offsets: bool,
    /// The branch above it.
    pub parent: Option<usize>,
    /// The branches that count its items.
    pub counters: Vec<usize>,
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
    /// Reads the tree of a key.
    ///
    /// # Errors
    /// `Unsupported` with the reason for trees to which no baskets can be added; an error if the object is damaged or
    /// cannot be read.
    pub fn read(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let tree = Self::read_with_references(file, key)?;
        match tree.references {
            Some(_) => Err(Error::unsupported("it has references between objects (TBranchRef)"))
                .in_file(file.name())
                .in_object(&key.path),
            None => Ok(tree),
        }
    }

    /// Reads the tree of a key, which may have a table of the references between its objects ([`Self::references`]).
    ///
    /// # Errors
    /// `Unsupported` with the reason for trees to which no baskets can be added; an error if the object is damaged or
    /// cannot be read.
    pub fn read_with_references(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let infos = file.streamer_infos()?;
        let payload = file.payload(key)?;
        let object = EditedObject::read(infos.complete(), &key.class, payload, key.keylen);
        object.and_then(Self::of).in_file(file.name()).in_object(&key.path)
    }

    /// Returns the names of the classes of its branches.
    pub fn classes(&self) -> impl Iterator<Item = &str> {
        let form = self.branches.iter().flat_map(|branch| &branch.form);
        form.filter(|(name, _)| CLASS_NAMES.contains(&&**name)).map(|(_, class)| class.as_str())
    }

    fn of(object: EditedObject) -> Result<Self> {
        let view = object.object().root();
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
        collect(view, (None, ""), entries, &mut Distinct::default(), &mut branches)?;
        let mut references = None;
        if let Some(Value::Object(id)) = view.get("fBranchRef") {
            let table = view.of(*id);
            let path = table.str("fName")?;
            references = Some(branches.len());
            branches.push(branch(table, path, entries).in_field(path)?);
        }
        for (branch, counters) in counters(view, &branches)?.into_iter().enumerate() {
            branches[branch].counters = counters;
        }
        Ok(Self {
            entries,
            bytes: bytes(view)?,
            clusters: ClusterRuns::of(entries, ranges, auto_flush),
            branches,
            ranged: ranged.min(entries),
            has_index,
            references,
            object,
        })
    }
}

impl StoredBranch {
    /// Returns whether only the counter of a branch may say where the entries of its baskets begin.
    pub fn may_lack_offsets(&self) -> bool {
        self.has_offsets && self.generates_offsets && !self.counters.is_empty()
    }

    /// Returns a member of the branch that must be equal in trees that are joined, as text.
    pub fn property(&self, name: &str) -> Option<&str> {
        self.form.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Adds the branches below `parent`.
fn collect(
    parent: View<'_>,
    (above, prefix): (Option<usize>, &str),
    entries: u64,
    paths: &mut Distinct,
    out: &mut Vec<StoredBranch>,
) -> Result<()> {
    for view in parent.list("fBranches")?.into_iter().flatten() {
        let path = paths.give(&format!("{prefix}{}", view.str("fName")?), true);
        let branch = branch(view, &path, entries).in_field(&path)?;
        let own = out.len();
        out.push(StoredBranch { parent: above, ..branch });
        collect(view, (Some(own), &format!("{path}/")), entries, paths, out)?;
    }
    Ok(())
}

fn branch(view: View<'_>, path: &str, entries: u64) -> Result<StoredBranch> {
    if view.class() == "TBranchClones" {
        return Err(Error::unsupported(
            "its objects are split the old way (TBranchClones), which is read and converted, but not joined: merge \
             with ROOT's hadd, or convert the files and merge those",
        ));
    }
    let file = view.str_or_empty("fFileName")?;
    if !file.is_empty() {
        return Err(Error::unsupported(format!("its baskets are in another file, {file:?}")));
    }
    if let first @ 1.. = first_entry(view)? {
        return Err(Error::unsupported(format!(
            "it has no values before entry {first} of the tree"
        )));
    }
    let own = view.u64("fEntries")?;
    let has_branches = !view.list("fBranches")?.is_empty();
    let table = basket_table(view, 0..own)?;
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
        generates_offsets: generates_offsets(view)?,
        parent: None,
        counters: Vec::new(),
        leaves: leaves.iter().map(|&leaf| stored_leaf(leaf)).collect::<Result<_>>()?,
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
        let mut found = Vec::new();
        for counter in counters {
            let Some(Value::Object(id)) = counter else { continue };
            let other = || Error::unsupported("a part of another tree counts its items");
            let owner = *owners.get(id).ok_or_else(other).in_field(&branch.path)?;
            if owner != at && !found.contains(&owner) {
                found.push(owner);
            }
        }
        Ok(found)
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

/// Returns the properties that must be equal in trees that are joined.
fn form(view: View<'_>, leaves: &[View<'_>]) -> Result<Vec<(String, String)>> {
    let mut form = vec![("class".to_owned(), view.class().to_owned())];
    let offsets = view.i64("fEntryOffsetLen")? != 0;
    form.push(("entry offsets".to_owned(), if offsets { "some" } else { "none" }.to_owned()));
    let add = |form: &mut Vec<_>, owner: &str, view: View<'_>, names: &[&str]| {
        for &name in names {
            let value = match view.get(name) {
                Some(Value::Text(text)) => text.to_string(),
                Some(value) => value.as_i64().map_or_else(String::new, |value| value.to_string()),
                None => continue,
            };
            form.push((format!("{owner}{name}"), value));
        }
    };
    let element = [
        CLASS_NAMES[0],
        CLASS_NAMES[1],
        "fClassVersion",
        "fCheckSum",
        "fID",
        "fType",
        "fStreamerType",
    ];
    add(&mut form, "", view, &element);
    for leaf in leaves {
        let (class, name) = (leaf.class(), leaf.str("fName")?);
        let owner = format!("leaf {name}: ");
        add(&mut form, &owner, *leaf, &["fTitle", "fIsUnsigned", "fLenType", "fID", "fType"]);
        if class != "TLeafC" {
            add(&mut form, &owner, *leaf, &["fLen"]);
        }
        let counter = leaf.view("fLeafCount")?.map_or(Ok(""), |counter| counter.str("fName"))?;
        form.push((format!("{owner}class"), class.to_owned()));
        form.push((format!("{owner}counter"), counter.to_owned()));
    }
    Ok(form)
}

fn bytes(view: View<'_>) -> Result<(i64, i64)> {
    Ok((view.i64("fTotBytes")?, view.i64("fZipBytes")?))
}
