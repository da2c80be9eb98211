//! The attributes of entries.

use std::ops::Range;

use nyssa::Context;
use nyssa::dataset::Dataset;
use nyssa::rntuple::read::{ATTRIBUTE_FIELDS, Attributes, Reader};

use super::Printer;
use crate::app::App;
use crate::failure::Result;
use crate::json_value::{self, Form, Notation};

/// Prints the attributes of all sets that concern some of `entries`.
pub fn print(
    reader: &Reader,
    entries: &Range<u64>,
    context: &Context,
    printer: &mut Printer<'_>,
    app: &mut App<'_>,
) -> Result<()> {
    for link in reader.attribute_links() {
        let Attributes { set, ranges, values } =
            reader.attributes_of(&link.name, entries, context)?;
        let [_, _, field] = ATTRIBUTE_FIELDS;
        let notation =
            set.find_column(field).map(|item| Notation::of_column(Some(set.schema()), item));
        let notation = notation.unwrap_or_default();
        for (row, range) in ranges {
            printer.start(app.out)?;
            if printer.form == Form::Lines {
                app.out.write_all(b"{\"attribute_set\":")?;
                serde_json::to_writer(&mut *app.out, &link.name).map_err(std::io::Error::from)?;
                let (start, end) = (range.start, range.end);
                write!(app.out, ",\"entries\":[{start},{end}],\"values\":")?;
            }
            json_value::write(app.out, &values, row, &notation, printer.form)?;
            if printer.form == Form::Lines {
                app.out.write_all(b"}\n")?;
            }
        }
    }
    Ok(())
}
