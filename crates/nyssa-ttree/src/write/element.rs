//! Describes the branches of classes: what `TBranchElement` and `TLeafElement`, or `TBranchObject` and `TLeafObject`, say beside
//! the entries.

/// The bits of a branch that ROOT stores: the branch has objects of a class (`TBranch::kBranchAny`).
pub(super) const OBJECTS: i64 = 1 << 17;

/// The kinds of branches (`TBranchElement::fType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    /// A value: a member, an object that is not split, or the top of a split object.
    Value,
    /// A base class whose members have branches.
    Base,
    /// A member object whose members have branches.
    Object,
    /// The number of items of a split collection.
    Collection,
    /// A member of the items of a split collection.
    Items,
    /// The number of objects of a split `TClonesArray`.
    Clones,
    /// A member of the objects of a split `TClonesArray`.
    ClonesItems,
    /// Objects that their class streams by code of its own.
    Own,
}

/// A branch of a class.
#[derive(Clone, Debug)]
pub(super) struct ElementForm {
    /// The branch above it.
    pub mother: Option<usize>,
    /// The branch with the length of its array, for an array behind a pointer.
    pub length: Option<usize>,
    pub kind: ElementKind,
    pub title: String,
    /// The class that has the member, or whose objects the branch has.
    pub class: String,
    /// The class of the objects that the branches around it form. It is empty for a top branch.
    pub parent: String,
    /// The class of the items of a split collection.
    pub clones: String,
    pub version: i32,
    pub checksum: u32,
    /// The index of the member in its class, or a negative number for a top branch.
    pub id: i64,
    /// The type code of the member, or -1.
    pub code: i64,
    pub split_level: u32,
    pub bits: i64,
    /// Whether baskets have the offsets of their entries.
    pub has_offsets: bool,
    pub leaf: Option<LeafElement>,
    /// Whether each entry begins with the name of its class, for a `TBranchObject`. `None` for a `TBranchElement`.
    pub names_class: Option<bool>,
}

/// The leaf of a branch of a class.
#[derive(Clone, Debug)]
pub(super) struct LeafElement {
    pub name: String,
    pub title: String,
    /// The number of elements of a fixed array, or 1.
    pub len: i64,
    /// The size of a number in bytes, or 0.
    pub len_type: i64,
    pub is_unsigned: bool,
    /// Whether it counts the items of a member that is a split collection.
    pub is_range: bool,
}

impl ElementKind {
    /// Returns ROOT's number.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Value => 0,
            Self::Base => 1,
            Self::Object => 2,
            Self::Collection => 4,
            Self::Items => 41,
            Self::Clones => 3,
            Self::ClonesItems => 31,
            Self::Own => -1,
        }
    }

    /// Returns the kind with ROOT's number; `None` for kinds that nyssa does not write.
    pub(super) fn of_number(number: i64) -> Option<Self> {
        let all = [
            Self::Value,
            Self::Base,
            Self::Object,
            Self::Collection,
            Self::Items,
            Self::Clones,
            Self::ClonesItems,
            Self::Own,
        ];
        all.into_iter().find(|kind| kind.number() == number)
    }
}
