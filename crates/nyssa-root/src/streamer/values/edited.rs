//! Replaces bytes in an object. Bytes that depend on positions change with them: the byte counts of surrounding
//! objects, and the references, which count from the start of the key.

use std::collections::HashMap;
use std::ops::Range;

use super::apart::Apart;
use super::builtin::ARRAY_ITEMS;
use super::emitter::{Addition, Edits, Emitter, Spot};
use super::in_payload;
use crate::error::{Error, Result};
use crate::streamer::builtin::ITEMS;
use crate::streamer::possible_references::possible_reference;
use crate::streamer::values::reader::{Reader, Tag};
use crate::streamer::values::view::ARRAY;
use crate::streamer::values::{ClassTable, Numbers, Object, ObjectId, Value, number};
use crate::streamer::wire::TAG_OFFSET;

/// An object whose members can be changed. All other bytes stay the same.
pub struct EditedObject {
    object: Object,
    payload: Vec<u8>,
    /// The size of the key in bytes.
    keylen: u16,
    /// The places of byte counts, and the ends of the bytes that they count.
    counts: Vec<(usize, usize)>,
    /// The places of references.
    references: Vec<usize>,
    /// The bytes that are replaced, by their first byte.
    edits: Edits,
    /// The items that are added to arrays.
    additions: Vec<Addition>,
    /// The objects that pointers in these items lead to, by their labels.
    labels: HashMap<usize, Spot>,
    /// The places where the objects start that pointers lead to.
    starts: HashMap<ObjectId, usize>,
    /// Whether all references are known, so that bytes can move.
    can_move: bool,
}

/// The reason why bytes cannot move.
const UNREAD: &str = "not all of its bytes can be read, so that they cannot be changed";

impl EditedObject {
    /// Reads the object of class `class` in `payload`, whose key takes `keylen` bytes.
    ///
    /// # Errors
    /// `Unsupported` if some bytes cannot be read, so that some references are not known; `OutOfSpecification` with
    /// class, member and byte.
    pub fn read(table: &ClassTable, class: &str, payload: Vec<u8>, keylen: u16) -> Result<Self> {
        let read = Self::read_in_place(table, class, payload, keylen)?;
        if read.can_move { Ok(read) } else { Err(Error::unsupported(UNREAD)) }
    }

    /// Reads an object in which some bytes may be of unknown classes. Bytes can then be replaced only by the same
    /// number of bytes.
    ///
    /// # Errors
    /// `Unsupported` if the class is not known; `OutOfSpecification` with class, member and byte.
    pub fn read_in_place(
        table: &ClassTable,
        class: &str,
        payload: Vec<u8>,
        keylen: u16,
    ) -> Result<Self> {
        let id = table.find(class);
        let id = id.ok_or_else(|| Error::unsupported(format!("class {class} is not known")))?;
        let mut reader = Reader::new(table, &payload, keylen);
        reader.keeps_places = true;
        let root = reader.class(id).map_err(in_payload)?;
        let numbered = !reader.positions && reader.count > 2;
        let is_whole = !numbered && reader.cursor.remaining().is_empty();
        let Reader { object, counts, references, unknown, tags, .. } = reader;
        let start = |(&tag, of): (&u32, &Tag)| match of {
            Tag::Object(id) => {
                Some((*id, tag.checked_sub(TAG_OFFSET + u32::from(keylen))? as usize))
            }
            Tag::Class(_) => None,
        };
        let starts = tags.iter().filter_map(start).collect();
        // Bytes that cannot be read may have references, which would have to change.
        let may_refer = |range| possible_reference(&payload, range, keylen.into()).is_some();
        let can_move = is_whole && !unknown.into_iter().any(may_refer);
        let object = Object { root: Some(root), ..object };
        let (edits, additions, labels) = (Edits::new(), Vec::new(), HashMap::new());
        Ok(Self {
            object,
            payload,
            keylen,
            counts,
            references,
            edits,
            additions,
            labels,
            starts,
            can_move,
        })
    }

    /// Returns the object as it was read.
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// Returns the bytes of a member. `None` for a class that lacks the member.
    pub fn bytes(&self, id: ObjectId, member: &str) -> Option<&[u8]> {
        self.payload.get(self.placed(id, member)?.1)
    }

    /// Sets a number. A class that lacks the member stays as it is.
    pub fn set_int(&mut self, id: ObjectId, member: &str, value: i64) {
        let Some((old, place)) = self.placed(id, member) else { return };
        let bytes = match (old, place.len()) {
            #[allow(clippy::cast_precision_loss)]
            (Value::Float(_), 8) => (value as f64).to_be_bytes().to_vec(),
            #[allow(clippy::cast_precision_loss)]
            (Value::Float(_), _) => (value as f32).to_be_bytes().to_vec(),
            (_, size @ 1..=8) => value.to_be_bytes()[8 - size..].to_vec(),
            _ => return,
        };
        self.edits.insert(place.start, (place, bytes));
    }

    /// Sets an array of integers behind a pointer (`Long64_t* fBasketEntry; //[fMaxBaskets]`). A class that lacks the member
    /// stays as it is.
    ///
    /// # Errors
    /// `LimitExceeded` for numbers that do not fit; `Unsupported` for an array of another kind.
    pub fn set_ints(&mut self, id: ObjectId, member: &str, values: &[i64]) -> Result<()> {
        let Some((old, place)) = self.placed(id, member) else { return Ok(()) };
        let flag = self.payload.get(place.start).copied().filter(|&flag| flag != 0).unwrap_or(1);
        let mut bytes = Vec::with_capacity(1 + 8 * values.len());
        match old {
            Value::Numbers(Numbers::Int64(_)) => {
                bytes.push(flag);
                bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
            }
            Value::Numbers(Numbers::Int32(_)) => {
                bytes.push(flag);
                for &value in values {
                    let value = i32::try_from(value).map_err(|_| {
                        Error::limit(format!("{member} has 32 bits, too few for {value}"))
                    })?;
                    bytes.extend(value.to_be_bytes());
                }
            }
            // Positions of an old version: the flag says whether they have 32 or 64 bits.
            Value::Numbers(Numbers::UInt32(_)) => {
                bytes.push(2);
                bytes.extend(values.iter().flat_map(|value| value.to_be_bytes()));
            }
            other => {
                let message = format!("{member} is {}, not an array of integers", other.kind());
                return Err(Error::unsupported(message));
            }
        }
        self.edits.insert(place.start, (place, bytes));
        Ok(())
    }

    /// Sets a string (`TString`). A class that lacks the member stays as it is. [`Self::object`] shows the new text.
    pub fn set_text(&mut self, id: ObjectId, member: &str, text: &str) {
        let mut bytes = match u8::try_from(text.len()) {
            Ok(len @ 0..=254) => vec![len],
            _ => [&[255][..], &(text.len() as u32).to_be_bytes()].concat(),
        };
        bytes.extend_from_slice(text.as_bytes());
        self.set_bytes(id, member, bytes);
        if let Some((owner, index)) = self.find(id, member) {
            self.object.set_member(owner, index, Value::Text(text.into()));
        }
    }

    /// Replaces all bytes of a member. A class that lacks the member stays as it is.
    pub fn set_bytes(&mut self, id: ObjectId, member: &str, bytes: Vec<u8>) {
        if let Some((_, place)) = self.placed(id, member) {
            self.edits.insert(place.start, (place, bytes));
        }
    }

    /// Returns an array of objects (`TObjArray`) that is a member of `id`, and its items.
    fn array(&self, id: ObjectId, member: &str) -> Result<(ObjectId, &[Value])> {
        match self.object.view(id).get(member) {
            Some(&Value::Object(array)) => match self.object.view(array).get(ITEMS) {
                Some(Value::List(items)) => Ok((array, items)),
                _ => Err(no_array(member)),
            },
            _ => Err(no_array(member)),
        }
    }

    /// Removes items of an array of objects (`TObjArray`) that is a member of `id`. A class or an object that is described
    /// in such an item is described where it is referred to next.
    ///
    /// # Errors
    /// `Unsupported` if the member is no such array.
    pub fn retain_items(
        &mut self,
        id: ObjectId,
        member: &str,
        keeps: impl Fn(ObjectId) -> bool,
    ) -> Result<()> {
        let (edits, count) = {
            let wrong = || no_array(member);
            let (array, items) = self.array(id, member)?;
            let place = |number| self.object.places.get(&(array.0, number)).cloned();
            let mut edits = Vec::new();
            for (number, item) in items.iter().enumerate() {
                if matches!(item, Value::Object(item) if keeps(*item)) {
                    continue;
                }
                edits.push(place(ARRAY_ITEMS + number).ok_or_else(wrong)?);
            }
            let count = place(ARRAY_ITEMS - 1).ok_or_else(wrong)?.start;
            (edits, (count..count + 4, items.len()))
        };
        let (place, before) = count;
        let left = u32::try_from(before - edits.len()).unwrap_or(u32::MAX);
        self.edits.insert(place.start, (place, left.to_be_bytes().to_vec()));
        self.edits.extend(edits.into_iter().map(|place| (place.start, (place, Vec::new()))));
        Ok(())
    }

    /// Gives an object a label, so that pointers in items that are added can lead to it.
    ///
    /// # Errors
    /// `Unsupported` if no pointer leads to the object.
    pub fn label(&mut self, label: usize, id: ObjectId) -> Result<()> {
        let start = self.starts.get(&id).copied();
        let start = start.ok_or_else(|| Error::unsupported("no pointer leads to a part of it"))?;
        self.labels.insert(label, Spot::Old(start));
        Ok(())
    }

    /// Returns whether an object has a label.
    pub fn is_labelled(&self, label: usize) -> bool {
        self.labels.contains_key(&label)
    }

    /// Adds items to the end of an array of objects (`TObjArray`) that is a member of `id`. Pointers in them may lead to
    /// all objects that have labels.
    ///
    /// # Errors
    /// `Unsupported` if the member is no such array; `LimitExceeded` for more items than an array can have.
    pub fn add_items(&mut self, id: ObjectId, member: &str, items: Apart) -> Result<()> {
        let wrong = || no_array(member);
        let (array, before) = self.array(id, member)?;
        let count = before.len() + items.count;
        let place = self.object.places.get(&(array.0, ARRAY_ITEMS - 1)).cloned();
        let place = place.ok_or_else(wrong)?;
        let around = self.counts.iter().filter(|(at, end)| *at < place.start && *end == place.end);
        let inside = around.map(|(at, _)| *at).max().ok_or_else(wrong)?;
        for (label, at) in items.labels {
            self.labels.insert(label, Spot::Added(self.additions.len(), at));
        }
        let count = u32::try_from(count).map_err(|_| Error::limit("the items of an array"))?;
        let number = place.start..place.start + 4;
        self.edits.insert(number.start, (number, count.to_be_bytes().to_vec()));
        let (at, bytes, references) = (place.end, items.bytes, items.references);
        self.additions.push(Addition { at, inside, bytes, references });
        Ok(())
    }

    /// Sets a number or an array of numbers in the form in which it is stored. [`Self::object`] shows the new value.
    ///
    /// # Errors
    /// `Unsupported` if the class lacks the member, or stores it in another form.
    pub fn set(&mut self, id: ObjectId, member: &str, value: Value) -> Result<()> {
        let member_place = self.find(id, member);
        let bytes = member_place.and_then(|(owner, index)| {
            let (old, place) = self.placed_at(owner, index)?;
            let stored = match self.edits.get(&place.start) {
                Some((_, bytes)) => bytes,
                None => self.payload.get(place.clone())?,
            };
            Some((place, number::bytes_of(&value, old, stored)?))
        });
        let (Some((owner, index)), Some((place, bytes))) = (member_place, bytes) else {
            return Err(Error::unsupported(format!("{member} is not stored as numbers")));
        };
        self.edits.insert(place.start, (place, bytes));
        self.object.set_member(owner, index, value);
        Ok(())
    }

    /// Returns a member of an object or of its base classes, and its bytes.
    fn placed(&self, id: ObjectId, member: &str) -> Option<(&Value, Range<usize>)> {
        let (owner, index) = self.find(id, member)?;
        self.placed_at(owner, index)
    }

    fn placed_at(&self, owner: ObjectId, index: usize) -> Option<(&Value, Range<usize>)> {
        let place = self.object.places.get(&(owner.0, index))?;
        Some((self.object.member(owner, index)?, place.clone()))
    }

    /// Returns the object that has a member, which is a base class or the object itself, and the number of the member.
    /// The elements of a base class such as `TArrayD` are [`ARRAY`].
    fn find(&self, id: ObjectId, member: &str) -> Option<(ObjectId, usize)> {
        let instance = self.object.instances.get(id.0 as usize)?;
        let steps = instance.plan.layout.steps.iter().enumerate();
        let own = steps.clone().find(|(_, step)| !step.base && step.name == member);
        if let Some((index, _)) = own {
            return Some((id, index));
        }
        let mut bases = steps.filter(|(_, step)| step.base);
        bases.find_map(|(index, _)| match self.object.member(id, index) {
            Some(Value::Object(base)) => self.find(*base, member),
            Some(Value::Numbers(_)) if member == ARRAY => Some((id, index)),
            _ => None,
        })
    }

    /// Returns the bytes of the changed object for a key of `keylen` bytes.
    ///
    /// # Errors
    /// `Unsupported` if a reference leads to something that was replaced; `LimitExceeded` for an object of more than 1 GiB.
    pub fn finish(self, keylen: usize) -> Result<Vec<u8>> {
        let moved = |(range, bytes): &(Range<usize>, Vec<u8>)| range.len() != bytes.len();
        let moves = keylen != usize::from(self.keylen) || self.edits.values().any(moved);
        if !self.can_move && (moves || !self.additions.is_empty()) {
            return Err(Error::unsupported(UNREAD));
        }
        let Self { payload, counts, references, edits, additions, labels, .. } = self;
        if !self.can_move {
            let mut payload = payload;
            for (range, bytes) in edits.into_values() {
                if let Some(room) = payload.get_mut(range) {
                    room.copy_from_slice(&bytes);
                }
            }
            return Ok(payload);
        }
        let additions = (&additions[..], &labels);
        Emitter::new((&payload, self.keylen), (&edits, additions), counts, references)
            .finish(keylen)
    }
}

fn no_array(member: &str) -> Error {
    Error::unsupported(format!("{member} is no array of objects"))
}
