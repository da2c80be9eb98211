//! Holds the plan of a tree: its branches, and the values that fill them.

use arrow_schema::DataType;
use nyssa_root::streamer::{ClassInfo, StreamerList};

use super::form::BranchForm;
use super::unroll::ClassShape;

/// The branches of a tree, and how columns fill them.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// The branches. A counter is before its branches.
    pub branches: Vec<BranchForm>,
    /// The columns with their shapes.
    pub columns: Vec<(String, Shape)>,
    /// The streamer infos of classes that the user defines.
    pub infos: Vec<ClassInfo>,
    /// The streamer infos of classes that come from a file.
    pub lists: StreamerList,
}

/// The branches that a column fills.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// Numbers fill a leaf.
    Leaf(usize),
    /// Numbers are the counter of jagged branches.
    Counter(usize),
    /// Strings fill a leaf.
    Text(usize),
    /// Lists fill a branch of vectors.
    Vector(usize),
    /// Members of a record fill separate branches.
    Record(Vec<(String, Self)>),
    /// Members of a record fill the leaves of a branch.
    LeafList(usize, Vec<String>),
    /// Items of lists fill branches with this counter: a leaf of a branch.
    List((usize, usize), Box<Self>),
    /// Objects of a class, or collections of them.
    Class(ClassColumn),
}

impl Shape {
    /// Returns the shape for branches whose numbers are higher by `by`.
    pub(super) fn moved(self, by: usize) -> Self {
        match self {
            Self::Leaf(at) => Self::Leaf(at + by),
            Self::Counter(at) => Self::Counter(at + by),
            Self::Text(at) => Self::Text(at + by),
            Self::Vector(at) => Self::Vector(at + by),
            Self::Record(members) => {
                let moved = |(name, shape): (String, Self)| (name, shape.moved(by));
                Self::Record(members.into_iter().map(moved).collect())
            }
            Self::LeafList(at, names) => Self::LeafList(at + by, names),
            Self::List((at, leaf), item) => Self::List((at + by, leaf), Box::new(item.moved(by))),
            Self::Class(class) => {
                Self::Class(ClassColumn { shape: class.shape.moved(by), ..class })
            }
        }
    }
}

/// The branches that a column of a class fills.
#[derive(Clone, Debug)]
pub(super) struct ClassColumn {
    /// The type of the values.
    pub data_type: DataType,
    /// The type as which they are streamed.
    pub streamed: DataType,
    pub shape: ClassShape,
}
