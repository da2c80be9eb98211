//! Splits the columns of some rows into the values of each branch. Nothing is written before all values are checked.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use nyssa_root::arrow::gather::{copied, decoded};
use nyssa_root::arrow::lists::{byte_lists, fixed, lists};
use nyssa_root::arrow::{Number, brief};
use nyssa_root::error::{Error, Result, ResultExt};

use super::conform;
use super::form::{BranchForm, Content};
use super::leaf_form::LeafForm;
use super::numbers;
use super::shape::{Plan, Shape};
use super::unroll::ClassShape;
use super::vector::{Item, Items, VectorForm, Vectors};

/// The largest string in bytes.
const MAX_TEXT: i64 = i32::MAX as i64 - 1024;

/// The values of one branch.
#[derive(Clone, Debug)]
pub(super) struct BranchValues {
    /// The number of the first item of each row, and the number of items, for a jagged branch and its counter.
    pub items: Option<Arc<[i64]>>,
    pub values: Values,
}

/// The values themselves.
#[derive(Clone, Debug)]
pub(super) enum Values {
    /// The numbers of each leaf, in the type of the leaf.
    Leaves(Vec<ArrayRef>),
    /// The counts, which `items` gives.
    Counts,
    /// Strings: their offsets and their bytes.
    Text(Vec<i64>, Buffer),
    /// Vectors.
    Vectors(Vectors),
    /// Values that ROOT's streamer writes, in the type of their layout.
    Objects(ArrayRef),
    /// Nothing, since the branches below have the values.
    Nothing,
}

impl BranchValues {
    /// Returns the size of the values in the baskets of a branch, in bytes.
    pub(super) fn bytes(&self, form: &BranchForm) -> usize {
        match (&self.values, &self.items) {
            (Values::Text(ends, bytes), _) => bytes.len() + 5 * ends.len(),
            (Values::Vectors(vectors), _) => {
                let levels = vectors.levels.iter().map(|level| 8 * level.len()).sum::<usize>();
                levels + vectors.items.bytes()
            }
            (Values::Objects(array), _) => array.get_array_memory_size(),
            (Values::Counts, Some(items)) => items.len() * form.item_size(),
            (Values::Leaves(leaves), _) => {
                leaves.iter().map(|leaf| leaf.get_buffer_memory_size().min(leaf.len() * 8)).sum()
            }
            _ => 0,
        }
    }

    /// Copies the values, so that the arrays that they come from may change.
    pub(super) fn own(&mut self) -> Result<()> {
        let _stage = nyssa_observe::stage!("shred");
        let own = |array: &mut ArrayRef| copied(array).map(|copy| *array = copy);
        match &mut self.values {
            Values::Leaves(arrays) => arrays.iter_mut().try_for_each(own)?,
            Values::Objects(array) => own(array)?,
            Values::Vectors(Vectors { items: Items::Numbers(array), .. }) => own(array)?,
            Values::Vectors(Vectors { items: Items::Texts(_, bytes), .. })
            | Values::Text(_, bytes) => *bytes = Buffer::from(bytes.as_slice()),
            Values::Counts | Values::Nothing => {}
        }
        Ok(())
    }
}

/// Returns the values of all branches in their order.
///
/// # Errors
/// `InvalidArgument` with column and row for arrays and values that do not fit, and for lists whose lengths differ
/// from other lists of the same counter.
pub(super) fn split(plan: &Plan, arrays: &[ArrayRef]) -> Result<Vec<BranchValues>> {
    if arrays.len() != plan.columns.len() {
        return Err(Error::invalid_argument(format!(
            "{} columns are needed, not {}",
            plan.columns.len(),
            arrays.len()
        )));
    }
    let rows = arrays.first().map_or(0, |array| array.len());
    let nothing = |branch: &BranchForm| match branch.content {
        Content::Nothing => Some(BranchValues { items: None, values: Values::Nothing }),
        _ => None,
    };
    let values = plan.branches.iter().map(nothing).collect();
    let mut splitter = Splitter { plan, values, counts: HashMap::new() };
    for ((name, shape), array) in plan.columns.iter().zip(arrays) {
        if array.len() != rows {
            return Err(Error::invalid_argument(format!(
                "columns of one table differ in length: {name:?} has {} rows, others have {rows}",
                array.len()
            )));
        }
        splitter.column(shape, array, None).in_field(name)?;
    }
    // Counters come last, when all lists are known.
    for ((name, shape), array) in plan.columns.iter().zip(arrays) {
        // A counter without values is computed from its lists.
        if let (Shape::Counter(branch), false) = (shape, *array.data_type() == DataType::Null) {
            splitter.check_counter(*branch, array).in_field(name)?;
        }
    }
    splitter.check_leaf_lists()?;
    for (at, branch) in plan.branches.iter().enumerate() {
        let length = branch.element.as_ref().and_then(|element| element.length);
        length.map_or(Ok(()), |length| splitter.check_length(at, length)).in_field(&branch.name)?;
    }
    splitter
        .values
        .into_iter()
        .map(|value| value.ok_or_else(|| Error::invalid_argument("a column is missing")))
        .collect()
}

struct Splitter<'a> {
    plan: &'a Plan,
    values: Vec<Option<BranchValues>>,
    /// The number of the first item of each row, by the branch and the leaf of the counter.
    counts: HashMap<(usize, usize), Arc<[i64]>>,
}

impl Splitter<'_> {
    fn column(
        &mut self,
        shape: &Shape,
        array: &ArrayRef,
        items: Option<&Arc<[i64]>>,
    ) -> Result<()> {
        let array = &decoded(array)?;
        if array.logical_null_count() != 0 && !matches!(shape, Shape::Leaf(_) | Shape::Counter(_)) {
            let nulls = array.logical_nulls();
            let at = nulls.and_then(|nulls| (0..nulls.len()).find(|&row| nulls.is_null(row)));
            let missing =
                Error::invalid_argument("a value is missing, and trees have no such values");
            return Err(numbers::at_entry(missing, at.unwrap_or(0)));
        }
        match shape {
            Shape::Counter(_) => Ok(()),
            Shape::Leaf(branch) => {
                let Content::Leaves(leaves) = &self.form(*branch).content else {
                    return Err(misfit(array));
                };
                let leaf = leaves.first().ok_or_else(|| misfit(array))?;
                let values = Values::Leaves(vec![elements(leaf, array)?]);
                self.set(*branch, BranchValues { items: items.cloned(), values })
            }
            Shape::LeafList(branch, names) => {
                let record = array.as_struct_opt().ok_or_else(|| misfit(array))?;
                let column = |name: &String| {
                    decoded(record.column_by_name(name).ok_or_else(|| no_member(name))?)
                };
                let columns = names.iter().map(column).collect::<Result<Vec<_>>>()?;
                let values = match &self.form(*branch).content {
                    Content::Leaves(leaves) => {
                        let leaves = leaves.iter().zip(&columns).zip(names);
                        let values = leaves
                            .map(|((leaf, array), name)| elements(leaf, array).in_field(name));
                        Values::Leaves(values.collect::<Result<_>>()?)
                    }
                    Content::LeafList(list) => Values::Objects(list.values(&columns)?),
                    _ => return Err(misfit(array)),
                };
                self.set(*branch, BranchValues { items: None, values })
            }
            Shape::Text(branch) => {
                let values = text(array)?;
                self.set(*branch, BranchValues { items: None, values })
            }
            Shape::Vector(branch) => {
                let Content::Vector(form) = self.form(*branch).content else {
                    return Err(misfit(array));
                };
                let values = Values::Vectors(vectors(form, array)?);
                self.set(*branch, BranchValues { items: None, values })
            }
            Shape::Class(class) => {
                let mut array = conform::conform(array, &class.data_type)?;
                if class.streamed != class.data_type {
                    array = conform::conform(&array, &class.streamed)?;
                }
                self.objects(&class.shape, &array, None)
            }
            Shape::Record(members) => {
                if array.is_empty() && array.as_struct_opt().is_none() {
                    return members
                        .iter()
                        .try_for_each(|(_, shape)| self.column(shape, array, items));
                }
                let record = array.as_struct_opt().ok_or_else(|| misfit(array))?;
                for (name, shape) in members {
                    let member = record.column_by_name(name).ok_or_else(|| no_member(name))?;
                    self.column(shape, member, items).in_field(name)?;
                }
                Ok(())
            }
            Shape::List(counter, item) => {
                if array.is_empty() {
                    let none: Arc<[i64]> = Arc::new([0]);
                    self.count(*counter, &none)?;
                    let nothing: ArrayRef = Arc::new(arrow_array::NullArray::new(0));
                    return self.column(item, &nothing, Some(&none));
                }
                let (offsets, values) = lists(array).ok_or_else(|| misfit(array))??;
                let first = offsets.get(0);
                let items: Arc<[i64]> =
                    (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
                self.count(*counter, &items)?;
                self.column(item, &values, Some(&items))
                    .map_err(|error| error.entry_of(|at| offsets.row(at)))
            }
        }
    }

    /// Splits the values of a class, which have the type of their layout.
    fn objects(
        &mut self,
        shape: &ClassShape,
        array: &ArrayRef,
        items: Option<&Arc<[i64]>>,
    ) -> Result<()> {
        match shape {
            ClassShape::Value(branch) => {
                let values = match &self.form(*branch).content {
                    Content::Leaves(leaves) => {
                        let leaf = leaves.first().ok_or_else(|| misfit(array))?;
                        Values::Leaves(vec![elements(leaf, array)?])
                    }
                    _ => Values::Objects(Arc::clone(array)),
                };
                self.set(*branch, BranchValues { items: items.cloned(), values })
            }
            ClassShape::Record(members) => {
                let record = array.as_struct_opt().ok_or_else(|| misfit(array))?;
                for (name, shape) in members {
                    let member = record.column_by_name(name).ok_or_else(|| no_member(name))?;
                    self.objects(shape, member, items).in_field(name)?;
                }
                Ok(())
            }
            ClassShape::Items(counter, item) => {
                let (offsets, values) = lists(array).ok_or_else(|| misfit(array))??;
                let first = offsets.get(0);
                let items: Arc<[i64]> =
                    (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
                self.count((*counter, 0), &items)?;
                self.objects(item, &values, Some(&items))
            }
        }
    }

    fn form(&self, branch: usize) -> &BranchForm {
        &self.plan.branches[branch]
    }

    fn set(&mut self, branch: usize, values: BranchValues) -> Result<()> {
        self.values[branch] = Some(values);
        Ok(())
    }

    /// Stores the numbers of items, or compares them with the numbers of earlier lists.
    fn count(&mut self, counter: (usize, usize), items: &Arc<[i64]>) -> Result<()> {
        if let Some(known) = self.counts.get(&counter) {
            let differs =
                |row: &usize| items[*row + 1] - items[*row] != known[*row + 1] - known[*row];
            return match (0..items.len() - 1).find(differs) {
                None => Ok(()),
                Some(row) => Err(numbers::at_entry(
                    Error::invalid_argument(format!(
                        "{} items, where other lists with the counter {:?} have {}: name another counter, or \
                         make the lists equally long",
                        items[row + 1] - items[row],
                        self.form(counter.0).name,
                        known[row + 1] - known[row]
                    )),
                    row,
                )),
            };
        }
        let number = self.counter_number(counter);
        let largest = number.integers().end().min(&i128::from(i32::MAX)).to_owned();
        let long = |row: &usize| i128::from(items[*row + 1] - items[*row]) > largest;
        if let Some(row) = (0..items.len() - 1).find(long) {
            let message = format!("a list is longer than its counter can say ({largest} items)");
            return Err(numbers::at_entry(Error::limit(message), row));
        }
        self.counts.insert(counter, Arc::clone(items));
        // A leaf list has a column of its own, with the counts.
        if !matches!(self.form(counter.0).content, Content::Leaves(_)) {
            let items = Some(Arc::clone(items));
            self.values[counter.0] = Some(BranchValues { items, values: Values::Counts });
        }
        Ok(())
    }

    fn counter_number(&self, (branch, leaf): (usize, usize)) -> Number {
        match &self.form(branch).content {
            Content::Counter(leaf) => leaf.number,
            Content::Leaves(leaves) => leaves.get(leaf).map_or(Number::Int32, |leaf| leaf.number),
            _ => Number::Int32,
        }
    }

    /// Compares the arrays behind the pointers of a branch with the branch that has their lengths. Null pointers are arrays
    /// without items.
    fn check_length(&self, branch: usize, length: usize) -> Result<()> {
        let values = |at: usize| self.values.get(at)?.as_ref().map(|item| &item.values);
        let (Some(Values::Objects(arrays)), Some(Values::Leaves(given))) =
            (values(branch), values(length))
        else {
            return Err(Error::invalid_argument("the length of its arrays is no number"));
        };
        let given = given.first().ok_or_else(|| misfit(arrays))?;
        let given = numbers::convert(given, Number::Int64)?;
        let given = given.as_primitive::<arrow_array::types::Int64Type>().values();
        let (mut inner, mut each) = (Arc::clone(arrays), 1);
        while let Some((size, items)) = fixed(&inner)? {
            (inner, each) = (items, each * size);
        }
        if inner.is_empty() {
            return Ok(());
        }
        let (offsets, _) = lists(&inner).ok_or_else(|| misfit(&inner))??;
        let lengths: Vec<usize> = offsets.lengths().collect();
        for (row, (own, given)) in lengths.chunks(each.max(1)).zip(given).enumerate() {
            let fits = own.iter().all(|&len| i64::try_from(len) == Ok(*given));
            if !fits && own.iter().any(|&len| len != 0) {
                return Err(numbers::at_entry(
                    Error::invalid_argument(format!(
                        "an array of {} items, of which the branch {:?} says that they are {given}",
                        own.iter().max().unwrap_or(&0),
                        self.form(length).name
                    )),
                    row,
                ));
            }
        }
        Ok(())
    }

    /// Compares the numbers of a column with the lengths of the lists that it counts.
    fn check_counter(&self, counter: usize, array: &ArrayRef) -> Result<()> {
        let items = self.counts.get(&(counter, 0));
        check_counts(items.ok_or_else(|| Error::invalid_argument("it counts no lists"))?, array)
    }

    /// Compares the leaves that are counters with the lengths of the lists that they count.
    fn check_leaf_lists(&self) -> Result<()> {
        let mut counters: Vec<_> = self.counts.iter().collect();
        counters.sort_unstable_by_key(|(counter, _)| **counter);
        for (&(branch, leaf), items) in counters {
            let values = self.values[branch].as_ref().map(|values| &values.values);
            if let Some(Values::Leaves(leaves)) = values {
                let array = leaves.get(leaf);
                let array = array.ok_or_else(|| Error::invalid_argument("a counter is missing"))?;
                let form = self.form(branch);
                let checked = check_counts(items, array).in_field(form.leaf_name(leaf));
                checked.in_field(&form.name)?;
            }
        }
        Ok(())
    }
}

/// Compares numbers with the lengths of lists.
fn check_counts(items: &[i64], array: &ArrayRef) -> Result<()> {
    let given = numbers::convert(&decoded(array)?, Number::Int64)?;
    let given = given.as_primitive::<arrow_array::types::Int64Type>().values();
    let differs = |row: &usize| items[*row + 1] - items[*row] != given[*row];
    match (0..given.len()).find(differs) {
        None => Ok(()),
        Some(row) => Err(numbers::at_entry(
            Error::invalid_argument(format!(
                "the counter says {}, but the lists have {} items",
                given[row],
                items[row + 1] - items[row]
            )),
            row,
        )),
    }
}

/// Returns the elements of all rows of a leaf, one after the other.
fn elements(leaf: &LeafForm, array: &ArrayRef) -> Result<ArrayRef> {
    let mut inner = Arc::clone(array);
    let mut rows = 1;
    for &size in &leaf.dimensions {
        if inner.is_empty() {
            break;
        }
        let (length, items) = match fixed(&inner)? {
            Some(parts) => parts,
            None => of_lists(&inner, size, rows)?,
        };
        if length != size {
            return Err(Error::invalid_argument(format!(
                "an array of size {length} cannot fill a leaf with an array of size {size}"
            )));
        }
        if inner.logical_null_count() != 0 {
            return Err(Error::invalid_argument("a value is missing"));
        }
        rows *= size;
        inner = decoded(&items)?;
    }
    let numbers = numbers::convert(&inner, leaf.number).and_then(|numbers| {
        leaf.packed.as_ref().map_or(Ok(()), |packed| packed.check(&numbers))?;
        Ok(numbers)
    });
    numbers.map_err(|error| error.entry_of(|at| at / rows.max(1)))
}

/// Returns the items of lists that all have the length `size`. `rows` is the number of lists of one row.
fn of_lists(array: &ArrayRef, size: usize, rows: usize) -> Result<(usize, ArrayRef)> {
    let (offsets, items) = lists(array).ok_or_else(|| misfit(array))??;
    match offsets.lengths().enumerate().find(|(_, length)| *length != size) {
        None => Ok((size, items)),
        Some((at, length)) => Err(numbers::at_entry(
            Error::invalid_argument(format!(
                "a list of {length} items cannot fill a leaf with an array of size {size}"
            )),
            at / rows,
        )),
    }
}

/// Splits vectors.
fn vectors(form: VectorForm, array: &ArrayRef) -> Result<Vectors> {
    let mut levels: Vec<Vec<i64>> = Vec::new();
    let row = |levels: &[Vec<i64>], at: usize| {
        levels.iter().rev().fold(at, |at, offsets| {
            offsets.partition_point(|&end| end <= at as i64).saturating_sub(1)
        })
    };
    let mut inner = Arc::clone(array);
    for _ in 0..form.depth {
        if inner.logical_null_count() != 0 {
            return Err(Error::invalid_argument("a value is missing"));
        }
        if inner.is_empty() {
            levels.push(vec![0]);
            continue;
        }
        let (offsets, items) = lists(&inner).ok_or_else(|| misfit(&inner))??;
        let first = offsets.get(0);
        levels.push((0..offsets.len()).map(|at| offsets.get(at) - first).collect());
        inner = decoded(&items)?;
    }
    let items = match form.item {
        Item::Number(number) => numbers::convert(&inner, number).map(Items::Numbers),
        Item::Text if inner.logical_null_count() != 0 => {
            Err(Error::invalid_argument("a value is missing"))
        }
        Item::Text => texts(&inner).map(|(ends, bytes)| Items::Texts(ends, bytes)),
    };
    let items = items.map_err(|error| error.entry_of(|at| row(&levels, at)))?;
    Ok(Vectors { levels, items })
}

/// Returns strings for a leaf. ROOT ends them at the first zero byte.
fn text(array: &ArrayRef) -> Result<Values> {
    let (ends, bytes) = texts(array)?;
    if let Some(zero) = bytes.iter().position(|&byte| byte == 0) {
        let message = "a string has a zero byte, where ROOT would end it";
        let row = ends.partition_point(|&end| end <= zero as i64).saturating_sub(1);
        return Err(numbers::at_entry(Error::invalid_argument(message), row));
    }
    Ok(Values::Text(ends, bytes))
}

/// Returns the offsets of strings, which start at 0, and their bytes.
fn texts(array: &ArrayRef) -> Result<(Vec<i64>, Buffer)> {
    if array.is_empty() {
        return Ok((vec![0], Buffer::default()));
    }
    let (offsets, bytes) = byte_lists(array).ok_or_else(|| misfit(array))??;
    let first = offsets.get(0);
    let ends: Vec<i64> = (0..offsets.len()).map(|at| offsets.get(at) - first).collect();
    if let Some(row) = ends.windows(2).position(|pair| pair[1] - pair[0] > MAX_TEXT) {
        return Err(numbers::at_entry(Error::limit("a string of 2 GiB"), row));
    }
    Ok((ends, bytes))
}

fn misfit(array: &ArrayRef) -> Error {
    let data_type = brief(array.data_type());
    Error::invalid_argument(format!("an array of type {data_type} does not fit its branch"))
}

fn no_member(name: &str) -> Error {
    Error::invalid_argument(format!("the record has no member {name:?}"))
}
