//! Finds the common schema of several files that are read as one dataset.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use nyssa_root::Context;
use nyssa_root::error::{Error, Result};

use super::evolve::{Missing, common, has_classes, with_classes};
use crate::dataset::{AnyDataset, ColumnInfo, LeftOut};

/// The rules that give the columns of a chain of files, and their types.
#[derive(Clone, Debug, Default)]
pub enum ChainSchema {
    /// The columns of the first file.
    #[default]
    First,
    /// All columns of all files, in types that hold the values of all files.
    Union,
    /// The columns that all files have, in types that hold the values of all files.
    Intersection,
    /// The stated columns. Each must be in at least one of the files.
    Stated(Vec<ColumnInfo>),
    /// The columns of another dataset.
    Like(AnyDataset),
}

/// The columns of a file, and the parts of columns.
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    pub(super) own: &'a [ColumnInfo],
    pub(super) below: &'a [ColumnInfo],
}

impl File<'_> {
    fn find(&self, name: &str) -> Option<&ColumnInfo> {
        find(self.own, name).or_else(|| find(self.below, name))
    }
}

impl ChainSchema {
    /// Returns the schema of a word: `first`, `union` or `intersection`.
    ///
    /// # Errors
    /// `InvalidArgument` for another word.
    pub fn named(word: &str) -> Result<Self> {
        match word {
            "first" => Ok(Self::First),
            "union" => Ok(Self::Union),
            "intersection" => Ok(Self::Intersection),
            _ => Err(Error::invalid_argument(format!(
                "schema={word:?} is not \"first\", \"union\" or \"intersection\", nor a schema"
            ))),
        }
    }

    /// Returns the default for the columns that a file lacks.
    pub fn missing(&self) -> Missing {
        match self {
            Self::Union | Self::Stated(_) => Missing::Null,
            Self::First | Self::Intersection | Self::Like(_) => Missing::Error,
        }
    }

    /// Returns the target for files without some parts of their columns.
    pub(super) fn without(&self, parts: &[LeftOut], context: &Context) -> Result<Self> {
        let Self::Like(dataset) = self else { return Ok(self.clone()) };
        let without = dataset.without(parts, context)?;
        Ok(Self::Like(without.unwrap_or_else(|| Arc::clone(dataset))))
    }

    /// Finds the columns of the target from the columns of the files. Columns and members that a file lacks become
    /// nullable if `missing` requests it. A column is unreadable, with the reason, if no type can hold the values of all
    /// files.
    ///
    /// # Errors
    /// `NotFound` when a stated column is in no file.
    pub(super) fn resolve(&self, files: &[File<'_>], missing: Missing) -> Result<Vec<ColumnInfo>> {
        let items = match self {
            Self::Stated(items) => {
                stated_somewhere(items, files)?;
                items.clone()
            }
            Self::Like(dataset) => {
                let files: Vec<_> = files.iter().map(|file| (file.name, file.own)).collect();
                with_all_classes(dataset.columns(), &files)
            }
            _ => self.together(files.iter().map(|file| (file.name, file.own))),
        };
        Ok(nullable(items, files, missing))
    }

    /// Returns the parts of the columns of the target. There are none if the columns are stated.
    pub(super) fn below(&self, files: &[File<'_>], missing: Missing) -> Vec<ColumnInfo> {
        nullable(self.together(files.iter().map(|file| (file.name, file.below))), files, missing)
    }

    fn together<'a>(
        &self,
        files: impl Iterator<Item = (&'a str, &'a [ColumnInfo])>,
    ) -> Vec<ColumnInfo> {
        let files: Vec<_> = files.collect();
        match self {
            Self::First => files
                .split_first()
                .map_or_else(Vec::new, |((_, own), rest)| with_all_classes(own, rest)),
            Self::Union => joined(&files, false),
            Self::Intersection => joined(&files, true),
            Self::Stated(_) | Self::Like(_) => Vec::new(),
        }
    }
}

fn stated_somewhere(items: &[ColumnInfo], files: &[File<'_>]) -> Result<()> {
    let has = |name: &str| files.iter().any(|file| file.find(name).is_some());
    match items.iter().find(|item| !files.is_empty() && !has(&item.name)) {
        None => Ok(()),
        Some(item) => {
            let names = files.iter().flat_map(|file| file.own.iter().chain(file.below));
            let names = names.map(|item| item.name.as_str());
            let error = Error::not_found(format!("no file has the field {:?}", item.name));
            Err(error.suggest(&item.name, names))
        }
    }
}

fn find<'a>(items: &'a [ColumnInfo], name: &str) -> Option<&'a ColumnInfo> {
    items.iter().find(|item| item.name == name)
}

/// Lets the pointers of columns lead to the classes of all files. A file describes the classes whose objects it has.
fn with_all_classes(items: &[ColumnInfo], files: &[(&str, &[ColumnInfo])]) -> Vec<ColumnInfo> {
    let mut items = items.to_vec();
    for item in &mut items {
        let Ok(field) = &mut item.field else { continue };
        if !has_classes(field.data_type()) {
            continue;
        }
        for (_, others) in files {
            if let Some(Ok(other)) = find(others, &item.name).map(|other| &other.field) {
                *field = with_classes(field, other);
            }
        }
    }
    items
}

/// Lets columns have nulls where other files may have them. A Parquet file shows a column without nulls if it has none,
/// although its schema allows them.
pub(super) fn allow_nulls(items: &mut [ColumnInfo], files: &[File<'_>]) {
    for item in items {
        let Ok(field) = &mut item.field else { continue };
        for file in files {
            if let Some(Ok(other)) = file.find(&item.name).map(|other| &other.field) {
                *field = with_nulls(field, other);
            }
        }
    }
}

fn with_nulls(field: &Field, other: &Field) -> Field {
    let within = |a: &FieldRef, b: &FieldRef| Arc::new(with_nulls(a, b));
    let data_type = match (field.data_type(), other.data_type()) {
        (DataType::LargeList(a), DataType::LargeList(b)) => DataType::LargeList(within(a, b)),
        (DataType::FixedSizeList(a, size), DataType::FixedSizeList(b, _)) => {
            DataType::FixedSizeList(within(a, b), *size)
        }
        (DataType::Struct(a), DataType::Struct(b)) => {
            let member = |a: &FieldRef| match b.find(a.name()) {
                Some((_, b)) => within(a, b),
                None => Arc::clone(a),
            };
            DataType::Struct(a.iter().map(member).collect())
        }
        (own, _) => own.clone(),
    };
    let nullable = field.is_nullable() || other.is_nullable();
    field.clone().with_data_type(data_type).with_nullable(nullable)
}

/// Joins the columns of all files.
fn joined(files: &[(&str, &[ColumnInfo])], shared_only: bool) -> Vec<ColumnInfo> {
    let Some((&(_, first), rest)) = files.split_first() else { return Vec::new() };
    let mut items = first.to_vec();
    for (file, others) in rest {
        if shared_only {
            items.retain(|item| find(others, &item.name).is_some());
        }
        for item in &mut items {
            if let Some(other) = find(others, &item.name) {
                widen(item, other, file, shared_only);
            }
        }
        if !shared_only {
            let new = others.iter().filter(|other| find(&items, &other.name).is_none());
            let new = new.cloned().collect::<Vec<_>>();
            items.extend(new);
        }
    }
    items
}

/// Widens the type of `item` so that it also holds the values of `other`.
fn widen(item: &mut ColumnInfo, other: &ColumnInfo, file: &str, shared_only: bool) {
    let (Ok(a), Ok(b)) = (&item.field, &other.field) else {
        if item.field.is_ok() {
            item.field = other.field.clone();
        }
        return;
    };
    if a == b {
        return;
    }
    match common(a, b, shared_only) {
        None => {
            item.field = Err(format!(
                "no type holds both {} and the {} of {file}",
                a.data_type(),
                b.data_type()
            ));
        }
        Some(field) => {
            if field.data_type() != a.data_type() {
                let taken = field.data_type() == b.data_type();
                item.type_name = if taken { other.type_name.clone() } else { String::new() };
            }
            item.field = Ok(field);
        }
    }
}

/// Makes columns and members nullable if a file lacks them and `missing` requests it.
fn nullable(mut items: Vec<ColumnInfo>, files: &[File<'_>], missing: Missing) -> Vec<ColumnInfo> {
    if missing == Missing::Null {
        for file in files {
            items.iter_mut().for_each(|item| nullable_where_missing(item, file));
        }
    }
    items
}

fn nullable_where_missing(item: &mut ColumnInfo, file: &File<'_>) {
    let Ok(field) = &mut item.field else { return };
    match file.find(&item.name).map(|other| &other.field) {
        None => *field = field.clone().with_nullable(true),
        Some(Ok(other)) => *field = nullable_members(field, other),
        Some(Err(_)) => (),
    }
}

fn nullable_members(field: &Field, file: &Field) -> Field {
    let member = |member: &FieldRef, others: &arrow_schema::Fields| {
        let other = others.iter().find(|other| other.name() == member.name());
        Arc::new(match other {
            None => member.as_ref().clone().with_nullable(true),
            Some(other) => nullable_members(member, other),
        })
    };
    let data_type = match (field.data_type(), file.data_type()) {
        (DataType::Struct(members), DataType::Struct(others)) => {
            DataType::Struct(members.iter().map(|element| member(element, others)).collect())
        }
        (
            DataType::LargeList(item),
            DataType::LargeList(other) | DataType::FixedSizeList(other, _),
        ) => DataType::LargeList(Arc::new(nullable_members(item, other))),
        (DataType::FixedSizeList(item, size), DataType::FixedSizeList(other, _)) => {
            DataType::FixedSizeList(Arc::new(nullable_members(item, other)), *size)
        }
        _ => return field.clone(),
    };
    field.clone().with_data_type(data_type)
}
