//! Defines one version of a class: its base classes and members in the order in which they are streamed.

/// One version of a class (`TStreamerInfo`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassInfo {
    /// The class name.
    pub name: String,
    /// The class version.
    pub version: i32,
    /// The checksum of the layout, which identifies it. It is not compared with the members: versions of ROOT before 6
    /// computed it from names of types that the file does not have (`Color_t` where it has `short`), and ROOT 6 copies such
    /// infos into its own files.
    pub checksum: u32,
    /// The base classes and members in the order in which they are streamed.
    pub elements: Vec<Element>,
}

impl ClassInfo {
    /// Returns the name, version and checksum, which identify a version of a class.
    pub(super) fn identity(&self) -> (String, i32, u32) {
        (self.name.clone(), self.version, self.checksum)
    }
}

/// One member or base class (`TStreamerElement`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Element {
    /// The class of the element itself: `TStreamerBase`, `TStreamerBasicType`, ...
    pub class: String,
    /// The name of the member or of the base class.
    pub name: String,
    /// The comment.
    pub title: String,
    /// The type code (`TVirtualStreamerInfo::EReadWrite`).
    pub code: i32,
    /// The number of elements of an array. It is 0 for a member that is not an array.
    pub array_length: i32,
    /// The sizes of an array's dimensions, outermost first.
    pub dimensions: Vec<i32>,
    /// The type code of the items of a standard container. It is 0 for other members.
    pub item_code: i32,
    /// The version of a base class. It is 0 for members.
    pub base_version: i32,
    /// The size of the member in memory, in bytes. It is 0 for the streamer infos of a file.
    pub size: i32,
    /// The C++ type name.
    pub type_name: String,
    /// The name of the member that holds the length of the array behind a pointer. It is empty if there is
    /// none.
    pub count_name: String,
}

impl Element {
    /// Makes an element that is not an array.
    pub fn of(class: &str, name: &str, type_name: &str, code: i32) -> Self {
        Self {
            class: class.to_owned(),
            name: name.to_owned(),
            title: String::new(),
            code,
            array_length: 0,
            dimensions: Vec::new(),
            item_code: 0,
            base_version: 0,
            size: 0,
            type_name: type_name.to_owned(),
            count_name: String::new(),
        }
    }

    /// Returns whether the element is a base class that is a standard container. Its name is the name of its
    /// type.
    pub fn is_container_base(&self) -> bool {
        self.class.starts_with("TStreamerSTL") && self.name == self.type_name
    }
}
