//! Writes one new object with all objects that it points to, by the streamer infos of their classes. It is the opposite
//! of `values`, for objects that nyssa makes itself, such as a `TTree`.
//!
//! A [`Draft`] has only the members that are not zero. The streamer infos say what else is written, and in which order.

use std::collections::HashMap;

use super::basic::Basic;
use super::builtin::Builtin;
use super::info::{ClassInfo, Element, ElementForm, StreamerInfos};
use super::wire::{self, CLASS, NEW_CLASS, TAG_OFFSET};
use crate::arrow::{Native, Number};
use crate::error::{Error, Result};
use crate::rootfile::encode;

/// The class versions that ROOT's own streamers write.
const OBJECT_VERSION: u16 = 1;
const ARRAY_VERSION: u16 = 3;
const LIST_VERSION: u16 = 5;

/// The class of trees that has no `ClassDef`. ROOT writes its checksum instead of its version.
const WITHOUT_VERSION: &str = "ROOT::TIOFeatures";

/// An object to write.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    class: String,
    members: HashMap<&'static str, Given>,
    label: Option<usize>,
}

/// The value of a member that is not zero, empty or null.
#[derive(Clone, Debug)]
enum Given {
    Int(i64),
    Float(f64),
    Text(String),
    Ints(Vec<i64>),
    Items(Vec<Target>),
}

/// The target of a pointer.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// An object that is written here.
    New(Draft),
    /// The object with this label, which was written before.
    Again(usize),
}

impl Draft {
    /// Makes an object of a class.
    pub(crate) fn new(class: &str) -> Self {
        Self { class: class.to_owned(), members: HashMap::new(), label: None }
    }

    /// Names the object, so that other pointers can lead to it.
    #[must_use]
    pub(crate) fn label(self, label: usize) -> Self {
        Self { label: Some(label), ..self }
    }

    /// Sets an integer or a boolean.
    #[must_use]
    pub(crate) fn int(self, member: &'static str, value: i64) -> Self {
        self.with(member, Given::Int(value))
    }

    /// Sets a floating-point number.
    #[must_use]
    pub(crate) fn float(self, member: &'static str, value: f64) -> Self {
        self.with(member, Given::Float(value))
    }

    /// Sets a string.
    #[must_use]
    pub(crate) fn text(self, member: &'static str, value: &str) -> Self {
        self.with(member, Given::Text(value.to_owned()))
    }

    /// Sets the array of integers behind a pointer with a counter. The counter is a member of its own.
    #[must_use]
    pub(crate) fn ints(self, member: &'static str, values: Vec<i64>) -> Self {
        self.with(member, Given::Ints(values))
    }

    /// Sets the items of a collection.
    #[must_use]
    pub(crate) fn items(self, member: &'static str, items: Vec<Target>) -> Self {
        self.with(member, Given::Items(items))
    }

    /// Sets a pointer.
    #[must_use]
    pub(crate) fn pointer(self, member: &'static str, target: Target) -> Self {
        self.with(member, Given::Items(vec![target]))
    }

    fn with(mut self, member: &'static str, value: Given) -> Self {
        self.members.insert(member, value);
        self
    }

    /// Returns the bytes of the object, for a key of `keylen` bytes.
    ///
    /// # Errors
    /// `Unsupported` for classes that `infos` do not describe and members that cannot be written; `LimitExceeded` for
    /// objects of more than 1 GiB.
    pub(crate) fn serialize(&self, infos: &StreamerInfos, keylen: usize) -> Result<Vec<u8>> {
        let (classes, labels) = (HashMap::new(), HashMap::new());
        let mut writer = Writer { infos, keylen, classes, labels, out: Vec::new() };
        writer.object(&self.class, self)?;
        u32::try_from(writer.out.len())
            .ok()
            .filter(|size| *size < crate::cursor::BYTE_COUNT)
            .ok_or_else(|| Error::limit("object of more than 1 GiB"))?;
        Ok(writer.out)
    }
}

struct Writer<'i> {
    infos: &'i StreamerInfos,
    keylen: usize,
    /// The tags of the classes that were named.
    classes: HashMap<String, u32>,
    /// The tags of the labelled objects that were written.
    labels: HashMap<usize, u32>,
    out: Vec<u8>,
}

impl Writer<'_> {
    /// Appends a byte count and what `fill` appends.
    fn counted(&mut self, fill: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let start = self.out.len();
        self.out.extend_from_slice(&[0; 4]);
        fill(self)?;
        wire::put_count(&mut self.out, start)
    }

    /// Writes the part of an object that its class `class` describes.
    fn object(&mut self, class: &str, draft: &Draft) -> Result<()> {
        match Builtin::of(class) {
            Some(Builtin::TObject) => return self.t_object(),
            Some(Builtin::TArray(_)) => return encode::size(&mut self.out, 0, "array"),
            Some(_) => return Err(unsupported(class)),
            None => {}
        }
        let infos = self.infos;
        let info = infos.class(class, None).ok_or_else(|| unsupported(class))?;
        self.counted(|writer| {
            writer.version(info);
            info.elements.iter().try_for_each(|element| writer.member(element, draft))
        })
    }

    /// Writes the version of a class. A class without one has its checksum instead.
    fn version(&mut self, info: &ClassInfo) {
        if info.name == WITHOUT_VERSION {
            self.out.extend_from_slice(&[0; 2]);
            self.out.extend_from_slice(&info.checksum.to_be_bytes());
        } else {
            self.out.extend_from_slice(&(info.version as u16).to_be_bytes());
        }
    }

    fn t_object(&mut self) -> Result<()> {
        self.out.extend_from_slice(&OBJECT_VERSION.to_be_bytes());
        self.out.extend_from_slice(&[0; 8]);
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
            (ElementForm::Counted(Basic::Plain(number)), None | Some(Given::Ints(_))) => {
                let values = if let Some(Given::Ints(values)) = given { &values[..] } else { &[] };
                self.out.push(u8::from(!values.is_empty()));
                values.iter().try_for_each(|&value| self.number(number, value))
            }
            (ElementForm::Text, None) => encode::string(&mut self.out, ""),
            (ElementForm::Text, Some(Given::Text(text))) => encode::string(&mut self.out, text),
            (ElementForm::Object("TObjArray"), None) => self.array(&[]),
            (ElementForm::Object("TObjArray"), Some(Given::Items(items))) => self.array(items),
            (ElementForm::Object(class), None) => self.object(class, &Draft::new(class)),
            (ElementForm::Pointer(_), None) => {
                self.out.extend_from_slice(&[0; 4]);
                Ok(())
            }
            (ElementForm::Pointer("TList"), Some(Given::Items(items))) => self.list(items),
            (ElementForm::Pointer(_), Some(Given::Items(items))) => {
                items.iter().try_for_each(|target| self.pointer(target))
            }
            _ => Err(unsupported(&format!("member {} of {}", element.name, draft.class))),
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

    /// Writes a `TObjArray` that is a member.
    fn array(&mut self, items: &[Target]) -> Result<()> {
        self.counted(|writer| {
            writer.out.extend_from_slice(&ARRAY_VERSION.to_be_bytes());
            writer.t_object()?;
            encode::string(&mut writer.out, "")?;
            encode::size(&mut writer.out, items.len(), "list")?;
            writer.out.extend_from_slice(&[0; 4]);
            items.iter().try_for_each(|target| writer.pointer(target))
        })
    }

    /// Writes a pointer to a new `TList`.
    fn list(&mut self, items: &[Target]) -> Result<()> {
        self.tagged("TList", |writer| {
            writer.counted(|writer| {
                writer.out.extend_from_slice(&LIST_VERSION.to_be_bytes());
                writer.t_object()?;
                encode::string(&mut writer.out, "")?;
                encode::size(&mut writer.out, items.len(), "list")?;
                items.iter().try_for_each(|target| {
                    writer.pointer(target)?;
                    // The option of the item.
                    encode::string(&mut writer.out, "")
                })
            })
        })
    }

    fn pointer(&mut self, target: &Target) -> Result<()> {
        match target {
            Target::Again(label) => {
                let tag = self.labels.get(label).ok_or_else(|| unsupported("a forward pointer"))?;
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
                Some(tag) => writer.out.extend_from_slice(&tag.to_be_bytes()),
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

    /// Returns the tag of what is written next. Positions count from the start of the key.
    fn tag(&self) -> u32 {
        (self.keylen + self.out.len()) as u32 + TAG_OFFSET
    }
}

fn unsupported(what: &str) -> Error {
    Error::unsupported(format!("{what} cannot be written"))
}
