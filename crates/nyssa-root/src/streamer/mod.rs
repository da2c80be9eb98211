//! Converts between objects that ROOT's streamers wrote and Arrow arrays, by the streamer info of the file.
//!
//! ```text
//! streamer infos + class ──► node      a tree that says how each member is streamed
//! node                   ──► shape     the form of the values, from which the Arrow type follows
//! bytes of entries       ──► columns   each value is appended to its column
//! columns                ──► array
//! ```
//!
//! An array and a node are encoded to bytes in the other direction.
//!
//! A class is read as the record that RNTuple makes of a class that is not streamed:
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
//! | containers of a type that the file does not describe | `LargeList` of `Int32` if the type may be an enum; else the lists must be empty |
//! | pairs, items of maps | `Struct` of `_0` and `_1` |
//! | `std::bitset` | `FixedSizeList` of `Boolean`, bit 0 first |
//! | pointers to objects, `std::unique_ptr` | the object, nullable |
//! | pointers to `TObject` or to a class with derived classes in the streamer infos | dense `Union`: `none` (null pointers), one child per class, named after it, `other` (below) |
//! | `TObjArray`, `TList`, `TClonesArray` | `Struct` of `:_0` (`TObject`), `fName`, and `items`, a `LargeList` of such unions; lists have `options`, a `LargeList` of the strings with which the items were added |
//! | `TMap` | the same with items of `_0` and `_1` |
//! | `TRefArray` | `Struct` of `:_0` (`TObject`), `fName`, `fLowerBound`, `fPID`, `fUIDs` |
//! | `TMatrixTSym` | `Struct` of `:_0` (`TMatrixTBase`) and `fElements`, all of them |
//! | `TDatime` | `UInt32` marked as dates ([`crate::arrow::Date`]) |
//!
//! `other` holds the streamed bytes of objects whose class has no child. These are classes that contain themselves,
//! and objects in a union of any `TObject` inside another such union. In these bytes, the number 1 in four bytes is a
//! reference to the object that contains them. Members that ROOT marks as not persistent are missing.
//!
//! If several pointers of one entry refer to an object, it is repeated for each pointer.
//!
//! An object with a key of its own is read as an [`ObjectGraph`], where pointers are numbers of objects.

mod basic;
mod branch;
mod builtin;
mod column;
mod compile;
mod container;
mod copy;
mod declare;
mod decode;
mod draft;
mod encode;
mod entry_references;
mod file;
mod graph;
pub mod info;
mod layouts;
mod leaf;
mod leaf_list;
mod node;
mod number;
mod object;
mod possible_references;
mod process_places;
mod processes;
mod reference_places;
mod shape;
mod standalone;
pub mod values;
mod wire;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, LargeBinaryArray};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};
use compile::{ClassVersion, Compiler};
use decode::Decoder;
use encode::members::version_bytes;
use entry_references::RawReferences;
use node::{Node, RawObject};

use crate::error::{Error, Result};
use column::ColumnBuilder;
use shape::Shape;

pub use basic::Basic;
pub use basic::Quantization;
pub use branch::{Counts, Values};
pub use copy::{ObjectCopy, Refused};
pub use declare::Declarations;
pub use draft::{Draft, Target};
pub use encode::Entries;
pub use entry_references::{EntryForm, ReferenceFinder};
pub use graph::{Linked, ObjectGraph, ObjectTable, Undecoded};
pub use info::{ClassInfo, Element, StreamerInfos, StreamerList};
pub use layouts::{Layouts, ObjectsAs};
pub use leaf::{LeafNumbers, Member};
pub use object::ObjectReader;
pub use possible_references::may_refer;
pub use processes::{
    OTHER_PROCESS, PROCESS_ID, ProcessNumbers, has_references, process_number, process_path,
};
pub use standalone::rebase;
pub use values::{Object, View};

/// The point from which the positions in references to objects and classes are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This number of bytes before each object. It is 0 in streamer fields, and the size of the key for an
    /// object with its own key.
    Object(u32),
    /// This number of bytes before the first object. It is the size of the key in a basket.
    Buffer(u32),
}

/// The layout by which the objects of a class are read and written. It is made once and used for any number of
/// entries.
#[derive(Debug)]
pub struct ObjectLayout {
    node: Node,
    shape: Shape,
}

impl ObjectLayout {
    /// Makes the layout of the first class of `names` that `infos` describe. The names are spelt as in RNTuple
    /// or as in ROOT.
    ///
    /// # Errors
    /// `Unsupported` with class and member if a member cannot be read or a class has no streamer info.
    pub fn compile(infos: &StreamerInfos, names: &[&str]) -> Result<Self> {
        Self::of(Compiler::new(infos.classes()), names)
    }

    /// Returns whether a C++ type is a standard container.
    pub fn is_container(type_name: &str) -> bool {
        compile::is_container(type_name)
    }

    /// Makes the layout of an object whose pointers are read as the numbers of other objects. `chosen` contains the
    /// versions that give the shapes of classes.
    fn compile_links(
        infos: &StreamerInfos,
        class: &str,
        chosen: &BTreeMap<String, ClassVersion>,
    ) -> Result<Self> {
        Self::of(Compiler::new(infos.classes()).links(chosen), &[class])
    }

    fn of(mut compiler: Compiler<'_>, names: &[&str]) -> Result<Self> {
        compiler.root(names).map(Self::new)
    }

    fn new(node: Node) -> Self {
        let shape = node.shape();
        Self { node, shape }
    }

    /// Returns the Arrow type of an object.
    pub fn data_type(&self) -> DataType {
        self.shape.data_type()
    }

    /// Returns how each number is quantized, in the order of the Arrow type. Strings and bytes count as numbers.
    pub fn quantizations(&self) -> Vec<Option<Quantization>> {
        let mut all = Vec::new();
        self.shape.quantizations(&mut all);
        all
    }

    /// Returns the Arrow field of an object.
    pub fn arrow_field(&self, name: &str) -> Field {
        self.shape.field(name)
    }

    /// Decodes the objects in `bytes`. Object `i` is between `offsets[i]` and `offsets[i + 1]`, and its
    /// references are counted from its start.
    ///
    /// # Errors
    /// `OutOfSpecification` with class, member, entry (counted from 0) and byte of the object if the bytes do not
    /// match the streamer info; `Unsupported` for class versions without streamer info; `LimitExceeded` if references
    /// repeat too many bytes.
    pub fn decode(&self, bytes: &[u8], offsets: &[i64]) -> Result<ArrayRef> {
        self.decode_from(bytes, offsets, Origin::Object(0))
    }

    /// Decodes the objects in `bytes`, with references counted from `origin`. Object `i` is between `offsets[i]` and
    /// `offsets[i + 1]`.
    ///
    /// # Errors
    /// `OutOfSpecification` with class, member, entry (counted from 0) and byte of the object if the bytes do
    /// not match the streamer info; `Unsupported` for class versions without streamer info; `LimitExceeded` if
    /// references repeat far more bytes than the objects have.
    pub fn decode_from(&self, bytes: &[u8], offsets: &[i64], origin: Origin) -> Result<ArrayRef> {
        let mut column = ColumnBuilder::new(&self.shape);
        let mut decoder = Decoder::new(bytes.len());
        for (entry, range) in offsets.windows(2).enumerate() {
            decoder
                .object_at(&self.node, bytes, range, origin, &mut column)
                .map_err(|error| error.at(|place| place.entry = Some(entry as u64)))?;
        }
        column.finish(&self.shape)
    }

    /// Streams the objects in `array`, which has the type of arrays from [`ObjectLayout::decode`]. Returns their
    /// bytes and their offsets: one more offset than objects. References are counted from the start of each object.
    ///
    /// Each class is written in the newest version that the layout knows, from which the Arrow type follows. An
    /// object that several pointers shared is written once for each pointer. Referenced objects (`TRef`) belong
    /// to the first process of the file.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays of other types and for values that no object has, such as an array whose length
    /// differs from its counter; `Unsupported` with class, member and entry (counted from 0) for objects that were
    /// read as bytes and may hold references; `LimitExceeded` for objects of more than 1 GiB.
    pub fn encode(&self, array: &ArrayRef) -> Result<(Vec<u8>, Vec<i64>)> {
        encode::encode(&self.node, &self.shape, array)
    }

    /// Streams the objects in `array` as [`ObjectLayout::encode`] does, into an array of bytes. `first` is the entry of
    /// the first object, for errors.
    ///
    /// # Errors
    /// As for [`ObjectLayout::encode`].
    pub fn streamed(&self, array: &ArrayRef, first: u64) -> Result<ArrayRef> {
        let (bytes, offsets) = self
            .encode(array)
            .map_err(|error| error.move_entry(|entry| entry.checked_add(first)))?;
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        let bytes = LargeBinaryArray::try_new(offsets, Buffer::from_vec(bytes), None);
        Ok(Arc::new(bytes.map_err(|error| Error::limit(error.to_string()))?))
    }

    /// Makes the layout that reads the same objects of a class, which `infos` describe, as bytes. The bytes have a header,
    /// and references are counted from the start of each object. Returns `None` for other values.
    pub fn raw(&self, infos: &Arc<StreamerInfos>) -> Option<Self> {
        let (class, version, members) = match &self.node {
            Node::Object(class) => (class, None, None),
            Node::Members(class, version) => {
                let version = class.versions.get(*version)?;
                let bytes = version_bytes(class, version).ok()?;
                let mut compiler = Compiler::new(infos.classes()).or_known().linked();
                let node = compiler.whole(&class.name, Some((version.version, version.checksum)));
                (class, Some(bytes), Some(Self::new(node.ok()?)))
            }
            _ => return None,
        };
        let finder = ReferenceFinder::new(Arc::clone(infos));
        let references = RawReferences { class: Arc::clone(&class.name), members, finder };
        let raw = RawObject { version, references: Arc::new(references) };
        Some(Self::new(Node::RawObject(Box::new(raw))))
    }

    /// Returns the streamer infos that describe the bytes that [`ObjectLayout::encode`] makes. They are the `infos`
    /// of the classes in `layouts`, each in the version that is written, in the order of `infos`.
    pub fn describe<'l>(
        layouts: impl IntoIterator<Item = &'l Self>,
        infos: &StreamerList,
    ) -> StreamerList {
        encode::describe(layouts.into_iter().map(|layout| &layout.node), infos, false)
    }

    /// Returns the streamer infos of all versions of the classes in `layouts`, for bytes that are copied.
    pub fn describe_all<'l>(
        layouts: impl IntoIterator<Item = &'l Self>,
        infos: &StreamerList,
    ) -> StreamerList {
        encode::describe(layouts.into_iter().map(|layout| &layout.node), infos, true)
    }
}
