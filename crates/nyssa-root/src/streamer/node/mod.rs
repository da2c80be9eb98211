//! Defines nodes, which say how values are streamed.

mod class;
mod pointer;

use std::sync::Arc;

use super::reference_places::FindReferences;
use super::shape::Shape;
use crate::arrow::Number;
use crate::streamer::basic::Basic;

pub(super) use super::builtin::Collection;
pub(super) use class::find;
pub(super) use pointer::PointerForm;

/// The way in which one member, item or object is streamed.
#[derive(Debug)]
pub(super) enum Node {
    /// A number. It may be stored as another type than it has in memory.
    Number(Basic),
    /// A string. Its length is one byte, or 255 and 32 bits.
    Text,
    /// A `char*`. Its length has 32 bits.
    CString,
    /// A `TObject`: version, identifier and bits, and the number of a process if it is referenced.
    TObject,
    /// A `TRef`: a `TObject` and the number of a process.
    TRef,
    /// A `TRefArray`.
    TRefArray,
    /// A `TMatrixTSym`.
    Symmetric(Box<Symmetric>),
    /// An object with a version header and members. In a list that is streamed member by member, base classes
    /// have no version header.
    Object(Box<Class>),
    /// The members of one version of a class, without a version header.
    Members(Box<Class>, usize),
    /// An array with these dimensions, outermost first.
    Array(Vec<usize>, Box<Node>),
    /// Arrays of numbers or objects behind pointers. A member holds their length.
    Counted(Counted),
    /// A 32-bit count and items.
    Sequence(Box<Node>),
    /// A 32-bit count and a byte for each bit.
    Bitset(usize),
    /// A 32-bit count, then keys and values in turn.
    Map(Box<Pair>),
    /// A standard container, or an array of containers, that is a member. The content follows a version header.
    Container(Box<Node>, Option<Vec<usize>>),
    /// A pointer to an object.
    Pointer(Box<Pointer>),
    /// An object of this class inside another object of the class. It is read as the number of an object.
    Embedded(String),
    /// A member of this type that is not decoded, for this reason. It is read as the number of an object.
    Skipped(String, Arc<str>),
    /// An item of a class without streamer info, which no entry may have.
    Unknown(String),
    /// A container that is a member and is read as bytes with its version header. Its items are of the class that
    /// contains it, whose name is given, or of several classes.
    Opaque(Option<String>),
    /// A `TObjArray`, `TList`, `TMap`, `TClonesArray` or another collection of ROOT.
    Collection(Collection, Box<Pointer>),
    /// An object that is read as bytes, up to the end of the entry.
    RawObject(Box<RawObject>),
    /// The bytes of an entry with unknown content.
    Bytes,
    /// An object of a class that is looked up by its name when the object is read. Only the reader of values
    /// has such nodes.
    Named(Arc<str>),
    /// A member that nyssa cannot read, with the reason. The reader of values skips it by its byte count.
    Unreadable(Arc<str>),
    /// `TBranch::fBasketSeek` before version 10: positions of 64 bits if the byte before them is 2, else of 32.
    Seeks(Counted),
}

/// An object that is read as bytes.
#[derive(Debug)]
pub(super) struct RawObject {
    /// The version for the header of an object without a header.
    pub version: Option<Vec<u8>>,
    /// The finder of the references in it.
    pub references: Arc<dyn FindReferences>,
}

/// An array behind a pointer whose length another member holds.
#[derive(Debug)]
pub(super) struct Counted {
    /// The name of the counter, which is a member of this class or of a base class.
    pub name: String,
    /// The path of the counter from the members of the same class.
    pub counter: Vec<usize>,
    /// The dimensions of an array of such pointers.
    pub dimensions: Vec<usize>,
    pub item: Box<Node>,
    /// Whether the items are objects after a version header. Otherwise they are numbers after a byte that is 0
    /// for a null pointer.
    pub objects: bool,
    /// Whether there is neither a version header nor such a byte, as in a leaf list.
    pub bare: bool,
}

/// A symmetric matrix, of which one half is streamed.
#[derive(Debug)]
pub(super) struct Symmetric {
    /// The base class `TMatrixTBase`, with sizes and bounds.
    pub base: Class,
    /// The path of the number of rows in `TMatrixTBase`.
    pub rows: Vec<usize>,
    /// The type of the elements.
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
    /// The class name.
    pub name: Arc<str>,
    /// The versions of the class. The first version gives the shape.
    pub versions: Vec<Version>,
    /// Whether the name gives the layout, as for pairs, so that the version does not matter.
    pub fixed: bool,
}

/// One version of a class.
#[derive(Debug)]
pub(super) struct Version {
    /// The class version.
    pub version: i32,
    /// The checksum of the layout.
    pub checksum: u32,
    /// The members in the order in which they are streamed.
    pub steps: Vec<Step>,
    /// The members of the shape that this version lacks. They are read as zero or empty.
    pub missing: Vec<usize>,
    /// The name of a member whose type differs from the type in the shape, so that the version cannot be read.
    pub conflict: Option<String>,
}

/// One member of a class.
#[derive(Debug)]
pub(super) struct Step {
    /// The name as `Class::member`, for messages.
    pub place: String,
    /// The name in the record.
    pub name: String,
    /// The node that streams it.
    pub node: Node,
    /// Whether it is a base class.
    pub base: bool,
    /// The version of the base class. It is streamed in this version if it has no version header.
    pub base_version: i32,
    /// The place of the member in the record. `None` for a member that the shape does not have.
    pub target: Option<usize>,
    /// The shape of the member in the record, if it has wider numbers than this version.
    pub widened: Option<Shape>,
}

/// The classes that a pointer may lead to.
#[derive(Debug)]
pub(super) struct Pointer {
    /// The class of the pointer in its declaration.
    pub declared: String,
    /// The classes whose objects are decoded.
    pub classes: Vec<(String, Node)>,
    /// Whether objects may be of other classes.
    pub open: bool,
    /// Whether there may be an object of the declared class without a tag. ROOT up to 5.15/08 wrote such
    /// objects in arrays of pointers with a counter.
    pub bare: bool,
    /// The layout of its values.
    pub form: PointerForm,
}

impl Node {
    /// Returns the class with this name, if objects in this node may have it.
    pub(super) fn class(&self, name: &str) -> Option<&Class> {
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
            | Self::Embedded(_)
            | Self::Skipped(..)
            | Self::RawObject(_)
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
        };
        inner.into_iter().find_map(|node| node.class(name))
    }

    /// Returns whether the values have no pointers, so that their bytes have no references. A class that is looked up
    /// by its name may have pointers.
    pub(super) fn is_plain(&self) -> bool {
        match self {
            Self::Number(_) | Self::Text | Self::CString | Self::Bitset(_) => true,
            Self::Array(_, item) | Self::Sequence(item) | Self::Container(item, _) => {
                item.is_plain()
            }
            Self::Map(pair) => pair.key.is_plain() && pair.value.is_plain(),
            Self::Object(class) => class.nodes().into_iter().all(Self::is_plain),
            _ => false,
        }
    }

    /// Returns how the numbers of a list are stored. Returns `None` for other nodes, and if a number may take
    /// more bytes than its type has.
    pub(super) fn numbers_in_list(&self) -> Option<Basic> {
        match self {
            Self::Sequence(item) => match **item {
                Self::Number(basic) if basic != Basic::Bits => Some(basic),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the shape of the values.
    pub(super) fn shape(&self) -> Shape {
        let list = |item: Shape| Shape::List(Box::new(item));
        match self {
            Self::Number(Basic::Date) => Shape::Date,
            Self::Number(basic) => number(*basic),
            Self::Text | Self::CString => Shape::Text,
            Self::Unknown(_)
            | Self::Opaque(_)
            | Self::RawObject(_)
            | Self::Bytes
            | Self::Named(_)
            | Self::Unreadable(_)
            | Self::Seeks(_) => Shape::Raw,
            Self::Embedded(_) | Self::Skipped(..) => Shape::Link,
            Self::TObject => t_object(),
            Self::TRef => record([(":_0", t_object()), ("fPID", Shape::Number(Number::UInt16))]),
            Self::TRefArray => record([
                (":_0", t_object()),
                ("fName", Shape::Text),
                ("fLowerBound", Shape::Number(Number::Int32)),
                ("fPID", Shape::Number(Number::UInt16)),
                ("fUIDs", list(Shape::Number(Number::UInt32))),
            ]),
            Self::Symmetric(matrix) => {
                record([(":_0", matrix.base.shape()), ("fElements", list(number(matrix.basic)))])
            }
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
                    Collection::List => {
                        let options = ("options", list(Shape::Text));
                        record([(":_0", t_object()), name, items, options])
                    }
                    Collection::Map | Collection::Plain | Collection::Linked => {
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

fn number(basic: Basic) -> Shape {
    match basic.quantization() {
        Some(quantization) => Shape::Quantized(quantization, basic.number()),
        None => Shape::Number(basic.number()),
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
