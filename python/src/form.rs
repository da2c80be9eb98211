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
//! The parameter `__record__` is the C++ class of records that Python hands over. Rust tells C++ types, where Python
//! needs them, in the parameter `typename`. Decision 0014 says why this grammar.

use std::fmt::Write;

use pyo3::prelude::*;

/// The structure of an array.
pub struct Form {
    pub class: Class,
    /// The C++ type if it is known and the class does not show it.
    pub typename: Option<String>,
}

/// The classes of awkward. For strings and bytes it means the list and the characters in it.
pub enum Class {
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
    /// Returns the Form as JSON. `typed` adds the C++ types.
    pub fn to_json(&self, typed: bool) -> String {
        let mut json = Json { text: String::with_capacity(256), nodes: 0, typed };
        json.form(self);
        json.text
    }

    /// Returns the keys of the buffers, in the order of the nodes.
    pub fn keys(&self) -> Vec<String> {
        let mut keys = Keys::default();
        keys.form(self);
        keys.found
    }
}

/// A search for the keys of buffers, which numbers the nodes as [`Json`] does.
#[derive(Default)]
struct Keys {
    found: Vec<String>,
    nodes: usize,
}

impl Keys {
    fn form(&mut self, form: &Form) {
        match &form.class {
            Class::Numpy(_) => self.node(&["data"]),
            Class::Text { .. } => {
                self.node(&["offsets"]);
                self.node(&["data"]);
            }
            Class::List(content) => self.above(&["offsets"], [&**content]),
            Class::Regular { content, .. } | Class::Unmasked(content) => {
                self.above(&[], [&**content]);
            }
            Class::Record { contents, .. } => self.above(&[], contents),
            Class::ByteMasked(content) => self.above(&["mask"], [&**content]),
            Class::IndexedOption(content) => self.above(&["index"], [&**content]),
            Class::Union(contents) => self.above(&["tags", "index"], contents),
            Class::Empty => self.node(&[]),
        }
    }

    /// Numbers a node and those below it.
    fn above<'a>(&mut self, attributes: &[&str], contents: impl IntoIterator<Item = &'a Form>) {
        self.node(attributes);
        contents.into_iter().for_each(|content| self.form(content));
    }

    /// Numbers a node and adds the keys of its buffers.
    fn node(&mut self, attributes: &[&str]) {
        let node = self.nodes;
        self.found.extend(attributes.iter().map(|name| format!("node{node}-{name}")));
        self.nodes += 1;
    }
}

struct Json {
    text: String,
    /// The number of nodes so far.
    nodes: usize,
    typed: bool,
}

impl Json {
    fn form(&mut self, form: &Form) {
        let node = self.node();
        let mut array = None;
        match &form.class {
            Class::Numpy(primitive) => self.begin("NumpyArray", &[("primitive", primitive)]),
            Class::Text { text } => {
                let (list, item) = if *text { ("string", "char") } else { ("bytestring", "byte") };
                array = Some(list);
                self.begin("ListOffsetArray", &[("offsets", "i64")]);
                self.text += r#","content":"#;
                let characters = self.node();
                self.begin("NumpyArray", &[("primitive", "uint8")]);
                self.end(characters, &[("__array__", item)]);
            }
            Class::List(content) => {
                self.begin("ListOffsetArray", &[("offsets", "i64")]);
                self.content(content);
            }
            Class::Regular { size, content } => {
                self.begin("RegularArray", &[]);
                let _ = write!(self.text, r#","size":{size}"#);
                self.content(content);
            }
            Class::Record { fields, contents } => {
                self.begin("RecordArray", &[]);
                self.text += r#","fields":["#;
                for (index, field) in fields.iter().enumerate() {
                    self.text += if index > 0 { "," } else { "" };
                    self.string(field);
                }
                self.text.push(']');
                self.contents(contents);
            }
            Class::ByteMasked(content) => {
                self.begin("ByteMaskedArray", &[("mask", "i8")]);
                self.text += r#","valid_when":true"#;
                self.content(content);
            }
            Class::IndexedOption(content) => {
                self.begin("IndexedOptionArray", &[("index", "i64")]);
                self.content(content);
            }
            Class::Unmasked(content) => {
                self.begin("UnmaskedArray", &[]);
                self.content(content);
            }
            Class::Union(contents) => {
                self.begin("UnionArray", &[("tags", "i8"), ("index", "i32")]);
                self.contents(contents);
            }
            Class::Empty => self.begin("EmptyArray", &[]),
        }
        let typename = form.typename.as_deref().filter(|_| self.typed);
        let parameters = [("__array__", array), ("typename", typename)];
        let parameters = parameters.into_iter().filter_map(|(key, value)| Some((key, value?)));
        self.end(node, &parameters.collect::<Vec<_>>());
    }

    /// Returns the number of the next node.
    fn node(&mut self) -> usize {
        self.nodes += 1;
        self.nodes - 1
    }

    fn begin(&mut self, class: &str, entries: &[(&str, &str)]) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, r#"{{"class":"{class}""#);
        for (key, value) in entries {
            let _ = write!(self.text, r#","{key}":"{value}""#);
        }
    }

    fn end(&mut self, node: usize, parameters: &[(&str, &str)]) {
        for (index, (key, value)) in parameters.iter().enumerate() {
            self.text += if index > 0 { "," } else { r#","parameters":{"# };
            let _ = write!(self.text, r#""{key}":"#);
            self.string(value);
        }
        self.text += if parameters.is_empty() { "" } else { "}" };
        let _ = write!(self.text, r#","form_key":"node{node}"}}"#);
    }

    fn content(&mut self, content: &Form) {
        self.text += r#","content":"#;
        self.form(content);
    }

    fn contents(&mut self, contents: &[Form]) {
        self.text += r#","contents":["#;
        for (index, content) in contents.iter().enumerate() {
            self.text += if index > 0 { "," } else { "" };
            self.form(content);
        }
        self.text.push(']');
    }

    fn string(&mut self, text: &str) {
        self.text += &serde_json::Value::from(text).to_string();
    }
}

impl<'py> IntoPyObject<'py> for Form {
    type Target = pyo3::types::PyString;
    type Output = Bound<'py, Self::Target>;
    type Error = std::convert::Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Self::Error> {
        self.to_json(true).into_pyobject(py)
    }
}
