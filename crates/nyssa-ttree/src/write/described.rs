//! Holds the streamer infos of a file, by which objects of its classes are written to a tree.

use std::collections::{BTreeSet, HashMap};

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::{ClassInfo, Declarations, Element, StreamerInfos, StreamerList};
use nyssa_root::type_name::{Argument, TypeName, normalize};

use super::class_members::{check_streamed_by_infos, is_container};

/// The elements of classes that have branches.
const ELEMENTS: [&str; 8] = [
    "TStreamerBase",
    "TStreamerBasicType",
    "TStreamerObject",
    "TStreamerObjectAny",
    POINTER,
    "TStreamerSTL",
    "TStreamerSTLstring",
    "TStreamerString",
];
/// The element of a member that is a pointer to an object of a class.
const POINTER: &str = "TStreamerObjectAnyPointer";
/// The elements of members that are objects of a class, or pointers to them.
const OBJECTS: [&str; 4] = ["TStreamerBase", "TStreamerObject", "TStreamerObjectAny", POINTER];

/// The largest depth of classes inside classes.
const MAX_DEPTH: usize = 60;

/// The streamer infos of a file: parsed, and as they are stored.
#[derive(Debug)]
pub struct Described {
    /// The classes.
    pub(super) infos: StreamerInfos,
    /// The same, for the file that is written.
    pub(super) list: StreamerList,
    /// The place of each class in `infos`, or `None` if the file describes several versions of it.
    places: HashMap<String, Option<usize>>,
}

impl Default for Described {
    fn default() -> Self {
        let infos = StreamerInfos::new(Vec::new());
        Self { infos, list: StreamerList::default(), places: HashMap::new() }
    }
}

impl Described {
    /// Takes the streamer infos of `file`.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged; `Unsupported` when it is too old.
    pub fn of(file: &RootFile) -> Result<Self> {
        let infos = StreamerInfos::new(file.streamer_infos()?.classes().to_vec());
        let mut places = HashMap::new();
        for (place, info) in infos.classes().iter().enumerate() {
            let known = places.entry(info.name.clone());
            known.and_modify(|place| *place = None).or_insert(Some(place));
        }
        Ok(Self { infos, list: file.streamer_list()?, places })
    }

    /// Returns the classes.
    pub fn infos(&self) -> &StreamerInfos {
        &self.infos
    }

    /// Returns all versions of the classes in some types, and of the classes of their members.
    pub(super) fn versions<'t>(&self, types: impl Iterator<Item = &'t str>) -> StreamerList {
        let classes = classes_in(&self.infos, types.map(str::to_owned));
        self.list.versions(|class| classes.contains(class))
    }

    /// Returns ROOT's name of a C++ type if the file describes all classes in it, in one version each, and nyssa writes
    /// branches of them.
    ///
    /// # Errors
    /// `Unsupported` with the class or the member that has no branch; `InvalidArgument` for a text that is not a C++
    /// type.
    pub fn class_of(&self, type_name: &str) -> Result<String> {
        let spelt = Declarations::spelt(type_name)?;
        match self.check_all(&spelt)? {
            true => Ok(spelt),
            false => Err(Error::unsupported(format!("no streamer info describes {type_name}"))),
        }
    }

    /// Checks that a tree can have branches of a type that another tree had, in ROOT's spelling: a class, or a container,
    /// also of numbers.
    ///
    /// # Errors
    /// `Unsupported` with the class or the member that has no branch.
    pub fn check_type(&self, type_name: &str) -> Result<()> {
        match self.check_all(type_name)? || is_container(type_name) {
            true => Ok(()),
            false => Err(Error::unsupported(format!("no streamer info describes {type_name}"))),
        }
    }

    /// Checks all classes in a type. Returns whether there are any.
    fn check_all(&self, type_name: &str) -> Result<bool> {
        if type_name.ends_with('*') {
            return Err(Error::unsupported(format!(
                "{type_name}: a branch of its own cannot be a pointer"
            )));
        }
        check_streamed_by_infos(type_name)?;
        let mut checked = HashMap::new();
        for class in self.classes_in(type_name) {
            self.check(class, &mut checked, 0)?;
        }
        Ok(!checked.is_empty())
    }

    /// Returns the classes in a type that the file describes: the type itself, or those in its template arguments.
    fn classes_in<'t>(&self, type_name: &'t str) -> Vec<&'t str> {
        let (mut open, mut names) = (vec![type_name], Vec::new());
        while let Some(name) = open.pop() {
            let name = name.trim().trim_end_matches('*');
            let name = name.strip_prefix("const ").unwrap_or(name);
            // A file may describe containers, too, whose only member is the container itself.
            match self.places.contains_key(name) && !is_container(name) {
                true => names.push(name),
                false => open.extend(arguments(name)),
            }
        }
        names
    }

    /// Checks that the members of a class have branches. `checked` has the classes that were checked, or `false` for the
    /// classes around this one.
    fn check<'s>(
        &'s self,
        class: &'s str,
        checked: &mut HashMap<&'s str, bool>,
        depth: usize,
    ) -> Result<()> {
        match checked.insert(class, false) {
            None => {}
            Some(true) => {
                checked.insert(class, true);
                return Ok(());
            }
            Some(false) => {
                return Err(Error::unsupported(format!("class {class} contains itself")));
            }
        }
        let place = self.places.get(class).copied().flatten();
        let info = place.and_then(|place| self.infos.classes().get(place)).ok_or_else(|| {
            Error::unsupported(format!("the file has several versions of {class}"))
        })?;
        if info.elements.is_empty() || depth > MAX_DEPTH {
            return Err(Error::unsupported(format!(
                "class {class} has no members, or is nested more than {MAX_DEPTH} deep"
            )));
        }
        for element in &info.elements {
            let plain = ELEMENTS.contains(&element.class.as_str()) && !element.is_container_base();
            let type_name = element.type_name.as_str();
            let points = match element.class.as_str() {
                POINTER | "TStreamerSTL" | "TStreamerSTLstring" => type_name.ends_with("**"),
                _ => type_name.ends_with('*') && type_name != "char*",
            };
            if !plain || points || !element.count_name.is_empty() {
                return Err(Error::unsupported(format!(
                    "nyssa makes no branch of the member {} of {class}",
                    element.name
                )));
            }
            // ROOT has a streamer info of `TString`, which streams itself.
            if element.class == "TStreamerString" {
                continue;
            }
            let type_name = type_of(element);
            let inner = self.classes_in(type_name);
            if inner.is_empty() && OBJECTS.contains(&element.class.as_str()) {
                return Err(Error::unsupported(format!("no streamer info describes {type_name}")));
            }
            for inner in inner {
                self.check(inner, checked, depth + 1)?;
            }
        }
        checked.insert(class, true);
        Ok(())
    }
}

/// Returns the type of a member.
pub(super) fn type_of(element: &Element) -> &str {
    match element.class.as_str() {
        "TStreamerBase" => &element.name,
        _ => &element.type_name,
    }
}

/// Returns the template arguments of a type.
pub(super) fn arguments(type_name: &str) -> Vec<&str> {
    let inside = type_name.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>'));
    let Some((inside, _)) = inside else { return Vec::new() };
    let mut depth = 0_usize;
    let comma = |character: char| {
        match character {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    };
    inside.split(comma).collect()
}

/// Returns the classes that `infos` describe in some types, and the classes of their members.
pub fn classes_in(infos: &StreamerInfos, types: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut known: HashMap<String, Vec<&ClassInfo>> = HashMap::new();
    for info in infos.classes() {
        known.entry(normalize(&info.name)).or_default().push(info);
    }
    let (mut open, mut classes): (Vec<String>, _) = (types.collect(), BTreeSet::new());
    while let Some(name) = open.pop() {
        let Ok(name) = TypeName::parse_with_typedefs(name.trim_end_matches(['*', ' '])) else {
            continue;
        };
        for argument in name.path.iter().flat_map(|part| part.arguments.iter().flatten()) {
            open.extend(match argument {
                Argument::Type(name) => Some(name.to_string()),
                Argument::Value(_) => None,
            });
        }
        let (template, arguments) = name.template();
        if let (true, [Argument::Type(key), Argument::Type(value), ..]) =
            (template.ends_with("map"), arguments)
        {
            open.push(format!("std::pair<{key},{value}>"));
        }
        for info in known.remove(&normalize(&name.to_string())).into_iter().flatten() {
            classes.insert(info.name.clone());
            open.extend(info.elements.iter().map(|element| match element.class.as_str() {
                "TStreamerBase" => element.name.clone(),
                _ => element.type_name.clone(),
            }));
        }
    }
    classes
}
