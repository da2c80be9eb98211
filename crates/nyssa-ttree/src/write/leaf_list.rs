//! Leaf lists whose entries differ in size, as another tree had them: some leaves are strings, or arrays with as many items
//! as another leaf of the branch says.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StructArray};
use arrow_schema::DataType;
use nyssa_root::arrow::{Number, shortened};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::streamer::{Basic, LeafNumbers, ObjectLayout};

use super::conform::conform;
use super::leaf_form::LeafForm;

/// The leaves of a branch.
#[derive(Clone, Debug)]
pub(super) struct LeafList {
    pub leaves: Vec<ListLeaf>,
    /// The layout of an entry.
    pub layout: Arc<ObjectLayout>,
}

/// One of several leaves.
#[derive(Clone, Debug)]
pub(super) enum ListLeaf {
    /// Numbers, and the leaf with the number of items of an array of varying size.
    Numbers(LeafForm, Option<usize>),
    /// A string. The leaf has this name.
    Text(String),
}

impl ListLeaf {
    fn name(&self) -> &str {
        match self {
            Self::Numbers(leaf, _) => &leaf.name,
            Self::Text(name) => name,
        }
    }

    fn is_counter(&self) -> bool {
        match self {
            Self::Numbers(leaf, None) => {
                leaf.dimensions.is_empty() && !leaf.number.is_float() && leaf.number != Number::Bool
            }
            _ => false,
        }
    }
}

impl LeafList {
    /// Makes the layout of leaves.
    ///
    /// # Errors
    /// `Unsupported` for an array without an integer before it that says how many items it has, and for numbers with fewer
    /// bits.
    pub(super) fn new(leaves: Vec<ListLeaf>) -> Result<Self> {
        let numbers = |(at, leaf): (usize, &ListLeaf)| {
            let (basic, dimensions, counter) = match leaf {
                ListLeaf::Text(_) => (None, Vec::new(), None),
                ListLeaf::Numbers(LeafForm { packed: Some(_), .. }, _) => {
                    return Err(Error::unsupported(
                        "numbers with fewer bits beside strings or arrays of varying size",
                    ));
                }
                ListLeaf::Numbers(leaf, counter) => {
                    (Some(Basic::Plain(leaf.number)), leaf.dimensions.clone(), *counter)
                }
            };
            let counter = counter.map(|counter| {
                let counter = leaves[..at].get(counter).filter(|leaf| leaf.is_counter());
                counter.map(|leaf| leaf.name().to_owned()).ok_or_else(|| {
                    Error::unsupported("no integer before it says how many items it has")
                })
            });
            Ok(LeafNumbers {
                name: leaf.name().to_owned(),
                basic,
                dimensions,
                counter: counter.transpose().in_field(leaf.name())?,
            })
        };
        let numbers = leaves.iter().enumerate().map(numbers).collect::<Result<Vec<_>>>()?;
        Ok(Self { leaves, layout: Arc::new(ObjectLayout::of_leaves(&numbers)) })
    }

    /// Returns the name of a leaf.
    pub(super) fn name_of(&self, leaf: usize) -> Option<&str> {
        self.leaves.get(leaf).map(ListLeaf::name)
    }

    /// Returns whether a leaf says how many items another has.
    pub(super) fn counts(&self, leaf: usize) -> bool {
        let counter = |other: &ListLeaf| matches!(other, ListLeaf::Numbers(_, Some(counter)) if *counter == leaf);
        self.leaves.iter().any(counter)
    }

    /// Returns the title that ROOT gives the branch.
    pub(super) fn title(&self) -> String {
        let title = |leaf: &ListLeaf| match leaf {
            ListLeaf::Text(name) => format!("{name}/C"),
            ListLeaf::Numbers(leaf, counter) => {
                let counter = counter.and_then(|counter| self.name_of(counter));
                format!("{}/{}", leaf.title(counter), leaf.names().letter)
            }
        };
        self.leaves.iter().map(title).collect::<Vec<_>>().join(":")
    }

    /// Returns the values of the leaves, given in their order, in the type of the layout.
    ///
    /// # Errors
    /// `InvalidArgument` for values that do not fit.
    pub(super) fn values(&self, members: &[ArrayRef]) -> Result<ArrayRef> {
        let other = || Error::invalid_argument("the record has other members than its branch");
        let DataType::Struct(fields) = self.layout.data_type() else { return Err(other()) };
        if fields.len() != members.len() {
            return Err(other());
        }
        let each = fields.iter().zip(members);
        let arrays = each
            .map(|(field, array)| conform(array, field.data_type()).in_field(field.name()))
            .collect::<Result<_>>()?;
        match StructArray::try_new(fields, arrays, None) {
            Ok(values) => Ok(Arc::new(values)),
            Err(error) => Err(Error::invalid_argument(shortened(error))),
        }
    }

    /// Returns the largest number of items, or of bytes of a string, in some rows of the values.
    pub(super) fn longest(values: &ArrayRef, rows: &Range<usize>) -> i64 {
        let longest = |array: &ArrayRef| {
            let offsets = match (array.as_list_opt::<i64>(), array.as_binary_opt::<i64>()) {
                (Some(lists), _) => lists.value_offsets(),
                (_, Some(texts)) => texts.value_offsets(),
                _ => return 0,
            };
            let rows = offsets.get(rows.start..=rows.end).unwrap_or_default();
            rows.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
        };
        let columns = values.as_struct_opt().map_or(&[][..], StructArray::columns);
        columns.iter().map(longest).max().unwrap_or(0)
    }
}
