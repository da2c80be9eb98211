//! Writes one new object with all objects that it points to, by the streamer infos of their classes. It is the opposite
//! of `values`, for objects that nyssa makes itself, such as a `TTree`.
//!
//! A [`Draft`] has only the members that are not zero. The streamer infos define all members and their order.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use super::basic::Basic;
use super::builtin::{Builtin, Collection};
use super::info::{ClassInfo, Element, ElementForm, StreamerInfos};
use super::values::{Apart, Reference};
use super::wire::{self, CLASS, IS_REFERENCED, NEW_CLASS, TAG_OFFSET};
use crate::arrow::{Native, Number};
use crate::error::{Error, Result};
use crate::rootfile::encode;

/// The class versions that ROOT's own streamers write.
const OBJECT_VERSION: u16 = 1;
const ARRAY_VERSION: u16 = 3;
const LIST_VERSION: u16 = 5;
/// The version of containers that are members, which is the class version of `TStreamerInfo` (old versions of ROOT know 9).
const CONTAINER_VERSION: u16 = 9;

/// The member of a `TArrayD` and the like that holds the elements.
const ARRAY: &str = "fArray";
/// The member that has the items of a collection.
const ITEMS: &str = "items";

/// The member that has the options of the items of a list.
const OPTIONS: &str = "options";

/// The class of trees that has no `ClassDef`. ROOT writes its checksum instead of its version.
const WITHOUT_VERSION: &str = "ROOT::TIOFeatures";

/// An object to write.
#[derive(Clone, Debug)]
pub struct Draft {
    class: String,
    members: HashMap<Cow<'static, str>, Given>,
    label: Option<usize>,
    /// The bytes of the object, if they are known.
    stored: Option<Vec<u8>>,
}

/// An object that was streamed.
#[derive(Debug)]
pub struct Streamed {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The classes that the bytes hold, which a file has to describe.
    pub classes: BTreeSet<String>,
}

/// The value of a member that is not zero, empty or null.
#[derive(Clone, Debug)]
enum Given {
    Int(i64),
    Float(f64),
    Text(String),
    Ints(Vec<i64>),
    Floats(Vec<f64>),
    Object(Draft),
    Items(Vec<Target>),
    Texts(Vec<String>),
}

/// The target of a pointer.
#[derive(Clone, Debug)]
pub enum Target {
    /// An object that is written here.
    New(Draft),
    /// The object with this label, which was written before.
    Again(usize),
}

impl Draft {
    /// Makes an object of a class.
    pub fn new(class: &str) -> Self {
        Self { class: class.to_owned(), members: HashMap::new(), label: None, stored: None }
    }

    /// Makes an object of a class of its streamed bytes, in which nothing refers to other objects or classes.
    pub fn stored(class: &str, bytes: Vec<u8>) -> Self {
        Self { stored: Some(bytes), ..Self::new(class) }
    }

    /// Names the object, so that other pointers can lead to it.
    #[must_use]
    pub fn label(self, label: usize) -> Self {
        Self { label: Some(label), ..self }
    }

    /// Sets an integer or a boolean.
    #[must_use]
    pub fn int(self, member: impl Into<Cow<'static, str>>, value: i64) -> Self {
        self.with(member, Given::Int(value))
    }

    /// Sets a floating-point number.
    #[must_use]
    pub fn float(self, member: impl Into<Cow<'static, str>>, value: f64) -> Self {
        self.with(member, Given::Float(value))
    }

    /// Sets a string.
    #[must_use]
    pub fn text(self, member: impl Into<Cow<'static, str>>, value: &str) -> Self {
        self.with(member, Given::Text(value.to_owned()))
    }

    /// Sets an array of integers: `fArray` of a `TArrayI` and the like, a member of such a class, or the array behind a
    /// pointer with a counter, which is a member of its own.
    #[must_use]
    pub fn ints(self, member: impl Into<Cow<'static, str>>, values: Vec<i64>) -> Self {
        self.with(member, Given::Ints(values))
    }

    /// Sets an array of floating-point numbers. See [`Draft::ints`].
    #[must_use]
    pub fn floats(self, member: impl Into<Cow<'static, str>>, values: Vec<f64>) -> Self {
        self.with(member, Given::Floats(values))
    }

    /// Sets an object that is a member itself.
    #[must_use]
    pub fn object(self, member: impl Into<Cow<'static, str>>, object: Self) -> Self {
        self.with(member, Given::Object(object))
    }

    /// Sets the items of a collection.
    #[must_use]
    pub fn items(self, member: impl Into<Cow<'static, str>>, items: Vec<Target>) -> Self {
        self.with(member, Given::Items(items))
    }

    /// Sets the options of the items of a list.
    #[must_use]
    pub fn options(self, options: Vec<String>) -> Self {
        self.with(OPTIONS, Given::Texts(options))
    }

    /// Sets a pointer.
    #[must_use]
    pub fn pointer(self, member: impl Into<Cow<'static, str>>, target: Target) -> Self {
        self.with(member, Given::Items(vec![target]))
    }

    /// Sets a `vector<string>`.
    #[must_use]
    pub fn texts(self, member: impl Into<Cow<'static, str>>, texts: Vec<String>) -> Self {
        self.with(member, Given::Texts(texts))
    }

    fn with(mut self, member: impl Into<Cow<'static, str>>, value: Given) -> Self {
        self.members.insert(member.into(), value);
        self
    }

    /// Returns the class.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// Streams the object, for a key of `keylen` bytes.
    ///
    /// # Errors
    /// `Unsupported` for classes that `infos` do not describe and members that cannot be written; `LimitExceeded` for
    /// objects of more than 1 GiB and numbers that their members cannot hold.
    pub fn serialize(&self, infos: &StreamerInfos, keylen: usize) -> Result<Streamed> {
        let mut writer = Writer::new(infos, keylen);
        writer.object(&self.class, self)?;
        u32::try_from(writer.out.len())
            .ok()
            .filter(|size| *size < crate::cursor::BYTE_COUNT)
            .ok_or_else(|| Error::limit("object of more than 1 GiB"))?;
        Ok(Streamed { bytes: writer.out, classes: writer.described })
    }
}

impl Apart {
    /// Streams items of an array. Pointers may lead to objects with the labels that `is_known` has.
    ///
    /// # Errors
    /// `Unsupported` for classes that `infos` do not describe and members that cannot be written; `LimitExceeded` for
    /// numbers that their members cannot hold.
    pub fn of(
        items: &[Target],
        infos: &StreamerInfos,
        is_known: &dyn Fn(usize) -> bool,
    ) -> Result<Self> {
        let mut writer = Writer { is_known: Some(is_known), ..Writer::new(infos, 0) };
        items.iter().try_for_each(|item| writer.pointer(item))?;
        let start = |tag: u32| (tag - TAG_OFFSET) as usize;
        let labels = writer.labels.iter().map(|(&label, &tag)| (label, start(tag))).collect();
        Ok(Self { count: items.len(), bytes: writer.out, labels, references: writer.references })
    }
}

struct Writer<'i> {
    infos: &'i StreamerInfos,
    keylen: usize,
    /// The tags of the classes that were named.
    classes: HashMap<String, u32>,
    /// The tags of the labelled objects that were written.
    labels: HashMap<usize, u32>,
    /// The classes that were written by their streamer infos.
    described: BTreeSet<String>,
    /// The places of references.
    references: Vec<(usize, Reference)>,
    /// Whether an object with a label is in other bytes.
    is_known: Option<&'i dyn Fn(usize) -> bool>,
    out: Vec<u8>,
}

impl<'i> Writer<'i> {
    fn new(infos: &'i StreamerInfos, keylen: usize) -> Self {
        Self {
            infos,
            keylen,
            classes: HashMap::new(),
            labels: HashMap::new(),
            described: BTreeSet::new(),
            references: Vec::new(),
            is_known: None,
            out: Vec::new(),
        }
    }

    /// Appends a byte count and the bytes that `fill` appends.
    fn counted(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        fill(self)?;
        wire::put_count(&mut self.out, start)
    }

    /// Writes the part of an object that its class `class` describes.
    fn object(&mut self, class: &str, draft: &Draft) -> Result<()> {
        if let Some(bytes) = &draft.stored {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        match Builtin::of(class) {
            Some(Builtin::TObject) => return self.t_object_of(draft),
            Some(Builtin::TArray(number)) => {
                return self.t_array(number, class, draft.members.get(ARRAY));
            }
            Some(Builtin::Collection(kind @ (Collection::Array | Collection::List))) => {
                let items = match draft.members.get(ITEMS) {
                    Some(Given::Items(items)) => &items[..],
                    _ => &[],
                };
                return match kind {
                    Collection::Array => self.array(items, Some(draft)),
                    _ => self.list(class, items, Some(draft)),
                };
            }
            Some(_) => return Err(unsupported(class)),
            None => {}
        }
        let infos = self.infos;
        let info = infos.class(class, None).ok_or_else(|| unsupported(class))?;
        self.described.insert(class.to_owned());
        self.counted(|writer| {
            writer.version(info);
            info.elements.iter().try_for_each(|element| writer.member(element, draft))
        })
    }

    /// Writes the version of a class. A class without a version has its checksum instead.
    fn version(&mut self, info: &ClassInfo) {
        if info.name == WITHOUT_VERSION {
            self.out.extend_from_slice(&[0; 2]);
            self.out.extend_from_slice(&info.checksum.to_be_bytes());
        } else {
            self.out.extend_from_slice(&(info.version as u16).to_be_bytes());
        }
    }

    fn t_object(&mut self) -> Result<()> {
        self.t_object_of(&Draft::new("TObject"))
    }

    /// Writes a `TObject`, which is in no process, with the identifier and the bits of `draft`.
    fn t_object_of(&mut self, draft: &Draft) -> Result<()> {
        let given = |member: &str| match draft.members.get(member) {
            Some(Given::Int(value)) => *value,
            _ => 0,
        };
        self.out.extend_from_slice(&OBJECT_VERSION.to_be_bytes());
        self.number(Number::UInt32, given("fUniqueID"))?;
        self.number(Number::UInt32, given("fBits") & !i64::from(IS_REFERENCED))
    }

    /// Writes a `TArrayD` or the like: the number of elements, and the elements.
    fn t_array(&mut self, number: Number, name: &str, given: Option<&Given>) -> Result<()> {
        let len = match given {
            None => 0,
            Some(Given::Ints(values)) => values.len(),
            Some(Given::Floats(values)) => values.len(),
            Some(_) => return Err(unsupported(name)),
        };
        encode::size(&mut self.out, len, "array")?;
        self.numbers(number, name, given)
    }

    /// Writes the elements of an array.
    fn numbers(&mut self, number: Number, name: &str, given: Option<&Given>) -> Result<()> {
        match (number, given) {
            (_, None) => {}
            (_, Some(Given::Ints(values))) => {
                values.iter().try_for_each(|&value| self.number(number, value))?;
            }
            (Number::Float64, Some(Given::Floats(values))) => {
                values.iter().for_each(|value| value.put_be(&mut self.out));
            }
            (Number::Float32, Some(Given::Floats(values))) => {
                values.iter().for_each(|value| (*value as f32).put_be(&mut self.out));
            }
            _ => return Err(unsupported(name)),
        }
        Ok(())
    }

    fn member(&mut self, element: &Element, draft: &Draft) -> Result<()> {
        let given = draft.members.get(element.name.as_str());
        match (element.form(), given) {
            (ElementForm::Base(class), _) => self.object(class, draft),
            (ElementForm::Number(Basic::Plain(number)), None | Some(Given::Int(_))) => {
                let value = if let Some(Given::Int(value)) = given { *value } else { 0 };
                self.number(number, value)
            }
            (ElementForm::Number(Basic::Plain(Number::Float64)), Some(Given::Float(value))) => {
                value.put_be(&mut self.out);
                Ok(())
            }
            (ElementForm::Number(Basic::Plain(Number::Float32)), Some(Given::Float(value))) => {
                (*value as f32).put_be(&mut self.out);
                Ok(())
            }
            (ElementForm::Number(basic), None | Some(Given::Float(_))) if basic.is_packed() => {
                let value = if let Some(Given::Float(value)) = given { *value } else { 0.0 };
                basic.put(value, &mut self.out);
                Ok(())
            }
            (ElementForm::Counted(Basic::Plain(number)), given) => {
                let empty = match given {
                    Some(Given::Ints(values)) => values.is_empty(),
                    Some(Given::Floats(values)) => values.is_empty(),
                    _ => true,
                };
                self.out.push(u8::from(!empty));
                self.numbers(number, &element.name, given)
            }
            (ElementForm::Text, None) => encode::string(&mut self.out, ""),
            (ElementForm::Text, Some(Given::Text(text))) => encode::string(&mut self.out, text),
            (ElementForm::Container, Some(Given::Texts(texts))) => self.counted(|writer| {
                writer.out.extend_from_slice(&CONTAINER_VERSION.to_be_bytes());
                encode::size(&mut writer.out, texts.len(), "list")?;
                texts.iter().try_for_each(|text| encode::string(&mut writer.out, text))
            }),
            (ElementForm::Object(class), given) => self.object_member(class, element, given),
            (ElementForm::Pointer(class), given) => self.pointer_member(class, element, given),
            _ => Err(unsupported(&format!("member {} of {}", element.name, draft.class))),
        }
    }

    /// Writes an object that is a member itself.
    fn object_member(
        &mut self,
        class: &str,
        element: &Element,
        given: Option<&Given>,
    ) -> Result<()> {
        let items = match given {
            Some(Given::Items(items)) => &items[..],
            _ => &[],
        };
        match (Builtin::of(class), given) {
            (Some(Builtin::Collection(Collection::Array)), None | Some(Given::Items(_))) => {
                self.array(items, None)
            }
            (Some(Builtin::Collection(Collection::List)), None | Some(Given::Items(_))) => {
                self.list(class, items, None)
            }
            (Some(Builtin::TArray(number)), given) => self.t_array(number, &element.name, given),
            (_, None) => self.object(class, &Draft::new(class)),
            (_, Some(Given::Object(draft))) => self.object(class, draft),
            _ => Err(unsupported(&format!("member {}", element.name))),
        }
    }

    /// Writes a pointer that is a member.
    fn pointer_member(
        &mut self,
        class: &str,
        element: &Element,
        given: Option<&Given>,
    ) -> Result<()> {
        match given {
            None => {
                self.out.extend_from_slice(&[0; 4]);
                Ok(())
            }
            Some(Given::Object(draft)) => {
                self.tagged(&draft.class, |writer| writer.object(&draft.class, draft))
            }
            Some(Given::Items(items)) => match Builtin::of(class) {
                Some(Builtin::Collection(Collection::List)) => {
                    self.tagged(class, |writer| writer.list(class, items, None))
                }
                _ => items.iter().try_for_each(|target| self.pointer(target)),
            },
            _ => Err(unsupported(&format!("member {}", element.name))),
        }
    }

    fn number(&mut self, number: Number, value: i64) -> Result<()> {
        match number {
            Number::Float32 => (value as f32).put_be(&mut self.out),
            Number::Float64 => (value as f64).put_be(&mut self.out),
            integer => {
                if !integer.integers().contains(&value.into()) {
                    return Err(Error::limit(format!("the number {value} in a member")));
                }
                let bytes = value.to_be_bytes();
                self.out.extend_from_slice(&bytes[bytes.len() - integer.size()..]);
            }
        }
        Ok(())
    }

    /// Writes the version, the `TObject` and the name of a collection, and the number of its items.
    fn collection(&mut self, version: u16, len: usize, draft: Option<&Draft>) -> Result<()> {
        self.out.extend_from_slice(&version.to_be_bytes());
        match draft {
            Some(draft) => self.t_object_of(draft)?,
            None => self.t_object()?,
        }
        let name = match draft.and_then(|draft| draft.members.get("fName")) {
            Some(Given::Text(name)) => name,
            _ => "",
        };
        encode::string(&mut self.out, name)?;
        encode::size(&mut self.out, len, "list")
    }

    /// Writes a `TObjArray`, with the members that `draft` has beside the items.
    fn array(&mut self, items: &[Target], draft: Option<&Draft>) -> Result<()> {
        let lower = match draft.and_then(|draft| draft.members.get("fLowerBound")) {
            Some(Given::Int(lower)) => *lower,
            _ => 0,
        };
        self.counted(|writer| {
            writer.collection(ARRAY_VERSION, items.len(), draft)?;
            writer.number(Number::Int32, lower)?;
            items.iter().try_for_each(|target| writer.pointer(target))
        })
    }

    /// Writes a `TList` or `THashList`, with the members that `draft` has beside the items.
    fn list(&mut self, class: &str, items: &[Target], draft: Option<&Draft>) -> Result<()> {
        self.described.insert(class.to_owned());
        let options = match draft.and_then(|draft| draft.members.get(OPTIONS)) {
            Some(Given::Texts(options)) => &options[..],
            _ => &[],
        };
        let options = options.iter().map(String::as_str).chain(std::iter::repeat(""));
        self.counted(|writer| {
            writer.collection(LIST_VERSION, items.len(), draft)?;
            items.iter().zip(options).try_for_each(|(target, option)| {
                writer.pointer(target)?;
                encode::string(&mut writer.out, option)
            })
        })
    }

    fn pointer(&mut self, target: &Target) -> Result<()> {
        match target {
            Target::Again(label) => {
                let elsewhere = || self.is_known.filter(|is_known| is_known(*label)).map(|_| 0);
                let tag = self.labels.get(label).copied().or_else(elsewhere);
                let tag = tag.ok_or_else(|| unsupported("a forward pointer"))?;
                self.references.push((self.out.len(), Reference::Object(*label)));
                self.out.extend_from_slice(&tag.to_be_bytes());
                Ok(())
            }
            Target::New(draft) => {
                if let Some(label) = draft.label {
                    self.labels.insert(label, self.tag());
                }
                self.tagged(&draft.class, |writer| writer.object(&draft.class, draft))
            }
        }
    }

    /// Writes a byte count, a class and an object.
    fn tagged(&mut self, class: &str, object: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.counted(|writer| {
            match writer.classes.get(class) {
                Some(tag) => {
                    let place = (tag & !CLASS) as usize - TAG_OFFSET as usize - writer.keylen;
                    writer.references.push((writer.out.len(), Reference::Class(place)));
                    writer.out.extend_from_slice(&tag.to_be_bytes());
                }
                None => {
                    let tag = writer.tag() | CLASS;
                    writer.classes.insert(class.to_owned(), tag);
                    writer.out.extend_from_slice(&NEW_CLASS.to_be_bytes());
                    writer.out.extend_from_slice(class.as_bytes());
                    writer.out.push(0);
                }
            }
            object(writer)
        })
    }

    /// Returns the tag of the next object. Positions count from the start of the key.
    fn tag(&self) -> u32 {
        (self.keylen + self.out.len()) as u32 + TAG_OFFSET
    }
}

fn unsupported(what: &str) -> Error {
    Error::unsupported(format!("{what} cannot be written"))
}
