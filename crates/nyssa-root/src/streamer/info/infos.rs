//! Contains all streamer infos of a file, and reads objects with them.

use std::collections::{BTreeSet, HashSet};
use std::sync::OnceLock;

use super::bootstrap::bootstrap;
use super::class::{ClassInfo, Element};
use super::form::{LOOP, LOOP_ARRAY};
use crate::error::{Error, Result};
use crate::streamer::values::{ClassTable, Object, View};

/// All streamer infos of a file.
#[derive(Debug)]
pub struct StreamerInfos {
    classes: Vec<ClassInfo>,
    table: ClassTable,
    /// The classes of the file and of nyssa's own tables. They are put together when an object first needs a
    /// class of nyssa's tables.
    complete: OnceLock<ClassTable>,
    /// Whether pointers in arrays with a counter have tags, as other pointers have.
    pub(crate) tagged_arrays: bool,
}

/// The first file version (ROOT 4) in which arrays with a counter always say whether they are null.
const NULL_ARRAYS_FLAGGED: i32 = 40_000;
/// The last file version in which arrays of pointers with a counter have the objects without tags. Each object
/// is of the class of the pointer (`TStreamerInfo::ReadBuffer`, `kStreamLoop`).
const UNTAGGED_ARRAYS: i32 = 51_508;

impl StreamerInfos {
    /// Sets the version of the file (ROOT's version without dots, such as 30502). Older versions stream some
    /// arrays in another way.
    pub(crate) fn for_file_version(mut self, version: i32) -> Self {
        self.table.null_arrays_flagged = version >= NULL_ARRAYS_FLAGGED;
        self.tagged_arrays = version > UNTAGGED_ARRAYS;
        self
    }

    /// Parses the list of streamer infos, which is `None` if the file has none, and the size of its key.
    ///
    /// # Errors
    /// `OutOfSpecification` when the list is damaged.
    pub(crate) fn parse(record: Option<(&[u8], u16)>) -> Result<Self> {
        let classes =
            record.map_or(Ok(Vec::new()), |(payload, keylen)| classes(payload, keylen))?;
        Ok(Self::new(classes))
    }

    /// Parses several lists. References in each are counted from `offset` bytes before the list. A version of a
    /// class that is in several lists is taken once.
    ///
    /// # Errors
    /// `OutOfSpecification` when a list is damaged.
    pub fn parse_lists(lists: &[&[u8]], offset: u16) -> Result<Self> {
        let mut infos = Self::new(Vec::new());
        for list in lists {
            infos.add(&Self::new(classes(list, offset)?));
        }
        Ok(infos)
    }

    /// Adds the classes of `other`, except the versions of classes that are already here.
    pub fn add(&mut self, other: &Self) {
        let known: HashSet<_> = self.classes.iter().map(ClassInfo::identity).collect();
        let new = other.classes.iter().filter(|info| !known.contains(&info.identity()));
        let new: Vec<ClassInfo> = new.cloned().collect();
        if new.is_empty() {
            return;
        }
        let all = std::mem::take(&mut self.classes).into_iter().chain(new);
        *self = Self::new(all.collect());
    }

    /// Makes the streamer infos of these classes.
    pub fn new(classes: Vec<ClassInfo>) -> Self {
        let table = ClassTable::new().with(&classes);
        Self { classes, table, complete: OnceLock::new(), tagged_arrays: true }
    }

    /// Returns `names` with the classes of their base classes and members, and so on, if they are described here.
    pub(crate) fn with_members_of(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let mut next: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut all = BTreeSet::new();
        while let Some(name) = next.pop() {
            let Some(info) = self.class(name, None) else { continue };
            if all.insert(name.to_owned()) {
                next.extend(info.elements.iter().map(|element| match element.class.as_str() {
                    "TStreamerBase" => element.name.as_str(),
                    _ => element.type_name.trim_end_matches('*'),
                }));
            }
        }
        all
    }

    /// Returns a member whose objects only files of this version have in this form, if one of the classes has such a member,
    /// possibly in a base class or in the class of a member.
    pub fn untagged_array<'c>(&self, classes: impl Iterator<Item = &'c str>) -> Option<String> {
        if self.tagged_arrays {
            return None;
        }
        let all = self.with_members_of(&classes.map(str::to_owned).collect());
        let untagged = |element: &&Element| {
            matches!(element.code, LOOP | LOOP_ARRAY) && element.type_name.ends_with("**")
        };
        all.iter().find_map(|class| {
            let member = self.class(class, None)?.elements.iter().find(untagged)?;
            Some(format!("{class}::{}", member.name))
        })
    }

    /// Reads the object of class `class` in `payload`, whose key takes `keylen` bytes.
    ///
    /// # Errors
    /// `OutOfSpecification` with class, member and byte if the bytes do not match the streamer info; `Unsupported` if
    /// the file does not describe the class.
    pub fn object(&self, class: &str, payload: &[u8], keylen: u16) -> Result<Object> {
        match Object::read(&self.table, class, payload, keylen)? {
            Some(object) => Ok(object),
            None => Object::read(self.complete(), class, payload, keylen)?
                .ok_or_else(|| Error::unsupported(format!("class {class} is not known"))),
        }
    }

    /// Returns the classes of the file, and the classes of nyssa's own tables that it does not describe.
    pub fn complete(&self) -> &ClassTable {
        self.complete.get_or_init(|| {
            let mut complete = ClassTable::built_in().clone().with(&self.classes);
            complete.null_arrays_flagged = self.table.null_arrays_flagged;
            complete
        })
    }

    /// Returns the classes in the order of the file.
    pub fn classes(&self) -> &[ClassInfo] {
        &self.classes
    }

    /// Returns the given version of a class, or its newest version.
    pub fn class(&self, name: &str, version: Option<i32>) -> Option<&ClassInfo> {
        self.classes
            .iter()
            .filter(|info| info.name == name && version.is_none_or(|it| it == info.version))
            .max_by_key(|info| info.version)
    }
}

/// Returns the streamer infos in a streamed list.
fn classes(payload: &[u8], keylen: u16) -> Result<Vec<ClassInfo>> {
    let list = Object::read(bootstrap(), "TList", payload, keylen)?;
    let list = list.ok_or_else(|| Error::out_of_spec("it holds objects of other classes"))?;
    let items = list.root().items()?.into_iter().flatten();
    // The list may also hold a list of schema evolution rules.
    items.filter(|item| item.class() == "TStreamerInfo").map(class_info).collect()
}

fn class_info(view: View<'_>) -> Result<ClassInfo> {
    let elements = view.list("fElements")?.into_iter().flatten().map(element);
    Ok(ClassInfo {
        name: view.str("fName")?.to_owned(),
        version: i32::try_from(view.i64("fClassVersion")?).unwrap_or(0),
        checksum: u32::try_from(view.u64("fCheckSum")?).unwrap_or(0),
        elements: elements.collect::<Result<_>>()?,
    })
}

fn element(view: View<'_>) -> Result<Element> {
    let code = i32::try_from(view.i64("fType")?).unwrap_or(-1);
    let type_name = view.str("fTypeName")?;
    // Before ROOT 5, the streamer info of a bool has the code of an unsigned char.
    let code = if code == 11 && matches!(type_name, "Bool_t" | "bool") { 18 } else { code };
    let count_name = match view.get("fCountName") {
        Some(_) => view.str("fCountName")?,
        None => "",
    };
    let optional = |name: &str| match view.get(name) {
        Some(_) => view.i64(name).map(|value| i32::try_from(value).unwrap_or(0)),
        None => Ok(0),
    };
    let rank = usize::try_from(view.i64("fArrayDim")?).unwrap_or(0);
    let dimensions = view.i64s("fMaxIndex")?.into_iter().take(rank);
    Ok(Element {
        class: view.class().to_owned(),
        name: view.str("fName")?.to_owned(),
        title: view.str("fTitle")?.to_owned(),
        code,
        array_length: i32::try_from(view.i64("fArrayLength")?).unwrap_or(0),
        dimensions: dimensions.map(|size| i32::try_from(size).unwrap_or(0)).collect(),
        item_code: optional("fCtype")?,
        base_version: optional("fBaseVersion")?,
        size: 0,
        type_name: type_name.to_owned(),
        count_name: count_name.to_owned(),
    })
}
