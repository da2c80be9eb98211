//! Joins the columns of several datasets by entry number, or by the values of key columns.
//!
//! ```text
//! left    run event pt …        right   run event weight …       (in any order)
//!           1     7  .                    1     9      0.5
//!           1     8  .                    1     7      2.0
//! joined  run event pt … weight
//!           1     7  .   2.0
//!           1     8  .   null
//! ```

mod index;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{ArrayRef, UInt64Array};
use arrow_schema::DataType;
use nyssa_io::OpenOptions;
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use rayon::prelude::*;

use self::index::{Index, key_type, keys};
use crate::dataset::{
    AnyDataset, Arrays, ColumnBytes, ColumnInfo, Dataset, Format, check_entries, different,
};

/// A right dataset of a join.
pub struct Right {
    /// The dataset.
    pub dataset: AnyDataset,
    /// The prefix of the names of its columns.
    pub prefix: String,
}

/// A dataset with all entries of a left dataset and the columns of several datasets.
///
/// With keys, each entry has the values of the first entry of the right dataset with the same key, or nulls.
/// Without keys, entries with the same number belong together.
pub struct Join {
    left: AnyDataset,
    on: Vec<String>,
    sides: Vec<Side>,
    /// The columns. Parts of columns follow from index `below` on.
    items: Vec<ColumnInfo>,
    below: usize,
    /// The dataset of each column (0 is the left dataset) and its name there.
    origins: Vec<(usize, String)>,
}

struct Side {
    dataset: AnyDataset,
    /// The types of the keys and the index. `None` if the datasets are joined by entry number.
    index: Option<(Vec<DataType>, Index)>,
}

/// The columns of all sides, while they are collected.
#[derive(Default)]
struct Columns {
    items: Vec<ColumnInfo>,
    origins: Vec<(usize, String)>,
    known: HashMap<String, usize>,
}

impl Columns {
    /// Adds `item` of a side as `joined`. If a column has this name already, returns that column and adds
    /// nothing.
    fn add(&mut self, side: usize, item: &ColumnInfo, joined: ColumnInfo) -> Option<usize> {
        let number = self.items.len();
        let known = *self.known.entry(joined.name.clone()).or_insert(number);
        if known < number {
            return Some(known);
        }
        self.items.push(joined);
        self.origins.push((side, item.name.clone()));
        None
    }

    /// Adds a part of a column. The first `columns` items are columns. A part becomes unreadable if several sides
    /// have a part with its name.
    fn add_part(&mut self, columns: usize, side: usize, item: &ColumnInfo, joined: ColumnInfo) {
        let taken = self.add(side, item, joined).filter(|&number| number >= columns);
        if let Some(taken) = taken.and_then(|number| self.items.get_mut(number)) {
            let reason =
                "several of the joined datasets have it: give the columns of one side a prefix";
            taken.field = Err(reason.to_owned());
        }
    }
}

/// Returns a column of a right dataset in the form that it has in the join.
fn joined(item: &ColumnInfo, prefix: &str, on_keys: bool) -> ColumnInfo {
    let name = format!("{prefix}{}", item.name);
    let field = item.field.clone().and_then(|field| match field.data_type() {
        DataType::Union(..) if on_keys => {
            Err("a variant cannot be null, as joined columns may be".to_owned())
        }
        _ => {
            let nullable = on_keys || field.is_nullable();
            Ok(field.with_name(&name).with_nullable(nullable))
        }
    });
    ColumnInfo { name, type_name: item.type_name.clone(), field }
}

impl Join {
    /// Joins `rights` to `left` on the columns `on`, which must be integers in all datasets. If `on` is
    /// empty, joins by entry number. This reads the keys of the right datasets.
    ///
    /// # Errors
    /// `NotFound` for a key that is missing; `Unsupported` for a key that is not an integer; `InvalidArgument` if two
    /// columns have the same name, or if datasets joined by entry number have different numbers of entries; an error
    /// if the keys cannot be read.
    pub fn new(
        left: AnyDataset,
        rights: Vec<Right>,
        on: Vec<String>,
        context: &Context,
    ) -> Result<Self> {
        for right in rights.iter().filter(|_| on.is_empty()) {
            same_length(left.as_ref(), right.dataset.as_ref())?;
        }
        Self::build(left, rights, on, context)
    }

    /// Joins a friend by entry number. It can have more entries than the left dataset. The additional entries
    /// are not used.
    ///
    /// # Errors
    /// `InvalidArgument` if it has fewer entries, or if two columns have one name.
    pub fn with_friend(left: AnyDataset, right: Right, context: &Context) -> Result<Self> {
        let (ours, theirs) = (left.num_entries(), right.dataset.num_entries());
        if theirs < ours {
            let message = format!("it has {theirs} entries, but the tree has {ours}");
            return Err(Error::invalid_argument(message));
        }
        Self::build(left, vec![right], Vec::new(), context)
    }

    fn build(
        left: AnyDataset,
        rights: Vec<Right>,
        on: Vec<String>,
        context: &Context,
    ) -> Result<Self> {
        let mut columns = Columns::default();
        for item in left.columns() {
            columns.add(0, item, item.clone());
        }
        let mut sides = Vec::with_capacity(rights.len());
        for (number, right) in (1..).zip(&rights) {
            let dataset = &right.dataset;
            let types = on.iter().map(|key| key_type(key, left.as_ref(), dataset.as_ref()));
            let types = types.collect::<Result<Vec<_>>>()?;
            for item in dataset.columns().iter().filter(|item| !on.contains(&item.name)) {
                let joined = joined(item, &right.prefix, !on.is_empty());
                let name = joined.name.clone();
                if columns.add(number, item, joined).is_some() {
                    return Err(Error::invalid_argument(format!(
                        "{name:?} of {} is also the name of another column; give the columns of one \
                         side a prefix",
                        dataset.file()
                    )));
                }
            }
            let index = if on.is_empty() {
                None
            } else {
                let index = Index::build(dataset.as_ref(), &on, &types, context)?;
                Some((types, index))
            };
            sides.push(Side { dataset: Arc::clone(dataset), index });
        }
        let below = columns.items.len();
        for item in left.subcolumns() {
            columns.add_part(below, 0, item, item.clone());
        }
        for (number, right) in (1..).zip(&rights) {
            for item in right.dataset.subcolumns() {
                let joined = joined(item, &right.prefix, !on.is_empty());
                columns.add_part(below, number, item, joined);
            }
        }
        let Columns { items, origins, .. } = columns;
        Ok(Self { left, on, sides, items, below, origins })
    }

    fn origin(&self, name: &str) -> Result<&(usize, String)> {
        let index = self.items.iter().position(|item| item.name == name).ok_or_else(|| {
            Error::not_found(format!("there is no field {name:?}"))
                .suggest(name, self.items.iter().map(|item| item.name.as_str()))
        })?;
        if let Err(reason) = &self.items[index].field {
            return Err(Error::unsupported(reason.clone())).in_field(name);
        }
        Ok(&self.origins[index])
    }

    /// Returns the dataset of a column, and the name of the column there.
    fn owner(&self, column: &str) -> Option<(&dyn Dataset, &str)> {
        let (number, name) = self.origin(column).ok()?;
        let side = match number.checked_sub(1) {
            None => &self.left,
            Some(side) => &self.sides.get(side)?.dataset,
        };
        Some((&**side, name))
    }

    /// Returns the left dataset and the datasets that are joined by entry number, whose lists are never missing. Each has
    /// its number.
    fn by_number(&self) -> impl Iterator<Item = (usize, &dyn Dataset)> {
        let sides = self.sides.iter().enumerate().filter(|(_, side)| side.index.is_none());
        let sides = sides.map(|(number, side)| (number + 1, &*side.dataset));
        std::iter::once((0, &*self.left)).chain(sides)
    }

    /// Returns the name in the join for the number of each dataset and the name there.
    fn names_of_sides(&self) -> HashMap<(usize, &str), &str> {
        let origins = self.origins.iter().map(|(number, name)| (*number, name.as_str()));
        origins.zip(self.items.iter().map(|item| item.name.as_str())).collect()
    }

    /// Reads the columns `names` of a side for entries of the left dataset.
    fn read_side(
        &self,
        side: &Side,
        names: &[&str],
        entries: Range<u64>,
        context: &Context,
    ) -> Result<Vec<ArrayRef>> {
        let Some((types, index)) = &side.index else {
            return side.dataset.read(names, entries, context);
        };
        let length = (entries.end - entries.start) as usize;
        let keys = keys(self.left.as_ref(), &self.on, types, entries, context)?;
        let partners = || (0..length).into_par_iter().map(|row| index.find(&keys, row));
        let partners: Vec<Option<u64>> = context.pool().install(|| partners().collect());
        let indices = partners.iter().flatten().copied().collect::<Vec<_>>();
        let arrays = side.dataset.take(names, &indices, context)?;
        if indices.len() == partners.len() {
            return Ok(arrays);
        }
        let mut next = 0..;
        let rows = partners.iter().map(|entry| entry.and_then(|_| next.next()));
        let rows = UInt64Array::from_iter(rows);
        let spread = |array: &ArrayRef| arrow_select::take::take(array, &rows, None);
        let spread = || arrays.par_iter().map(spread).collect::<std::result::Result<Vec<_>, _>>();
        context
            .pool()
            .install(spread)
            .map_err(|error| Error::limit("the joined columns do not fit").with_source(error))
    }
}

fn same_length(left: &dyn Dataset, right: &dyn Dataset) -> Result<()> {
    if left.num_entries() == right.num_entries() {
        return Ok(());
    }
    Err(Error::invalid_argument(format!(
        "{} has {} entries and {} has {}: they cannot be joined by entry number; join them on a column",
        left.file(),
        left.num_entries(),
        right.file(),
        right.num_entries()
    )))
}

impl Dataset for Join {
    fn format(&self) -> Format {
        self.left.format()
    }

    fn name(&self) -> &str {
        self.left.name()
    }

    fn file(&self) -> &str {
        self.left.file()
    }

    fn location(&self) -> &std::path::Path {
        self.left.location()
    }

    fn open_options(&self) -> Vec<OpenOptions> {
        let sides = self.sides.iter().flat_map(|side| side.dataset.open_options());
        different(self.left.open_options().into_iter().chain(sides))
    }

    fn close(&self) {
        self.left.close();
        self.sides.iter().for_each(|side| side.dataset.close());
    }

    fn check_open(&self, entries: &Range<u64>) -> Result<()> {
        self.left.check_open(entries)?;
        let whole = |side: &Side| side.dataset.check_open(&(0..side.dataset.num_entries()));
        self.sides.iter().try_for_each(whole)
    }

    fn num_entries(&self) -> u64 {
        self.left.num_entries()
    }

    fn columns(&self) -> &[ColumnInfo] {
        &self.items[..self.below]
    }

    fn subcolumns(&self) -> &[ColumnInfo] {
        &self.items[self.below..]
    }

    fn title(&self, column: &str) -> String {
        self.owner(column).map(|(side, name)| side.title(name)).unwrap_or_default()
    }

    fn description(&self) -> String {
        self.left.description()
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        self.owner(column).map_or(Ok(None), |(side, name)| side.column_bytes(name))
    }

    fn size_columns(&self) -> HashSet<String> {
        let names = self.names_of_sides();
        self.by_number()
            .flat_map(|(number, side)| {
                let sizes = side.size_columns().into_iter();
                let names = &names;
                sizes.filter_map(move |name| {
                    names.get(&(number, &*name)).map(|&name| name.to_owned())
                })
            })
            .collect()
    }

    fn equal_lengths(&self) -> Vec<BTreeSet<String>> {
        let names = self.names_of_sides();
        let own = |number: usize, group: BTreeSet<String>| -> BTreeSet<String> {
            let names = group.iter().filter_map(|name| names.get(&(number, &**name)));
            names.map(|&name| name.to_owned()).collect()
        };
        self.by_number()
            .flat_map(|(number, side)| {
                side.equal_lengths().into_iter().map(move |group| (number, group))
            })
            .map(|(number, group)| own(number, group))
            .filter(|group| group.len() > 1)
            .collect()
    }

    fn clusters(&self) -> Vec<Range<u64>> {
        self.left.clusters()
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        check_entries(&entries, self.num_entries())?;
        let origins = names.iter().map(|name| self.origin(name)).collect::<Result<Vec<_>>>()?;
        let mut columns: Vec<Option<ArrayRef>> = vec![None; names.len()];
        for number in 0..=self.sides.len() {
            let wanted = (0..names.len()).filter(|&index| origins[index].0 == number);
            let wanted = wanted.collect::<Vec<_>>();
            if wanted.is_empty() {
                continue;
            }
            let names = wanted.iter().map(|&index| origins[index].1.as_str()).collect::<Vec<_>>();
            let arrays = match number.checked_sub(1) {
                None => self.left.read(&names, entries.clone(), context)?,
                Some(side) => {
                    self.read_side(&self.sides[side], &names, entries.clone(), context)?
                }
            };
            for (index, array) in wanted.into_iter().zip(arrays) {
                columns[index] = Some(array);
            }
        }
        let missing = || Error::not_found("a joined column was not read");
        columns.into_iter().map(|column| column.ok_or_else(missing)).collect()
    }
}
