//! Compiles streamer info to nodes, which say how values are streamed.

mod builtin;
mod container;
mod leaves;
mod pointer;

use std::collections::{BTreeMap, HashMap};

pub(super) use container::is_container;
use container::{THIS, enumerated};

use super::builtin::Builtin;
use super::leaf::Member;
use super::node::{Class, Counted, Node, Step, Version};
use crate::arrow::Number;
use crate::error::{Error, Kind, Result, ResultExt};
use crate::streamer::container::Item;
use crate::streamer::info::{ClassInfo, Element, ElementForm, known};
use crate::type_name;

/// The largest number of members of a class, including the members of the classes in it.
const MAX_NODES: usize = 20_000;
/// The largest depth of classes inside classes.
const MAX_DEPTH: usize = 60;
/// The largest number of elements of a fixed array. A file with a larger array is damaged.
const MAX_ARRAY: usize = 1 << 24;
/// A base class whose streamer writes nothing (`TQObject::Streamer`).
const NOTHING: &str = "TQObject";
/// The classes of nyssa's own tables to which pointers may lead in the trees of a file without streamer infos.
const OBJECTS: [&str; 22] = [
    "TNamed",
    "TObjString",
    "TParameter<int>",
    "TParameter<float>",
    "TParameter<double>",
    "TParameter<Long64_t>",
    "TBits",
    "TVector2",
    "TVector3",
    "TLorentzVector",
    "TParticle",
    "TF1",
    "TFormula",
    "TGraph",
    "TGraphErrors",
    "TH1I",
    "TH1F",
    "TH1D",
    "TH2F",
    "TH2D",
    "TProfile",
    "TVectorT<double>",
];
/// The class of the last member of a `RooRealVar`.
const SHARED_PROPERTIES: &str = "RooRealVarSharedProperties";
/// The base class of all objects in ROOT's own collections.
const T_OBJECT: &str = "TObject";

/// A version of a class, by its number, or by its checksum if that is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ClassVersion {
    pub number: i32,
    pub checksum: u32,
}

impl ClassVersion {
    fn is(self, info: &ClassInfo) -> bool {
        match self.checksum {
            0 => info.version == self.number,
            checksum => info.checksum == checksum,
        }
    }
}

/// Compiles the classes of one file to nodes.
#[derive(Default)]
pub(super) struct Compiler<'a> {
    classes: HashMap<&'a str, Vec<&'a ClassInfo>>,
    /// The names that the file uses, by class name in normal form.
    normal: HashMap<String, &'a str>,
    order: Vec<&'a str>,
    /// The types of the numbers of enums that are members or items, by the enum's name in normal form.
    enums: HashMap<String, Number>,
    /// The classes that are being compiled, outermost first.
    stack: Vec<String>,
    /// Whether pointers are read as the numbers of other objects.
    links: bool,
    /// The versions of classes that give their shapes. The newest version gives the shape of other classes.
    chosen: BTreeMap<String, ClassVersion>,
    /// Whether the class that is compiled next is a base class of the version that `chosen` has.
    is_base: bool,
    /// The number of unions of all classes around the class that is being compiled.
    anys: usize,
    nodes: usize,
    /// The number of nodes, including nodes of classes that were given up.
    effort: usize,
    /// Whether a node refers to other classes by their names, which are looked up when an object is read. Then
    /// a class may contain itself, and a class may have a member that cannot be read.
    by_name: bool,
}

impl<'a> Compiler<'a> {
    /// Makes a compiler of the classes that `infos` describe.
    pub(super) fn new(infos: &'a [ClassInfo]) -> Self {
        let elements = infos.iter().flat_map(|info| &info.elements);
        let mut enums = HashMap::new();
        for (name, number) in elements.filter_map(enumerated) {
            // Members of any enum have the code of `int`.
            let known = enums.entry(name).or_insert(number);
            *known = if *known == Number::Int32 { number } else { *known };
        }
        Self { enums, ..Self::default() }.with(infos)
    }

    /// Makes a compiler whose nodes refer to classes by their names.
    pub(super) fn by_name() -> Self {
        Self { by_name: true, ..Self::default() }
    }

    /// Adds the classes of nyssa's own tables that are often in trees, if the file describes no class.
    pub(super) fn or_known(self) -> Self {
        if !self.classes.is_empty() {
            return self;
        }
        OBJECTS.into_iter().fold(self, |compiler, name| compiler.with(known::built_in(name)))
    }

    /// Adds more classes.
    pub(super) fn with(mut self, infos: &'a [ClassInfo]) -> Self {
        for info in infos {
            let known = self.classes.entry(&info.name).or_default();
            if known.is_empty() {
                self.normal.insert(type_name::normalize(&info.name), &*info.name);
                self.order.push(&*info.name);
            }
            known.push(info);
        }
        self
    }

    /// Resets the compiler for another class.
    pub(super) fn fresh(&mut self) -> &mut Self {
        self.stack.clear();
        self.chosen.clear();
        (self.anys, self.nodes, self.effort) = (0, 0, 0);
        self
    }

    /// Makes pointers the numbers of other objects.
    pub(super) fn linked(self) -> Self {
        self.links(&BTreeMap::new())
    }

    /// Makes pointers the numbers of other objects, and gives the classes of `chosen` the shapes of these versions.
    pub(super) fn links(mut self, chosen: &BTreeMap<String, ClassVersion>) -> Self {
        self.links = true;
        self.chosen.clone_from(chosen);
        self
    }

    /// Returns the node of the first class of `names` that is known. A container that is not a member has no
    /// header, even if the file says so.
    pub(super) fn root(&mut self, names: &[&str]) -> Result<Node> {
        let known = names.iter().find(|name| self.find(name).is_some());
        let name = known.or(names.first()).copied().unwrap_or_default();
        if is_container(name) {
            let item = Item::parse(name);
            return self.item(item.as_ref());
        }
        self.class(name)
    }

    /// Returns the node of a branch with whole values. They are objects of a class, containers or strings. With
    /// `version`, objects are of this version and have no header.
    pub(super) fn whole(&mut self, type_name: &str, version: Option<(i32, u32)>) -> Result<Node> {
        let item = Item::parse(type_name);
        match &item {
            Some(Item::Text) => Ok(Node::Text),
            None | Some(Item::Object(_) | Item::Pair(..) | Item::RootText | Item::Pointer(_)) => {
                match (self.class(type_name)?, version) {
                    (Node::Object(class), Some(version)) => members(class, version),
                    (node, _) => Ok(node),
                }
            }
            Some(item) => Ok(Node::Container(Box::new(self.item(Some(item))?), None)),
        }
    }

    /// Returns the node of one member of a class.
    pub(super) fn element(&mut self, member: Member<'_>) -> Result<Node> {
        let Member { class, version, checksum, index } = member;
        let (name, infos) = match self.find(class) {
            Some(name) => (name, self.classes.get(name).cloned().unwrap_or_default()),
            None if class == T_OBJECT => (class, vec![known::t_object()]),
            None => (class, known::built_in(class).iter().collect()),
        };
        if infos.is_empty() {
            return Err(Error::unsupported(format!(
                "the file has no streamer info of class {class}"
            )));
        }
        let info = infos
            .iter()
            .find(|info| info.checksum == checksum && checksum != 0)
            .or_else(|| infos.iter().find(|info| info.version == version));
        let info = *info.ok_or_else(|| {
            Error::unsupported(format!(
                "the file has no streamer info of version {version} of {class}"
            ))
        })?;
        let element = info.elements.get(index).ok_or_else(|| {
            Error::out_of_spec(format!(
                "class {class} has no member {index}, only {}",
                info.elements.len()
            ))
        })?;
        self.stack.push(name.to_owned());
        let node = match element.class.as_str() {
            "TStreamerBase" => self.class(&element.name),
            _ => self.member(element),
        };
        self.stack.pop();
        node.in_field(&format!("{class}::{}", element.name))
    }

    /// Returns the name that the file uses for a class, if it describes the class.
    fn find(&self, name: &str) -> Option<&'a str> {
        let exact = self.classes.get_key_value(name).map(|(name, _)| *name);
        exact.or_else(|| self.normal.get(&type_name::normalize(name)).copied())
    }

    /// Returns whether the layout of a class is known.
    fn knows(&self, name: &str) -> bool {
        Builtin::of(name).is_some_and(|builtin| !builtin.is_metadata())
            || name.starts_with("TArray")
            || self.find(name).is_some()
            || known::is_known(name)
            || is_container(name)
    }

    /// Returns the node of an object of a class.
    fn class(&mut self, name: &str) -> Result<Node> {
        let name = name.trim();
        let name = type_name::of_typedef(name.strip_prefix("const ").unwrap_or(name));
        if self.by_name {
            return Ok(Node::Named(name.into()));
        }
        self.nodes += 1;
        self.effort += 1;
        if self.nodes > MAX_NODES || self.stack.len() > MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "class {} is nested too deep or has too many members",
                self.stack.first().map_or(name, String::as_str)
            )));
        }
        if let Some(node) = self.builtin(name)? {
            return Ok(node);
        }
        if (name.starts_with("pair<") || name.starts_with("std::pair<"))
            && let Some(Item::Pair(first, second, pair)) = Item::parse(name)
        {
            return Ok(Node::Object(Box::new(self.pair(name, (&first, &second, &pair))?)));
        }
        let Some(name) = self.find(name) else {
            // A container that is not a member, or is from an old file, has no header.
            if is_container(name) {
                let item = Item::parse(name);
                return self.item(item.as_ref());
            }
            let infos = known::built_in(name);
            if infos.is_empty() {
                return Err(Error::unsupported(format!(
                    "the file has no streamer info of class {name}"
                )));
            }
            return self.described(name, infos.iter().collect());
        };
        let infos = self.classes.get(name).cloned().unwrap_or_default();
        self.described(name, infos)
    }

    /// Returns the node of a class from its streamer infos.
    fn described(&mut self, name: &str, infos: Vec<&ClassInfo>) -> Result<Node> {
        if self.stack.iter().any(|outer| outer == name) {
            if self.links {
                return Ok(Node::Embedded(name.into()));
            }
            return Err(Error::unsupported(format!("class {name} contains itself")));
        }
        self.stack.push(name.to_owned());
        let node = match infos.first().map(|info| info.elements.as_slice()) {
            // The streamer info of a collection class has no other member.
            Some([this]) if this.name == THIS => self.member(this),
            _ => self.versions(name, infos).map(|class| Node::Object(Box::new(class))),
        };
        self.stack.pop();
        node
    }

    fn versions(&mut self, name: &str, mut infos: Vec<&ClassInfo>) -> Result<Class> {
        // The version of a whole object and of its base classes is known.
        let exact = std::mem::take(&mut self.is_base) || self.stack.len() == 1;
        infos.sort_by_key(|info| std::cmp::Reverse(info.version));
        infos.dedup_by_key(|info| (info.version, info.checksum));
        if let Some(&chosen) = self.chosen.get(name)
            && let Some(index) = infos.iter().position(|info| chosen.is(info))
        {
            infos[..=index].rotate_right(1);
            if exact {
                infos.truncate(1);
            }
        }
        let mut versions: Vec<Version> = Vec::new();
        for info in infos {
            match self.version(info) {
                Ok(version) => versions.push(version),
                // An old version that cannot be read is an error only for objects of this version.
                Err(error) if !versions.is_empty() && error.kind() == Kind::Unsupported => versions
                    .push(Version {
                        version: info.version,
                        checksum: info.checksum,
                        steps: Vec::new(),
                        missing: Vec::new(),
                        conflict: Some(format!("a member ({error})")),
                    }),
                Err(error) => return Err(error),
            }
        }
        let mut class = Class { name: name.into(), versions, fixed: false };
        class.align();
        Ok(class)
    }

    /// Returns one version of a class.
    pub(super) fn version(&mut self, info: &ClassInfo) -> Result<Version> {
        let mut steps: Vec<Step> = Vec::new();
        let mut bases = 0;
        for element in &info.elements {
            let place = format!("{}::{}", info.name, element.name);
            let base = element.class == "TStreamerBase";
            if base && self.links && element.base_version > 0 {
                let version = ClassVersion { number: element.base_version, checksum: 0 };
                self.chosen.entry(element.name.clone()).or_insert(version);
                self.is_base = true;
            }
            let first = base || element.is_container_base();
            let name = if first { format!(":_{bases}") } else { element.name.clone() };
            bases += usize::from(first);
            if base && element.name == NOTHING {
                continue;
            }
            let node = if base { self.class(&element.name) } else { self.member(element) };
            self.is_base = false;
            let node = match node {
                Err(_) if self.by_name => unreadable(element),
                // The header of the member says where it ends.
                Err(error) if self.links && has_header(element) => {
                    Node::Skipped(element.type_name.clone(), error.message().into())
                }
                Ok(Node::Counted(counted)) if self.by_name => {
                    named_counter(info, element, &steps, counted)
                }
                node => node.in_field(&place)?,
            };
            let base_version = element.base_version;
            steps.push(Step { place, name, node, base, base_version, target: None, widened: None });
        }
        if self.links && info.name == "RooRealVar" {
            let node = self.class(SHARED_PROPERTIES)?;
            // Its streamer info leaves this member out (`RooRealVar::Streamer`).
            steps.push(Step::member(&info.name, "_sharedProp", node));
        }
        Ok(Version {
            version: info.version,
            checksum: info.checksum,
            steps,
            missing: Vec::new(),
            conflict: None,
        })
    }

    /// Returns the node of a member that is not a base class.
    fn member(&mut self, element: &Element) -> Result<Node> {
        self.nodes += 1;
        self.effort += 1;
        let dimensions = dimensions(element)?;
        let array = |node: Node, dimensions: Option<Vec<usize>>| match dimensions {
            None => node,
            Some(dimensions) => Node::Array(dimensions, Box::new(node)),
        };
        let counted = |item: Node, objects: bool, dimensions: Option<Vec<usize>>| {
            Node::Counted(Counted {
                name: element.count_name.clone(),
                counter: Vec::new(),
                dimensions: dimensions.unwrap_or_default(),
                item: Box::new(item),
                objects,
                bare: false,
            })
        };
        Ok(match element.form() {
            ElementForm::Container => self.container(element, dimensions)?,
            ElementForm::Number(basic) => Node::Number(basic),
            ElementForm::Numbers(basic) => array(Node::Number(basic), dimensions),
            ElementForm::Counted(basic) => counted(Node::Number(basic), false, dimensions),
            ElementForm::Loop(class, true) => counted(self.item_pointer(class)?, true, dimensions),
            ElementForm::Loop(class, false) => counted(self.class(class)?, true, dimensions),
            ElementForm::Versioned(class) => {
                Node::Container(Box::new(self.class(class)?), Some(dimensions.unwrap_or_default()))
            }
            ElementForm::CString => array(Node::CString, dimensions),
            ElementForm::Text => array(Node::Text, dimensions),
            ElementForm::Base(class) | ElementForm::Object(class) => {
                array(self.class(class)?, dimensions)
            }
            ElementForm::Pointer(class) => array(self.pointer(class)?, dimensions),
            ElementForm::Unknown => return Err(refused(element)),
        })
    }
}

/// Returns whether a member begins with a header that says where it ends.
fn has_header(element: &Element) -> bool {
    match element.form() {
        ElementForm::Object(_) | ElementForm::Base(_) => element.array_length == 0,
        ElementForm::Container | ElementForm::Versioned(_) | ElementForm::Loop(..) => true,
        _ => false,
    }
}

/// Returns the node of the members of one version of a class, independent of its other versions.
fn members(mut class: Box<Class>, (version, checksum): (i32, u32)) -> Result<Node> {
    let versions = &mut class.versions;
    let index = versions
        .iter()
        .position(|known| checksum != 0 && known.checksum == checksum)
        .or_else(|| versions.iter().position(|known| known.version == version))
        .or(class.fixed.then_some(0));
    let index = index.ok_or_else(|| {
        Error::unsupported(format!(
            "the file has no streamer info of version {version} of class {}",
            class.name
        ))
    })?;
    if versions.len() > 1 {
        let mut only = versions.swap_remove(index);
        // The version has its own shape. A version that could not be compiled has no steps.
        only.conflict = only.conflict.filter(|_| only.steps.is_empty());
        *versions = vec![only];
        class.align();
    }
    Ok(Node::Members(class, 0))
}

/// Returns the dimensions of an array, outermost first. Returns `None` for a member that is not an array.
fn dimensions(element: &Element) -> Result<Option<Vec<usize>>> {
    if element.array_length == 0 {
        return Ok(None);
    }
    let length = usize::try_from(element.array_length).unwrap_or(usize::MAX);
    let sizes: Vec<usize> =
        element.dimensions.iter().map(|&size| usize::try_from(size).unwrap_or(0)).collect();
    let product = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    match product {
        _ if length > MAX_ARRAY => {
            Err(Error::out_of_spec(format!("an array of {length} elements")))
        }
        Some(product) if product == length => Ok(Some(sizes)),
        // Old files do not store the dimensions.
        _ if sizes.iter().all(|&size| size == 0) => Ok(Some(vec![length])),
        _ => Err(Error::out_of_spec(format!(
            "an array of {length} elements whose dimensions are {sizes:?}"
        ))),
    }
}

/// Returns the node of an array with a counter. The counter is one of the `steps` before it, or a member of a
/// base class.
fn named_counter(info: &ClassInfo, element: &Element, steps: &[Step], counted: Counted) -> Node {
    let own = steps.iter().position(|step| step.name == counted.name);
    let counted = Counted { counter: own.into_iter().collect(), ..counted };
    // Before version 10, positions of baskets have 32 or 64 bits (`TBranch::Streamer`).
    let seeks = info.name == "TBranch" && (6..10).contains(&info.version);
    if seeks && element.name == "fBasketSeek" {
        Node::Seeks(counted)
    } else {
        Node::Counted(counted)
    }
}

fn unreadable(element: &Element) -> Node {
    let reason = format!(
        "member {} of type {} (streamer type {}) is not supported",
        element.name, element.type_name, element.code
    );
    Node::Unreadable(reason.into())
}

fn refused(element: &Element) -> Error {
    Error::unsupported(format!(
        "nyssa does not decode its type {} (streamer type {})",
        element.type_name, element.code
    ))
}
