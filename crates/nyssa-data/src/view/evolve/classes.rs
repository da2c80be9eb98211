//! Joins the classes of pointers: the unions of several files have the classes that each file describes.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, UnionFields};

/// Returns whether the children of a union are named after classes. The alternatives of a `std::variant` have numbers.
pub fn are_classes(children: &UnionFields) -> bool {
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    children.iter().all(|(_, child)| !child.name().strip_prefix('_').is_some_and(is_number))
}

/// Returns whether a type has a union of classes.
pub fn has_classes(data_type: &DataType) -> bool {
    match data_type {
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            has_classes(item.data_type())
        }
        DataType::Struct(members) => members.iter().any(|member| has_classes(member.data_type())),
        DataType::Union(children, _) => are_classes(children),
        _ => false,
    }
}

/// Returns the child of a union with this name, and its type id.
pub fn child_of_class<'u>(children: &'u UnionFields, name: &str) -> Option<(i8, &'u FieldRef)> {
    children.iter().find(|(_, child)| child.name() == name)
}

/// Returns the classes of both unions, first the classes of `own`. `join` makes the field of a class of both. Returns `None` if
/// there are too many classes for one union.
pub(super) fn joined(
    own: &UnionFields,
    others: &UnionFields,
    join: impl Fn(&Field, &Field) -> Option<FieldRef>,
) -> Option<UnionFields> {
    let child = |child: &FieldRef| match child_of_class(others, child.name()) {
        Some((_, other)) => join(child, other),
        None => Some(Arc::clone(child)),
    };
    let new = others.iter().map(|(_, child)| child);
    let new = new.filter(|child| child_of_class(own, child.name()).is_none());
    let mut children = own.iter().map(|(_, own)| child(own)).collect::<Option<Vec<_>>>()?;
    children.extend(new.cloned());
    i8::try_from(children.len()).ok()?;
    Some((0_i8..).zip(children).collect())
}

/// Returns a field in which pointers may lead to the classes of `other`, too. All else stays.
pub fn with_classes(own: &Field, other: &Field) -> Field {
    let both = |own: &Field, other: &Field| Arc::new(with_classes(own, other));
    let data_type = match (own.data_type(), other.data_type()) {
        (own, other) if own == other => None,
        (DataType::Struct(members), DataType::Struct(others)) => {
            let member = |member: &FieldRef| {
                let other = others.iter().find(|other| other.name() == member.name());
                other.map_or_else(|| Arc::clone(member), |other| both(member, other))
            };
            Some(DataType::Struct(members.iter().map(member).collect()))
        }
        (DataType::LargeList(item), DataType::LargeList(other)) => {
            Some(DataType::LargeList(both(item, other)))
        }
        (DataType::FixedSizeList(item, size), DataType::FixedSizeList(other, _)) => {
            Some(DataType::FixedSizeList(both(item, other), *size))
        }
        (DataType::Union(children, mode), DataType::Union(others, _))
            if are_classes(children) && are_classes(others) =>
        {
            let children = joined(children, others, |own, other| Some(both(own, other)));
            children.map(|children| DataType::Union(children, *mode))
        }
        _ => None,
    };
    data_type.map_or_else(|| own.clone(), |data_type| own.clone().with_data_type(data_type))
}
