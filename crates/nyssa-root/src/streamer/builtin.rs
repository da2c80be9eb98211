//! Lists the classes that ROOT streams by code of its own. Streamer info does not describe them.

use crate::arrow::Number;

/// A class that ROOT streams by code of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(clippy::enum_variant_names, reason = "they are ROOT's class names")]
pub enum Builtin {
    /// `TObject`.
    TObject,
    /// `TString`, or `std::string` as an object.
    TString,
    /// `TDatime`, which has 32 bits.
    TDatime,
    /// `TArrayC` ... `TArrayD`.
    TArray(Number),
    /// A collection of ROOT.
    Collection(Collection),
    /// `TRef`.
    TRef,
    /// `TRefArray`.
    TRefArray,
    /// `TMatrixTSym`, of which one half is streamed.
    TMatrixTSym(Number),
    /// `TBasket`.
    TBasket,
    /// `TTreeIndex`, of which only the formulas are read.
    TTreeIndex,
    /// `TBranchClones`.
    TBranchClones,
    /// `TQObject`, which has no bytes.
    TQObject,
}

/// A collection class of ROOT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collection {
    /// `TObjArray`.
    Array,
    /// `TList` or `THashList`.
    List,
    /// `TMap`.
    Map,
    /// `TClonesArray`.
    Clones,
    /// `THashTable` or `TOrdCollection`, which `TCollection` streams.
    Plain,
    /// `RooLinkedList`, which has its name after the items and no byte count.
    Linked,
}

/// The name of the member that holds the items of a collection.
pub(super) const ITEMS: &str = "items";

/// The name and the members of each builtin class. Objects that are read as values have these members.
pub(super) const BUILTINS: &[(&str, Builtin, &[&str])] = &[
    ("TObject", Builtin::TObject, &["fUniqueID", "fBits"]),
    ("TString", Builtin::TString, &[]),
    ("string", Builtin::TString, &[]),
    ("std::string", Builtin::TString, &[]),
    ("TDatime", Builtin::TDatime, &[]),
    ("TArrayC", Builtin::TArray(Number::Int8), &[]),
    ("TArrayS", Builtin::TArray(Number::Int16), &[]),
    ("TArrayI", Builtin::TArray(Number::Int32), &[]),
    ("TArrayL", Builtin::TArray(Number::Int64), &[]),
    ("TArrayL64", Builtin::TArray(Number::Int64), &[]),
    ("TArrayF", Builtin::TArray(Number::Float32), &[]),
    ("TArrayD", Builtin::TArray(Number::Float64), &[]),
    (
        "TObjArray",
        Builtin::Collection(Collection::Array),
        &["TObject", "fName", "fLowerBound", ITEMS],
    ),
    ("TList", Builtin::Collection(Collection::List), &["TObject", "fName", ITEMS]),
    ("THashList", Builtin::Collection(Collection::List), &["TObject", "fName", ITEMS]),
    ("TSortedList", Builtin::Collection(Collection::List), &["TObject", "fName", ITEMS]),
    ("THashTable", Builtin::Collection(Collection::Plain), &["TObject", "fName", ITEMS]),
    ("TOrdCollection", Builtin::Collection(Collection::Plain), &["TObject", "fName", ITEMS]),
    ("RooLinkedList", Builtin::Collection(Collection::Linked), &["TObject", "fName", ITEMS]),
    (
        "TClonesArray",
        Builtin::Collection(Collection::Clones),
        &["TObject", "fName", "fClass", "fLowerBound", ITEMS],
    ),
    ("TMap", Builtin::Collection(Collection::Map), &["TObject", "fName", ITEMS]),
    ("TRef", Builtin::TRef, &["TObject", "fPID"]),
    ("TRefArray", Builtin::TRefArray, &["TObject", "fName", "fLowerBound", "fPID", "fUIDs"]),
    ("TTreeIndex", Builtin::TTreeIndex, &["fMajorName", "fMinorName"]),
    ("TQObject", Builtin::TQObject, &[]),
    ("TMatrixTSym<float>", Builtin::TMatrixTSym(Number::Float32), &[]),
    ("TMatrixTSym<double>", Builtin::TMatrixTSym(Number::Float64), &[]),
    (
        "TBranchClones",
        Builtin::TBranchClones,
        &[
            "fName",
            "fTitle",
            "fWriteBasket",
            "fEntries",
            "fClassName",
            "fBranches",
            "fLeaves",
            "fBaskets",
            "fBasketEntry",
            "fBasketSeek",
        ],
    ),
    (
        "TBasket",
        Builtin::TBasket,
        &[
            "fNbytes",
            "fVersion",
            "fObjlen",
            "fDatime",
            "fKeylen",
            "fCycle",
            "fSeekKey",
            "fSeekPdir",
            "fClassName",
            "fName",
            "fTitle",
            "fBufferSize",
            "fNevBufSize",
            "fIOBits",
            "fNevBuf",
            "fLast",
            "flag",
            "streamed",
        ],
    ),
];

impl Builtin {
    /// Returns the builtin class with this name.
    pub fn of(name: &str) -> Option<Self> {
        BUILTINS.iter().find(|(known, ..)| *known == name).map(|&(_, builtin, _)| builtin)
    }

    /// Returns whether the class belongs to the metadata of trees, so that its objects are never in arrays.
    /// Arrays read other objects of the class by their streamer info.
    pub fn is_metadata(self) -> bool {
        matches!(self, Self::TTreeIndex | Self::TBranchClones)
    }
}
