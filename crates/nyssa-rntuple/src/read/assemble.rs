//! Makes Arrow arrays from the streams of a field. Elements are not copied, except for cardinalities and optional
//! values.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, NullArray,
    PrimitiveArray, StructArray, UInt32Array, UInt64Array, UnionArray, make_array, types,
};
use arrow_buffer::{BooleanBuffer, Buffer, OffsetBuffer, ScalarBuffer};
use arrow_data::transform::MutableArrayData;
use arrow_schema::{DataType, Field as ArrowField, Fields};
use nyssa_root::arrow::with_number;
use nyssa_root::error::{Error, Result};
use nyssa_root::guard::to_usize;

use super::element::Element;
use super::execute::Data;
use super::shape::{CollectionForm, Node, NodeKind, StreamSlot, array_size, union_fields};

/// The largest number of items without members that the collections of one read may have.
const MOST_EMPTY: usize = 1 << 24;

/// Makes the array of `node` with `length` elements.
///
/// # Errors
/// `OutOfSpecification` if columns have different numbers of elements, or if streamed objects cannot be decoded. The
/// entry in the place of an error is a row of this array.
pub(super) fn assemble(node: &Node, streams: &[Data], length: usize) -> Result<ArrayRef> {
    match &node.kind {
        NodeKind::Values(slot) => values(slot, streams, length),
        NodeKind::Bitset { bits, size } => {
            let bits = booleans(bits, streams, times(length, *size)?)?;
            let item = Arc::new(ArrowField::new("item", DataType::Boolean, false));
            fixed_size(item, *size, bits, length)
        }
        NodeKind::Cardinality { offsets, wide } => {
            cardinality(offsets_of(offsets, streams, length)?, *wide)
        }
        NodeKind::Record(members) => record(members, streams, length),
        NodeKind::Variant { switch, alternatives } => {
            variant(switch, alternatives, streams, length)
        }
        NodeKind::Array { size, item } => {
            let count = times(length, *size)?;
            check_empty(item, count)?;
            let items = assemble(item, streams, count)
                .map_err(|error| error.move_entry(|row| row.checked_div(*size)))?;
            fixed_size(item.item_field(), *size, items, length)
        }
        NodeKind::List { offsets, item, form } => {
            let offsets = offsets_of(offsets, streams, length)?;
            let count = to_usize(u64::try_from(offsets.last()).unwrap_or(u64::MAX), "collection")?;
            check_empty(item, count)?;
            let items = || {
                assemble(item, streams, count)
                    .map_err(|error| error.move_entry(|row| owner(offsets, row)))
            };
            match (form, &item.kind) {
                (CollectionForm::String | CollectionForm::Streamer(_), NodeKind::Values(slot)) => {
                    let (bytes, _) = buffer(slot, streams, count)?;
                    let strings = LargeBinaryArray::try_new(offsets.clone(), bytes, None);
                    Ok(Arc::new(strings.map_err(arrow)?))
                }
                (CollectionForm::Object(layout), NodeKind::Values(slot)) => {
                    let (bytes, _) = buffer(slot, streams, count)?;
                    layout.decode(&bytes, offsets)
                }
                (CollectionForm::Optional, _) => optional(offsets, &items()?),
                _ => {
                    let (field, items) = (item.item_field(), items()?);
                    let list = LargeListArray::try_new(field, offsets.clone(), items, None);
                    Ok(Arc::new(list.map_err(arrow)?))
                }
            }
        }
    }
}

/// Refuses many items that take no bytes. Only the schema or an offset gives their number, and programs that print or
/// convert them visit all of them.
fn check_empty(item: &Node, count: usize) -> Result<()> {
    if count <= MOST_EMPTY || !item.is_empty() {
        return Ok(());
    }
    Err(Error::limit(format!("{count} items of a class without members take no bytes")))
}

fn values(slot: &StreamSlot, streams: &[Data], length: usize) -> Result<ArrayRef> {
    macro_rules! primitive {
        ($type:ty) => {{
            let (buffer, length) = buffer(slot, streams, length)?;
            let values = ScalarBuffer::new(buffer, 0, length);
            Arc::new(PrimitiveArray::<$type>::try_new(values, None).map_err(arrow)?)
        }};
    }
    Ok(match slot.stream.element {
        Element::Number(number) => {
            with_number!(number, T => primitive!(T), bool => booleans(slot, streams, length)?)
        }
        Element::Byte => primitive!(types::UInt8Type),
        Element::Float16 | Element::Index | Element::Switch => return Err(internal()),
    })
}

fn record(members: &[(String, Node)], streams: &[Data], length: usize) -> Result<ArrayRef> {
    if members.is_empty() {
        return Ok(Arc::new(StructArray::new_empty_fields(length, None)));
    }
    let fields: Fields = members.iter().map(|(name, node)| node.arrow_field(name)).collect();
    let arrays = members.iter().map(|(_, node)| assemble(node, streams, length));
    let arrays = arrays.collect::<Result<Vec<_>>>()?;
    Ok(Arc::new(StructArray::try_new(fields, arrays, None).map_err(arrow)?))
}

fn fixed_size(
    item: Arc<ArrowField>,
    size: u64,
    items: ArrayRef,
    length: usize,
) -> Result<ArrayRef> {
    let size = array_size(size);
    let array = FixedSizeListArray::try_new_with_length(item, size, items, None, length);
    Ok(Arc::new(array.map_err(arrow)?))
}

fn cardinality(offsets: &OffsetBuffer<i64>, wide: bool) -> Result<ArrayRef> {
    let pairs = offsets.iter().zip(offsets.iter().skip(1));
    // The offsets never decrease, so the differences are correct as unsigned numbers.
    let sizes = pairs.map(|(start, end)| (end - start) as u64);
    if wide {
        return Ok(Arc::new(UInt64Array::from_iter_values(sizes)));
    }
    let mut largest = 0;
    let narrow = sizes.map(|size| {
        largest |= size;
        size as u32
    });
    let narrow = narrow.collect::<Vec<_>>();
    if u32::try_from(largest).is_err() {
        return Err(Error::out_of_spec("the size of a collection does not fit 32 bits"));
    }
    Ok(Arc::new(UInt32Array::from(narrow)))
}

fn variant(
    slot: &StreamSlot,
    alternatives: &[(String, Node)],
    streams: &[Data],
    length: usize,
) -> Result<ArrayRef> {
    let Data::Switches(switches) = stream(slot, streams)? else { return Err(internal()) };
    same(switches.tags.len(), length)?;
    if switches.highest_tag() > alternatives.len() {
        return Err(Error::out_of_spec(format!(
            "a variant of {} alternatives holds number {}",
            alternatives.len(),
            switches.highest_tag()
        )));
    }
    let none: ArrayRef = Arc::new(NullArray::new(switches.without));
    let some = alternatives.iter().enumerate().map(|(number, (_, node))| {
        let values = assemble(node, streams, to_usize(switches.values(number), "variants")?)
            .map_err(|error| error.move_entry(|row| switches.owner(number, row)))?;
        switches.arrange(number, values)
    });
    let children = std::iter::once(Ok(none)).chain(some).collect::<Result<Vec<_>>>()?;
    let (tags, offsets) = (switches.tags.clone(), switches.offsets.clone());
    let union = UnionArray::try_new(union_fields(alternatives), tags, Some(offsets), children);
    Ok(Arc::new(union.map_err(arrow)?))
}

/// Returns the list that contains an item.
fn owner(offsets: &OffsetBuffer<i64>, item: u64) -> Option<u64> {
    let item = i64::try_from(item).ok()?;
    let after = offsets.partition_point(|&offset| offset <= item);
    Some(after.checked_sub(1)? as u64)
}

/// Makes nullable values from collections of zero or one values.
fn optional(offsets: &OffsetBuffer<i64>, values: &ArrayRef) -> Result<ArrayRef> {
    let data = values.to_data();
    let mut output = MutableArrayData::new(vec![&data], true, offsets.len());
    for pair in offsets.windows(2) {
        let start = to_usize(u64::try_from(pair[0]).unwrap_or(u64::MAX), "offset")?;
        match pair[1] - pair[0] {
            0 => output.try_extend_nulls(1).map_err(arrow)?,
            1 => output.try_extend(0, start, start + 1).map_err(arrow)?,
            size => {
                return Err(Error::out_of_spec(format!("an optional field has {size} values")));
            }
        }
    }
    Ok(make_array(output.freeze()))
}

fn booleans(slot: &StreamSlot, streams: &[Data], length: usize) -> Result<ArrayRef> {
    match stream(slot, streams)? {
        Data::Bits(bits) => {
            same(bits.len(), length)?;
            Ok(Arc::new(BooleanArray::new(BooleanBuffer::clone(bits), None)))
        }
        _ => Err(internal()),
    }
}

fn buffer(slot: &StreamSlot, streams: &[Data], expected: usize) -> Result<(Buffer, usize)> {
    match stream(slot, streams)? {
        Data::Values { buffer, length } => {
            same(*length, expected)?;
            Ok((buffer.clone(), expected))
        }
        _ => Err(internal()),
    }
}

fn offsets_of<'a>(
    slot: &StreamSlot,
    streams: &'a [Data],
    length: usize,
) -> Result<&'a OffsetBuffer<i64>> {
    match stream(slot, streams)? {
        Data::Offsets { offsets, .. } => {
            same(offsets.len().saturating_sub(1), length)?;
            Ok(offsets)
        }
        _ => Err(internal()),
    }
}

fn stream<'a>(slot: &StreamSlot, streams: &'a [Data]) -> Result<&'a Data> {
    slot.index.and_then(|index| streams.get(index)).ok_or_else(internal)
}

fn same(length: usize, expected: usize) -> Result<()> {
    if length == expected {
        return Ok(());
    }
    Err(Error::out_of_spec(format!("a column has {length} elements where {expected} are expected")))
}

fn times(length: usize, size: u64) -> Result<usize> {
    length
        .checked_mul(to_usize(size, "array")?)
        .ok_or_else(|| Error::limit("an array does not fit in memory"))
}

fn arrow(error: arrow_schema::ArrowError) -> Error {
    Error::out_of_spec("columns do not fit together").with_source(error)
}

fn internal() -> Error {
    Error::out_of_spec("a column does not have the form that its field needs")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::FieldId;
    use nyssa_root::error::Kind;

    #[test]
    fn items_without_bytes_are_bounded() {
        let node = |kind| Node { field: FieldId(0), kind, type_name: None };
        let array = |size, item| node(NodeKind::Array { size, item: Box::new(item) });
        let empty = || node(NodeKind::Record(Vec::new()));
        assert_eq!(assemble(&array(3, empty()), &[], 2).unwrap().len(), 2);
        let nested = array(1 << 13, array(1 << 12, empty()));
        for node in [array(1 << 30, empty()), nested] {
            let error = assemble(&node, &[], 1).unwrap_err();
            assert_eq!(error.kind(), Kind::LimitExceeded, "{error}");
        }
    }
}
