//! Describes the columns of the rows of a tree, and finds them in data that users give by names.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, NullArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use nyssa_root::arrow::gather::decoded;
use nyssa_root::arrow::lists::lists;
use nyssa_root::error::{Error, Result, ResultExt};

use super::form::Content;
use super::leaf_form::LeafForm;
use super::shape::{Plan, Shape};
use super::vector::{Item, VectorForm};

/// The columns of a tree that is written.
#[derive(Clone)]
pub struct TreeColumns {
    tree: String,
    plan: Arc<Plan>,
}

impl TreeColumns {
    pub(super) fn new(tree: &str, plan: &Arc<Plan>) -> Self {
        Self { tree: tree.to_owned(), plan: Arc::clone(plan) }
    }

    /// Returns the columns with their types, in the order of the tree.
    pub fn fields(&self) -> Vec<Field> {
        let columns = self.plan.columns.iter();
        columns.map(|(name, shape)| Field::new(name, self.data_type(shape), false)).collect()
    }

    /// Returns one array for each column, in the order of the tree, from arrays that are given by names. Counters may
    /// be left out: their arrays are then of the type null. The members `a` of a record `x`, or of lists of records,
    /// may stand for the columns `x_a`.
    ///
    /// # Errors
    /// `InvalidArgument` for columns that are unknown or missing.
    pub fn rows(&self, given: &[(String, ArrayRef)]) -> Result<Vec<ArrayRef>> {
        let mut arrays: Vec<Option<ArrayRef>> = vec![None; self.plan.columns.len()];
        let (mut rows, mut unknown) = (0, None);
        for (name, array) in given {
            rows = array.len();
            for (name, array) in self.expanded(name, array)? {
                let Some(place) = self.place(&name) else {
                    unknown.get_or_insert(name);
                    continue;
                };
                if arrays[place].replace(array).is_some() {
                    return Err(Error::invalid_argument(format!(
                        "the column {name:?} of the tree {} is given twice",
                        self.tree
                    )));
                }
            }
        }
        let columns = self.plan.columns.iter().zip(&arrays);
        let mut missing = columns
            .filter(|((_, shape), array)| array.is_none() && !matches!(shape, Shape::Counter(_)))
            .map(|((name, _), _)| name.as_str());
        match (unknown, missing.next()) {
            (None, None) => {}
            (Some(name), missing) => return Err(self.unknown(&name, missing)),
            (None, Some(name)) => {
                return Err(Error::invalid_argument(format!(
                    "the column {name:?} of the tree {} is missing in the data",
                    self.tree
                )));
            }
        }
        let left_out = || Arc::new(NullArray::new(rows)) as ArrayRef;
        Ok(arrays.into_iter().map(|array| array.unwrap_or_else(left_out)).collect())
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.plan.columns.iter().position(|(known, _)| known == name)
    }

    /// Returns a given array, or the members of its records if the members are the columns.
    fn expanded(&self, name: &str, array: &ArrayRef) -> Result<Vec<(String, ArrayRef)>> {
        let alone = || Ok(vec![(name.to_owned(), Arc::clone(array))]);
        if self.place(name).is_some() {
            return alone();
        }
        let array = decoded(array)?;
        let (record, offsets) = match array.data_type() {
            DataType::Struct(_) => (array, None),
            DataType::List(_) | DataType::LargeList(_) => match lists(&array) {
                Some(parts) => {
                    let (offsets, items) = parts.in_field(name)?;
                    let ends: Vec<i64> = (0..offsets.len()).map(|at| offsets.get(at)).collect();
                    (decoded(&items)?, Some(ends))
                }
                None => return alone(),
            },
            _ => return alone(),
        };
        let Some(record) = record.as_struct_opt().filter(|record| record.null_count() == 0) else {
            return alone();
        };
        let names: Vec<String> =
            record.column_names().iter().map(|member| format!("{name}_{member}")).collect();
        if names.is_empty() || names.iter().any(|name| self.place(name).is_none()) {
            return alone();
        }
        let member = |array: &ArrayRef| -> Result<ArrayRef> {
            let Some(ends) = &offsets else { return Ok(Arc::clone(array)) };
            let first = ends.first().copied().unwrap_or(0);
            let ends: Vec<i64> = ends.iter().map(|end| end - first).collect();
            let item = Arc::new(Field::new("item", array.data_type().clone(), true));
            let lists = LargeListArray::try_new(
                item,
                OffsetBuffer::new(ends.into()),
                Arc::clone(array),
                None,
            );
            Ok(Arc::new(lists.map_err(|error| Error::invalid_argument(error.to_string()))?))
        };
        let members = names.into_iter().zip(record.columns());
        members.map(|(name, array)| Ok((name, member(array)?))).collect()
    }

    /// Returns the error for data with a column that the tree lacks, and possibly without a column that the tree has.
    fn unknown(&self, name: &str, missing: Option<&str>) -> Error {
        let known = self.plan.columns.iter().map(|(known, _)| known.as_str());
        let missing =
            missing.map(|item| format!(", and its column {item:?} is missing in the data"));
        let missing = missing.unwrap_or_default();
        Error::invalid_argument(format!("the tree {} has no column {name:?}{missing}", self.tree))
            .suggest(name, known)
    }

    fn data_type(&self, shape: &Shape) -> DataType {
        let content = |branch: &usize| &self.plan.branches[*branch].content;
        match shape {
            Shape::Leaf(branch) | Shape::Counter(branch) => match content(branch) {
                Content::Leaves(leaves) => leaves.first().map_or(DataType::Null, leaf_type),
                Content::Counter(leaf) => leaf.number.data_type(),
                Content::Text => DataType::LargeUtf8,
                Content::Vector(form) => vector_type(*form),
                Content::Objects(_) | Content::LeafList(_) | Content::Items | Content::Nothing => {
                    DataType::Null
                }
            },
            Shape::Class(class) => class.data_type.clone(),
            Shape::Text(_) => DataType::LargeUtf8,
            Shape::Vector(branch) => match content(branch) {
                Content::Vector(form) => vector_type(*form),
                _ => DataType::Null,
            },
            Shape::LeafList(branch, names) => match content(branch) {
                Content::Leaves(leaves) => {
                    let members = names.iter().zip(leaves);
                    DataType::Struct(
                        members.map(|(name, leaf)| field(name, leaf_type(leaf))).collect(),
                    )
                }
                Content::LeafList(list) => list.layout.data_type(),
                _ => DataType::Null,
            },
            Shape::Record(members) => DataType::Struct(
                members.iter().map(|(name, shape)| field(name, self.data_type(shape))).collect(),
            ),
            Shape::List(_, item) => list(self.data_type(item)),
        }
    }
}

fn field(name: &str, data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new(name, data_type, false))
}

fn list(item: DataType) -> DataType {
    DataType::LargeList(field("item", item))
}

/// Returns the type of the values of a leaf.
pub(super) fn leaf_type(leaf: &LeafForm) -> DataType {
    leaf.dimensions.iter().rev().fold(leaf.number.data_type(), |inner, &size| {
        DataType::FixedSizeList(field("item", inner), i32::try_from(size).unwrap_or(i32::MAX))
    })
}

fn vector_type(form: VectorForm) -> DataType {
    let item = match form.item {
        Item::Number(number) => number.data_type(),
        Item::Text => DataType::LargeUtf8,
    };
    (0..form.depth).fold(item, |inner, _| list(inner))
}
