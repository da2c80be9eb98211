//! Holds the streamer infos of a file, by which objects of its classes are written to a tree.

use std::collections::HashMap;

use nyssa_root::error::{Error, Result};
use nyssa_root::rootfile::RootFile;
use nyssa_root::streamer::{Declarations, Element, StreamerInfos, StreamerList};

/// The elements of classes that have branches.
const ELEMENTS: [&str; 5] = [
    "TStreamerBase",
    "TStreamerBasicType",
    "TStreamerObjectAny",
    "TStreamerSTL",
    "TStreamerSTLstring",
];

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

    /// Returns ROOT's name of a C++ type if the file describes all classes in it, in one version each, and nyssa writes
    /// branches of them.
    ///
    /// # Errors
    /// `Unsupported` with the class or the member that has no branch; `InvalidArgument` for a text that is not a C++
    /// type.
    pub fn class_of(&self, type_name: &str) -> Result<String> {
        let spelt = Declarations::spelt(type_name)?;
        let words = spelt.split(['<', '>', ',']).map(str::trim);
        let classes = words.filter(|word| self.places.contains_key(*word));
        let classes: Vec<&str> = classes.collect();
        let mut checked = HashMap::new();
        for class in classes {
            self.check(class, &mut checked, 0)?;
        }
        match checked.is_empty() {
            false => Ok(spelt),
            true => Err(Error::unsupported(format!("no streamer info describes {type_name}"))),
        }
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
            if !plain || !element.count_name.is_empty() {
                return Err(Error::unsupported(format!(
                    "nyssa makes no branch of the member {} of {class}",
                    element.name
                )));
            }
            for inner in classes_of(element) {
                if self.places.contains_key(inner) {
                    self.check(inner, checked, depth + 1)?;
                } else if matches!(element.class.as_str(), "TStreamerBase" | "TStreamerObjectAny") {
                    return Err(Error::unsupported(format!("no streamer info describes {inner}")));
                }
            }
        }
        checked.insert(class, true);
        Ok(())
    }
}

/// Returns the names in the type of a member, some of which are classes.
fn classes_of(element: &Element) -> Vec<&str> {
    match element.class.as_str() {
        "TStreamerBase" => vec![&element.name],
        "TStreamerObjectAny" => vec![&element.type_name],
        _ => element.type_name.split(['<', '>', ',']).map(str::trim).collect(),
    }
}
