//! Makes the `TTree` with its branches and leaves.

use nyssa_root::arrow::Number;
use nyssa_root::streamer::{Draft, Target};

use super::form::{Content, LeafForm};
use super::options::TreeWriteOptions;
use super::stored_branch::{Place, StoredBranch};
use super::vector::CLASS_VERSION;
use crate::model::leaf_class;
use crate::stored::ClusterRuns;

/// The smallest size of the table of baskets that ROOT reads.
const MIN_BASKETS: usize = 10;
/// The number of entry offsets that ROOT allocates for a basket at first (`TTree::fDefaultEntryOffsetLen`).
const OFFSETS: i64 = 1000;
/// ROOT's values for a new tree.
const AUTO_SAVE: i64 = -300_000_000;
const ESTIMATE: i64 = 1_000_000;
const MAX_ENTRIES: i64 = 1_000_000_000_000;
const SCAN_FIELD: i64 = 25;

/// Returns the tree `name` of `entries` entries.
pub(super) fn tree(
    name: &str,
    options: &TreeWriteOptions,
    entries: u64,
    branches: &[StoredBranch],
    clusters: &ClusterRuns,
) -> Draft {
    let sum = |count: fn(&StoredBranch) -> u64| branches.iter().map(count).sum::<u64>() as i64;
    let (tot, zip) = (sum(|branch| branch.tot_bytes), sum(|branch| branch.zip_bytes));
    let (auto_flush, ranges) = clusters.describe();
    let count = ranges.len() as i64;
    let (ends, sizes) = ranges.into_iter().unzip();
    let mut labels = Labels::new(branches);
    let drafts = branches.iter().enumerate().map(|(at, branch)| {
        Target::New(draft(branch, at, entries, branches, options, &mut labels))
    });
    let drafts = drafts.collect();
    let leaves = (0..labels.leaves).map(Target::Again).collect();
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
    let lists = [("fAliases", &options.aliases), ("fUserInfo", &options.user_info)];
    let lists = lists.into_iter().filter(|(_, texts)| !texts.is_empty());
    let tree = lists.fold(tree, |tree, (member, texts)| tree.items(member, named(texts)));
    match &options.parts {
        Some(parts) => parts.add_to(tree, entries),
        None => tree,
    }
}

/// Returns a `TNamed` for each name and text.
fn named(texts: &[(String, String)]) -> Vec<Target> {
    let named = |(name, text): &(String, String)| {
        Target::New(Draft::new("TNamed").text("fName", name).text("fTitle", text))
    };
    texts.iter().map(named).collect()
}

/// The labels of all leaves.
struct Labels {
    /// The label of the first leaf of each branch.
    first: Vec<usize>,
    leaves: usize,
}

impl Labels {
    fn new(branches: &[StoredBranch]) -> Self {
        let mut labels = Self { first: Vec::new(), leaves: 0 };
        for branch in branches {
            labels.first.push(labels.leaves);
            labels.leaves += match &branch.form.content {
                Content::Leaves(leaves) => leaves.len(),
                _ => 1,
            };
        }
        labels
    }
}

fn draft(
    branch: &StoredBranch,
    at: usize,
    entries: u64,
    branches: &[StoredBranch],
    options: &TreeWriteOptions,
    labels: &mut Labels,
) -> Draft {
    let form = &branch.form;
    let counter = form.counter.map(|counter| branches[counter].form.leaf_name());
    let title = match options.title_of(&form.name) {
        Some(title) => title.to_owned(),
        None => form.title(counter),
    };
    let baskets = branch.places.len();
    let size = MIN_BASKETS.max(baskets + 1);
    let table = |value: fn(&Place) -> u64, end: u64| {
        let mut numbers: Vec<i64> = branch.places.iter().map(|place| value(place) as i64).collect();
        numbers.push(end as i64);
        numbers.resize(size, 0);
        numbers
    };
    let draft = match (&form.content, form.string_class) {
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
    draft
        .text("fName", &form.name)
        .text("fTitle", &title)
        .int("fFillStyle", 1001)
        .int("fCompress", branch.compression.setting().into())
        .int("fBasketSize", branch.state.basket_size as i64)
        .int("fEntryOffsetLen", if form.is_variable() { OFFSETS } else { 0 })
        .int("fWriteBasket", baskets as i64)
        .int("fEntryNumber", entries as i64)
        .int("fMaxBaskets", size as i64)
        .int("fEntries", entries as i64)
        .int("fTotBytes", branch.tot_bytes as i64)
        .int("fZipBytes", branch.zip_bytes as i64)
        .items("fLeaves", leaves(branch, at, counter, labels))
        .ints("fBasketBytes", table(|place| place.bytes, 0))
        .ints("fBasketEntry", table(|place| place.first, entries))
        .ints("fBasketSeek", table(|place| place.seek, 0))
}

fn leaves(branch: &StoredBranch, at: usize, counter: Option<&str>, labels: &Labels) -> Vec<Target> {
    let form = &branch.form;
    let first = labels.first[at];
    let is_object = form.string_class.is_some() || matches!(form.content, Content::Vector(_));
    let one = match &form.content {
        Content::Leaves(leaves) => {
            let mut offset = 0;
            let leaf = |(index, leaf): (usize, &LeafForm)| {
                let draft = match &leaf.packed {
                    Some(packed) => Draft::new(packed.class())
                        .text("fName", &leaf.name)
                        .text("fTitle", packed.title())
                        .int("fLenType", leaf.number.size() as i64),
                    None => number(leaf.number, &leaf.name, &leaf.title(counter)),
                };
                let mut draft = draft
                    .int("fLen", leaf.elements() as i64)
                    .int("fOffset", offset)
                    .label(first + index);
                offset += leaf.size() as i64;
                if let Some(counter) = form.counter {
                    draft = draft.pointer("fLeafCount", Target::Again(labels.first[counter]));
                }
                Target::New(draft)
            };
            return leaves.iter().enumerate().map(leaf).collect();
        }
        Content::Counter(of) => number(*of, form.leaf_name(), form.leaf_name())
            .int("fLen", 1)
            .int("fIsRange", 1)
            .int("fMaximum", branch.state.maximum),
        _ if is_object => Draft::new("TLeafElement")
            .text("fName", &form.name)
            .text("fTitle", &form.name)
            .int("fLen", 1)
            .int("fID", -1)
            .int("fType", -1),
        // ROOT reserves room for the longest string and the zero after it.
        _ => Draft::new("TLeafC")
            .text("fName", form.leaf_name())
            .text("fTitle", form.leaf_name())
            .int("fLen", branch.state.maximum + 1)
            .int("fLenType", 1)
            .int("fMaximum", branch.state.maximum + 1),
    };
    vec![Target::New(one.label(first))]
}

fn number(number: Number, name: &str, title: &str) -> Draft {
    let names = leaf_class::of_number(number);
    Draft::new(names.class)
        .text("fName", name)
        .text("fTitle", title)
        .int("fLenType", number.size() as i64)
        .int("fIsUnsigned", names.unsigned.into())
}
