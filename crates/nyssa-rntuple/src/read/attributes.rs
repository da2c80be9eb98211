//! Reads attribute sets. They store data about ranges of entries in RNTuples that no directory lists
//! (specification 1.0.1.0).

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use nyssa_data::dataset::{CppType, Dataset};
use nyssa_root::Context;
use nyssa_root::compression::decompress_metadata;
use nyssa_root::error::{Error, Result, ResultExt};

use super::blob::{Blob, read_blobs};
use super::reader::Reader;
use crate::format::{Anchor, AttributeSet};

/// The fields of an attribute set: first entry, number of entries, and a record of the attributes.
pub const ATTRIBUTE_FIELDS: [&str; 3] = ["_rangeStart", "_rangeLen", "_userData"];

/// The major version of attribute sets that can be read. Other versions may have other layouts.
const SCHEMA_MAJOR: u16 = 1;

impl Reader {
    /// Returns the links to the attribute sets, with names, versions and positions.
    pub fn attribute_links(&self) -> &[AttributeSet] {
        &self.footer().attribute_sets
    }

    /// Opens an attribute set by name. It is an RNTuple with the fields [`ATTRIBUTE_FIELDS`] and one entry
    /// for each attribute.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` for other versions of attribute sets; an error if the set is damaged or cannot be
    /// read.
    pub fn open_attribute_set(&self, name: &str) -> Result<Self> {
        let opened = match self.attribute_links().iter().find(|link| link.name == name) {
            Some(link) => self.open_link(link),
            None => {
                let names = self.attribute_links().iter().map(|link| link.name.as_str());
                let error = Error::not_found(format!("there is no attribute set {name:?}"));
                Err(error.suggest(name, names))
            }
        };
        opened
            .at(|place| place.object = Some(format!("{}, attribute set {name}", self.name())))
            .in_file(self.file())
    }

    fn open_link(&self, link: &AttributeSet) -> Result<Self> {
        if link.schema_major != SCHEMA_MAJOR {
            return Err(Error::unsupported(format!(
                "attribute sets of version {}.{} cannot be read, only of {SCHEMA_MAJOR}",
                link.schema_major, link.schema_minor
            )));
        }
        let source = self.source();
        let Anchor { max_key_size, .. } = *self.anchor();
        let blob = Blob::new(link.locator.offset, link.locator.size, source.size(), max_key_size)?;
        let stored = read_blobs(source, &[blob])?.into_iter().next().unwrap_or_default();
        let payload = decompress_metadata(&stored, link.anchor_length as usize, "an anchor")?;
        let anchor = Anchor::parse(&payload)?;
        let set =
            Self::at_anchor(Arc::clone(source), None, link.name.clone(), anchor, self.options())?;
        let fields = set.columns().iter().map(|item| item.name.as_str());
        if !fields.clone().eq(ATTRIBUTE_FIELDS) {
            return Err(Error::out_of_spec(format!(
                "an attribute set has the fields {}, this has {}",
                ATTRIBUTE_FIELDS.join(", "),
                fields.collect::<Vec<_>>().join(", ")
            )));
        }
        Ok(set)
    }

    /// Reads the range of entries of each attribute of an attribute set, in order of the file.
    ///
    /// # Errors
    /// `OutOfSpecification` for a range beyond 2^64; an error if the set is damaged or cannot be read.
    pub fn attribute_ranges(&self, context: &Context) -> Result<Vec<Range<u64>>> {
        let [start, length, _] = ATTRIBUTE_FIELDS;
        let arrays = self.read(&[start, length], 0..self.num_entries(), context)?;
        let mut numbers = arrays.iter().map(|array| array.as_primitive_opt::<UInt64Type>());
        let (Some(Some(starts)), Some(Some(lengths))) = (numbers.next(), numbers.next()) else {
            return Err(Error::out_of_spec("ranges of attributes that are not 64-bit numbers"));
        };
        let range = |(&start, &length): (&u64, &u64)| match start.checked_add(length) {
            Some(end) => Ok(start..end),
            None => Err(Error::out_of_spec(format!("{length} entries from entry {start}"))),
        };
        starts.values().iter().zip(lengths.values()).map(range).collect()
    }

    /// Reads the attributes of a set that concern some of `entries`, in order of the file. If `entries` are all
    /// entries, reads all attributes.
    ///
    /// # Errors
    /// `NotFound`; `Unsupported` for other versions of attribute sets; an error if the set is damaged or cannot be
    /// read.
    pub fn attributes_of(
        &self,
        name: &str,
        entries: &Range<u64>,
        context: &Context,
    ) -> Result<Attributes> {
        let all = *entries == (0..self.num_entries());
        let set = self.open_attribute_set(name)?;
        let mut ranges: Vec<_> = set.attribute_ranges(context)?.into_iter().enumerate().collect();
        ranges.retain(|(_, range)| all || range.end > entries.start && range.start < entries.end);
        let [_, _, values] = ATTRIBUTE_FIELDS;
        let mut values = set.read(&[values], 0..set.num_entries(), context)?;
        let values = values.pop().ok_or_else(|| Error::out_of_spec("attributes without values"))?;
        Ok(Attributes { set, ranges, values })
    }
}

/// The attributes of one set.
pub struct Attributes {
    /// The open attribute set.
    pub set: Reader,
    /// The row in `values` and the range of entries of each attribute.
    pub ranges: Vec<(usize, Range<u64>)>,
    /// The values of all attributes of the set.
    pub values: ArrayRef,
}

impl Attributes {
    /// Returns the C++ type of the values.
    pub fn cpp_type(&self) -> CppType {
        let [_, _, values] = ATTRIBUTE_FIELDS;
        let column = self.set.find_column(values);
        column.map(|it| self.set.schema().cpp_type(it)).unwrap_or_default()
    }
}
