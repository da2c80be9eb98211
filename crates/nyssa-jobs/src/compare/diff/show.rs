//! Shows values as text, for reports.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt8Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use nyssa_root::arrow::with_integer_type;

use super::compare::{lists, same, single};

/// The number of items of a list that are shown.
const ITEMS: usize = 8;
/// The number of bytes of a string that are shown.
const TEXT: usize = 80;

/// Returns entry `index` of `array` as text.
pub(super) fn value(array: &dyn Array, index: usize) -> String {
    if index >= array.len() {
        return "nothing".to_owned();
    }
    let entry = array.slice(index, 1);
    match entry.data_type() {
        DataType::Boolean => entry.as_boolean().value(0).to_string(),
        DataType::Float16 | DataType::Float32 => {
            let value = single(&entry).value(0);
            nan(value.is_nan(), format!("{value:?}"), format!("{:#010x}", value.to_bits()))
        }
        DataType::Float64 => {
            let value = entry.as_primitive::<Float64Type>().value(0);
            nan(value.is_nan(), format!("{value:?}"), format!("{:#018x}", value.to_bits()))
        }
        DataType::FixedSizeList(..) => list(entry.as_fixed_size_list().values()),
        DataType::Struct(fields) => {
            let members: Vec<_> = fields
                .iter()
                .zip(entry.as_struct().columns())
                .map(|(field, column)| format!("{}: {}", field.name(), value(column, 0)))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        DataType::Union(..) => value(&entry.as_union().value(0), 0),
        DataType::Null => "none".to_owned(),
        DataType::Binary | DataType::LargeBinary | DataType::Utf8 | DataType::LargeUtf8 => {
            text(&entry)
        }
        other => with_integer_type!(other,
        T => entry.as_primitive::<T>().value(0).to_string(),
        _ => match lists(&entry) {
            Some(lists) => list(&lists.items),
            None => format!("a {other}"),
        }),
    }
}

fn nan(is_nan: bool, value: String, bits: String) -> String {
    if is_nan { format!("NaN ({bits})") } else { value }
}

fn list(items: &ArrayRef) -> String {
    let mut shown: Vec<_> = (0..items.len().min(ITEMS)).map(|index| value(items, index)).collect();
    if items.len() > ITEMS {
        shown.push(format!("... {} in all", items.len()));
    }
    format!("[{}]", shown.join(", "))
}

fn text(entry: &ArrayRef) -> String {
    let Some(lists) = lists(entry) else { return String::new() };
    let bytes = lists.items.as_primitive::<UInt8Type>().values();
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT)]).into_owned();
    let more = if bytes.len() > TEXT { "..." } else { "" };
    format!("{text:?}{more}")
}

/// Returns entry `index` of both arrays as text. If the entries are lists of equal length, the text shows only the
/// first item that differs. The result is the place of the item (such as `[3][0]`, empty for the whole entry) and the
/// two values.
pub(super) fn narrowed(a: &dyn Array, b: &dyn Array, index: usize) -> (String, String, String) {
    let mut place = String::new();
    let mut pair = (a.slice(index.min(a.len()), 1.min(a.len().saturating_sub(index))), {
        b.slice(index.min(b.len()), 1.min(b.len().saturating_sub(index)))
    });
    while let Some((a, b)) = items(&pair.0).zip(items(&pair.1)) {
        if a.len() != b.len() {
            break;
        }
        let item = (0..a.len()).find(|&item| !same(&a.slice(item, 1), &b.slice(item, 1)));
        let Some(item) = item else { break };
        place.push_str(&format!("[{item}]"));
        pair = (a.slice(item, 1), b.slice(item, 1));
    }
    (place, value(&pair.0, 0), value(&pair.1, 0))
}

/// Returns the items of the only entry of a list array, or `None` for other types.
fn items(entry: &ArrayRef) -> Option<ArrayRef> {
    match entry.data_type() {
        _ if entry.is_empty() => None,
        DataType::List(_) | DataType::LargeList(_) => lists(entry).map(|lists| lists.items),
        DataType::FixedSizeList(..) => Some(entry.as_fixed_size_list().values().clone()),
        _ => None,
    }
}
