//! Makes the streamer infos of classes that users define, as ROOT makes them of the same classes in C++.
//!
//! ```text
//! "Jet": {"pt": "float", "hits": "std::vector<Hit>"}  ──►  Jet, version 1, checksum
//!                                                             TStreamerBasicType  pt    float
//!                                                             TStreamerSTL        hits  vector<Hit>
//! ```
//!
//! Source: `TStreamerInfo::Build`, `TClass::GetCheckSum`.

mod checksum;
mod element;
mod spelling;

use std::collections::HashSet;

use crate::definitions::{Definition, Definitions, NO_VERSION};
use crate::error::{Error, Result, ResultExt};
use crate::streamer::info::{ClassInfo, Element, StreamerInfos};
use crate::type_name::TypeName;
use checksum::Declared;
use element::{Layout, Stored};

/// The largest depth of classes inside classes. It also stops a class that contains itself.
const MAX_DEPTH: usize = 60;
/// The version of a class without `ClassDef`, in its streamer info and as a base class.
const UNVERSIONED: i32 = 1;
const UNVERSIONED_BASE: i32 = -1;

/// The classes that are declared, with their streamer infos.
pub struct Declarations<'d> {
    definitions: &'d Definitions,
    classes: Vec<(ClassInfo, Layout)>,
    /// The pairs that are more than the items of a map, which the interpreter of ROOT therefore knows.
    pairs: HashSet<String>,
    /// The classes of pointers.
    pointees: HashSet<String>,
    depth: usize,
    /// Whether the classes are of fields of RNTuples, which have types that trees have not.
    of_fields: bool,
}

impl<'d> Declarations<'d> {
    /// Starts without classes.
    pub fn new(definitions: &'d Definitions) -> Self {
        let (classes, pairs, pointees) = (Vec::new(), HashSet::new(), HashSet::new());
        Self { definitions, classes, pairs, pointees, depth: 0, of_fields: false }
    }

    /// Starts without classes, for classes of fields of RNTuples: they have types that ROOT does not stream. Their pairs are
    /// not described.
    pub fn of_fields(definitions: &'d Definitions) -> Self {
        Self { of_fields: true, ..Self::new(definitions) }
    }

    /// Declares all classes in a C++ type, and the classes that are derived from the classes of its pointers. Returns ROOT's
    /// name of the type: `vector<Jet>` for `std::vector<Jet>`.
    ///
    /// # Errors
    /// `InvalidArgument` for a text that is not a C++ type, for unknown names, and for a class that contains itself;
    /// `Unsupported` for types that nyssa does not stream.
    pub fn declare(&mut self, type_name: &str) -> Result<String> {
        let stored = self.stored(type_name)?;
        match stored.refused_alone().filter(|_| !self.of_fields) {
            Some(reason) => Err(Error::unsupported(format!("{type_name}: {reason}"))),
            None => {
                self.declare_derived()?;
                Ok(stored.type_name)
            }
        }
    }

    /// Declares the classes that are derived from the class of a pointer, since it may lead to their objects. Fields of
    /// RNTuples have no such pointers.
    fn declare_derived(&mut self) -> Result<()> {
        let definitions = self.definitions;
        let is_next = |declared: &Self, name: &str| {
            let known = declared.classes.iter().any(|(info, _)| info.name == name);
            !known && !declared.of_fields && declared.may_be_behind(name)
        };
        // A derived class may have pointers, too.
        while let Some(name) = definitions.names().find(|name| is_next(self, name)) {
            self.stored(name).in_field(name)?;
        }
        Ok(())
    }

    /// Returns whether a class has the class of a pointer as a base class, directly or not.
    fn may_be_behind(&self, name: &str) -> bool {
        let (mut open, mut seen) = (vec![name.to_owned()], HashSet::new());
        while let Some(name) = open.pop() {
            if let Some(Definition::Class { bases, .. }) = self.definitions.get(&name)
                && seen.insert(name)
            {
                let bases =
                    bases.iter().filter_map(|base| TypeName::parse_with_typedefs(base).ok());
                let bases: Vec<String> = bases.map(|base| base.to_string()).collect();
                if bases.iter().any(|base| self.pointees.contains(base)) {
                    return true;
                }
                open.extend(bases);
            }
        }
        false
    }

    /// Returns the streamer infos of all classes that were declared.
    pub fn infos(self) -> StreamerInfos {
        let Self { mut classes, pairs, of_fields, .. } = self;
        if of_fields {
            classes.retain(|(info, _)| self.definitions.get(&info.name).is_some());
        }
        let info = |(mut info, _): (ClassInfo, Layout)| {
            let is_made_up = match &info.elements[..] {
                [first, second] if info.name.starts_with("pair<") => {
                    let known = checksum::is_known_pair(&first.type_name, &second.type_name);
                    !known && !pairs.contains(&info.name)
                }
                _ => false,
            };
            if is_made_up {
                info.checksum = checksum::MADE_UP_PAIR;
                info.elements.iter_mut().for_each(|element| element.title = "Emulation".to_owned());
            }
            info
        };
        StreamerInfos::new(classes.into_iter().map(info).collect())
    }

    /// Returns ROOT's name of a type, such as `vector<Jet>` for `std::vector<Jet>`, whatever its classes are.
    ///
    /// # Errors
    /// `InvalidArgument` for a text that is not a C++ type.
    pub fn spelt(type_name: &str) -> Result<String> {
        spelling::spelt(type_name)
    }

    /// Returns the checksum of a class that ROOT knows by its name only, such as a standard container.
    pub fn checksum_of_name(name: &str) -> u32 {
        checksum::of_name(name)
    }

    /// Returns how values of a C++ type are stored, and declares the classes in it.
    fn stored(&mut self, text: &str) -> Result<Stored> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Error::invalid_argument(format!(
                "type {text} is nested more than {MAX_DEPTH} deep: does a class contain itself?"
            )));
        }
        let stored = element::stored(self, text);
        self.depth -= 1;
        stored
    }

    /// Declares a class of the user. Returns its layout in memory.
    fn class(&mut self, name: &str) -> Result<Layout> {
        if let Some((_, layout)) = self.classes.iter().find(|(info, _)| info.name == name) {
            return Ok(*layout);
        }
        let (bases, members, version, checksum) = match self.definitions.get(name) {
            Some(Definition::Class { bases, members, version, checksum }) => {
                (bases, members, *version, *checksum)
            }
            Some(_) => {
                return Err(Error::unsupported(format!(
                    "a tree cannot hold {name}: of the definitions of users, nyssa streams classes only"
                )));
            }
            None => {
                return Err(Error::invalid_argument(format!(
                    "type {name} is not known, and no class of that name is defined"
                ))
                .suggest(name, self.definitions.names()));
            }
        };
        if bases.is_empty() && members.is_empty() && !self.of_fields {
            return Err(Error::unsupported(format!("class {name} has no members")));
        }
        let (mut layout, mut elements) = (Layout::default(), Vec::new());
        for base in bases {
            let stored = self.stored(base).in_field(base)?;
            let element = self.base(name, &stored)?;
            elements.push(Declared { element, counted: None, is_enum: false, is_hidden: false });
            layout.add(stored.layout, 1);
        }
        for (member, type_name) in members {
            check(member)?;
            let (element, own) = element::member(self, member, type_name).in_field(member)?;
            elements.push(element);
            layout.add(own, 1);
        }
        let checksum = checksum.unwrap_or_else(|| checksum::of_class(name, &elements));
        let version = match version {
            NO_VERSION => UNVERSIONED,
            version => i32::try_from(version).unwrap_or(i32::MAX),
        };
        let shown = elements.into_iter().filter(|declared| !declared.is_hidden);
        let elements = shown.map(|declared| declared.element).collect();
        let info = ClassInfo { name: name.to_owned(), version, checksum, elements };
        Ok(self.add(info, layout))
    }

    /// Adds a streamer info. Returns the layout of the class with its padding.
    fn add(&mut self, info: ClassInfo, layout: Layout) -> Layout {
        let layout = layout.padded();
        self.classes.push((info, layout));
        layout
    }

    /// Returns the element of a base class.
    fn base(&self, class: &str, stored: &Stored) -> Result<Element> {
        let known = self.classes.iter().find(|(info, _)| info.name == stored.type_name);
        let (info, _) = known.ok_or_else(|| {
            Error::invalid_argument(format!(
                "{}, a base of {class}, is not a class",
                stored.type_name
            ))
        })?;
        let versioned = matches!(
            self.definitions.get(&info.name),
            Some(Definition::Class { version, .. }) if *version != NO_VERSION
        );
        let base_version = if versioned { info.version } else { UNVERSIONED_BASE };
        Ok(Element {
            base_version,
            // ROOT stores the checksum in the place of a dimension.
            dimensions: vec![0, info.checksum as i32],
            size: stored.layout.size(),
            ..Element::of("TStreamerBase", &info.name, "BASE", 0)
        })
    }
}

/// Checks that a member has a name that C++ allows.
fn check(name: &str) -> Result<()> {
    let word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    let digit = name.starts_with(|first: char| first.is_ascii_digit());
    if name.is_empty() || digit || !name.chars().all(word) {
        return Err(Error::invalid_argument(format!("a member cannot have the name {name:?}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(bases: &[&str], members: &[(&str, &str)]) -> Definition {
        Definition::Class {
            bases: bases.iter().map(|&base| base.to_owned()).collect(),
            members: members.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect(),
            version: NO_VERSION,
            checksum: None,
        }
    }

    /// ROOT 6.40 gave the checksums of the same classes.
    #[test]
    fn checksums_are_those_of_root() {
        let mut all = Definitions::default();
        all.define("P2", class(&[], &[("x", "float"), ("y", "double")])).unwrap();
        all.define("Hit", class(&[], &[("id", "int"), ("q", "std::vector<float>")])).unwrap();
        all.define("Base", class(&[], &[("b", "short")])).unwrap();
        let members = [
            ("pt", "float"),
            ("eta", "double"),
            ("m", "Double32_t"),
            ("ok", "bool"),
            ("l", "long"),
            ("ll", "Long64_t"),
            ("c", "unsigned char"),
            ("ch", "char"),
            ("i8", "std::int8_t"),
            ("u64", "std::uint64_t"),
            ("us", "unsigned short"),
            ("v", "std::vector<float>"),
            ("s", "std::string"),
            ("p", "P2"),
            ("hits", "std::vector<Hit>"),
            ("arr", "float[3]"),
            ("mat", "int[2][3]"),
            ("sa", "std::array<float,2>"),
            ("mp", "std::map<int,float>"),
            ("vs", "std::vector<std::string>"),
            ("vv", "std::vector<std::vector<int>>"),
            ("pr", "std::pair<int,float>"),
            ("f16", "Float16_t"),
            ("ps", "P2[2]"),
            ("ui", "unsigned int"),
            ("vb", "std::vector<bool>"),
        ];
        all.define("Jet", class(&["Base"], &members)).unwrap();
        let mut declared = Declarations::new(&all);
        assert_eq!(declared.declare("std::vector<Jet>").unwrap(), "vector<Jet>");
        let infos = declared.infos();
        for (name, checksum) in [
            ("P2", 553_773_764),
            ("Hit", 336_356_447),
            ("Base", 2_298_023),
            ("Jet", 3_763_854_804),
            ("pair<int,float>", 1_761_814_904),
        ] {
            assert_eq!(infos.class(name, None).unwrap().checksum, checksum, "{name}");
        }
    }

    /// ROOT 6.40 gave the checksums of the same classes, and the pair that a member has.
    #[test]
    fn pointers_and_bitsets_have_the_checksums_of_root() {
        let mut all = Definitions::default();
        all.define("m2::Deep", class(&[], &[("d", "int"), ("e", "float")])).unwrap();
        for (name, members, checksum) in [
            (
                "m2::UVec",
                &[("v", "std::vector<std::unique_ptr<m2::Deep>>"), ("after", "int")][..],
                369_911_127,
            ),
            ("m2::PP", &[("pp", "std::pair<int,m2::Deep*>"), ("after", "int")], 3_970_337_278),
            ("m2::BM", &[("mb", "std::map<int,std::bitset<8>>"), ("after", "int")], 3_356_403_424),
            ("m2::BV", &[("vb", "std::vector<std::bitset<8>>"), ("after", "int")], 887_897_154),
        ] {
            all.define(name, class(&[], members)).unwrap();
            let mut declared = Declarations::new(&all);
            declared.declare(name).unwrap();
            let infos = declared.infos();
            assert_eq!(infos.class(name, None).unwrap().checksum, checksum, "{name}");
            if name == "m2::PP" {
                let pair = infos.class("pair<int,m2::Deep*>", None).unwrap();
                assert_eq!(pair.checksum, 622_088_274);
            }
        }
    }

    /// ROOT 6.40 gave the checksums of these pairs in files of classes with such members.
    #[test]
    fn pairs_of_maps_have_one_checksum() {
        let all = Definitions::default();
        let checksum = |types: &[&str], pair: &str| {
            let mut declared = Declarations::new(&all);
            types.iter().for_each(|name| drop(declared.declare(name).unwrap()));
            declared.infos().class(pair, None).unwrap().checksum
        };
        let map = "std::map<short,float>";
        assert_eq!(checksum(&[map], "pair<short,float>"), 190_822_226);
        let vector = "std::vector<std::pair<short,float>>";
        assert_eq!(checksum(&[map, vector], "pair<short,float>"), 827_613_628);
        assert_eq!(checksum(&["std::map<int,int>"], "pair<int,int>"), 2_516_086_102);
        let text = "std::map<std::string,std::string>";
        assert_eq!(checksum(&[text], "pair<string,string>"), 1_339_676_482);
    }

    /// ROOT 6.40 gave these checksums to the fields of the same classes.
    #[test]
    fn classes_of_fields_have_types_that_trees_have_not() {
        let mut all = Definitions::default();
        all.define("Hit", class(&[], &[("x", "float")])).unwrap();
        all.define("Color", Definition::Enum("short".to_owned())).unwrap();
        let members = [
            ("std::variant<int,std::string,Hit>", 2_606_668_706),
            ("std::bitset<10>", 54_600_398),
            ("std::unique_ptr<float>", 464_868_372),
            ("std::tuple<int,float>", 1_840_136_162),
            ("std::atomic<int>", 166_039_574),
            ("std::vector<Color>", 4_094_721_260),
            ("std::byte", 596_456),
            ("std::unique_ptr<Hit>", 2_993_149_994),
            ("Color", 1_804_155),
            ("std::array<std::string,2>", 2_891_153_331),
            ("std::vector<std::unique_ptr<Hit>>", 1_549_426_699),
        ];
        let names = ["C25", "C3", "C4", "C6", "C7", "C10", "C11", "C15", "C19", "C28", "C37"];
        for (name, (type_name, checksum)) in names.into_iter().zip(members) {
            all.define(name, class(&[], &[("v", type_name)])).unwrap();
            let declarations = Definitions::clone(&all);
            let mut declared = Declarations::of_fields(&declarations);
            declared.declare(name).unwrap();
            let infos = declared.infos();
            assert_eq!(infos.class(name, None).unwrap().checksum, checksum, "{type_name}");
        }
    }

    #[test]
    fn what_cannot_be_streamed_is_refused() {
        let mut all = Definitions::default();
        all.define("Self", class(&[], &[("inner", "std::vector<Self>")])).unwrap();
        all.define("Empty", class(&[], &[])).unwrap();
        all.define("Color", Definition::Enum("long".to_owned())).unwrap();
        all.define("Shape", Definition::Enum("int".to_owned())).unwrap();
        for (name, message) in [
            ("Self", "nested more than 60 deep: does a class contain itself?"),
            ("Empty", "class Empty has no members"),
            ("Color", "ROOT leaves members of an enum of the type long out of trees"),
            ("Shape", "a branch of its own cannot be an enum"),
            ("std::vector<Shape>", "as a member, not in a container or a pair"),
            ("Other", "type Other is not known, and no class of that name is defined"),
            ("float*", "float*: ROOT does not store what a pointer to a number leads to"),
            (
                "std::vector<std::vector<int>*>",
                "nyssa streams pointers to containers as members, not in a container",
            ),
            ("std::optional<int>", "std::optional<int>: ROOT streams no std::optional"),
            (
                "std::tuple<int,int>",
                "std::tuple<int,int>: nyssa does not stream this type in trees",
            ),
        ] {
            let error = Declarations::new(&all).declare(name).unwrap_err().to_string();
            assert!(error.contains(message), "{name}: {error}");
        }
    }
}
