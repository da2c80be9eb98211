//! A TTree as plain data, made from its streamed object and read by the basket reader.

use std::sync::Arc;

use arrow_schema::DataType;

use crate::arrow::Number;
use crate::streamer::ObjectLayout;

/// A TTree: its branches and entries.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Name of the tree object.
    pub name: String,
    /// Title.
    pub title: String,
    /// Number of entries.
    pub entries: u64,
    /// Branches at the top, in order. Sub-branches hang below.
    pub branches: Vec<Branch>,
    /// Entry ranges between auto-flushes where all branches start new baskets; may be empty.
    pub cluster_starts: Vec<u64>,
}

/// One branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// Branch name as stored; others may have the same.
    pub name: String,
    /// What it is read by, and no other branch: the names of the branches above it and its own, with a
    /// number where an earlier one is called so.
    pub path: String,
    /// Title, such as `Jet_pt[nJet]/F`.
    pub title: String,
    /// Streamed class: `TBranch`, `TBranchElement`, ...
    pub class: String,
    /// Number of entries of this branch.
    pub entries: u64,
    /// Leaves in order.
    pub leaves: Vec<Leaf>,
    /// Baskets in order of entries.
    pub baskets: Vec<Basket>,
    /// Sub-branches.
    pub branches: Vec<Branch>,
    /// What the baskets of the branch hold, or why nyssa cannot read it.
    pub shape: Result<Shape, String>,
    /// Whether the baskets hold all entries of the tree; where not, the shape says what is missing.
    pub complete: bool,
    /// How the sub-branches make up the objects of a split branch.
    pub split: Option<Split>,
}

/// One leaf of a branch.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Leaf name, with a number where an earlier one of the branch is called so.
    pub name: String,
    /// Streamed class: `TLeafF`, ...
    pub class: String,
    /// Element type, or the reason why it has none.
    pub element: Option<Element>,
    /// Fixed array dimensions after a variable one, outermost first; empty for scalars.
    pub dimensions: Vec<u64>,
    /// Name of the leaf (and its branch) that counts this one.
    pub counter: Option<CountSource>,
    /// `fIsUnsigned`.
    pub unsigned: bool,
    /// `fLen`: number of fixed elements.
    pub len: u64,
}

/// Where the count of a variable-size array comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountSource {
    /// Branch path of the counter.
    pub branch: String,
    /// Leaf name of the counter.
    pub leaf: String,
}

/// Element types of leaves, as streamed (big-endian).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A number.
    Number(Number),
    /// C string (`TLeafC`): one length byte, or 255 and 32 bits, then the bytes.
    CString,
}

impl From<Number> for Element {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

/// What an entry in the baskets of a branch is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// Elements of one leaf.
    Plain(Plain),
    /// One of each leaf of a leaf list, all of fixed sizes.
    LeafList,
    /// What ROOT's streamers wrote.
    Streamed(Streamed),
}

/// Elements of one leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// Element type.
    pub element: Element,
    /// Fixed dimensions, outermost first; inside the variable one if there is a counter.
    pub dimensions: Vec<u64>,
    /// The counter of a jagged branch.
    pub counter: Option<CountSource>,
}

/// Objects, or a member of them.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// How they are read.
    pub(crate) layout: Arc<ObjectLayout>,
    /// C++ type.
    pub type_name: String,
    /// Who counts the items of the collection that the member belongs to.
    pub counter: Option<CountSource>,
    /// Who counts what is behind a pointer.
    pub lengths: Option<CountSource>,
    /// Every entry begins with the name of its class (`TLeafObject`).
    pub named: bool,
}

impl Streamed {
    /// Values of a C++ type, one for each entry.
    pub fn new(layout: ObjectLayout, type_name: &str) -> Self {
        let type_name = type_name.to_owned();
        Self { layout: Arc::new(layout), type_name, counter: None, lengths: None, named: false }
    }
}

impl PartialEq for Streamed {
    fn eq(&self, other: &Self) -> bool {
        self.layout.data_type() == other.layout.data_type()
            && self.type_name == other.type_name
            && self.counter == other.counter
            && self.lengths == other.lengths
            && self.named == other.named
    }
}

/// A split object or collection: its members are in sub-branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// C++ class of the object, or of the items.
    pub class: ClassName,
    /// Members in the order of the class; base classes are called `:_0`, `:_1`, ...
    pub members: Vec<(String, SplitMember)>,
    /// The C++ type of a collection whose items these are, and who counts them.
    pub collection: Option<(String, CountSource)>,
    /// The Arrow type, or which sub-branch cannot be read and why.
    pub data_type: Result<DataType, String>,
}

/// A class in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassName {
    /// C++ name.
    pub name: String,
    /// Version.
    pub version: i32,
    /// Checksum of the layout; 0 where it is not known.
    pub checksum: u32,
}

/// Where a member of a split object is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitMember {
    /// In the branch of this path.
    Branch(String),
    /// In several branches that belong to the same branch as those of the object itself.
    Inside(Split),
}

/// One basket of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basket {
    /// Offset of its key in the file, bytes.
    pub seek: u64,
    /// Size on storage with key, bytes; of those inside the tree object their share of it.
    pub bytes: u64,
    /// First entry.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Contents streamed inside the tree object itself (not yet flushed when the tree was written):
    /// the key and uncompressed payload. `None` for baskets on disk.
    pub embedded: Option<Arc<[u8]>>,
}

/// The most bytes that a basket's object size can say.
pub(crate) const BASKET_MAX: u64 = i32::MAX as u64;

/// No algorithm makes more of a byte: a zstd block of four bytes holds 128 KiB of one value.
const MOST_RATIO: u64 = 1 << 15;

impl Basket {
    /// The most bytes that it can hold uncompressed, in a file of so many bytes.
    pub(crate) fn most_bytes(&self, file_bytes: u64) -> u64 {
        let stored = match (&self.embedded, self.bytes) {
            (Some(embedded), _) => return embedded.len() as u64,
            // Only its key says the size.
            (None, 0) => file_bytes,
            (None, bytes) => bytes.min(file_bytes),
        };
        stored.saturating_mul(MOST_RATIO).min(BASKET_MAX)
    }
}

impl Shape {
    /// Who counts the items of an entry, where their number varies.
    pub fn counter(&self) -> Option<&CountSource> {
        match self {
            Self::Plain(plain) => plain.counter.as_ref(),
            Self::LeafList => None,
            Self::Streamed(streamed) => streamed.counter.as_ref(),
        }
    }
}

impl Split {
    /// The members in branches, with those of the objects inside.
    pub fn branches(&self) -> Vec<&str> {
        let mut found = Vec::new();
        for (_, member) in &self.members {
            match member {
                SplitMember::Branch(path) => found.push(path.as_str()),
                SplitMember::Inside(split) => found.extend(split.branches()),
            }
        }
        found
    }
}

impl Element {
    /// The number; `None` for strings.
    pub fn number(self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::CString => None,
        }
    }

    /// The Arrow type of one element.
    pub fn data_type(self) -> DataType {
        self.number().map_or(DataType::LargeBinary, Number::data_type)
    }

    /// Size of one streamed element in bytes; `None` for strings.
    pub fn size(self) -> Option<usize> {
        self.number().map(Number::size)
    }
}
