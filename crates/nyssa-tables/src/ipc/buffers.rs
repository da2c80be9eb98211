//! Says how many buffers each column of a record batch has, and how large they are.

use arrow_ipc::{MetadataVersion, RecordBatch};
use arrow_schema::{DataType, UnionMode};
use nyssa_root::error::{Error, Result};

/// The buffers of a column in a record batch.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnBuffers {
    /// The first byte of each buffer within the body of the message, and the stored bytes.
    pub(super) places: Vec<(u64, u64)>,
}

/// Divides the buffers of a record batch among columns of some types.
///
/// # Errors
/// `OutOfSpecification` for a batch with too few buffers.
pub(super) fn of_columns<'t>(
    batch: &RecordBatch<'_>,
    version: MetadataVersion,
    types: impl Iterator<Item = &'t DataType>,
) -> Result<Vec<ColumnBuffers>> {
    let mut buffers = batch.buffers().into_iter().flatten();
    let mut variadic = batch.variadicBufferCounts().into_iter().flatten();
    let has_validity = version < MetadataVersion::V5;
    let mut column = |data_type: &DataType| {
        let count = count(data_type, has_validity, &mut variadic);
        let places = (0..count).map(|_| {
            let buffer = buffers.next();
            let place = buffer.and_then(|buffer| {
                let (at, length) = (buffer.offset(), buffer.length());
                Some((u64::try_from(at).ok()?, u64::try_from(length).ok()?))
            });
            place.ok_or_else(|| {
                Error::out_of_spec("the Arrow file is damaged: a record batch lacks buffers")
            })
        });
        Ok(ColumnBuffers { places: places.collect::<Result<_>>()? })
    };
    types.map(&mut column).collect()
}

/// Returns the number of buffers of a type. Unions had a buffer of validity before version 5. Views have as many as
/// `variadic` says next.
fn count(
    data_type: &DataType,
    has_validity: bool,
    variadic: &mut impl Iterator<Item = i64>,
) -> u64 {
    let mut below = |child: &DataType| count(child, has_validity, variadic);
    match data_type {
        DataType::Null => 0,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => 3,
        DataType::Utf8View | DataType::BinaryView => {
            u64::try_from(variadic.next().unwrap_or(0)).unwrap_or(0).saturating_add(2)
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::Map(item, _) => {
            below(item.data_type()).saturating_add(2)
        }
        DataType::ListView(item) | DataType::LargeListView(item) => {
            below(item.data_type()).saturating_add(3)
        }
        DataType::FixedSizeList(item, _) => below(item.data_type()).saturating_add(1),
        DataType::Struct(members) => {
            members.iter().map(|member| below(member.data_type())).fold(1, u64::saturating_add)
        }
        DataType::Union(members, mode) => {
            let own = u64::from(*mode == UnionMode::Dense) + u64::from(has_validity) + 1;
            let members = members.iter().map(|(_, member)| below(member.data_type()));
            members.fold(own, u64::saturating_add)
        }
        DataType::RunEndEncoded(ends, values) => {
            below(ends.data_type()).saturating_add(below(values.data_type()))
        }
        _ => 2,
    }
}
