//! Holds the streamer infos of a file, by which objects of its classes are written to a tree.

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

/// The streamer infos of a file: parsed, and as they are stored.
#[derive(Debug)]
pub struct Described {
    /// The classes.
    pub(super) infos: StreamerInfos,
    /// The same, for the file that is written.
    pub(super) list: StreamerList,
}

impl Default for Described {
    fn default() -> Self {
        Self { infos: StreamerInfos::new(Vec::new()), list: StreamerList::default() }
    }
}

impl Described {
    /// Takes the streamer infos of `file`.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged; `Unsupported` when it is too old.
    pub fn of(file: &RootFile) -> Result<Self> {
        Ok(Self {
            infos: StreamerInfos::new(file.streamer_infos()?.classes().to_vec()),
            list: file.streamer_list()?,
        })
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
        let classes = words.filter(|word| self.infos.class(word, None).is_some());
        let mut found = false;
        for class in classes {
            found = true;
            self.check(class, 0)?;
        }
        match found {
            true => Ok(spelt),
            false => Err(Error::unsupported(format!("no streamer info describes {type_name}"))),
        }
    }

    /// Checks that the members of a class have branches.
    fn check(&self, class: &str, depth: usize) -> Result<()> {
        /// The largest depth of classes inside classes.
        const MAX_DEPTH: usize = 60;
        let mut versions = self.infos.classes().iter().filter(|info| info.name == class);
        let (Some(info), None) = (versions.next(), versions.next()) else {
            return Err(Error::unsupported(format!("the file has several versions of {class}")));
        };
        if depth > MAX_DEPTH || info.elements.is_empty() {
            return Err(Error::unsupported(format!("class {class} has no branches")));
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
                if self.infos.class(inner, None).is_some() {
                    self.check(inner, depth + 1)?;
                } else if matches!(element.class.as_str(), "TStreamerBase" | "TStreamerObjectAny") {
                    return Err(Error::unsupported(format!("no streamer info describes {inner}")));
                }
            }
        }
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
