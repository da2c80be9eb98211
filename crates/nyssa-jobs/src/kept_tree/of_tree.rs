//! Takes from a TTree what an RNTuple cannot hold.

use std::collections::{HashMap, HashSet};

use nyssa_rntuple::schema::Leaf as Fundamental;
use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::{KeyEntry, RootFile};
use nyssa_root::streamer::StreamerList;
use nyssa_root::type_name::normalize;
use nyssa_ttree::stored::{Beside, BranchBeside, PlainObject};
use nyssa_ttree::write::{classes_in, form_of};
use nyssa_ttree::{Branch, Leaf, Tree};

use super::{BranchFacts, KeptTree, LeafFacts, ProcessFacts, TreeFacts};

/// The classes of references between objects.
const REFERENCES: [&str; 2] = ["TRef", "TRefArray"];

/// The facts about a tree, and the streamer infos of its objects.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// The facts.
    pub kept: KeptTree,
    /// The streamer infos of the objects among the facts.
    pub infos: StreamerList,
    /// Notes on the parts that cannot be kept.
    pub notes: Vec<String>,
}

impl Taken {
    /// Reads the tree of a key, of which `entries` entries become an RNTuple.
    ///
    /// # Errors
    /// Returns an error if the tree is damaged or cannot be read.
    pub(crate) fn of(file: &RootFile, key: &KeyEntry, tree: &Tree, entries: u64) -> Result<Self> {
        let mut beside = Beside::read(file, key, form_of)?;
        let mut notes = std::mem::take(&mut beside.refused);
        if beside.index.is_some() && entries != tree.entries {
            beside.index = None;
            notes.push("the index of the tree is left out: it is for all entries".to_owned());
        }
        let leaves = tree.branches.iter().flat_map(|branch| &branch.leaves);
        let packed = leaves.filter(|leaf| is_packed(leaf)).map(|leaf| leaf.class.clone());
        beside.classes.extend(packed);
        let objects = tree.branches.iter().filter_map(class_of).chain(inside(&tree.branches));
        let own = classes_in(&*file.streamer_infos()?, objects);
        let classes = &beside.classes;
        let mut infos = StreamerList::default();
        if !classes.is_empty() || !own.is_empty() {
            let list = file.streamer_list()?;
            infos = list.newest(|class| classes.contains(class));
            // A branch names the version of the class that it has.
            infos.merge(&list.versions(|class| own.contains(class)));
        }
        let stated =
            beside.branches.into_iter().chain(std::iter::repeat_with(BranchBeside::default));
        let (process, note) = match own.is_empty() {
            true => (None, None),
            false => ProcessFacts::only(file)?,
        };
        notes.extend(note.filter(|_| REFERENCES.iter().any(|class| own.contains(*class))));
        let lists = tree.branches.iter().filter(|branch| branch.leaves.len() > 1);
        let lists: HashSet<_> = lists.map(|branch| branch.path.as_str()).collect();
        let branches = tree.branches.iter().zip(stated).map(|(branch, mut stated)| {
            let form = stated.form.take().transpose().unwrap_or_else(|error| {
                let reason = error.message();
                notes.push(format!(
                    "{}: the form of this branch cannot be kept: {reason}",
                    branch.path
                ));
                None
            });
            (branch.path.clone(), facts(branch, &stated, form, &lists))
        });
        let mut kept = KeptTree {
            entries,
            references: Vec::new(),
            tree: TreeFacts {
                class: key.class.clone(),
                weight: beside.weight,
                auto_flush: beside.auto_flush,
                references: None,
                process,
            },
            aliases: beside.aliases,
            friends: beside.friends,
            user_info: beside.user_info,
            index: beside.index,
            branches: branches.collect(),
        };
        let read = match (beside.has_references, entries == tree.entries) {
            (true, true) => kept.read_references(file, key),
            (true, false) => Err(Error::unsupported("it is for all entries")),
            (false, _) => Ok(()),
        };
        if let Err(error) = read {
            let reason = error.message();
            notes.push(format!(
                "the table of references (TBranchRef) of the tree is left out: {reason}; TRef::GetObject then finds objects of \
                 branches that were read before"
            ));
        }
        Ok(Self { kept, infos, notes })
    }

    /// Keeps the branches that became fields, by the names of their fields. A branch without a field is not kept, with a note
    /// if branches below it became fields.
    pub(crate) fn set_fields(&mut self, fields: &HashMap<&str, &str>) {
        let mut notes = Vec::new();
        self.kept.branches.retain_mut(|(path, branch)| match fields.get(path.as_str()) {
            Some(field) => {
                (*field).clone_into(&mut branch.field);
                true
            }
            None => {
                let inside = |known: &&&str| {
                    known.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))
                };
                notes.extend(fields.keys().filter(inside).min().map(|first| {
                    let class = &branch.class;
                    format!(
                        "{path}: this {class} cannot be kept, and the branches below it, such as {first}, \
                         become fields and branches of their own"
                    )
                }));
                false
            }
        });
        self.notes.extend(notes);
    }
}

/// Returns the facts about a branch of a tree in which `lists` are the branches with several leaves.
fn facts(
    branch: &Branch,
    stated: &BranchBeside,
    form: Option<PlainObject>,
    lists: &HashSet<&str>,
) -> BranchFacts {
    let is_of_class = branch.class != "TBranch";
    let objects = class_of(branch);
    let split_level = u32::try_from(stated.split_level).ok().filter(|_| objects.is_some());
    BranchFacts {
        field: String::new(),
        name: (branch.name != branch.path).then(|| branch.name.clone()),
        title: branch.written_title().is_none().then(|| branch.title.clone()),
        class: if is_of_class { branch.type_name() } else { String::new() },
        split_level,
        own_streamer: stated.own_streamer && objects.as_ref().is_some_and(|own| !own.contains('<')),
        basket_size: stated.basket_size,
        leaves: if is_of_class {
            Vec::new()
        } else {
            branch.leaves.iter().map(|item| leaf(branch, item, lists)).collect()
        },
        form: form.map_or_else(Vec::new, |form| form.bytes),
    }
}

/// Returns the class of the objects of a branch, or of its `TClonesArray`, or its container; `None` for strings and
/// for vectors of numbers and strings, whose branches follow from the field.
fn class_of(branch: &Branch) -> Option<String> {
    let own = branch.type_name();
    match &branch.split {
        Some(split) if split.collection.is_none() || own == "TClonesArray" => {
            Some(split.class.name.clone())
        }
        _ if branch.class == "TBranch" || is_plain(&own) => None,
        _ => Some(own),
    }
}

/// Returns the classes of split objects. Old versions of ROOT name classes of members in a form that is not their own name.
fn inside(branches: &[Branch]) -> Vec<String> {
    let of_one = |branch: &Branch| {
        let own = branch.split.as_ref().map(|split| split.class.name.clone());
        own.into_iter().chain(inside(&branch.branches)).collect::<Vec<_>>()
    };
    branches.iter().flat_map(of_one).collect()
}

fn is_plain(type_name: &str) -> bool {
    let item = type_name.strip_prefix("vector<").and_then(|rest| rest.strip_suffix('>'));
    match item.map(str::trim) {
        None => matches!(type_name, "string" | "TString"),
        // The strings in a vector are `std::string`.
        Some("Double32_t" | "Float16_t" | "TString") => false,
        Some(item) if item.contains('<') || item == "string" => is_plain(item),
        Some(item) => Fundamental::of_name(&normalize(item)).is_some(),
    }
}

/// Returns whether numbers are stored with fewer bits, which the title of the leaf describes.
fn is_packed(leaf: &Leaf) -> bool {
    matches!(leaf.class.as_str(), "TLeafF16" | "TLeafD32")
}

fn leaf(branch: &Branch, leaf: &Leaf, lists: &HashSet<&str>) -> LeafFacts {
    let counter = leaf.counter.as_ref();
    let outside = counter.filter(|counter| counter.branch != branch.path);
    let in_list = counter.filter(|counter| lists.contains(counter.branch.as_str()));
    LeafFacts {
        name: leaf.name.clone(),
        class: leaf.class.clone(),
        title: if is_packed(leaf) { leaf.title.clone() } else { String::new() },
        unsigned: leaf.unsigned,
        counter: outside.map(|counter| counter.branch.clone()),
        counter_leaf: in_list.map(|counter| counter.leaf.clone()),
    }
}
