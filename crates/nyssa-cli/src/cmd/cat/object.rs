//! Objects that are no dataset, such as histograms.

use nyssa::open;
use nyssa::open::split_path;
use nyssa::rootfile::{KeyEntry, RootFile};
use nyssa::streamer::ObjectReader;

use super::Cat;
use crate::FINE;
use crate::app::App;
use crate::data::open_file;
use crate::failure::{Failure, Result};
use crate::json_value::{self, Form, Notation};

/// The object that an argument names, if it is neither a dataset nor a directory.
pub fn find(argument: &str) -> Result<Option<(RootFile, KeyEntry)>> {
    // What has no path in it may be a folder, or a list of files.
    if split_path(argument).1.is_none() {
        return Ok(None);
    }
    let Ok((file, Some(path))) = open_file(argument) else { return Ok(None) };
    let key = crate::data::find(&file, path)?;
    let other = open::format_of(&key).is_none() && !key.is_directory();
    Ok(other.then_some((file, key)))
}

/// Prints it on one line.
pub fn print(args: &Cat, file: &RootFile, key: &KeyEntry, app: &mut App<'_>) -> Result<u8> {
    if args.entries.is_some() || args.number.is_some() || args.attributes || !args.filter.is_empty()
    {
        return Err(Failure::Usage(
            format!("{:?} is a {}, which has no entries to choose from", key.path, key.class),
            None,
        ));
    }
    let (field, array) = ObjectReader::new(file.clone()).read(key)?;
    json_value::write(app.out, &array, 0, &Notation::of_arrow(&field), Form::Object)?;
    writeln!(app.out)?;
    Ok(FINE)
}
