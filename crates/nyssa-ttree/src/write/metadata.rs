//! Makes the `TTree` with its branches and leaves.

use std::collections::HashMap;

use nyssa_root::error::Result;
use nyssa_root::streamer::{Draft, StreamerInfos, Target};

use super::element::{ElementForm, LeafElement};
use super::form::Content;
use super::leaf_form::LeafForm;
use super::leaf_list::{LeafList, ListLeaf};
use super::options::TreeWriteOptions;
use super::references::WrittenTable;
use super::stored_branch::{Place, StoredBranch};
use super::target::BranchState;
use super::vector::CLASS_VERSION;
use crate::model::leaf_class::LeafClass;
use crate::stored::{ClusterRuns, NO_REFERENCES, NewBranches};

/// The smallest size of the table of baskets that ROOT reads.
const MIN_BASKETS: usize = 10;
/// The number of entry offsets that ROOT allocates for a basket at first (`TTree::fDefaultEntryOffsetLen`).
const OFFSETS: i64 = 1000;
/// ROOT's values for a new tree.
const AUTO_SAVE: i64 = -300_000_000;
const ESTIMATE: i64 = 1_000_000;
const MAX_ENTRIES: i64 = 1_000_000_000_000;
const SCAN_FIELD: i64 = 25;

/// Returns the tree `name` of `entries` entries, with a table of references if it has one.
pub(super) fn tree(
    name: &str,
    options: &TreeWriteOptions,
    entries: u64,
    (branches, table): (&[StoredBranch], Option<&WrittenTable>),
    clusters: &ClusterRuns,
) -> Draft {
    let all = || branches.iter().chain(table.map(|table| &table.branch));
    let sum = |count: fn(&StoredBranch) -> u64| all().map(count).sum::<u64>() as i64;
    let (tot, zip) = (sum(|branch| branch.tot_bytes), sum(|branch| branch.zip_bytes));
    let (auto_flush, ranges) = clusters.describe();
    let count = ranges.len() as i64;
    let (ends, sizes) = ranges.into_iter().unzip();
    let labels = Labels::new(branches);
    let (drafts, leaves) = parts(branches, 0, entries, &labels);
    let tree = Draft::new("TTree")
        .text("fName", name)
        .text("fTitle", &options.title)
        .int("fLineColor", 602)
        .int("fLineStyle", 1)
        .int("fLineWidth", 1)
        .int("fFillStyle", 1001)
        .int("fMarkerColor", 1)
        .int("fMarkerStyle", 1)
        .float("fMarkerSize", 1.0)
        .int("fEntries", entries as i64)
        .int("fTotBytes", tot)
        .int("fZipBytes", zip)
        .int("fFlushedBytes", zip)
        .float("fWeight", 1.0)
        .int("fScanField", SCAN_FIELD)
        .int("fDefaultEntryOffsetLen", OFFSETS)
        .int("fNClusterRange", count)
        .int("fMaxEntries", MAX_ENTRIES)
        .int("fMaxEntryLoop", MAX_ENTRIES)
        .int("fAutoSave", AUTO_SAVE)
        .int("fAutoFlush", auto_flush)
        .int("fEstimate", ESTIMATE)
        .ints("fClusterRangeEnd", ends)
        .ints("fClusterSize", sizes)
        .items("fBranches", drafts)
        .items("fLeaves", leaves);
    let tree = match table {
        Some(table) => {
            tree.pointer("fBranchRef", Target::New(of_references(table, entries, &labels)))
        }
        None => tree,
    };
    let lists = [("fAliases", &options.aliases), ("fUserInfo", &options.user_info)];
    let lists = lists.into_iter().filter(|(_, texts)| !texts.is_empty());
    let tree = lists.fold(tree, |tree, (member, texts)| tree.items(member, named(texts)));
    match &options.parts {
        Some(parts) => parts.add_to(tree, entries),
        None => tree,
    }
}

/// Returns the branches from `first` on, of which a stored tree of `entries` entries has those before.
///
/// # Errors
/// Returns an error if the classes of branches are not known.
pub(super) fn added(branches: &[StoredBranch], first: usize, entries: u64) -> Result<NewBranches> {
    let labels = Labels::new(branches);
    let (drafts, leaves) = parts(branches, first, entries, &labels);
    let new = branches.iter().skip(first);
    let old = new.filter_map(|branch| branch.form.counter).filter(|&counter| counter < first);
    let counters = old.map(|counter| (labels.first[counter], counter)).collect();
    Ok(NewBranches { branches: drafts, leaves, counters, infos: StreamerInfos::of_trees()? })
}

/// Returns the top branches from `first` on, and their leaves.
fn parts(
    branches: &[StoredBranch],
    first: usize,
    entries: u64,
    labels: &Labels,
) -> (Vec<Target>, Vec<Target>) {
    let made = branches.iter().enumerate().skip(first);
    let made = made.map(|(at, branch)| draft(branch, at, entries, branches, labels));
    let drafts = nested(branches, first, made.collect());
    let first_leaf = labels.first.get(first).copied().unwrap_or(labels.leaves);
    (drafts, (first_leaf..labels.leaves).map(Target::Again).collect())
}

/// Returns top branches without entries, with the branches below them.
pub(super) fn empty(branches: &[StoredBranch]) -> Vec<Target> {
    parts(branches, 0, 0, &Labels::new(branches)).0
}

/// Returns a `TNamed` for each name and text.
fn named(texts: &[(String, String)]) -> Vec<Target> {
    let named = |(name, text): &(String, String)| {
        Target::New(Draft::new("TNamed").text("fName", name).text("fTitle", text))
    };
    texts.iter().map(named).collect()
}

/// Puts the branches from `first` on into the branches above them. Returns the top branches.
fn nested(branches: &[StoredBranch], first: usize, drafts: Vec<Draft>) -> Vec<Target> {
    let mut below: Vec<Vec<Target>> = branches.iter().map(|_| Vec::new()).collect();
    let mut top = Vec::new();
    // A branch comes before the branches below it.
    for (at, draft) in (first..).zip(drafts).collect::<Vec<_>>().into_iter().rev() {
        let mut own = std::mem::take(&mut below[at]);
        own.reverse();
        let draft = if own.is_empty() { draft } else { draft.items("fBranches", own) };
        let mother = branches[at].form.element.as_ref().and_then(|element| element.mother);
        mother.map_or(&mut top, |mother| &mut below[mother]).push(Target::New(draft));
    }
    top.reverse();
    top
}

/// The labels of all leaves, and of all branches.
struct Labels {
    /// The label of the first leaf of each branch.
    first: Vec<usize>,
    leaves: usize,
    /// The first branch of the items of each split collection.
    first_items: HashMap<usize, usize>,
}

impl Labels {
    fn new(branches: &[StoredBranch]) -> Self {
        let mut labels = Self { first: Vec::new(), leaves: 0, first_items: HashMap::new() };
        for (at, branch) in branches.iter().enumerate() {
            if let (Some(counter), Some(_)) = (branch.form.counter, &branch.form.element) {
                labels.first_items.entry(counter).or_insert(at);
            }
            labels.first.push(labels.leaves);
            labels.leaves += match (&branch.form.content, &branch.form.element) {
                (_, Some(element)) => usize::from(element.leaf.is_some()),
                (Content::Leaves(leaves), None) => leaves.len(),
                (Content::LeafList(list), None) => list.leaves.len(),
                _ => 1,
            };
        }
        labels
    }

    /// Returns the label of a branch.
    fn branch(&self, at: usize) -> usize {
        self.leaves + at
    }
}

fn draft(
    branch: &StoredBranch,
    at: usize,
    entries: u64,
    branches: &[StoredBranch],
    labels: &Labels,
) -> Draft {
    let form = &branch.form;
    let counter = form.counter.map(|at| branches[at].form.leaf_name(form.counter_leaf));
    let title = branch.title.clone().unwrap_or_else(|| form.title(counter));
    let draft = match (&form.content, form.string_class) {
        _ if let Some(element) = &form.element => {
            // Only collections state the largest number of their items.
            let is_text = matches!(form.content, Content::Text);
            let maximum = if is_text { 0 } else { branch.state.maximum };
            let state = BranchState { maximum, ..branch.state };
            let draft = of_class(element, state).label(labels.branch(at));
            match form.counter.or(element.length) {
                Some(counter) => {
                    draft.pointer("fBranchCount", Target::Again(labels.branch(counter)))
                }
                None => draft,
            }
        }
        (Content::Vector(vector), _) => Draft::new("TBranchElement")
            .text("fClassName", &vector.class())
            .int("fCheckSum", vector.checksum().into())
            .int("fClassVersion", CLASS_VERSION)
            .int("fID", -1)
            .int("fStreamerType", -1),
        (Content::Text, Some(class)) => Draft::new("TBranchElement")
            .text("fClassName", class)
            .int("fID", -1)
            .int("fStreamerType", -1),
        _ => Draft::new("TBranch"),
    };
    let leaves = leaves(branch, at, counter, branches, labels);
    with_baskets(draft, branch, &title, entries).items("fLeaves", leaves)
}

/// Returns the branch with the table of references.
fn of_references(table: &WrittenTable, entries: u64, labels: &Labels) -> Draft {
    let branch = &table.branch;
    let title = branch.title.as_deref().unwrap_or_default();
    let draft = with_baskets(Draft::new("TBranchRef"), branch, title, entries);
    let parents = table.parents.iter().map(|&at| Target::Again(labels.branch(at))).collect();
    table.draft(draft, labels.branch(labels.first.len()), parents)
}

/// Adds what all branches have.
fn with_baskets(draft: Draft, branch: &StoredBranch, title: &str, entries: u64) -> Draft {
    let form = &branch.form;
    let baskets = branch.places.len();
    let size = MIN_BASKETS.max(baskets + 1);
    let table = |value: fn(&Place) -> u64, end: u64| {
        let mut numbers: Vec<i64> = branch.places.iter().map(|place| value(place) as i64).collect();
        numbers.push(end as i64);
        numbers.resize(size, 0);
        numbers
    };
    // Branches of members hold the entries of a split object.
    let filled = !matches!(form.content, Content::Nothing);
    draft
        .text("fName", &form.name)
        .text("fTitle", title)
        .int("fFillStyle", 1001)
        .int("fCompress", branch.compression.setting().into())
        .int("fBasketSize", branch.state.basket_size as i64)
        .int("fEntryOffsetLen", if form.is_variable() { offsets_of(branch, entries) } else { 0 })
        .int("fWriteBasket", baskets as i64)
        .int("fEntryNumber", if filled { entries as i64 } else { 0 })
        .int("fMaxBaskets", size as i64)
        .int("fEntries", entries as i64)
        .int("fTotBytes", branch.tot_bytes as i64)
        .int("fZipBytes", branch.zip_bytes as i64)
        .ints("fBasketBytes", table(|place| place.bytes, 0))
        .ints("fBasketEntry", table(|place| place.first, if filled { entries } else { 0 }))
        .ints("fBasketSeek", table(|place| place.seek, 0))
}

/// Returns the length of the table of offsets that ROOT's `TBranch::WriteBasket` keeps for the next basket.
fn offsets_of(branch: &StoredBranch, entries: u64) -> i64 {
    let starts = || branch.places.iter().map(|place| place.first);
    let ends = starts().skip(1).chain([entries]);
    starts().zip(ends).fold(OFFSETS, |len, (start, end)| {
        let count =
            i64::try_from(end.saturating_sub(start)).unwrap_or(i64::MAX / 4).min(i64::MAX / 4);
        if len > 10 && 4 * count < len {
            if count < 3 { 10 } else { 4 * count }
        } else if count > len {
            2 * count
        } else {
            len
        }
    })
}

/// Returns what a branch of a class says beside its entries.
fn of_class(element: &ElementForm, state: BranchState) -> Draft {
    let unset = if state.has_objects { NO_REFERENCES } else { 0 };
    let class = if element.names_class.is_some() { "TBranchObject" } else { "TBranchElement" };
    let draft = Draft::new(class)
        .int("fBits", element.bits & !unset)
        .int("fSplitLevel", element.split_level.into())
        .text("fClassName", &element.class);
    if element.names_class.is_some() {
        return draft;
    }
    draft
        .text("fParentName", &element.parent)
        .text("fClonesName", &element.clones)
        .int("fCheckSum", element.checksum.into())
        .int("fClassVersion", element.version.into())
        .int("fID", element.id)
        .int("fType", element.kind.number())
        .int("fStreamerType", element.code)
        .int("fMaximum", state.maximum)
}

fn leaf_element(element: &ElementForm, leaf: &LeafElement) -> Draft {
    let draft = match element.names_class {
        Some(names_class) => Draft::new("TLeafObject").int("fVirtual", names_class.into()),
        None => Draft::new("TLeafElement").int("fID", element.id).int("fType", element.code),
    };
    draft
        .text("fName", &leaf.name)
        .text("fTitle", &leaf.title)
        .int("fLen", leaf.len)
        .int("fLenType", leaf.len_type)
        .int("fIsRange", leaf.is_range.into())
        .int("fIsUnsigned", leaf.is_unsigned.into())
}

/// Returns the leaf of the branch `counter`, for the leaf of the branch `at`. Branches come before the leaves of the branch
/// around them, so that the first leaf that it counts has it.
fn counter_leaf(branches: &[StoredBranch], counter: usize, at: usize, labels: &Labels) -> Target {
    let label = labels.first[counter];
    let first = labels.first_items.get(&counter) == Some(&at);
    let element = branches[counter].form.element.as_ref().filter(|_| first);
    match element.and_then(|element| Some((element, element.leaf.as_ref()?))) {
        Some((element, leaf)) => Target::New(leaf_element(element, leaf).label(label)),
        None => Target::Again(label),
    }
}

fn leaves(
    branch: &StoredBranch,
    at: usize,
    counter: Option<&str>,
    branches: &[StoredBranch],
    labels: &Labels,
) -> Vec<Target> {
    let form = &branch.form;
    let first = labels.first[at];
    if let Some(element) = &form.element {
        let counts = labels.first_items.contains_key(&at);
        let leaf = |leaf: &LeafElement| match counts {
            // It was written by the first leaf that it counts.
            true => Target::Again(first),
            false => {
                let draft = leaf_element(element, leaf).label(first);
                Target::New(match form.counter.or(element.length) {
                    Some(counter) => {
                        draft.pointer("fLeafCount", counter_leaf(branches, counter, at, labels))
                    }
                    None => draft,
                })
            }
        };
        return element.leaf.iter().map(leaf).collect();
    }
    let is_leaf = matches!(form.content, Content::Text) && form.string_class.is_none();
    let drafts = match &form.content {
        Content::Leaves(leaves) => {
            let mut offset = 0;
            let leaf = |(index, leaf): (usize, &LeafForm)| {
                let draft = match &leaf.packed {
                    Some(packed) => Draft::new(packed.class())
                        .text("fName", &leaf.name)
                        .text("fTitle", packed.title())
                        .int("fLenType", leaf.number.size() as i64),
                    None => number(leaf.names(), &leaf.name, &leaf.title(counter)),
                };
                let mut draft = draft
                    .int("fLen", leaf.elements() as i64)
                    .int("fOffset", offset)
                    .label(first + index);
                offset += leaf.size() as i64;
                if let Some(counter) = form.counter {
                    let label = labels.first[counter] + form.counter_leaf;
                    draft = draft.pointer("fLeafCount", Target::Again(label));
                }
                if leaf.counts {
                    draft = draft.int("fIsRange", 1).int("fMaximum", branch.state.maximum);
                }
                Target::New(draft)
            };
            return leaves.iter().enumerate().map(leaf).collect();
        }
        Content::LeafList(list) => return leaves_of_list(list, first, branch.state.maximum),
        Content::Counter(leaf) => number(leaf.names(), &leaf.name, &leaf.name)
            .int("fLen", 1)
            .int("fIsRange", 1)
            .int("fMaximum", branch.state.maximum),
        _ if is_leaf => text_leaf(form.leaf_name(0), branch.state.maximum),
        _ => Draft::new("TLeafElement")
            .text("fName", &form.name)
            .text("fTitle", &form.name)
            .int("fLen", 1)
            .int("fID", -1)
            .int("fType", -1),
    };
    vec![Target::New(drafts.label(first))]
}

/// Returns the leaves of a leaf list with strings or arrays of varying size. `first` is the label of the first leaf, and
/// `maximum` is the size of the largest string or array.
fn leaves_of_list(list: &LeafList, first: usize, maximum: i64) -> Vec<Target> {
    let mut offset = 0;
    let leaf = |(at, leaf): (usize, &ListLeaf)| {
        let draft = match leaf {
            ListLeaf::Text(name) => text_leaf(name, maximum),
            ListLeaf::Numbers(leaf, counter) => {
                let name = counter.and_then(|counter| list.name_of(counter));
                let draft = number(leaf.names(), &leaf.name, &leaf.title(name))
                    .int("fLen", leaf.elements() as i64)
                    .int("fOffset", offset);
                offset += leaf.size() as i64;
                match counter {
                    Some(counter) => draft.pointer("fLeafCount", Target::Again(first + counter)),
                    None if list.counts(at) => draft.int("fIsRange", 1).int("fMaximum", maximum),
                    None => draft,
                }
            }
        };
        Target::New(draft.label(first + at))
    };
    list.leaves.iter().enumerate().map(leaf).collect()
}

/// Returns the leaf of strings. ROOT reserves room for the longest string and the zero after it.
fn text_leaf(name: &str, longest: i64) -> Draft {
    Draft::new("TLeafC")
        .text("fName", name)
        .text("fTitle", name)
        .int("fLen", longest + 1)
        .int("fLenType", 1)
        .int("fMaximum", longest + 1)
}

fn number(names: &LeafClass, name: &str, title: &str) -> Draft {
    Draft::new(names.class)
        .text("fName", name)
        .text("fTitle", title)
        .int("fLenType", names.number.size() as i64)
        .int("fIsUnsigned", names.unsigned.into())
}
