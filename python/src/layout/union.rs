//! Brings Arrow unions into awkward's layout: an alternative is no union, and if one may be missing, all may.

use arrow_array::{Array, ArrayRef, UnionArray};
use arrow_buffer::Buffer as Bytes;
use arrow_schema::{DataType, FieldRef, UnionFields};
use nyssa_root::{Error, Result};

use super::Builder;
use crate::column_form::unsupported;

/// The alternatives of a union, with the alternatives of the unions in it.
#[derive(Default)]
struct Alternatives<'a> {
    pairs: Vec<(&'a ArrayRef, &'a FieldRef)>,
    /// Whether a value may be of none of them.
    or_none: bool,
}

/// The alternative of each row and the place in it; `None` where there is none.
type Rows = Vec<Option<(i8, i32)>>;

enum Child {
    None,
    Alternative(i8),
    Union(Rows),
}

impl Builder {
    /// Takes the buffers of a union. A value of none is a missing value of the first alternative.
    pub(super) fn union(
        &mut self,
        union: &UnionArray,
        fields: &UnionFields,
        below_nulls: bool,
    ) -> Result<()> {
        let mut alternatives = Alternatives::default();
        let rows = alternatives.rows(union, fields)?;
        let Alternatives { pairs, or_none } = alternatives;
        if let [(array, field)] = pairs[..] {
            let at = |row: &Option<(i8, i32)>| row.map_or(-1, |(_, at)| present(array, at));
            self.buffers.push(rows.iter().map(at).collect::<Vec<i64>>().into());
            return self.value(array, field, below_nulls);
        }
        let Some((first, _)) = pairs.first() else {
            return Err(Error::unsupported("a union has no alternatives"));
        };
        // Behind the values of the first alternative is one that is missing.
        let none = i32::try_from(first.len()).map_err(|_| too_large())?;
        let (tags, index): (Vec<i8>, Vec<i32>) =
            rows.into_iter().map(|row| row.unwrap_or((0, none))).unzip();
        self.buffers.extend([Bytes::from_vec(tags), index.into()]);
        for (number, (array, field)) in pairs.into_iter().enumerate() {
            if or_none && number == 0 {
                let index = (0..none).map(|at| present(array, at)).chain([-1]);
                self.buffers.push(index.collect::<Vec<i64>>().into());
                self.value(array, field, below_nulls)?;
            } else {
                self.form(array, field, below_nulls)?;
            }
        }
        Ok(())
    }
}

impl<'a> Alternatives<'a> {
    fn rows(&mut self, union: &'a UnionArray, fields: &'a UnionFields) -> Result<Rows> {
        let mut children = Vec::with_capacity(fields.len());
        for (number, (id, field)) in fields.iter().enumerate() {
            if usize::try_from(id) != Ok(number) {
                return Err(unsupported(field));
            }
            let array = union.child(id);
            children.push(match field.data_type() {
                DataType::Null => {
                    self.or_none = true;
                    Child::None
                }
                DataType::Union(fields, _) => {
                    let inner = array.as_any().downcast_ref::<UnionArray>();
                    Child::Union(self.rows(inner.ok_or_else(|| unsupported(field))?, fields)?)
                }
                _ => {
                    let number = i8::try_from(self.pairs.len()).map_err(|_| too_large())?;
                    self.pairs.push((array, field));
                    Child::Alternative(number)
                }
            });
        }
        let row = |row: usize| {
            let id = union.type_ids().get(row).and_then(|&id| usize::try_from(id).ok());
            let child = id.and_then(|id| children.get(id)).ok_or_else(damaged)?;
            let at = match union.offsets() {
                Some(offsets) => offsets.get(row).copied().ok_or_else(damaged)?,
                None => i32::try_from(row).map_err(|_| too_large())?,
            };
            Ok(match child {
                Child::None => None,
                Child::Alternative(number) => Some((*number, at)),
                Child::Union(rows) => {
                    let at = usize::try_from(at).ok();
                    *at.and_then(|at| rows.get(at)).ok_or_else(damaged)?
                }
            })
        };
        (0..union.len()).map(row).collect()
    }
}

/// Returns the place of a value; -1 where it is null.
fn present(array: &ArrayRef, at: i32) -> i64 {
    let null = usize::try_from(at).is_ok_and(|at| at < array.len() && array.is_null(at));
    if null { -1 } else { i64::from(at) }
}

fn too_large() -> Error {
    Error::unsupported("a union has too many alternatives or values for awkward arrays")
}

fn damaged() -> Error {
    Error::out_of_spec("a union refers to values that it does not have")
}
