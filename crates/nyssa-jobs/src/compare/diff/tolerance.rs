//! Compares columns that are stored with less precision: values may differ by the error that their encoding states.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, FixedSizeListArray, LargeListArray, PrimitiveArray,
    StructArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field};
use nyssa_rntuple::encoding::Precision;
use nyssa_rntuple::schema::{self, ColumnId, FieldId, Schema};

use super::compare::{lists, same_lengths};

/// The precision with which a field and its subfields are stored.
#[derive(Clone, Debug)]
pub struct Tolerance {
    /// The precision of the field's own numbers. `None` if they are exact.
    own: Option<Precision>,
    /// The subfields with numbers that are not exact, by name.
    subfields: Vec<(String, Self)>,
}

impl Tolerance {
    /// Returns the tolerances of the top-level fields of `schema`, by name. `precisions` contains the columns that
    /// are not exact.
    pub fn of_fields(
        schema: &Schema,
        precisions: &HashMap<ColumnId, Precision>,
    ) -> HashMap<String, Self> {
        let of_field = |(id, field): (FieldId, &schema::Field)| {
            Some((field.name.clone(), Self::of(schema, id, precisions)?))
        };
        schema.top_level().filter_map(of_field).collect()
    }

    fn of(schema: &Schema, id: FieldId, precisions: &HashMap<ColumnId, Precision>) -> Option<Self> {
        let field = schema.field(id);
        let own = field.columns.iter().find_map(|column| precisions.get(column)).copied();
        let subfield = |&id: &FieldId| {
            Some((schema.field(id).name.clone(), Self::of(schema, id, precisions)?))
        };
        let subfields: Vec<_> = field.children.iter().filter_map(subfield).collect();
        (own.is_some() || !subfields.is_empty()).then_some(Self { own, subfields })
    }

    /// Returns `a` with the values of `b` where they differ by no more than allowed. Other values stay unchanged, so
    /// that a comparison with `b` shows them.
    pub(super) fn settled(&self, a: &ArrayRef, b: &ArrayRef) -> ArrayRef {
        self.settle(a, b).unwrap_or_else(|| Arc::clone(a))
    }

    /// Returns `a` with the values of `b` where they differ by no more than allowed. Returns `None` if all of `a`
    /// stays unchanged.
    fn settle(&self, a: &ArrayRef, b: &ArrayRef) -> Option<ArrayRef> {
        if a.len() != b.len() {
            return None;
        }
        match (a.data_type(), b.data_type()) {
            (DataType::Float32, DataType::Float32) => {
                Some(settle::<Float32Type>(self.precision()?, a, b))
            }
            (DataType::Float64, DataType::Float64) => {
                Some(settle::<Float64Type>(self.precision()?, a, b))
            }
            (DataType::Struct(fields), DataType::Struct(_)) => {
                let (left, right) = (a.as_struct(), b.as_struct());
                let member = |name: &str| {
                    let own = left.column_by_name(name)?;
                    let tolerance = self.subfields.iter().find(|(field, _)| field == name);
                    let other = right.column_by_name(name).zip(tolerance);
                    Some(other.map_or_else(
                        || Arc::clone(own),
                        |(other, (_, tolerance))| tolerance.settled(own, other),
                    ))
                };
                let members = fields.iter().map(|field| member(field.name()));
                let members = members.collect::<Option<Vec<_>>>()?;
                let all = StructArray::try_new(fields.clone(), members, left.nulls().cloned());
                Some(Arc::new(all.ok()?))
            }
            (DataType::FixedSizeList(item, size), DataType::FixedSizeList(..)) => {
                let (left, right) = (a.as_fixed_size_list(), b.as_fixed_size_list());
                let items = self.items()?.settle(left.values(), right.values())?;
                let nulls = left.nulls().cloned();
                let all = FixedSizeListArray::try_new(Arc::clone(item), *size, items, nulls);
                Some(Arc::new(all.ok()?))
            }
            _ => {
                let (left, right) = lists(a).zip(lists(b))?;
                if !same_lengths(&left.offsets, &right.offsets) {
                    return None;
                }
                let items = self.items()?.settle(&left.items, &right.items)?;
                let first = left.offsets.first().copied().unwrap_or(0);
                let offsets = left.offsets.iter().map(|offset| offset - first).collect();
                let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
                // Lists of different widths of offsets are compared.
                let all = LargeListArray::try_new(
                    item,
                    OffsetBuffer::new(offsets),
                    items,
                    a.nulls().cloned(),
                );
                Some(Arc::new(all.ok()?))
            }
        }
    }

    /// Returns the tolerance of the items of a list.
    fn items(&self) -> Option<&Self> {
        self.subfields.first().map(|(_, items)| items)
    }

    /// Returns the precision of numbers. A value that may be missing has a subfield.
    fn precision(&self) -> Option<&Precision> {
        self.own.as_ref().or_else(|| self.items()?.own.as_ref())
    }
}

/// Returns the numbers of `a`, with the values of `b` where the precision allows the difference.
fn settle<T>(precision: &Precision, a: &ArrayRef, b: &ArrayRef) -> ArrayRef
where
    T: ArrowPrimitiveType,
    T::Native: Into<f64>,
{
    let (a, b) = (a.as_primitive::<T>(), b.as_primitive::<T>());
    let pairs = a.values().iter().zip(b.values());
    let values = pairs.map(|(&a, &b)| if precision.allows(a.into(), b.into()) { b } else { a });
    Arc::new(PrimitiveArray::<T>::new(values.collect(), a.nulls().cloned()))
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Float32Type;
    use arrow_array::{Float32Array, Float64Array, ListArray};

    use super::*;
    use crate::compare::diff::same;

    fn of(relative: f64, absolute: f64) -> Tolerance {
        let own = Some(Precision { relative, absolute, range: (-100.0, 100.0) });
        Tolerance { own, subfields: Vec::new() }
    }

    fn below(name: &str, tolerance: Tolerance) -> Tolerance {
        Tolerance { own: None, subfields: vec![(name.to_owned(), tolerance)] }
    }

    fn floats(values: &[f32]) -> ArrayRef {
        Arc::new(Float32Array::from(values.to_vec()))
    }

    #[test]
    fn numbers_may_differ_by_the_error_that_is_stated() {
        let tolerance = of(0.01, 0.001);
        let is_allowed = |a: f64, b: f64| {
            let array = |value| Arc::new(Float64Array::from(vec![value])) as ArrayRef;
            let (a, b) = (array(a), array(b));
            same(&tolerance.settled(&a, &b), &b)
        };
        assert!(is_allowed(50.0, 50.49) && is_allowed(-50.0, -49.51) && is_allowed(0.0, 0.0009));
        assert!(!is_allowed(50.0, 50.51) && !is_allowed(0.0, 0.0011) && !is_allowed(1.0, -1.0));
        assert!(is_allowed(f64::NAN, -f64::NAN) && is_allowed(f64::INFINITY, f64::INFINITY));
        assert!(!is_allowed(f64::NAN, 1.0) && !is_allowed(1.0, f64::NAN));
        // The statement about the error is true only inside the range.
        assert!(!is_allowed(200.0, 200.1) && is_allowed(200.0, 200.0));
    }

    #[test]
    fn items_and_members_have_their_own() {
        let lists = |values: [Option<Vec<Option<f32>>>; 3]| {
            Arc::new(ListArray::from_iter_primitive::<Float32Type, _, _>(values)) as ArrayRef
        };
        let a = lists([Some(vec![Some(1.0)]), None, Some(vec![Some(2.0), Some(9.0)])]);
        let b = lists([Some(vec![Some(1.01)]), None, Some(vec![Some(2.0), Some(8.0)])]);
        let tolerance = below("_0", of(0.0, 0.1));
        let settled = tolerance.settled(&a.slice(0, 2), &b.slice(0, 2));
        assert!(same(&settled, &b.slice(0, 2)) && !same(&a.slice(0, 2), &b.slice(0, 2)));
        assert!(!same(&tolerance.settled(&a.slice(2, 1), &b.slice(2, 1)), &b.slice(2, 1)));
        let longer = lists([Some(vec![Some(1.0), Some(1.0)]), None, None]);
        assert!(!same(&tolerance.settled(&longer, &b), &b));
        let record = |x: f32, y: f32| {
            let fields = ["x", "y"].map(|name| Field::new(name, DataType::Float32, false));
            let members = vec![floats(&[x]), floats(&[y])];
            Arc::new(StructArray::new(fields.to_vec().into(), members, None)) as ArrayRef
        };
        let tolerance = below("x", of(0.0, 0.1));
        let is_allowed = |a: ArrayRef, b: ArrayRef| same(&tolerance.settled(&a, &b), &b);
        assert!(is_allowed(record(1.0, 2.0), record(1.05, 2.0)));
        assert!(!is_allowed(record(1.0, 2.0), record(1.0, 2.05)));
        let fixed = |values: &[f32]| {
            let item = Arc::new(Field::new_list_field(DataType::Float32, false));
            Arc::new(FixedSizeListArray::new(item, 2, floats(values), None)) as ArrayRef
        };
        let tolerance = below("_0", of(0.0, 0.1));
        let (a, b) = (fixed(&[1.0, 2.0]), fixed(&[1.05, 1.95]));
        assert!(same(&tolerance.settled(&a, &b), &b));
    }
}
