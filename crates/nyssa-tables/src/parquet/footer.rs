//! Reads the footer of a Parquet file, and refuses what would bring the library into trouble.

use std::sync::Arc;

use bytes::Bytes;
use nyssa_io::Source;
use nyssa_root::error::{Error, Result};
use nyssa_root::fetch::read_one;

use super::thrift::{I32, LIST, STRUCT, Thrift};
use crate::format::{ENCRYPTED, PARQUET};

/// The largest number of groups within each other. The library calls itself once for each.
const DEPTH: usize = 100;
/// The bytes at the end of a file: the length of the metadata, and `PAR1`.
const END: u64 = 8;

/// Reads the metadata at the end of a file, with their place. All lists of the metadata have the items that they claim.
///
/// # Errors
/// `OutOfSpecification` for metadata that are cut, or nested too deeply; `Unsupported` if they are encrypted; `Io`.
pub(super) fn footer(source: &Arc<dyn Source>) -> Result<(u64, Bytes)> {
    let size = source.size();
    let end = size.checked_sub(END).ok_or_else(|| damaged("it ends before its footer"))?;
    let tail = read_one(source, end..size)?;
    let (length, magic) = tail.split_at_checked(4).unwrap_or_default();
    if magic == ENCRYPTED {
        return Err(Error::unsupported("the Parquet file is encrypted: decrypt it first"));
    }
    if magic != PARQUET {
        return Err(damaged("it has no footer: it is cut, or was not closed"));
    }
    let length = <[u8; 4]>::try_from(length).map_or(0, u32::from_le_bytes);
    let start = end.checked_sub(u64::from(length)).filter(|&start| start >= PARQUET.len() as u64);
    let start = start.ok_or_else(|| damaged("its footer is larger than the file"))?;
    let bytes = read_one(source, start..size)?;
    let metadata = bytes.get(..bytes.len().saturating_sub(8)).unwrap_or_default();
    check(metadata).map_err(|error| error.map_message(text))?;
    Ok((start, bytes))
}

fn damaged(what: &str) -> Error {
    Error::out_of_spec(text(what))
}

fn text(what: &str) -> String {
    format!("the Parquet file is damaged: {what}")
}

/// Passes over all metadata.
fn check(metadata: &[u8]) -> Result<()> {
    let mut thrift = Thrift::new(metadata);
    let mut last = 0;
    while let Some((id, kind)) = thrift.field(last)? {
        match (id, kind) {
            (2, LIST) => check_schema(&mut thrift)?,
            _ => thrift.skip(kind)?,
        }
        last = id;
    }
    Ok(())
}

/// Passes over the elements of the schema: each group, then what is in it.
fn check_schema(thrift: &mut Thrift<'_>) -> Result<()> {
    let (count, kind) = thrift.list()?;
    if kind != STRUCT {
        return Err(Error::out_of_spec("the schema is no list of elements"));
    }
    // The numbers of elements that are still to come, in each group around the next element.
    let mut open: Vec<u64> = Vec::new();
    for _ in 0..count {
        let (mut children, mut last) = (0, 0);
        while let Some((id, kind)) = thrift.field(last)? {
            match (id, kind) {
                (5, I32) => children = thrift.size()?,
                _ => thrift.skip(kind)?,
            }
            last = id;
        }
        while open.last() == Some(&0) {
            open.pop();
        }
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 {
            open.push(children);
        }
        if open.len() > DEPTH {
            let message = format!("its columns are nested more than {DEPTH} times");
            return Err(Error::out_of_spec(message));
        }
    }
    Ok(())
}
