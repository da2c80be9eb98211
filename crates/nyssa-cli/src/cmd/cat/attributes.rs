//! The attributes of entries.

use std::ops::Range;

use nyssa::Context;
use nyssa::dataset::Dataset;
use nyssa::rntuple::read::{ATTRIBUTE_FIELDS, Reader};

use super::Printer;
use crate::app::App;
use crate::failure::Result;
use crate::json_value::{self, Form, Notation};

/// Prints the attributes of all sets that are about some of `entries`; all attributes when these are all
/// entries.
pub fn print(
    reader: &Reader,
    entries: &Range<u64>,
    context: &Context,
    printer: &mut Printer<'_>,
    app: &mut App<'_>,
) -> Result<()> {
    let all = *entries == (0..reader.num_entries());
    for link in reader.attribute_links() {
        let set = reader.open_attribute_set(&link.name)?;
        let ranges = set.attribute_ranges(context)?;
        let [_, _, values] = ATTRIBUTE_FIELDS;
        let notation = set.columns().iter().find(|item| item.name == values);
        let notation =
            notation.and_then(|item| item.field.as_ref().ok()).zip(set.schema().find(values));
        let notation = notation
            .map(|(field, id)| Notation::of_field(set.schema(), id, field))
            .unwrap_or_default();
        for values in set.read(&[values], 0..set.num_entries(), context)? {
            for (row, range) in ranges.iter().enumerate() {
                if !all && (range.end <= entries.start || range.start >= entries.end) {
                    continue;
                }
                printer.start(app.out)?;
                if printer.form == Form::Lines {
                    app.out.write_all(b"{\"attribute_set\":")?;
                    serde_json::to_writer(&mut *app.out, &link.name)
                        .map_err(std::io::Error::from)?;
                    let (start, end) = (range.start, range.end);
                    write!(app.out, ",\"entries\":[{start},{end}],\"values\":")?;
                }
                json_value::write(app.out, &values, row, &notation, printer.form)?;
                if printer.form == Form::Lines {
                    app.out.write_all(b"}\n")?;
                }
            }
        }
    }
    Ok(())
}
