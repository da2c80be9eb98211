//! Reads objects of classes that ROOT streams by their own code: `TObject`, strings, arrays, collections, references
//! and baskets.

use crate::arrow::Number;
use crate::cursor::BYTE_COUNT;
use crate::error::{Error, Result};
use crate::rootfile::KeyEntry;
use crate::streamer::basic::Basic;
use crate::streamer::builtin::{Builtin, Collection, ITEMS};
use crate::streamer::values::plan::ClassId;
use crate::streamer::values::reader::Reader;
use crate::streamer::values::value::{Numbers, ObjectId, Value};
use crate::streamer::wire::{BYPASS_STREAMER, HAS_UUID, IS_REFERENCED, list_option};

/// The number under which the place of the first item of an array of objects (`TObjArray`) is recorded, behind its members.
/// The member before it is the list of items, whose place starts with their number.
pub(super) const ARRAY_ITEMS: usize = 4;
/// The size in bytes of the numbers of entries and bytes, and of the offset, in a `TBranchClones` before ROOT 5.
const OLD_BRANCH_SIZES: usize = 4 + 3 * 8 + 4;

impl Reader<'_> {
    /// Reads an object of a builtin class.
    pub(super) fn builtin(&mut self, builtin: Builtin, class: ClassId) -> Result<Value> {
        match builtin {
            Builtin::TString => self.without_instance(Self::text),
            Builtin::TDatime => self
                .without_instance(|reader| Basic::Plain(Number::UInt32).read(&mut reader.cursor)),
            Builtin::TArray(number) => self.without_instance(|reader| {
                reader.counted_numbers(Basic::Plain(number)).map(Value::Numbers)
            }),
            Builtin::TObject => self.t_object(class),
            Builtin::Collection(Collection::Array) => self.collection(class, Self::t_obj_array),
            Builtin::Collection(Collection::List) => self.collection(class, Self::t_list),
            Builtin::Collection(Collection::Map) => self.collection(class, Self::t_map),
            Builtin::Collection(Collection::Plain) => self.collection(class, Self::t_collection),
            Builtin::Collection(Collection::Linked) => self.roo_linked_list(class),
            Builtin::Collection(Collection::Clones) => self.collection(class, Self::t_clones_array),
            Builtin::TRefArray => self.t_ref_array(class),
            Builtin::TRef => self.t_ref(class),
            Builtin::TBasket => self.t_basket(class),
            Builtin::TTreeIndex => self.t_tree_index(class),
            Builtin::TBranchClones => self.t_branch_clones(class),
            Builtin::TQObject => Ok(Value::Null),
            // Streamer info describes the members that are read here.
            Builtin::TMatrixTSym(_) => Err(Error::unsupported("a symmetric matrix")),
        }
    }

    /// Reads a value that is not an object, so that no tag can refer to it.
    fn without_instance(&mut self, read: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        self.forget_pending();
        read(self)
    }

    fn instance_of(&mut self, class: ClassId, version: u16) -> Result<ObjectId> {
        let table = self.table;
        let plan = table.class(class).and_then(|class| class.plans.first());
        let plan = plan.ok_or_else(|| self.cursor.error("builtin class without members"))?;
        self.new_instance(plan, version)
    }

    fn t_object(&mut self, class: ClassId) -> Result<Value> {
        let version = self.cursor.version_header()?.version;
        let id = self.instance_of(class, version)?;
        let at = self.cursor.position();
        let unique = self.cursor.be_u32()?;
        let bits = self.cursor.be_u32()?;
        self.keep_place(id, 0, at..at + 4);
        self.keep_place(id, 1, at + 4..at + 8);
        if bits & IS_REFERENCED != 0 {
            self.cursor.skip(2)?;
        }
        self.set(id, 0, Value::UInt(unique.into()));
        self.set(id, 1, Value::UInt(bits.into()));
        Ok(Value::Object(id))
    }

    /// Reads the `TObject` part of a builtin class. Returns it with its bits.
    fn object_part(&mut self) -> Result<(Value, u32)> {
        let class = self.table.find("TObject");
        let class = class.ok_or_else(|| self.cursor.error("TObject is not known"))?;
        let value = self.class(class)?;
        let Value::Object(id) = value else { return Ok((value, 0)) };
        let bits = self.object.member(id, 1).and_then(Value::as_i64).unwrap_or(0);
        Ok((value, u32::try_from(bits).unwrap_or(0)))
    }

    /// Reads a collection, which has a version header, a `TObject` part and a name.
    fn collection(
        &mut self,
        class: ClassId,
        read: impl FnOnce(&mut Self, ObjectId, u16, Option<usize>, u32) -> Result<()>,
    ) -> Result<Value> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let id = self.instance_of(class, header.version)?;
        let mut bits = 0;
        if header.version > 2 {
            let (object, object_bits) = self.object_part()?;
            bits = object_bits;
            self.set(id, 0, object);
        }
        if header.version > 1 {
            let name = self.text()?;
            self.set(id, 1, name);
        }
        read(self, id, header.version, header.end, bits)?;
        let name = self.table.class(class).map_or("collection".into(), |class| class.name.clone());
        self.finish(&name, &header, &start)?;
        Ok(Value::Object(id))
    }

    fn t_obj_array(&mut self, id: ObjectId, _: u16, _: Option<usize>, _: u32) -> Result<()> {
        let start = self.cursor.position();
        let count = self.cursor.number_of(0)?;
        let lower = self.cursor.be_i32()?;
        let mut number = ARRAY_ITEMS;
        let items = self.list(count, |reader| {
            let start = reader.cursor.position();
            let item = reader.pointer()?;
            reader.keep_place(id, number, start..reader.cursor.position());
            number += 1;
            Ok(item)
        })?;
        self.keep_place(id, ARRAY_ITEMS - 1, start..self.cursor.position());
        self.set(id, 2, Value::Int(lower.into()));
        self.set(id, 3, items);
        Ok(())
    }

    fn t_list(&mut self, id: ObjectId, version: u16, _: Option<usize>, _: u32) -> Result<()> {
        let count = self.cursor.number_of(4)?;
        let items = self.list(count, |reader| {
            let item = reader.pointer()?;
            list_option(&mut reader.cursor, version)?;
            Ok(item)
        })?;
        self.set(id, 2, items);
        Ok(())
    }

    fn t_collection(&mut self, id: ObjectId, _: u16, _: Option<usize>, _: u32) -> Result<()> {
        let count = self.cursor.number_of(4)?;
        let items = self.list(count, Self::pointer)?;
        self.set(id, 2, items);
        Ok(())
    }

    /// Reads a `RooLinkedList` (`RooLinkedList::Streamer`), which has its name after the items.
    fn roo_linked_list(&mut self, class: ClassId) -> Result<Value> {
        let version = self.cursor.version_header()?.version;
        let id = self.instance_of(class, version)?;
        let (object, _) = self.object_part()?;
        self.set(id, 0, object);
        self.t_collection(id, version, None, 0)?;
        if version > 1 {
            let name = self.text()?;
            self.set(id, 1, name);
        }
        Ok(Value::Object(id))
    }

    fn t_map(&mut self, id: ObjectId, _: u16, _: Option<usize>, _: u32) -> Result<()> {
        let count = self.cursor.number_of(8)?;
        let items = self.list(2 * count, Self::pointer)?;
        self.set(id, 2, items);
        Ok(())
    }

    fn t_clones_array(
        &mut self,
        id: ObjectId,
        _: u16,
        end: Option<usize>,
        bits: u32,
    ) -> Result<()> {
        let class_version = self.cursor.root_string()?;
        let count = self.cursor.be_i32()?.unsigned_abs() as usize;
        let lower = self.cursor.be_i32()?;
        let class = class_version.split(';').next().unwrap_or_default();
        if count > 0 && self.table.find(class).is_none() {
            self.check_lack(class, None)?;
        }
        let items = match self.table.find(class) {
            _ if count == 0 => Value::List(Box::default()),
            _ if bits & BYPASS_STREAMER != 0 => {
                self.skip_to(end, "the TClonesArray is streamed member by member".into())?
            }
            None => self.skip_to(end, format!("no streamer info of class {class}").into())?,
            Some(item) => self.list(count, |reader| match reader.cursor.u8()? {
                0 => Ok(Value::Null),
                _ => reader.class(item),
            })?,
        };
        self.set(id, 2, Value::Text(class.into()));
        self.set(id, 3, Value::Int(lower.into()));
        self.set(id, 4, items);
        Ok(())
    }

    /// Reads a `TRefArray` (`TRefArray::Streamer`). Unlike other collections, its version 1 has all parts.
    fn t_ref_array(&mut self, class: ClassId) -> Result<Value> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let id = self.instance_of(class, header.version)?;
        let (object, _) = self.object_part()?;
        let name = self.text()?;
        let count = self.cursor.number_of(4)?;
        let lower = self.cursor.be_i32()?;
        let process = self.cursor.be_u16()?;
        let uids = Basic::Plain(Number::UInt32).read_many(&mut self.cursor, count)?;
        let members = [
            object,
            name,
            Value::Int(lower.into()),
            Value::UInt(process.into()),
            Value::Numbers(uids),
        ];
        for (index, value) in members.into_iter().enumerate() {
            self.set(id, index, value);
        }
        self.finish("TRefArray", &header, &start)?;
        Ok(Value::Object(id))
    }

    fn t_ref(&mut self, class: ClassId) -> Result<Value> {
        let id = self.instance_of(class, 0)?;
        let (object, bits) = self.object_part()?;
        let process = if bits & HAS_UUID != 0 {
            self.text()?
        } else {
            Basic::Plain(Number::UInt16).read(&mut self.cursor)?
        };
        self.set(id, 0, object);
        self.set(id, 1, process);
        Ok(Value::Object(id))
    }

    /// Reads a `TTreeIndex` (`TTreeIndex::Streamer`): its base class and two formulas. The sorted values are
    /// skipped.
    fn t_tree_index(&mut self, class: ClassId) -> Result<Value> {
        let header = self.cursor.version_header()?;
        let id = self.instance_of(class, header.version)?;
        let base = self.cursor.version_header()?;
        let (Some(base), Some(end)) = (base.end, header.end) else {
            return Err(Error::unsupported("a TTreeIndex without byte counts"));
        };
        self.cursor.seek(base)?;
        let formulas = [self.text()?, self.text()?];
        for (index, formula) in formulas.into_iter().enumerate() {
            self.set(id, index, formula);
        }
        if self.cursor.position() > end {
            return Err(self.cursor.error("a TTreeIndex that ends inside its formulas"));
        }
        self.cursor.seek(end)?;
        Ok(Value::Object(id))
    }

    /// Reads a `TBranchClones` (`TBranchClones::Streamer`). It has no baskets, but sub-branches. The first
    /// is the branch that counts the objects (`fBranchCount`).
    fn t_branch_clones(&mut self, class: ClassId) -> Result<Value> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let id = self.instance_of(class, header.version)?;
        let named = match self.table.find("TNamed") {
            Some(named) => self.class(named)?,
            None => Value::Null,
        };
        if let Value::Object(named) = named {
            for (index, member) in ["fName", "fTitle"].into_iter().enumerate() {
                let text = self.object.view(named).get(member).cloned().unwrap_or(Value::Null);
                self.set(id, index, text);
            }
        }
        // These are the compression, and the sizes of baskets, of their offsets and of the table of baskets.
        self.cursor.skip(4 * 4)?;
        let written = self.cursor.be_i32()?;
        // Since ROOT 5 all numbers of entries and bytes are integers of 64 bits. Before, the number of entries had 32
        // bits and the others were doubles. The mark of a pointer after them shows the form.
        let mut ahead = self.cursor.clone();
        ahead.skip(OLD_BRANCH_SIZES)?;
        let entries = if ahead.be_u32()? & BYTE_COUNT != 0 {
            self.cursor.skip(4)?;
            Value::Float(self.cursor.be_f64()?)
        } else {
            self.cursor.skip(8)?;
            Value::Int(self.cursor.be_i64()?)
        };
        let end = self.cursor.position();
        self.keep_place(id, 3, end - 8..end);
        // Sizes before and after compression, and the offset.
        self.cursor.skip(8 + 8 + 4)?;
        let counter = self.pointer()?;
        let class_name = self.text()?;
        let below = match self.table.find("TObjArray") {
            Some(list) => self.class(list)?,
            None => Value::Null,
        };
        let items = match below {
            Value::Object(list) => match self.object.view(list).get(ITEMS) {
                Some(Value::List(items)) => items.to_vec(),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        };
        let branches = Value::List([counter].into_iter().chain(items).collect());
        let values = [Value::Int(written.into()), entries, class_name, branches];
        for (index, value) in values.into_iter().enumerate() {
            self.set(id, 2 + index, value);
        }
        self.finish("TBranchClones", &header, &start)?;
        Ok(Value::Object(id))
    }

    /// Reads a `TBasket` (`TBasket::Streamer`): a key and sizes, then entry offsets and the buffer from memory,
    /// including the space of the key, unless only the header was written. The bytes after the key are not
    /// decoded here. The member `streamed` holds the whole basket with its key.
    fn t_basket(&mut self, class: ClassId) -> Result<Value> {
        let start = self.cursor.clone();
        let key = KeyEntry::parse_fields(&mut self.cursor)?;
        let version = self.cursor.version_header()?.version;
        let id = self.instance_of(class, version)?;
        let buffer_size = self.cursor.be_i32()?;
        let entries_size = self.cursor.be_i32()?;
        let io_bits = if entries_size < 0 { self.cursor.u8()? } else { 0 };
        let entries = self.cursor.be_i32()?;
        let last = self.cursor.be_i32()?;
        let flag = self.cursor.u8()?;
        let generated = flag >= 80;
        let kind = if generated { flag - 80 } else { flag };
        if !generated && kind != 0 && kind % 10 != 2 {
            let arrays = usize::from(entries != 0) + usize::from(kind > 40);
            for _ in 0..arrays {
                let count = self.cursor.number_of(4)?;
                self.cursor.skip(4 * count)?;
            }
        }
        if kind == 1 || kind > 10 {
            let size = match version {
                0 | 1 => self.cursor.number_of(1)?,
                _ => usize::try_from(last)
                    .map_err(|_| self.cursor.error(format!("a basket of {last} bytes")))?,
            };
            self.cursor.skip(size)?;
        }
        let size = self.cursor.position() - start.position();
        let streamed = start.remaining().get(..size).unwrap_or_default();
        let values = [
            Value::UInt(key.nbytes.into()),
            Value::UInt(key.version.into()),
            Value::UInt(key.objlen.into()),
            Value::UInt(key.datime.into()),
            Value::UInt(key.keylen.into()),
            Value::UInt(key.cycle.into()),
            Value::UInt(key.seek),
            Value::UInt(key.parent),
            Value::Text(key.class.into()),
            Value::Text(key.name.to_string().into()),
            Value::Text(key.title.to_string().into()),
            Value::Int(buffer_size.into()),
            Value::Int(entries_size.into()),
            Value::UInt(io_bits.into()),
            Value::Int(entries.into()),
            Value::Int(last.into()),
            Value::UInt(flag.into()),
            Value::Numbers(Numbers::UInt8(streamed.into())),
        ];
        for (index, value) in values.into_iter().enumerate() {
            self.set(id, index, value);
        }
        Ok(Value::Object(id))
    }
}
