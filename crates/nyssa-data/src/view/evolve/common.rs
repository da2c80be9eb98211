//! Finds a type that can hold the values that several files have in one field.

use std::sync::Arc;

use arrow_schema::{DataType, Field};
use nyssa_root::arrow::Number;

use super::classes::{are_classes, joined};

/// Returns the narrowest field to which both can be converted without loss, or `None` if there is none. A record has
/// the members of both fields, or with `shared_only` only the members in both fields.
pub fn common(a: &Field, b: &Field, shared_only: bool) -> Option<Field> {
    let field = a.clone().with_nullable(a.is_nullable() || b.is_nullable());
    Some(field.with_data_type(common_type(a.data_type(), b.data_type(), shared_only)?))
}

fn common_type(a: &DataType, b: &DataType, shared_only: bool) -> Option<DataType> {
    let item = |a: &Field, b: &Field| common(a, b, shared_only).map(Arc::new);
    Some(match (a, b) {
        (a, b) if a == b => a.clone(),
        (DataType::LargeList(a), DataType::LargeList(b)) => DataType::LargeList(item(a, b)?),
        (DataType::FixedSizeList(a, size), DataType::FixedSizeList(b, other)) if size == other => {
            DataType::FixedSizeList(item(a, b)?, *size)
        }
        (
            DataType::FixedSizeList(a, _) | DataType::LargeList(a),
            DataType::FixedSizeList(b, _) | DataType::LargeList(b),
        ) => DataType::LargeList(item(a, b)?),
        (DataType::Struct(a), DataType::Struct(b)) => {
            let mut members = Vec::with_capacity(a.len());
            for member in a {
                match b.iter().find(|other| other.name() == member.name()) {
                    Some(other) => members.push(item(member, other)?),
                    None if shared_only => (),
                    None => members.push(Arc::clone(member)),
                }
            }
            let new = b.iter().filter(|m| a.iter().all(|other| other.name() != m.name()));
            members.extend(new.filter(|_| !shared_only).cloned());
            DataType::Struct(members.into())
        }
        (DataType::Union(a, mode), DataType::Union(b, other))
            if mode == other && are_classes(a) && are_classes(b) =>
        {
            DataType::Union(joined(a, b, item)?, *mode)
        }
        (DataType::Union(a, mode), DataType::Union(b, other))
            if mode == other && a.len() == b.len() =>
        {
            let pairs = a.iter().zip(b.iter()).map(|((id, a), (_, b))| Some((id, item(a, b)?)));
            DataType::Union(pairs.collect::<Option<_>>()?, *mode)
        }
        (a, b) => Number::of_data_type(a)?.common(Number::of_data_type(b)?)?.data_type(),
    })
}
