//! Writes attribute sets. They store data about ranges of entries of an RNTuple (specification 1.0.1.0, the
//! last list of the footer).
//!
//! A set is a separate RNTuple, to which only the footer of the main RNTuple has a link. An entry of the set
//! has the first entry of a range, the number of its entries, and a record of the attributes.

use std::sync::Arc;

use arrow_array::{ArrayRef, StructArray, UInt64Array};
use arrow_schema::{DataType, Fields, Schema as ArrowSchema};
use nyssa_root::Context;
use nyssa_root::arrow::field;
use nyssa_root::error::{Error, Result};

use super::{FinishedSet, RNTupleWriteOptions, TableWriter, Writer};
use crate::format::AttributeSet;
use crate::schema::Locator;
use crate::schema::{Schema, check_name};

/// The version of the layout of the set.
const SCHEMA_VERSION: (u16, u16) = (1, 0);
const RANGE_START: &str = "_rangeStart";
const RANGE_LEN: &str = "_rangeLen";
const USER_DATA: &str = "_userData";
/// The name that ROOT reserves for its own use.
const RESERVED: &str = "ROOT";

/// The writer of one attribute set. It must be finished before its RNTuple, and then given to [`Writer::link`].
pub struct AttributeSetWriter {
    table: TableWriter,
    name: String,
    fields: Fields,
    /// The largest end of all ranges.
    end: u64,
}

impl AttributeSetWriter {
    /// Starts the set `name` of the RNTuple that `main` writes. The attributes have the types of `arrow`.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not allowed, reserved or taken, and for a set without attributes; an
    /// error if the RNTuple cannot be created.
    pub fn create(
        main: &Writer,
        name: &str,
        arrow: &ArrowSchema,
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        let fields = arrow.fields().clone();
        let layout = ArrowSchema::new(vec![
            field(RANGE_START, DataType::UInt64),
            field(RANGE_LEN, DataType::UInt64),
            field(USER_DATA, DataType::Struct(fields.clone())),
        ]);
        let schema = Schema::from_arrow(&layout, options.compression)?;
        Self::with_schema(main, name, (schema, fields), options, context)
    }

    /// Starts the set `name` of the RNTuple that `main` writes, with the schema of another set and the Arrow
    /// types of its attributes.
    ///
    /// # Errors
    /// `InvalidArgument` for a name that is not allowed, reserved or taken, and for a set without attributes; an
    /// error if the RNTuple cannot be created.
    pub fn with_schema(
        main: &Writer,
        name: &str,
        (schema, fields): (Schema, Fields),
        options: RNTupleWriteOptions,
        context: &Context,
    ) -> Result<Self> {
        check_name("an attribute set", name)?;
        if name == RESERVED {
            return Err(Error::invalid_argument(format!(
                "an attribute set cannot have the name {RESERVED}, which is ROOT's own"
            )));
        }
        let options = RNTupleWriteOptions { fields: Vec::new(), ..options };
        let (file, path) = main.place();
        let path = format!("{path}:{name}");
        let writer = Writer::begin(file, path, name.to_owned(), schema, options.clone())?;
        // A set is small. Its rows are written in the order of the calls, whatever writes the RNTuple itself.
        let table = TableWriter::over(writer.settling(), options, context, None)?;
        Ok(Self { table, name: name.to_owned(), fields, end: 0 })
    }

    /// Adds ranges: their first entries, their numbers of entries (0 for a place between entries), and one
    /// array for each attribute.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays of other types or lengths; `Cancelled`; an error if the sink cannot be written.
    pub fn extend(
        &mut self,
        starts: UInt64Array,
        lengths: UInt64Array,
        values: &[ArrayRef],
    ) -> Result<()> {
        let ends = starts.values().iter().zip(lengths.values());
        let end = ends
            .map(|(start, len)| start.checked_add(*len))
            .try_fold(0, |last, end| end.map(|end| last.max(end)));
        let end = end.ok_or_else(|| Error::invalid_argument("a range ends beyond 2^64 entries"))?;
        let record = StructArray::try_new(self.fields.clone(), values.to_vec(), None)
            .map_err(|error| Error::invalid_argument(format!("attributes: {error}")))?;
        self.table.extend(&[Arc::new(starts), Arc::new(lengths), Arc::new(record)])?;
        self.end = self.end.max(end);
        Ok(())
    }

    /// Completes the set.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub fn finish(self) -> Result<FinishedSet> {
        let Self { table, name, end, .. } = self;
        let (offset, size) = table.into_writer()?.finish_unlisted()?;
        let length = u32::try_from(size).map_err(|_| Error::limit("the anchor is too long"))?;
        let (schema_major, schema_minor) = SCHEMA_VERSION;
        let locator = Locator { offset, size: size as u64 };
        let link =
            AttributeSet { schema_major, schema_minor, anchor_length: length, locator, name };
        Ok(FinishedSet::new(link, end))
    }
}
