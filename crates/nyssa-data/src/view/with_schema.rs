//! Reads a dataset with another schema.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, Int64Array, LargeListArray};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_root::guard::to_usize;
use rayon::prelude::*;

use super::evolve::{Aliases, Conversion, EvolutionOptions, Missing, default_array, evolve};
use crate::dataset::{AnyDataset, Arrays, ColumnBytes, ColumnInfo, Dataset, LeftOut};

/// The origins of the columns of a target schema in one file. Files with the same schema share one mapping.
#[derive(Debug)]
pub struct Mapping(Vec<std::result::Result<Origin, String>>);

/// The origin of a column of the target.
#[derive(Debug)]
enum Origin {
    Column {
        name: String,
        conversion: Conversion,
    },
    Missing(Field),
    /// Lists of zeros that are as long as the lists of the column `like`, or the lengths of these lists.
    Lengths {
        like: String,
        field: Field,
    },
}

/// The known facts about the lengths of the lists of several files.
#[derive(Debug, Default)]
pub struct Lengths {
    /// The columns that hold lengths.
    pub(crate) sizes: HashSet<String>,
    /// Groups of columns whose lists have the same lengths ([`Dataset::equal_lengths`]).
    pub(crate) equal: Vec<BTreeSet<String>>,
}

impl Lengths {
    /// Returns the first column of a file whose lists are as long as the lists of the column `name` in other files, or
    /// else the column that holds their lengths.
    fn like(&self, name: &str, columns: &[ColumnInfo]) -> Option<usize> {
        let groups = self.equal.iter().filter(|group| group.contains(name));
        let find = |is_it: &dyn Fn(&ColumnInfo) -> bool| {
            let mut groups = groups.clone();
            groups.find_map(|group| {
                columns.iter().position(|column| group.contains(&column.name) && is_it(column))
            })
        };
        let is_list = |item: &ColumnInfo| match &item.field {
            Ok(field) => {
                !field.is_nullable() && matches!(field.data_type(), DataType::LargeList(_))
            }
            Err(_) => false,
        };
        find(&is_list)
            .or_else(|| find(&|item| item.field.is_ok() && self.sizes.contains(&item.name)))
    }
}

impl Mapping {
    /// Makes the mapping from the columns `from` of a file to the columns `target`. For a column that cannot be
    /// mapped it stores the reason.
    pub(super) fn new(
        from: &[ColumnInfo],
        target: &[ColumnInfo],
        aliases: &Aliases,
        options: EvolutionOptions,
    ) -> Self {
        Self::between(from, &rename(from, aliases), target, options, (&Lengths::default(), &[]))
    }

    /// Makes the mapping from columns that already have the names of the target. The columns `sizes` are never
    /// negative. They can be converted to any type of integer, and each value is checked. `own` are the groups of
    /// columns of the file itself whose lists have equal lengths. A missing list gets the lengths of another list of
    /// its group, and a missing column of lengths has these lengths.
    pub fn between(
        from: &[ColumnInfo],
        renamed: &[ColumnInfo],
        target: &[ColumnInfo],
        options: EvolutionOptions,
        (lengths, own): (&Lengths, &[BTreeSet<String>]),
    ) -> Self {
        let origin = |item: &ColumnInfo| -> std::result::Result<Origin, String> {
            let to = item.field.as_ref().map_err(Clone::clone)?;
            let Some(index) = renamed.iter().position(|other| other.name == item.name) else {
                // All fields together are treated as one record. A missing field is a missing member of it.
                let all = Field::new_struct("", Vec::<Field>::new(), false);
                let wanted = Field::new_struct("", vec![to.clone()], false);
                let fills = evolve(&all, &wanted, options);
                let like = lengths.like(&item.name, renamed).filter(|&like| {
                    // A field with its own data is no member of the collection, and a merge does not make it one.
                    let is_member = || own.iter().any(|group| group.contains(&from[like].name));
                    options.missing == Missing::Default
                        && !to.is_nullable()
                        && (matches!(to.data_type(), DataType::LargeList(_))
                            || lengths.sizes.contains(&item.name) && is_member())
                });
                let missing = || match like {
                    Some(like) => {
                        Origin::Lengths { like: from[like].name.clone(), field: to.clone() }
                    }
                    None => Origin::Missing(to.clone()),
                };
                return fills.map(|_| missing()).map_err(said);
            };
            let field = renamed[index].field.as_ref().map_err(Clone::clone)?;
            let narrowing = options.narrowing || lengths.sizes.contains(&item.name);
            let conversion =
                evolve(field, to, EvolutionOptions { narrowing, ..options }).map_err(said)?;
            Ok(Origin::Column { name: from[index].name.clone(), conversion })
        };
        Self(target.iter().map(origin).collect())
    }

    /// Returns the reason why column `index` of the target cannot be read from the file.
    pub fn reason(&self, index: usize) -> Option<&str> {
        self.0.get(index)?.as_ref().err().map(String::as_str)
    }
}

/// Gives the columns their new names.
pub(super) fn rename(items: &[ColumnInfo], aliases: &Aliases) -> Vec<ColumnInfo> {
    let has = |name: &str| items.iter().any(|item| item.name == name);
    let rename = |item: &ColumnInfo| match &item.field {
        Ok(field) => {
            let field = aliases.rename(field, has);
            ColumnInfo { name: field.name().clone(), field: Ok(field), ..item.clone() }
        }
        Err(_) => item.clone(),
    };
    items.iter().map(rename).collect()
}

/// Returns the message of an error with the path of the field.
fn said(error: Error) -> String {
    match &error.place().field {
        Some(path) => format!("{path}: {}", error.message()),
        None => error.message().to_owned(),
    }
}

impl Origin {
    /// Returns the column of the file that is read for the column.
    fn stored(&self) -> Option<&str> {
        match self {
            Self::Column { name, .. } | Self::Lengths { like: name, .. } => Some(name),
            Self::Missing(_) => None,
        }
    }
}

/// Makes lists of default values, as long as the lists `like`, or with these lengths. For a field of numbers, returns the
/// lengths.
fn with_lengths(field: &Field, like: &ArrayRef) -> Result<ArrayRef> {
    let lengths: Int64Array = match like.as_list_opt::<i64>() {
        Some(lists) => lists.offsets().windows(2).map(|ends| ends[1] - ends[0]).collect(),
        None => numbers(like, &Field::new("", DataType::Int64, false))?.as_primitive().clone(),
    };
    let DataType::LargeList(item) = field.data_type() else {
        return numbers(&(Arc::new(lengths) as ArrayRef), field);
    };
    let mut ends = vec![0i64];
    for &length in lengths.values() {
        let end = ends.last().and_then(|end| end.checked_add(length)).filter(|_| length >= 0);
        ends.push(end.ok_or_else(|| Error::out_of_spec("lengths of lists beyond all numbers"))?);
    }
    let count = ends.last().map_or(0, |end| end.unsigned_abs());
    let items = default_array(item, to_usize(count, "items of lists")?)?;
    let offsets = OffsetBuffer::new(ends.into());
    let lists = LargeListArray::try_new(Arc::clone(item), offsets, items, None);
    let lists =
        lists.map_err(|error| Error::limit("lists of default values").with_source(error))?;
    Ok(Arc::new(lists))
}

/// Converts integers to another type, and checks each value.
fn numbers(array: &ArrayRef, to: &Field) -> Result<ArrayRef> {
    let from = Field::new("", array.data_type().clone(), false);
    let options = EvolutionOptions { missing: Missing::Error, narrowing: true };
    evolve(&from, to, options)?.apply(array)
}

/// A dataset that is read with another schema.
pub struct WithSchema {
    inner: AnyDataset,
    items: Arc<[ColumnInfo]>,
    mapping: Arc<Mapping>,
}

impl WithSchema {
    /// Makes a dataset with the columns `target` from `inner`. A column is listed as unreadable, with the
    /// reason, if `inner` does not have it or if its type cannot be converted.
    pub fn new(
        inner: AnyDataset,
        target: &[ColumnInfo],
        aliases: &Aliases,
        options: EvolutionOptions,
    ) -> Self {
        let mapping = Mapping::new(inner.columns(), target, aliases, options);
        let item = |(index, item): (usize, &ColumnInfo)| match mapping.reason(index) {
            Some(reason) => ColumnInfo { field: Err(reason.to_owned()), ..item.clone() },
            None => item.clone(),
        };
        let items = target.iter().enumerate().map(item).collect();
        Self { inner, items, mapping: Arc::new(mapping) }
    }

    /// Makes the dataset from columns and a mapping that are already known.
    pub fn with(inner: AnyDataset, items: Arc<[ColumnInfo]>, mapping: Arc<Mapping>) -> Self {
        Self { inner, items, mapping }
    }

    fn origin(&self, name: &str) -> Result<&Origin> {
        let place = |name: &str| self.items.iter().position(|item| item.name == name);
        let index =
            place(name).or_else(|| place(&self.find_column(name)?.name)).ok_or_else(|| {
                Error::not_found(format!("there is no field {name:?}"))
                    .suggest(name, self.items.iter().map(|item| item.name.as_str()))
            })?;
        let origin = self.mapping.0.get(index).ok_or_else(|| Error::not_found("no such field"))?;
        origin.as_ref().map_err(|reason| Error::unsupported(reason.clone())).in_field(name)
    }
}

impl Dataset for WithSchema {
    same_object!(inner);
    same_entries!(inner);

    fn columns(&self) -> &[ColumnInfo] {
        &self.items
    }

    fn column_bytes(&self, column: &str) -> Result<Option<ColumnBytes>> {
        match self.origin(column) {
            Ok(Origin::Column { name, .. }) => self.inner.column_bytes(name),
            _ => Ok(None),
        }
    }

    fn read(&self, names: &[&str], entries: Range<u64>, context: &Context) -> Result<Arrays> {
        let origins = names.iter().map(|name| self.origin(name)).collect::<Result<Vec<_>>>();
        let origins = origins.in_file(self.file()).in_object(self.name())?;
        let mut stored: Vec<&str> = Vec::new();
        for name in origins.iter().filter_map(|origin| origin.stored()) {
            if !stored.contains(&name) {
                stored.push(name);
            }
        }
        let arrays = self.inner.read(&stored, entries.clone(), context)?;
        let length = to_usize(entries.end - entries.start, "entry range")?;
        let array = |name: &str| arrays.get(stored.iter().position(|other| *other == name)?);
        let jobs = origins.into_iter().map(|origin| (origin, origin.stored().and_then(array)));
        let jobs = jobs.collect::<Vec<_>>();
        let convert = |(origin, array): &(&Origin, Option<&ArrayRef>)| match (origin, array) {
            (Origin::Column { conversion, .. }, Some(array)) => conversion.apply(array),
            (Origin::Lengths { field, .. }, Some(array)) => with_lengths(field, array),
            (Origin::Column { name, .. } | Origin::Lengths { like: name, .. }, None) => {
                Err(Error::not_found(format!("the column {name:?} was not read")))
            }
            (Origin::Missing(field), _) => default_array(field, length),
        };
        let convert =
            |(job, name): (&(&Origin, Option<&ArrayRef>), &&str)| convert(job).in_field(name);
        let converted: Result<_> =
            context.pool().install(|| jobs.par_iter().zip(names).map(convert).collect());
        converted.in_file(self.file()).in_object(self.name())
    }

    /// Returns columns under their names in this dataset, and parts of columns under their names in the file.
    fn damaged(
        &self,
        names: &[&str],
        entries: &[Range<u64>],
        context: &Context,
    ) -> Result<Vec<LeftOut>> {
        let mut damaged = Vec::new();
        for &name in names {
            let Origin::Column { name: stored, .. } = self.origin(name)? else { continue };
            for mut part in self.inner.damaged(&[stored], entries, context)? {
                if part.column == *stored {
                    part.column = name.to_owned();
                }
                damaged.push(part);
            }
        }
        Ok(damaged)
    }
}
