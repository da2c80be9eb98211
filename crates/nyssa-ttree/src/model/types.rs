//! Defines the types of the model of a TTree.

use std::sync::Arc;

use arrow_schema::DataType;
use nyssa_root::arrow::Number;
use nyssa_root::streamer::ObjectLayout;

/// A TTree: its branches and entries.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The name of the tree object.
    pub name: String,
    /// The title.
    pub title: String,
    /// The number of entries.
    pub entries: u64,
    /// The top branches, in order. They hold their sub-branches.
    pub branches: Vec<Branch>,
    /// The entries at which clusters start: all branches start new baskets there. It can be empty.
    pub cluster_starts: Vec<u64>,
}

/// One branch.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The branch name as stored. Several branches can have one name.
    pub name: String,
    /// The unique path of the branch: the names of the branches above it and its own name. It has a number if an
    /// earlier branch has the same path.
    pub path: String,
    /// The title, such as `Jet_pt[nJet]/F`.
    pub title: String,
    /// The streamed class: `TBranch`, `TBranchElement`, ...
    pub class: String,
    /// The first entry of the tree that this branch has (`fFirstEntry`).
    pub first_entry: u64,
    /// The number of entries of the tree up to the last entry of this branch.
    pub entries: u64,
    /// The leaves, in order.
    pub leaves: Vec<Leaf>,
    /// The baskets in order of entries.
    pub baskets: Vec<Basket>,
    /// The sub-branches.
    pub branches: Vec<Branch>,
    /// The contents of the baskets, or the reason why nyssa cannot read the branch.
    pub shape: Result<Shape, String>,
    /// Whether the baskets contain all entries of the tree. If not, `shape` says which entries are missing.
    pub complete: bool,
    /// Whether the baskets are in another file (`fFileName`) that may not be read or is missing. `shape` states the
    /// reason.
    pub is_elsewhere: bool,
    /// The objects of a split branch, with the sub-branches of their members.
    pub split: Option<Split>,
    /// The sizes and the compression that the branch states.
    pub stated: Stated,
}

/// The statements of a branch about its baskets. nyssa does not rely on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    /// The bytes of all baskets in the file, with their keys (`fZipBytes`).
    pub stored_bytes: u64,
    /// The bytes of all baskets before compression, with their keys (`fTotBytes`).
    pub uncompressed_bytes: u64,
    /// The compression, as ROOT's number (`fCompress`).
    pub compression: i64,
}

/// One leaf of a branch.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The leaf name. It has a number if an earlier leaf of the branch has the same name.
    pub name: String,
    /// The streamed class: `TLeafF`, ...
    pub class: String,
    /// The title, such as `x[n][3]`.
    pub title: String,
    /// The element type. `None` if the leaf has none.
    pub element: Option<Element>,
    /// The fixed dimensions of an array, outermost first, without the variable dimension. It is empty for scalars.
    pub dimensions: Vec<u64>,
    /// The leaf that counts the elements of this leaf.
    pub counter: Option<CountSource>,
    /// Whether the elements are unsigned (`fIsUnsigned`).
    pub unsigned: bool,
    /// The number of fixed elements (`fLen`).
    pub len: u64,
}

/// The leaf that counts the elements of a variable-size array.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CountSource {
    /// The branch path of the counter.
    pub branch: String,
    /// The leaf name of the counter.
    pub leaf: String,
}

/// The type of the elements of a leaf, as streamed (big-endian).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Element {
    /// A number.
    Number(Number),
    /// A C string (`TLeafC`): one length byte, or 255 and 32 bits, then the bytes.
    CString,
}

impl From<Number> for Element {
    fn from(number: Number) -> Self {
        Self::Number(number)
    }
}

/// The contents of an entry in the baskets of a branch.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// The elements of one leaf.
    Plain(Plain),
    /// One value of each leaf of a leaf list. All leaves have fixed sizes.
    LeafList,
    /// Bytes that ROOT's streamers wrote.
    Streamed(Streamed),
}

/// The elements of one leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plain {
    /// The type of the elements.
    pub element: Element,
    /// The fixed dimensions, outermost first. If there is a counter, they are inside the variable dimension.
    pub dimensions: Vec<u64>,
    /// The counter of a jagged branch.
    pub counter: Option<CountSource>,
}

/// Streamed objects, or a streamed member of objects.
#[derive(Clone, Debug)]
pub struct Streamed {
    /// The layout of the streamed bytes.
    pub layout: Arc<ObjectLayout>,
    /// The C++ type.
    pub type_name: String,
    /// The leaf that counts the items of the collection, if this is a member of the items.
    pub counter: Option<CountSource>,
    /// The leaf with the lengths of the arrays that pointers refer to.
    pub lengths: Option<CountSource>,
    /// Whether every entry begins with the name of its class (`TLeafObject`).
    pub named: bool,
}

impl Streamed {
    /// Makes the contents for values of a C++ type, one value for each entry.
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

/// A split object or collection. Its members are in sub-branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// The C++ class of the object, or of the items.
    pub class: ClassName,
    /// The members in the order of the class. Base classes are called `:_0`, `:_1`, ...
    pub members: Vec<(String, SplitMember)>,
    /// The C++ type of the collection and the leaf that counts its items. `None` if this is not a collection.
    pub collection: Option<(String, CountSource)>,
    /// The Arrow type, or the reason why one of the sub-branches cannot be read.
    pub data_type: Result<DataType, String>,
}

/// A class in one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassName {
    /// The C++ name.
    pub name: String,
    /// The version.
    pub version: i32,
    /// The checksum of the layout. It is 0 if it is not known.
    pub checksum: u32,
}

/// The branches that hold a member of a split object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SplitMember {
    /// The branch of this path holds the member.
    Branch(String),
    /// The member is itself an object. Its members are in branches below the same branch.
    Inside(Split),
}

/// One basket of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basket {
    /// The offset of its key in the file, in bytes.
    pub seek: u64,
    /// The stored size with the key, in bytes. For a basket inside the tree object, this is its part of the
    /// object.
    pub bytes: u64,
    /// The first entry.
    pub first_entry: u64,
    /// The number of entries.
    pub entries: u64,
    /// The bytes of a basket inside the tree object: the key and the uncompressed payload. Such a basket was
    /// not yet flushed when the tree was written. `None` for baskets on disk.
    pub embedded: Option<Arc<[u8]>>,
}

/// The largest object size in bytes that a basket can have.
pub(crate) const BASKET_MAX: u64 = i32::MAX as u64;

/// The largest ratio of uncompressed to compressed size of all algorithms. A zstd block of four bytes can hold
/// 128 KiB of one value.
const MAX_COMPRESSION_RATIO: u64 = 1 << 15;

impl Basket {
    /// Returns the largest number of uncompressed bytes that the basket can hold, in a file of `file_bytes`
    /// bytes.
    pub(crate) fn max_bytes(&self, file_bytes: u64) -> u64 {
        let stored = match (&self.embedded, self.bytes) {
            (Some(embedded), _) => return embedded.len() as u64,
            // Only the key of the basket states the size.
            (None, 0) => file_bytes,
            (None, bytes) => bytes.min(file_bytes),
        };
        stored.saturating_mul(MAX_COMPRESSION_RATIO).min(BASKET_MAX)
    }
}

impl Shape {
    /// Returns the leaf that counts the items of an entry, if their number varies.
    pub fn counter(&self) -> Option<&CountSource> {
        match self {
            Self::Plain(plain) => plain.counter.as_ref(),
            Self::LeafList => None,
            Self::Streamed(streamed) => streamed.counter.as_ref(),
        }
    }
}

impl Split {
    /// Returns the branches of the members, including the members of inner objects.
    pub fn branches(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        for (_, member) in &self.members {
            match member {
                SplitMember::Branch(path) => paths.push(path.as_str()),
                SplitMember::Inside(split) => paths.extend(split.branches()),
            }
        }
        paths
    }
}

impl Element {
    /// Returns the type of number. Returns `None` for strings.
    pub fn number(self) -> Option<Number> {
        match self {
            Self::Number(number) => Some(number),
            Self::CString => None,
        }
    }

    /// Returns the Arrow type of one element.
    pub fn data_type(self) -> DataType {
        self.number().map_or(DataType::LargeBinary, Number::data_type)
    }

    /// Returns the size of one streamed element in bytes. Returns `None` for strings.
    pub fn size(self) -> Option<usize> {
        self.number().map(Number::size)
    }
}
