//! Defines the Forms of awkward, by which Rust and Python describe arrays to each other.
//!
//! A [`Form`] describes the structure, and buffers hold the values. The buffer of a node has the key
//! `"{form_key}-{attribute}"`, as in `awkward.from_buffers`; form keys are `node0`, `node1`, … in the order of the
//! text. These classes cross the bridge:
//!
//! | class | buffers | entries |
//! |---|---|---|
//! | `NumpyArray` | `data` | numbers; bits are bytes, dates are `datetime64[s]` |
//! | `ListOffsetArray` | `offsets`: `i64` | lists; with the parameter `__array__` text (`string`) or bytes (`bytestring`) |
//! | `RegularArray` | | lists of one size |
//! | `RecordArray` | | records; without names of fields tuples |
//! | `ByteMaskedArray` | `mask`: `i8`, 1 where there is a value | values that may be missing |
//! | `IndexedOptionArray` | `index`: `i64`, negative where nothing is | values that may be missing |
//! | `UnmaskedArray` | | an alternative of a union of which others may be missing |
//! | `UnionArray` | `tags`: `i8`, `index`: `i32` | values of several types |
//! | `EmptyArray` | | no value at all |
//!
//! The parameter `__record__` is the C++ class of records that Python hands over, and the class of vectors of ROOT, whose
//! arrays keep it. Rust tells other C++ types, where Python needs them, in the parameter `typename`. Decision 0014 says
//! why this grammar.

use pyo3::prelude::*;
use serde_json::{Value, json};

/// The structure of an array.
pub(crate) struct Form {
    pub class: Class,
    /// The C++ type if it is known and the class does not show it.
    pub typename: Option<String>,
}

/// The classes of awkward. For strings and bytes it means the list and the characters in it.
pub(crate) enum Class {
    Numpy(&'static str),
    Text { text: bool },
    List(Box<Form>),
    Regular { size: u64, content: Box<Form> },
    Record { fields: Vec<String>, contents: Vec<Form> },
    ByteMasked(Box<Form>),
    IndexedOption(Box<Form>),
    Unmasked(Box<Form>),
    Union(Vec<Form>),
    Empty,
}

impl From<Class> for Form {
    fn from(class: Class) -> Self {
        Self { class, typename: None }
    }
}

impl Form {
    /// Gives the records of a column their class, if they have the members of this class of ROOT's vectors.
    pub(crate) fn name_vectors(&mut self, class: &str) {
        match &mut self.class {
            Class::List(inner)
            | Class::Regular { content: inner, .. }
            | Class::ByteMasked(inner)
            | Class::IndexedOption(inner) => inner.name_vectors(class),
            Class::Record { fields, contents } => {
                let members: &[&str] = match class {
                    "TLorentzVector" => &["fP", "fE"],
                    "TVector3" => &["fX", "fY", "fZ"],
                    _ => &["fX", "fY"],
                };
                // The base class is first.
                let own = fields.iter().map(String::as_str).filter(|name| *name != ":_0");
                if own.eq(members.iter().copied()) {
                    self.typename.get_or_insert_with(|| class.to_owned());
                    if let Some(inner) = fields.iter().position(|name| name == "fP") {
                        contents[inner].name_vectors("TVector3");
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the type of the values as awkward writes it, such as `var * float32`.
    pub(crate) fn datashape(&self) -> String {
        let all = |items: &[Self]| items.iter().map(Self::datashape).collect::<Vec<_>>();
        match &self.class {
            Class::Numpy(primitive) => (*primitive).to_owned(),
            Class::Text { text } => if *text { "string" } else { "bytes" }.to_owned(),
            Class::List(item) => format!("var * {}", item.datashape()),
            Class::Regular { size, content } => format!("{size} * {}", content.datashape()),
            Class::Record { fields, contents } => {
                let members = fields.iter().zip(all(contents));
                let members: Vec<_> =
                    members.map(|(name, shape)| format!("{}: {shape}", field_name(name))).collect();
                let members = members.join(", ");
                match self.typename.as_deref().filter(|name| is_vector(name)) {
                    Some(class) => format!("{}[{members}]", field_name(class)),
                    None => format!("{{{members}}}"),
                }
            }
            Class::ByteMasked(value) | Class::IndexedOption(value) | Class::Unmasked(value) => {
                match &value.class {
                    Class::List(_) | Class::Regular { .. } => {
                        format!("option[{}]", value.datashape())
                    }
                    _ => format!("?{}", value.datashape()),
                }
            }
            Class::Union(alternatives) => format!("union[{}]", all(alternatives).join(", ")),
            Class::Empty => "unknown".to_owned(),
        }
    }

    /// Returns the Form as JSON, and the keys of its buffers in the order of the nodes. `typed` adds the C++ types.
    pub(crate) fn written(&self, typed: bool) -> (String, Vec<String>) {
        let mut nodes = Nodes { typed, count: 0, keys: Vec::new() };
        (nodes.form(self).to_string(), nodes.keys)
    }
}

/// Returns a name as awkward has it in types: in quotes if it is no word.
fn field_name(name: &str) -> String {
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_word { name.to_owned() } else { json!(name).to_string() }
}

/// The nodes that are written so far.
struct Nodes {
    typed: bool,
    count: usize,
    /// The keys of their buffers.
    keys: Vec<String>,
}

impl Nodes {
    fn form(&mut self, form: &Form) -> Value {
        let lists = json!({"class": "ListOffsetArray", "offsets": "i64"});
        let mut node = match &form.class {
            Class::Numpy(primitive) => {
                self.node(json!({"class": "NumpyArray", "primitive": primitive}), &["data"])
            }
            Class::Text { text } => {
                let (list, item) = if *text { ("string", "char") } else { ("bytestring", "byte") };
                let mut node = self.node(lists, &["offsets"]);
                let characters = json!({"class": "NumpyArray", "primitive": "uint8"});
                node["content"] = self.node(characters, &["data"]);
                node["content"]["parameters"] = json!({"__array__": item});
                node["parameters"] = json!({"__array__": list});
                node
            }
            Class::List(content) => self.above(lists, &["offsets"], content),
            Class::Regular { size, content } => {
                self.above(json!({"class": "RegularArray", "size": size}), &[], content)
            }
            Class::Record { fields, contents } => {
                let node = json!({"class": "RecordArray", "fields": fields});
                self.above_all(node, &[], contents)
            }
            Class::ByteMasked(content) => {
                let node = json!({"class": "ByteMaskedArray", "mask": "i8", "valid_when": true});
                self.above(node, &["mask"], content)
            }
            Class::IndexedOption(content) => {
                let node = json!({"class": "IndexedOptionArray", "index": "i64"});
                self.above(node, &["index"], content)
            }
            Class::Unmasked(content) => self.above(json!({"class": "UnmaskedArray"}), &[], content),
            Class::Union(contents) => {
                let node = json!({"class": "UnionArray", "tags": "i8", "index": "i32"});
                self.above_all(node, &["tags", "index"], contents)
            }
            Class::Empty => self.node(json!({"class": "EmptyArray"}), &[]),
        };
        if let Some(typename) = form.typename.as_deref() {
            if self.typed {
                node["parameters"]["typename"] = typename.into();
            } else if matches!(form.class, Class::Record { .. }) && is_vector(typename) {
                node["parameters"]["__record__"] = typename.into();
            }
        }
        node
    }

    /// Numbers a node and what is below it.
    fn above(&mut self, node: Value, attributes: &[&str], content: &Form) -> Value {
        let mut node = self.node(node, attributes);
        node["content"] = self.form(content);
        node
    }

    fn above_all(&mut self, node: Value, attributes: &[&str], contents: &[Form]) -> Value {
        let mut node = self.node(node, attributes);
        node["contents"] = contents.iter().map(|content| self.form(content)).collect();
        node
    }

    /// Numbers a node and adds the keys of its buffers.
    fn node(&mut self, mut node: Value, attributes: &[&str]) -> Value {
        let key = format!("node{}", self.count);
        self.count += 1;
        self.keys.extend(attributes.iter().map(|name| format!("{key}-{name}")));
        node["form_key"] = key.into();
        node
    }
}

/// Returns whether a class is one of ROOT's vectors, which other packages know by name.
fn is_vector(class: &str) -> bool {
    let template = class.split_once('<').map_or(class, |(template, _)| template);
    let of_math = template.strip_prefix("ROOT::Math::");
    matches!(template, "TVector2" | "TVector3" | "TLorentzVector")
        || of_math.is_some_and(|name| {
            name == "LorentzVector"
                || ["DisplacementVector", "PositionVector"].iter().any(|&kind| {
                    name.strip_prefix(kind).is_some_and(|size| matches!(size, "2D" | "3D"))
                })
        })
}

impl<'py> IntoPyObject<'py> for Form {
    type Target = pyo3::types::PyString;
    type Output = Bound<'py, Self::Target>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        self.written(true).0.into_pyobject(py)
    }
}
