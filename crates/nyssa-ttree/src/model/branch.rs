//! Reads the branches of a streamed TTree: `TBranch` and its derived classes.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use nyssa_root::arrow::Number;
use nyssa_root::distinct::Distinct;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::info::StreamerInfos;
use nyssa_root::streamer::values::{ObjectId, Value, View};
use nyssa_root::streamer::{Layouts, LeafNumbers, ObjectLayout, ObjectsAs};

use super::basket_table::basket_table;
use super::element;
use super::files::Files;
use super::leaf::{self, LeafInfo, OrReason};
use super::split::{Assembly, Child};
use super::{Branch, CountSource, Shape, Stated, Streamed};

/// The state while the branches of a tree are read.
pub(super) struct Branches<'a> {
    layouts: Layouts<'a>,
    files: &'a mut Files,
    /// The branch and the name of each leaf, which identify counters.
    owners: HashMap<ObjectId, CountSource>,
    /// The number of entries of the tree.
    entries: u64,
    /// The path of each branch.
    paths: HashMap<ObjectId, String>,
}

impl<'a> Branches<'a> {
    /// Reads a branch, with all branches below it, of a tree without entries. The branches have no baskets.
    pub(super) fn read_alone(
        view: View<'_>,
        infos: &'a StreamerInfos,
        files: &'a mut Files,
    ) -> Result<Branch> {
        let mut this = Self {
            layouts: Layouts::new(infos),
            files,
            owners: HashMap::new(),
            entries: 0,
            paths: HashMap::new(),
        };
        let own = view.str("fName")?.to_owned();
        let (prefix, mut stored) = (format!("{own}/"), vec![own.clone()]);
        this.collect(view, &prefix, &mut HashSet::from([view.id()]), &mut stored)?;
        let mut paths = Distinct::reserving(stored);
        this.name_branch(view, &own, true, &mut paths)?;
        let path = this.paths.remove(&view.id()).unwrap_or_default();
        this.branch(view, &path).in_field(&path)
    }

    /// Reads the top branches of a tree of `entries` entries, with all branches below them. Adds the files of their
    /// baskets to `files`. `objects` says how objects are read.
    pub(super) fn read(
        tree: View<'_>,
        entries: u64,
        infos: &'a StreamerInfos,
        files: &'a mut Files,
        objects: ObjectsAs,
    ) -> Result<Vec<Branch>> {
        let mut this = Self {
            layouts: Layouts::new(infos).objects(objects),
            files,
            owners: HashMap::new(),
            entries,
            paths: HashMap::new(),
        };
        let mut stored = Vec::new();
        this.collect(tree, "", &mut HashSet::new(), &mut stored)?;
        this.name(tree, "", true, &mut Distinct::reserving(stored))?;
        this.branches(tree)
    }

    /// Visits all branches once, to collect their files and their stored paths. Some of the paths may be equal.
    fn collect(
        &mut self,
        parent: View<'_>,
        prefix: &str,
        seen: &mut HashSet<ObjectId>,
        stored: &mut Vec<String>,
    ) -> Result<()> {
        for branch in parent.list("fBranches")?.into_iter().flatten() {
            let path = format!("{prefix}{}", branch.str("fName")?);
            if !seen.insert(branch.id()) {
                return Err(Error::out_of_spec("branch is listed twice")).in_field(&path);
            }
            self.files.find(branch.str_or_empty("fFileName")?);
            self.collect(branch, &format!("{path}/"), seen, stored)?;
            stored.push(path);
        }
        Ok(())
    }

    /// Gives every branch a unique path, and every leaf a name that is unique in its branch. `stored` is true if no
    /// number has been added to `prefix`.
    fn name(
        &mut self,
        parent: View<'_>,
        prefix: &str,
        stored: bool,
        paths: &mut Distinct,
    ) -> Result<()> {
        for branch in parent.list("fBranches")?.into_iter().flatten() {
            let own = format!("{prefix}{}", branch.str("fName")?);
            self.name_branch(branch, &own, stored, paths)?;
        }
        Ok(())
    }

    /// Gives a branch of the stored path `own`, and the branches below it, unique paths.
    fn name_branch(
        &mut self,
        branch: View<'_>,
        own: &str,
        stored: bool,
        paths: &mut Distinct,
    ) -> Result<()> {
        let path = paths.give(own, stored);
        let leaves: Vec<View<'_>> = branch.list("fLeaves")?.into_iter().flatten().collect();
        let names: Vec<&str> =
            leaves.iter().map(|leaf| leaf.str("fName")).collect::<Result<_>>()?;
        let mut distinct = Distinct::reserving(names.iter().map(|&name| name.to_owned()));
        for (leaf, name) in leaves.iter().zip(names) {
            let source = CountSource { branch: path.clone(), leaf: distinct.give(name, true) };
            self.owners.insert(leaf.id(), source);
        }
        self.name(branch, &format!("{path}/"), stored && path == own, paths)?;
        self.paths.insert(branch.id(), path);
        Ok(())
    }

    fn branches(&mut self, parent: View<'_>) -> Result<Vec<Branch>> {
        let branches = parent.list("fBranches")?.into_iter().flatten();
        branches
            .map(|view| {
                let path = self.paths.remove(&view.id()).unwrap_or_default();
                self.branch(view, &path).in_field(&path)
            })
            .collect()
    }

    fn branch(&mut self, view: View<'_>, path: &str) -> Result<Branch> {
        let branches = self.branches(view)?;
        let leaves = view.list("fLeaves")?.into_iter().flatten();
        let leaves: Vec<LeafInfo> =
            leaves.map(|leaf| leaf::read(leaf, &self.owners)).collect::<Result<_>>()?;
        let first_entry = first_entry(view)?;
        let entries = first_entry.saturating_add(view.u64("fEntries")?);
        let mut table = basket_table(view, first_entry..entries)?;
        if let Ok(start) = self.files.known(view.str_or_empty("fFileName")?) {
            table.shift(start, self.files.most_offset());
        }
        let (shape, is_elsewhere) = match self.elsewhere(view)? {
            Some(reason) => (Err(reason), true),
            None => (self.shape(view, &leaves, !branches.is_empty(), path)?, false),
        };
        // A split branch has its data in sub-branches and not in baskets. Other branches need all their
        // baskets.
        let missing = table.complete.err().or_else(|| {
            let (all, few) = (self.entries, entries < self.entries);
            few.then(|| format!("it has {entries} of the {all} entries of the tree"))
        });
        let (shape, complete) = match (shape, missing) {
            (Ok(_), Some(missing)) => (Err(missing), false),
            (shape, _) => (shape, true),
        };
        let mut branch = Branch {
            name: view.str("fName")?.to_owned(),
            path: path.to_owned(),
            title: view.str("fTitle")?.to_owned(),
            class: view.class().to_owned(),
            first_entry,
            entries,
            leaves: leaves.into_iter().map(|info| info.leaf).collect(),
            baskets: table.baskets,
            branches,
            shape,
            complete,
            is_elsewhere,
            split: None,
            stated: stated(view),
        };
        if view.class() == "TBranchElement" && !branch.branches.is_empty() {
            let views = view.list("fBranches")?.into_iter().flatten();
            let children: Vec<Child> = views.map(child).collect::<Result<_>>()?;
            let assembly = Assembly {
                layouts: &self.layouts,
                branches: &branch.branches,
                used: vec![false; children.len()],
                children: &children,
            };
            let (class, collection) = element::whole(view, &self.layouts, path, &branch.leaves)?;
            branch.split = Some(assembly.split(class, collection));
        }
        Ok(branch)
    }

    /// Returns the reason why the baskets of a branch cannot be read if they are in another file (`fFileName`)
    /// that cannot be read.
    fn elsewhere(&self, view: View<'_>) -> Result<Option<String>> {
        let file = view.str_or_empty("fFileName")?;
        let unknown = self.files.known(file).err();
        Ok(unknown.map(|reason| format!("its baskets are in another file, {file:?}: {reason}")))
    }

    /// Returns the contents of the baskets of a branch, or the reason why it cannot be read.
    fn shape(
        &mut self,
        view: View<'_>,
        leaves: &[LeafInfo],
        split: bool,
        path: &str,
    ) -> Result<OrReason<Shape>> {
        Ok(match view.class() {
            "TBranchClones" => Err(format!(
                "it is split: its data are in its sub-branches (class {})",
                view.str("fClassName")?
            )),
            "TBranch" => match leaves {
                [] => Err("it has no leaf".to_owned()),
                [only] => match &only.shape {
                    Err(_) if matches!(only.leaf.class.as_str(), "TLeafD32" | "TLeafF16") => {
                        narrow(only)
                    }
                    shape => shape.clone().map(Shape::Plain),
                },
                several => leaf_list(several, path),
            },
            "TBranchElement" => {
                element::shape(view, leaves, split, path, &mut self.layouts, &self.owners)?
            }
            "TBranchObject" => element::object(view, &mut self.layouts)?,
            "TBranchRef" => Err("it holds references between objects, not data".to_owned()),
            class => Err(format!("branches of class {class} are not supported yet")),
        })
    }
}

/// Returns the first entry of the tree that a branch has.
pub(crate) fn first_entry(view: View<'_>) -> Result<u64> {
    let first = view.get("fFirstEntry").and_then(Value::as_i64).unwrap_or(0);
    let wrong = || Error::out_of_spec(format!("its first entry is {first}"));
    u64::try_from(first).map_err(|_| wrong())
}

impl Branch {
    /// Refuses entries before the first entry of the branch. ROOT has no value for them either: it leaves the value
    /// of the previous read.
    ///
    /// # Errors
    /// Returns the first entry, and advice for the user.
    pub(crate) fn check_first(&self, entries: &Range<u64>) -> std::result::Result<(), String> {
        let first = self.first_entry;
        if entries.is_empty() || entries.start >= first {
            return Ok(());
        }
        Err(format!(
            "the branch has no values before entry {first} of the tree; request entries from there on (entry_start={first}, or \
             --entries {first}:)"
        ))
    }
}

/// Reads which member a sub-branch holds.
fn child(view: View<'_>) -> Result<Child> {
    let empty = view.list("fLeaves")?.is_empty() && view.list("fBranches")?.is_empty();
    Ok(match view.class() {
        "TBranchElement" => {
            Child { class: view.str("fClassName")?.to_owned(), index: view.i64("fID")?, empty }
        }
        _ => Child { class: String::new(), index: -1, empty },
    })
}

/// The largest number of leaves that a message lists.
const LISTED_LEAVES: usize = 4;

/// Returns the shape of the numbers of one leaf that are stored as integers or with fewer bits.
fn narrow(info: &LeafInfo) -> OrReason<Shape> {
    let numbers = info.numbers.clone()?;
    let fixed: String = numbers.dimensions.iter().map(|size| format!("[{size}]")).collect();
    let double = numbers.basic.is_some_and(|basic| basic.number() == Number::Float64);
    let name = if double { "Double32_t" } else { "Float16_t" };
    Ok(Shape::Streamed(Streamed {
        layout: Arc::new(ObjectLayout::of_leaf(&numbers)),
        type_name: format!("{name}{fixed}"),
        counter: info.leaf.counter.clone(),
        lengths: None,
        named: false,
    }))
}

/// Returns the shape of a leaf list.
fn leaf_list(leaves: &[LeafInfo], path: &str) -> OrReason<Shape> {
    let fixed = |info: &LeafInfo| {
        let shape = info.shape.as_ref().ok();
        shape.is_some_and(|plain| plain.counter.is_none() && plain.element.size().is_some())
    };
    let names: Vec<&str> = leaves.iter().map(|info| info.leaf.name.as_str()).collect();
    if leaves.iter().all(fixed) {
        return Ok(Shape::LeafList);
    }
    let more = if names.len() > LISTED_LEAVES { ", ..." } else { "" };
    let listed = names.iter().take(LISTED_LEAVES).copied().collect::<Vec<_>>().join(", ");
    let numbers = leaves.iter().map(|info| {
        let mut numbers = info.numbers.clone()?;
        if let Some(counter) = &info.leaf.counter {
            let before = names.iter().take_while(|&&name| name != numbers.name);
            if counter.branch != path || !before.into_iter().any(|name| *name == counter.leaf) {
                return Err(format!(
                    "of its several leaves, {} is counted by {} of another branch, which is not \
                     supported yet",
                    numbers.name, counter.leaf
                ));
            }
            numbers.counter = Some(counter.leaf.clone());
        }
        Ok(numbers)
    });
    let numbers = numbers.collect::<OrReason<Vec<LeafNumbers>>>()?;
    Ok(Shape::Streamed(Streamed {
        layout: Arc::new(ObjectLayout::of_leaves(&numbers)),
        type_name: format!("struct of {listed}{more}"),
        counter: None,
        lengths: None,
        named: false,
    }))
}

/// Returns the numbers that a branch states. Old versions state fewer of them.
fn stated(view: View<'_>) -> Stated {
    let number = |name: &str| view.get(name).and_then(|value| value.as_i64()).unwrap_or(0);
    Stated {
        stored_bytes: u64::try_from(number("fZipBytes")).unwrap_or(0),
        uncompressed_bytes: u64::try_from(number("fTotBytes")).unwrap_or(0),
        compression: number("fCompress"),
    }
}
