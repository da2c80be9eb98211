//! Keeps the form of a branch of a class, so that another tree can have the same branch: all facts that `TBranchElement`
//! and `TLeafElement` have apart from the entries, of the branch and of the branches below it.
//!
//! ```text
//! stored tree ── form_of ──► TObjArray of the branch without baskets ── KeptBranch::of ──► branches of a new tree
//! ```

use std::collections::HashMap;
use std::sync::Arc;

use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::StreamerInfos;
use nyssa_root::streamer::values::{ObjectId, Value, View};

use super::element::{ElementForm, ElementKind, LeafElement, OBJECTS};
use crate::model::{Branch, read_branch};
use crate::stored::{NO_REFERENCES, PlainObject, StoredBranch, branches_of};

/// The classes of the branches whose form is kept, and of their leaves.
const ELEMENT: (&str, &str) = ("TBranchElement", "TLeafElement");
const OBJECT: (&str, &str) = ("TBranchObject", "TLeafObject");
/// The longest name of a class that an entry can begin with.
const MAX_NAME: usize = u8::MAX as usize;
/// The class of the object with the branch, so that the branches below can refer to it.
pub(super) const HOLDER: &str = "TObjArray";
/// The bits of a branch that are kept: it has objects derived from `TObject` (`TBranch::kBranchObject`), it is a folder
/// (`TBranchElement::kBranchFolder`), and the bits that nyssa writes itself.
const BITS: i64 = 1 << 12 | 1 << 14 | OBJECTS | NO_REFERENCES;

/// The form of a branch of a class in another tree.
#[derive(Clone, Debug)]
pub struct KeptBranch {
    object: PlainObject,
    branch: Branch,
    stored: Arc<Vec<StoredBranch>>,
    elements: Vec<ElementForm>,
}

impl PartialEq for KeptBranch {
    fn eq(&self, other: &Self) -> bool {
        self.object == other.object
    }
}

impl KeptBranch {
    /// Reads the bytes of a branch that [`super::form_of`] made. `infos` describe the classes of its objects.
    ///
    /// # Errors
    /// `OutOfSpecification` or `Unsupported` for bytes that are no such branch.
    pub fn of(bytes: &[u8], infos: &StreamerInfos) -> Result<Self> {
        let object = PlainObject { class: HOLDER.to_owned(), bytes: bytes.to_vec() };
        let read = StreamerInfos::of_trees()?.object(HOLDER, bytes, 0)?;
        let top = match read.root().items()?[..] {
            [Some(top)] => top,
            _ => return Err(Error::out_of_spec("the form of a branch is not one branch")),
        };
        let stored = branches_of(top)?;
        let elements = parts(top)?.into_iter().map(|part| part.element).collect();
        let branch = read_branch(top, infos)?;
        Ok(Self { object, branch, stored: Arc::new(stored), elements })
    }

    /// Returns whether the branch has this path in a tree: its name, or the name with a number behind a branch of the same name.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let name = self.branch.name.as_str();
        let rest = path.strip_prefix(name.trim_end_matches('.'));
        let number = rest.and_then(|rest| rest.trim_end_matches('.').strip_prefix('_'));
        path == name || number.is_some_and(|number| number.parse::<u32>().is_ok())
    }

    /// Returns the branch, without baskets.
    pub(super) fn branch(&self) -> (&Branch, &[StoredBranch]) {
        (&self.branch, &self.stored)
    }

    /// Returns the facts about the branch and the branches below it, apart from their entries.
    pub(super) fn elements(&self) -> &[ElementForm] {
        &self.elements
    }

    /// Returns the classes that the branches name.
    pub(super) fn classes(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().flat_map(|item| [&*item.class, &*item.parent, &*item.clones])
    }
}

/// A branch, as it is stored.
pub(super) struct BranchRecord {
    pub name: String,
    pub element: ElementForm,
    /// The branch that counts its items.
    pub counter: Option<usize>,
    /// The branch or the leaf that counts its items, or says how long its array is.
    counted_by: Option<ObjectId>,
    /// The branch and its leaf.
    ids: Vec<ObjectId>,
}

/// Returns a branch and the branches below it.
pub(super) fn parts(branch: View<'_>) -> Result<Vec<BranchRecord>> {
    let mut parts = Vec::new();
    collect(branch, None, &mut parts)?;
    let ids =
        parts.iter().enumerate().flat_map(|(at, part)| part.ids.iter().map(move |&id| (id, at)));
    let places: HashMap<ObjectId, usize> = ids.collect();
    for part in &mut parts {
        let Some(id) = part.counted_by else { continue };
        let other = || Error::unsupported("a part of another branch counts its items");
        let counter = Some(*places.get(&id).ok_or_else(other).in_field(&part.name)?);
        match part.element.kind {
            ElementKind::Items | ElementKind::ClonesItems => part.counter = counter,
            _ => part.element.length = counter,
        }
    }
    Ok(parts)
}

/// Adds a branch and the branches below it.
fn collect(view: View<'_>, mother: Option<usize>, parts: &mut Vec<BranchRecord>) -> Result<()> {
    let name = view.str("fName")?.to_owned();
    let (at, part) = (parts.len(), part(view, mother).in_field(&name)?);
    parts.push(part);
    view.list("fBranches")?
        .into_iter()
        .flatten()
        .try_for_each(|below| collect(below, Some(at), parts))
}

fn part(view: View<'_>, mother: Option<usize>) -> Result<BranchRecord> {
    let other = |what: &str| Error::unsupported(format!("{what} is not written to a new tree"));
    let known = [ELEMENT, OBJECT].into_iter().find(|(class, _)| *class == view.class());
    let (class, leaf_class) = known.ok_or_else(|| other(&format!("a {}", view.class())))?;
    let number = |name: &str| view.get(name).and_then(Value::as_i64).unwrap_or(0);
    let text = |name: &str| match view.get(name) {
        Some(_) => view.str_or_empty(name).map(str::to_owned),
        None => Ok(String::new()),
    };
    let kind = ElementKind::of_number(number("fType"));
    let kind = kind.ok_or_else(|| other(&format!("a branch of type {}", number("fType"))))?;
    let leaves: Vec<View<'_>> = view.list("fLeaves")?.into_iter().flatten().collect();
    let leaf = match leaves[..] {
        [] => None,
        [leaf] if leaf.class() == leaf_class => Some(leaf),
        _ => return Err(other("a branch of a class with other leaves")),
    };
    let object = |view: View<'_>, name: &str| match view.get(name) {
        Some(Value::Object(id)) => Some(*id),
        _ => None,
    };
    if object(view, "fBranchCount2").is_some() {
        return Err(other("an array of varying size in the items of a collection"));
    }
    let counted_by =
        object(view, "fBranchCount").or_else(|| leaf.and_then(|leaf| object(leaf, "fLeafCount")));
    let ids = [Some(view.id()), leaf.map(|leaf| leaf.id())].into_iter().flatten().collect();
    let element = ElementForm {
        mother,
        length: None,
        kind,
        title: text("fTitle")?,
        class: text("fClassName")?,
        parent: text("fParentName")?,
        clones: text("fClonesName")?,
        version: i32::try_from(number("fClassVersion")).unwrap_or(0),
        checksum: u32::try_from(number("fCheckSum")).unwrap_or(0),
        id: number("fID"),
        code: number("fStreamerType"),
        split_level: u32::try_from(number("fSplitLevel")).unwrap_or(0),
        bits: number("fBits") & BITS,
        has_offsets: number("fEntryOffsetLen") != 0,
        leaf: leaf.map(leaf_element).transpose()?,
        names_class: match leaf {
            Some(leaf) if class == OBJECT.0 => Some(leaf.i64("fVirtual")? != 0),
            _ => None,
        },
    };
    if element.names_class == Some(true) && element.class.len() > MAX_NAME {
        return Err(other("a branch of a class with such a long name"));
    }
    let name = view.str("fName")?.to_owned();
    Ok(BranchRecord { name, element, counter: None, counted_by, ids })
}

fn leaf_element(leaf: View<'_>) -> Result<LeafElement> {
    let number = |name: &str| leaf.get(name).and_then(Value::as_i64).unwrap_or(0);
    Ok(LeafElement {
        name: leaf.str("fName")?.to_owned(),
        title: leaf.str("fTitle")?.to_owned(),
        len: number("fLen"),
        len_type: number("fLenType"),
        is_unsigned: number("fIsUnsigned") != 0,
        is_range: number("fIsRange") != 0,
    })
}
