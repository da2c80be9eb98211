//! A TTree as plain data, made from its streamed object and read by the basket reader.

use arrow_schema::DataType;

use super::layout::BASKET_MAX;

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
    /// Branch name as stored.
    pub name: String,
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
    /// What the branch reads as, or why nyssa cannot read it.
    pub shape: Result<Shape, String>,
}

/// One leaf of a branch.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// Leaf name.
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
#[allow(missing_docs)]
pub enum Element {
    Bool,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Float32,
    Float64,
    /// C string (`TLeafC`): one length byte, or 255 and 32 bits, then the bytes.
    CString,
}

/// What a readable branch yields per entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Element type.
    pub element: Element,
    /// Fixed dimensions, outermost first; inside the variable one if there is a counter.
    pub dimensions: Vec<u64>,
    /// The counter of a jagged branch.
    pub counter: Option<CountSource>,
}

/// One basket of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basket {
    /// Offset of its key in the file, bytes.
    pub seek: u64,
    /// Size on storage with key, bytes.
    pub bytes: u64,
    /// First entry.
    pub first_entry: u64,
    /// Number of entries.
    pub entries: u64,
    /// Contents streamed inside the tree object itself (not yet flushed when the tree was written):
    /// the key and uncompressed payload. `None` for baskets on disk.
    pub embedded: Option<std::sync::Arc<[u8]>>,
}

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
    /// The Arrow type of one entry: `LargeList` of `FixedSizeList`s of primitives; strings are
    /// `LargeBinary` marked by [`crate::arrow::STRING`].
    pub fn data_type(&self) -> DataType {
        crate::arrow::nested(self.element.data_type(), &self.dimensions, self.counter.is_some())
    }
}

impl Element {
    /// The Arrow type of one element.
    pub fn data_type(self) -> DataType {
        match self {
            Self::Bool => DataType::Boolean,
            Self::Int8 => DataType::Int8,
            Self::UInt8 => DataType::UInt8,
            Self::Int16 => DataType::Int16,
            Self::UInt16 => DataType::UInt16,
            Self::Int32 => DataType::Int32,
            Self::UInt32 => DataType::UInt32,
            Self::Int64 => DataType::Int64,
            Self::UInt64 => DataType::UInt64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::CString => DataType::LargeBinary,
        }
    }

    /// Size of one streamed element in bytes; `None` for strings.
    pub fn size(self) -> Option<usize> {
        match self {
            Self::Bool | Self::Int8 | Self::UInt8 => Some(1),
            Self::Int16 | Self::UInt16 => Some(2),
            Self::Int32 | Self::UInt32 | Self::Float32 => Some(4),
            Self::Int64 | Self::UInt64 | Self::Float64 => Some(8),
            Self::CString => None,
        }
    }
}
