//! Chooses the columns of a field in the output: ROOT's defaults for the new compression. Columns that store
//! less than the full precision keep their types.

use nyssa_rntuple::encoding::ColumnType as C;
use nyssa_rntuple::schema::{Column, Field, FieldId, Leaf, Schema, index_column};
use nyssa_root::error::{Error, Result};

/// Returns the columns of a field: the first columns of all representations, then the second columns, and so on.
pub(super) fn slots<'a>(schema: &'a Schema, field: &Field) -> Vec<Vec<&'a Column>> {
    let mut slots: Vec<Vec<&Column>> = Vec::new();
    for column in field.columns.iter().map(|&id| schema.column(id)) {
        let same = |other: &&&Column| other.representation == column.representation;
        let slot = slots.iter().filter(|columns| columns.iter().any(|c| same(&c))).count();
        match slots.get_mut(slot) {
            Some(columns) => columns.push(column),
            None => slots.push(vec![column]),
        }
    }
    slots
}

/// Returns the column that replaces `old`, which are the columns of `field` in the source with one place in each
/// representation.
///
/// # Errors
/// `Unsupported` for columns of unknown types.
pub(super) fn choose(
    id: FieldId,
    field: &Field,
    old: &[&Column],
    compressed: bool,
) -> Result<Column> {
    let known = |column: &&Column| {
        column.column_type.ok_or_else(|| {
            Error::unsupported(format!("columns of type {:#x} are not known", column.type_code))
        })
    };
    let types = old.iter().map(known).collect::<Result<Vec<_>>>()?;
    let (Some(&first), Some(&column)) = (types.first(), old.first()) else {
        return Err(Error::invalid_argument("a field has no column"));
    };
    let chosen = match first {
        C::Index32 | C::Index64 | C::SplitIndex32 | C::SplitIndex64 => index_column(compressed),
        _ => match whole(&field.type_name) {
            Some(leaf) => leaf.column_type(compressed),
            None => form(first, compressed),
        },
    };
    let full = Column::new(id, chosen);
    let alike = |(other, &other_type): (&&Column, &C)| {
        other_type.unsplit_form() == first.unsplit_form()
            && (other.bits, other.value_range) == (column.bits, column.value_range)
    };
    let real = matches!(chosen, C::Real32 | C::SplitReal32 | C::Real64 | C::SplitReal64);
    if !real || column.bits >= full.bits || !old.iter().zip(&types).all(alike) {
        return Ok(full);
    }
    let mut less = Column::new(id, form(first, compressed));
    if field.type_alias == Leaf::Double32.type_alias() && first.unsplit_form() == C::Real32 {
        less.set_type(Leaf::Double32.column_type(compressed));
    }
    (less.bits, less.value_range) = (column.bits, column.value_range);
    Ok(less)
}

/// Returns the fundamental type with this name. Its default column stores it at full precision.
fn whole(type_name: &str) -> Option<Leaf> {
    Leaf::of_name(type_name).filter(|leaf| leaf.type_alias().is_empty())
}

/// Returns the split form for compressed pages, and otherwise the unsplit form. Half precision has no split form that
/// ROOT reads.
fn form(column_type: C, compressed: bool) -> C {
    let unsplit = column_type.unsplit_form();
    if compressed { unsplit.split_form() } else { unsplit }
}

#[cfg(test)]
mod tests {
    use super::*;
    use nyssa_rntuple::schema::Structure;

    fn field(type_name: &str, type_alias: &str) -> Field {
        let type_alias = type_alias.to_owned();
        Field { type_alias, ..Field::new(None, "x", type_name, Structure::Leaf) }
    }

    fn chosen(type_name: &str, old: &[C], compressed: bool) -> C {
        let columns: Vec<_> = old.iter().map(|&old| Column::new(FieldId(0), old)).collect();
        let columns: Vec<_> = columns.iter().collect();
        let column = choose(FieldId(0), &field(type_name, ""), &columns, compressed);
        column.unwrap().column_type.unwrap()
    }

    #[test]
    fn defaults_follow_the_compression() {
        for (type_name, old, compressed, plain) in [
            ("float", C::Real32, C::SplitReal32, C::Real32),
            ("float", C::SplitReal32, C::SplitReal32, C::Real32),
            ("double", C::Real64, C::SplitReal64, C::Real64),
            ("std::int32_t", C::Int32, C::SplitInt32, C::Int32),
            ("std::int64_t", C::Int32, C::SplitInt64, C::Int64),
            ("bool", C::UInt8, C::Bit, C::Bit),
            ("std::vector<float>", C::Index32, C::SplitIndex64, C::Index64),
            ("std::string", C::Char, C::Char, C::Char),
            ("std::bitset<9>", C::Bit, C::Bit, C::Bit),
        ] {
            assert_eq!(chosen(type_name, &[old], true), compressed, "{type_name} {old:?}");
            assert_eq!(chosen(type_name, &[old], false), plain, "{type_name} {old:?}");
        }
    }

    #[test]
    fn low_precision_is_kept() {
        assert_eq!(chosen("float", &[C::Real16], true), C::Real16);
        assert_eq!(chosen("float", &[C::SplitReal16], false), C::Real16);
        assert_eq!(chosen("float", &[C::SplitReal16], true), C::Real16);
        assert_eq!(chosen("double", &[C::Real32], true), C::SplitReal32);
        assert_eq!(chosen("float", &[C::Real64], true), C::SplitReal32);
        let trunc = Column { bits: 20, ..Column::new(FieldId(0), C::Real32Trunc) };
        assert_eq!(choose(FieldId(0), &field("float", ""), &[&trunc], true).unwrap(), trunc);
        // Representations of different precision: the full precision holds both.
        assert_eq!(chosen("float", &[C::Real16, C::Real32], true), C::SplitReal32);
        assert_eq!(chosen("float", &[C::Real32, C::SplitReal32], false), C::Real32);
    }

    #[test]
    fn double32_is_as_root_writes_it() {
        let old = Column::new(FieldId(0), C::SplitReal32);
        let column = choose(FieldId(0), &field("double", "Double32_t"), &[&old], false).unwrap();
        assert_eq!(column.column_type, Some(C::SplitReal32));
    }

    #[test]
    fn slots_group_representations() {
        let mut schema = Schema::default();
        let id = schema.add_field(field("std::string", ""));
        for (number, column_type) in
            [(0, C::Index64), (0, C::Char), (1, C::SplitIndex64), (1, C::Char)]
        {
            let column = Column { representation: number, ..Column::new(id, column_type) };
            schema.add_column(column);
        }
        let slots = slots(&schema, schema.field(id));
        let types = |slot: usize| slots[slot].iter().map(|c| c.column_type.unwrap());
        assert_eq!(types(0).collect::<Vec<_>>(), [C::Index64, C::SplitIndex64]);
        assert_eq!(types(1).collect::<Vec<_>>(), [C::Char, C::Char]);
    }
}
