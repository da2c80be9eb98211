//! Objects serialised with ROOT's streamers → Arrow arrays, by the streamer info of their file.
//!
//! ```text
//! streamer infos + class ──► node      how each member is streamed, a tree; no bytes seen yet
//! node                   ──► shape     what it reads as, the Arrow type
//! bytes, by entry        ──► columns   members pushed one after the other, no object in between
//! columns                ──► array
//! ```
//!
//! and back: array and node ──► bytes.
//!
//! A class reads as the record that RNTuple would make of it were it not streamed:
//!
//! | C++ | Arrow |
//! |---|---|
//! | class | `Struct` of its members; base classes come first, as `:_0`, `:_1`, ... |
//! | `TObject` | `Struct` of `fUniqueID` and `fBits`, `UInt32` |
//! | numbers, enums | the same width; `Double32_t` is `Float64`, `Float16_t` is `Float32` |
//! | `TString`, `std::string`, `char*` | a string |
//! | arrays | `FixedSizeList`, nested for several dimensions; `std::array` in containers as the class that ROOT sees |
//! | pointers with a counter, `TArrayF`, ..., standard containers | `LargeList` |
//! | containers of the class that has them as a member | their streamed bytes |
//! | classes that are containers (`DataVector<T>`) | `LargeList` of the items that their streamer info names |
//! | containers of what the file does not describe | `LargeList`: of `Int32` where it may be an enum, else only empty |
//! | pairs, items of maps | `Struct` of `_0` and `_1` |
//! | `std::bitset` | `FixedSizeList` of `Boolean`, bit 0 first |
//! | pointers to objects, `std::unique_ptr` | the object, nullable |
//! | pointers to `TObject` or to a class with derived classes in the streamer infos | dense `Union`: `none` (null pointers), one child per class, named after it, `other` (below) |
//! | `TObjArray`, `TList`, `TClonesArray` | `Struct` of `:_0` (`TObject`), `fName`, and `items`, a `LargeList` of such unions |
//! | `TMap` | the same with items of `_0` and `_1` |
//! | `TRefArray` | `Struct` of `:_0` (`TObject`), `fName`, `fLowerBound`, `fPID`, `fUIDs` |
//! | `TMatrixTSym` | `Struct` of `:_0` (`TMatrixTBase`) and `fElements`, all of them |
//! | `TDatime` | `UInt32` marked as dates ([`crate::arrow::Date`]) |
//!
//! `other` holds the streamed bytes of objects whose class has no child: a class inside itself, and
//! unions within unions of any `TObject`. A reference to the object that holds it is four bytes there,
//! the number 1. What ROOT marks as not persistent is not there.
//!
//! Objects that several pointers of one entry refer to are repeated in each place.

mod basic;
mod branch;
mod builtin;
mod carry;
mod column;
mod compile;
mod container;
mod copy;
mod decode;
mod encode;
mod file;
pub mod info;
mod layouts;
mod leaf;
mod marks;
mod node;
mod number;
mod object;
mod shape;
pub mod values;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::{DataType, Field};

use crate::error::Result;
use column::Column;
use compile::Compiler;
use decode::Decoder;
use encode::members::version_bytes;
use node::{Carried, Node};
use shape::Shape;

pub(crate) use basic::Basic;
pub use branch::{Counts, Values};
pub use copy::{ObjectCopy, Refused};
pub use info::{ClassInfo, Element, StreamerInfos, StreamerList};
pub use layouts::Layouts;
pub use leaf::{LeafNumbers, Member};
pub use object::ObjectReader;
pub use values::{Object, View};

/// Where the places count from by which an object refers to what was streamed before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// So many bytes before each object: 0 in streamer fields, the size of the key for an object with
    /// a key of its own.
    Object(u32),
    /// So many bytes before the bytes of all objects: the size of the key for a basket.
    Buffer(u32),
}

/// How the objects of a class are read: made once, used for any number of entries.
#[derive(Debug)]
pub struct ObjectLayout {
    node: Node,
    shape: Shape,
}

impl ObjectLayout {
    /// The layout of the class whose name is the first of `names` that `infos` know, as RNTuple or
    /// as ROOT writes it.
    ///
    /// # Errors
    /// `Unsupported` naming class and member when a member cannot be read, or when a class has no
    /// streamer info.
    pub fn compile(infos: &StreamerInfos, names: &[&str]) -> Result<Self> {
        Self::of(Compiler::new(infos.classes()), names)
    }

    /// Whether a C++ type is a standard container.
    pub fn is_container(type_name: &str) -> bool {
        compile::is_container(type_name)
    }

    /// As [`ObjectLayout::compile`] for objects in which pointers lead to no classes but `met`; `more` are
    /// classes that the file does not describe.
    fn compile_met(
        infos: &StreamerInfos,
        more: &[ClassInfo],
        names: &[&str],
        met: &BTreeSet<String>,
    ) -> Result<Self> {
        Self::of(Compiler::new(infos.classes()).with(more).met(met), names)
    }

    fn of(mut compiler: Compiler<'_>, names: &[&str]) -> Result<Self> {
        compiler.root(names).map(Self::new)
    }

    fn new(node: Node) -> Self {
        let shape = node.shape();
        Self { node, shape }
    }

    /// The Arrow type of an object.
    pub fn data_type(&self) -> DataType {
        self.shape.data_type()
    }

    /// The Arrow field of an object.
    pub fn arrow_field(&self, name: &str) -> Field {
        self.shape.field(name)
    }

    /// Decodes the objects in `bytes`; object `i` lies between `offsets[i]` and `offsets[i + 1]`, and
    /// what refers to something in it counts from its start.
    ///
    /// # Errors
    /// As [`ObjectLayout::decode_from`].
    pub fn decode(&self, bytes: &[u8], offsets: &[i64]) -> Result<ArrayRef> {
        self.decode_from(bytes, offsets, Origin::Object(0))
    }

    /// As [`ObjectLayout::decode`] for objects whose references count from elsewhere.
    ///
    /// # Errors
    /// `OutOfSpecification` naming class, member, entry (counted from 0 here) and byte of the object
    /// when bytes and streamer info disagree; `Unsupported` for class versions without streamer
    /// info; `LimitExceeded` where references make far more of an object than its bytes.
    pub fn decode_from(&self, bytes: &[u8], offsets: &[i64], origin: Origin) -> Result<ArrayRef> {
        let mut column = Column::new(&self.shape);
        let mut decoder = Decoder::new(bytes.len());
        for (entry, range) in offsets.windows(2).enumerate() {
            decoder
                .object_at(&self.node, bytes, range, origin, &mut column)
                .map_err(|error| error.at(|place| place.entry = Some(entry as u64)))?;
        }
        column.finish(&self.shape)
    }

    /// Streams the objects in `array`, which is of the type that [`ObjectLayout::decode`] gives; their
    /// bytes and, one more than objects, offsets. References count from the start of each object.
    ///
    /// Each class is written in the version that the type follows, the newest of those that the
    /// layout was made of. An object that several pointers shared is written for each; the identity of
    /// referenced objects (`TRef`) counts from the first process id, and options of list items are empty.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays of other types and for values that no object has, such as an array
    /// of another length than its counter; `Unsupported` naming class, member and entry (counted from
    /// 0 here) for objects that are kept as bytes in which there may be references; `LimitExceeded`
    /// for objects of more than 1 GiB.
    pub fn encode(&self, array: &ArrayRef) -> Result<(Vec<u8>, Vec<i64>)> {
        encode::encode(&self.node, &self.shape, array)
    }

    /// The layout of the same objects of a class that reads as their bytes, with a header, in which
    /// references count from the start of each; `None` for other values.
    pub fn carried(self: &Arc<Self>) -> Option<Self> {
        let version = match &self.node {
            Node::Object(_) => None,
            Node::Members(class, version) => {
                Some(version_bytes(class, class.versions.get(*version)?).ok()?)
            }
            _ => return None,
        };
        let carried = Carried { version, layout: Arc::clone(self) };
        Some(Self::new(Node::Carried(Box::new(carried))))
    }

    /// What readers of the bytes that [`ObjectLayout::encode`] makes have to know: of `infos` the classes in
    /// `layouts`, each in the version that is written, in the order of `infos`.
    pub fn describe<'l>(
        layouts: impl IntoIterator<Item = &'l Self>,
        infos: &StreamerList,
    ) -> StreamerList {
        encode::describe(layouts.into_iter().map(|layout| &layout.node), infos, false)
    }

    /// As [`ObjectLayout::describe`] in all versions: for bytes that are taken as they are.
    pub fn describe_all<'l>(
        layouts: impl IntoIterator<Item = &'l Self>,
        infos: &StreamerList,
    ) -> StreamerList {
        encode::describe(layouts.into_iter().map(|layout| &layout.node), infos, true)
    }
}
