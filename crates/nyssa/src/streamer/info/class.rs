//! What one version of a class looks like: its base classes and members in the order they are streamed.

/// One version of a class (`TStreamerInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassInfo {
    /// Class name.
    pub name: String,
    /// Class version.
    pub version: i32,
    /// Checksum of the layout.
    pub checksum: u32,
    /// Base classes and members in the order they are streamed.
    pub elements: Vec<Element>,
}

impl ClassInfo {
    /// What tells two versions of classes apart.
    pub(super) fn identity(&self) -> (String, i32, u32) {
        (self.name.clone(), self.version, self.checksum)
    }
}

/// One member or base class (`TStreamerElement`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// Class of the element itself: `TStreamerBase`, `TStreamerBasicType`, ...
    pub class: String,
    /// Member name, or the base class's.
    pub name: String,
    /// Comment.
    pub title: String,
    /// Type code (`TVirtualStreamerInfo::EReadWrite`).
    pub code: i32,
    /// Number of elements of an array, 0 for none.
    pub array_length: i32,
    /// Sizes of an array's dimensions, outermost first.
    pub dimensions: Vec<i32>,
    /// Type code of what a standard container holds; 0 for other members.
    pub item_code: i32,
    /// Version of a base class; 0 for members.
    pub base_version: i32,
    /// C++ type name.
    pub type_name: String,
    /// Name of the member that counts a pointed-to array; empty for none.
    pub count_name: String,
}

impl Element {
    /// An element that is no array.
    pub(crate) fn of(class: &str, name: &str, type_name: &str, code: i32) -> Self {
        Self {
            class: class.to_owned(),
            name: name.to_owned(),
            title: String::new(),
            code,
            array_length: 0,
            dimensions: Vec::new(),
            item_code: 0,
            base_version: 0,
            type_name: type_name.to_owned(),
            count_name: String::new(),
        }
    }

    /// Whether it is a base class that is a standard container: it is called as its type.
    pub fn is_container_base(&self) -> bool {
        self.class.starts_with("TStreamerSTL") && self.name == self.type_name
    }
}
