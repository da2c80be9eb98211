//! How values are streamed.

mod class;
mod pointer;

use std::sync::Arc;

use super::ObjectLayout;
use super::shape::Shape;
use crate::arrow::Number;
use crate::streamer::basic::Basic;

pub(super) use super::builtin::Collection;
pub(super) use class::find;
pub(super) use pointer::Form;

/// How one member, item or object is streamed.
#[derive(Debug)]
pub(super) enum Node {
    /// A number, stored as one type and read as another.
    Number(Basic),
    /// A string: one length byte, or 255 and a 32-bit length.
    Text,
    /// A `char*`: a 32-bit length.
    CString,
    /// `TObject`: version, identifier, bits, and a process id where it is referenced.
    TObject,
    /// `TRef`: a `TObject` and a process id.
    TRef,
    /// `TRefArray`.
    TRefArray,
    /// `TMatrixTSym`.
    Symmetric(Box<Symmetric>),
    /// Members behind a version header, which in a list streamed member by member base classes lack.
    Object(Box<Class>),
    /// The members of one version of a class, without a version header.
    Members(Box<Class>, usize),
    /// Objects one after the other in an array of these dimensions, outermost first.
    Array(Vec<usize>, Box<Node>),
    /// As many numbers or objects as a member says, for each of so many pointers.
    Counted(Counted),
    /// A 32-bit count and items.
    Sequence(Box<Node>),
    /// A 32-bit count, and a byte for each bit.
    Bitset(usize),
    /// A 32-bit count, and keys and values in turn.
    Map(Box<Pair>),
    /// A standard container as a member: a version header, then the content, or so many of it.
    Container(Box<Node>, Option<Vec<usize>>),
    /// A pointer to an object.
    Pointer(Box<Pointer>),
    /// An item of a class without streamer info, which no entry may have.
    Unknown(String),
    /// A container as a member, with its version header, that is kept as bytes: of the class that it
    /// is in, whose name this is, or of several classes.
    Opaque(Option<String>),
    /// `TObjArray`, `TList`, `TMap`, `TClonesArray`.
    Collection(Collection, Box<Pointer>),
    /// An object that is kept as bytes, which end with the entry.
    Carried(Box<Carried>),
    /// The bytes of an entry, of which nothing is known.
    Bytes,
    /// An object of a class that is looked up by its name when the object is read. Only values have it.
    Named(Arc<str>),
    /// A member that nyssa cannot read, and why. Values skip it by its byte count.
    Unreadable(Arc<str>),
    /// `TBranch::fBasketSeek` before version 10: positions of 64 bits if the byte before them is 2, else of 32.
    Seeks(Counted),
}

/// An object that is kept as bytes.
#[derive(Debug)]
pub(super) struct Carried {
    /// The version in the header that it gets if it has none.
    pub version: Option<Vec<u8>>,
    /// What it is.
    pub layout: Arc<ObjectLayout>,
}

/// An array behind a pointer whose length another member holds.
#[derive(Debug)]
pub(super) struct Counted {
    /// Name of the counter, of this class or a base class.
    pub name: String,
    /// Path of the counter from the members of the same class.
    pub counter: Vec<usize>,
    /// Sizes of an array of such pointers.
    pub dimensions: Vec<usize>,
    pub item: Box<Node>,
    /// Whether items are objects, behind a version header, or numbers, behind a byte that is 0 for a
    /// null pointer.
    pub objects: bool,
    /// Whether there is neither: the numbers of a leaf list.
    pub bare: bool,
}

/// A symmetric matrix, of which one half is streamed.
#[derive(Debug)]
pub(super) struct Symmetric {
    /// `TMatrixTBase`, with sizes and bounds.
    pub base: Class,
    /// Path of the number of rows in it.
    pub rows: Vec<usize>,
    /// Elements.
    pub basic: Basic,
}

/// A key and a value as items of a map.
#[derive(Debug)]
pub(super) struct Pair {
    pub key: Node,
    pub value: Node,
    /// The pair as a class, for maps that are streamed member by member.
    pub class: Class,
}

/// A class that is streamed by streamer info.
#[derive(Debug)]
pub(super) struct Class {
    /// Class name.
    pub name: Arc<str>,
    /// The version that gives the shape comes first.
    pub versions: Vec<Version>,
    /// Whether its layout follows from its name (pairs), so that no version has to match.
    pub fixed: bool,
}

/// One version of a class.
#[derive(Debug)]
pub(super) struct Version {
    /// Class version.
    pub version: i32,
    /// Checksum of the layout.
    pub checksum: u32,
    /// Members in the order they are streamed.
    pub steps: Vec<Step>,
    /// Members of the shape that this version lacks; they read as zero or empty.
    pub missing: Vec<usize>,
    /// A member whose type differs from that of the shape, so that the version cannot be read.
    pub conflict: Option<String>,
}

/// One member.
#[derive(Debug)]
pub(super) struct Step {
    /// `Class::member`, for messages.
    pub place: String,
    /// Name in the record.
    pub name: String,
    /// How it is streamed.
    pub node: Node,
    /// Whether it is a base class.
    pub base: bool,
    /// Version of the base class, by which it is streamed where it has no version header.
    pub base_version: i32,
    /// Its place in the record; `None` for a member that the shape lacks.
    pub target: Option<usize>,
}

/// Where a pointer may lead.
#[derive(Debug)]
pub(super) struct Pointer {
    /// Class of the pointer.
    pub declared: String,
    /// Classes that objects are taken apart for.
    pub classes: Vec<(String, Node)>,
    /// Whether objects may be of a class that is not among them.
    pub open: bool,
    /// Whether there may be an object of its own class instead of a tag: in arrays of pointers that a
    /// member counts, ROOT up to 5.15/08 streamed them so.
    pub bare: bool,
}

impl Node {
    /// A class by name, of those that objects in it have.
    pub fn class(&self, name: &str) -> Option<&Class> {
        let inner: Vec<&Self> = match self {
            Self::Number(..)
            | Self::Text
            | Self::CString
            | Self::TObject
            | Self::TRef
            | Self::TRefArray
            | Self::Bitset(_)
            | Self::Unknown(_)
            | Self::Bytes
            | Self::Named(_)
            | Self::Unreadable(_)
            | Self::Seeks(_)
            | Self::Opaque(_) => Vec::new(),
            Self::Object(class) | Self::Members(class, _) if &*class.name == name => {
                return Some(class);
            }
            Self::Object(class) | Self::Members(class, _) => class.nodes(),
            Self::Symmetric(matrix) => matrix.base.nodes(),
            Self::Array(_, item) | Self::Sequence(item) | Self::Container(item, _) => vec![item],
            Self::Counted(counted) => vec![&counted.item],
            Self::Map(pair) => vec![&pair.key, &pair.value],
            Self::Pointer(pointer) | Self::Collection(_, pointer) => {
                pointer.classes.iter().map(|(_, node)| node).collect()
            }
            Self::Carried(carried) => vec![&carried.layout.node],
        };
        inner.into_iter().find_map(|node| node.class(name))
    }

    /// Of a list of numbers, how they are stored; none where a number may take more bytes than its
    /// type says.
    pub fn numbers_in_list(&self) -> Option<Basic> {
        match self {
            Self::Sequence(item) => match **item {
                Self::Number(basic) if basic != Basic::Bits => Some(basic),
                _ => None,
            },
            _ => None,
        }
    }

    /// What it reads as.
    pub fn shape(&self) -> Shape {
        let list = |item: Shape| Shape::List(Box::new(item));
        match self {
            Self::Number(Basic::Date) => Shape::Date,
            Self::Number(basic) => Shape::Number(basic.number()),
            Self::Text | Self::CString => Shape::Text,
            Self::Unknown(_)
            | Self::Opaque(_)
            | Self::Carried(_)
            | Self::Bytes
            | Self::Named(_)
            | Self::Unreadable(_)
            | Self::Seeks(_) => Shape::Raw,
            Self::TObject => t_object(),
            Self::TRef => record([(":_0", t_object()), ("fPID", Shape::Number(Number::UInt16))]),
            Self::TRefArray => record([
                (":_0", t_object()),
                ("fName", Shape::Text),
                ("fLowerBound", Shape::Number(Number::Int32)),
                ("fPID", Shape::Number(Number::UInt16)),
                ("fUIDs", list(Shape::Number(Number::UInt32))),
            ]),
            Self::Symmetric(matrix) => record([
                (":_0", matrix.base.shape()),
                ("fElements", list(Shape::Number(matrix.basic.number()))),
            ]),
            Self::Object(class) | Self::Members(class, _) => class.shape(),
            Self::Array(dimensions, item) => fixed(dimensions, item.shape()),
            Self::Counted(counted) => fixed(&counted.dimensions, list(counted.item.shape())),
            Self::Sequence(item) => list(item.shape()),
            Self::Bitset(size) => Shape::Fixed(*size, Box::new(Shape::Number(Number::Bool))),
            Self::Map(pair) => list(pair.class.shape()),
            Self::Container(content, None) => content.shape(),
            Self::Container(content, Some(dimensions)) => fixed(dimensions, content.shape()),
            Self::Pointer(pointer) => pointer.shape(),
            Self::Collection(kind, items) => {
                let item = match kind {
                    Collection::Map => record([("_0", items.shape()), ("_1", items.shape())]),
                    _ => items.shape(),
                };
                let items = ("items", list(item));
                let name = ("fName", Shape::Text);
                match kind {
                    Collection::List | Collection::Map => {
                        record([(":_0", t_object()), name, items])
                    }
                    Collection::Array | Collection::Clones => {
                        let lower = ("fLowerBound", Shape::Number(Number::Int32));
                        record([(":_0", t_object()), name, lower, items])
                    }
                }
            }
        }
    }
}

fn record<const N: usize>(members: [(&str, Shape); N]) -> Shape {
    Shape::Record(members.map(|(name, shape)| (name.to_owned(), shape)).into())
}

fn t_object() -> Shape {
    let number = || Shape::Number(Number::UInt32);
    record([("fUniqueID", number()), ("fBits", number())])
}

fn fixed(dimensions: &[usize], item: Shape) -> Shape {
    dimensions.iter().rev().fold(item, |item, &size| Shape::Fixed(size, Box::new(item)))
}
