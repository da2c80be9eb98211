//! Reads and seals one unit of work: the data of one field in a range of entries.

use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::OffsetBuffer;
use nyssa_rntuple::page::SealedColumn;
use nyssa_rntuple::schema::{FieldId, Schema};
use nyssa_rntuple::seal::{Scratch, SealSettings, seal_field, seal_offsets};
use nyssa_root::error::{Error, Result, ResultExt};
use nyssa_ttree::read::items;
use nyssa_ttree::{Reader, Shape};

use super::counters::{Counters, needed};
use super::model::{Input, OutputField, Source};
use super::streamer::{StreamerBranch, StreamerBranches};

/// The units of a conversion, and the sources of their data.
pub(super) struct Units<'a> {
    pub reader: &'a Reader,
    pub inputs: &'a [Input<'a>],
    streamed_branches: &'a StreamerBranches,
    pub schema: &'a Schema,
    pub units: &'a [OutputField],
    counters: Counters,
}

impl Input<'_> {
    /// Reads the branch. `offsets` are the offsets of its counter, if they are known.
    pub(super) fn read(
        &self,
        reader: &Reader,
        entries: Range<u64>,
        offsets: Option<&OffsetBuffer<i64>>,
    ) -> Result<ArrayRef> {
        let plain = matches!(self.branch.shape, Ok(Shape::Plain(_) | Shape::LeafList));
        if self.branch.split.is_some() || !plain && offsets.is_none() {
            return reader.read_whole(&self.path, entries);
        }
        reader.read_branch(self.branch, entries, offsets)
    }
}

/// The data that a unit read.
pub(super) enum Data {
    Array(ArrayRef),
    /// Objects, if the branch reads as objects, and their streamed bytes.
    Streamed {
        objects: Option<ArrayRef>,
        bytes: ArrayRef,
    },
    Offsets(OffsetBuffer<i64>),
}

impl<'a> Units<'a> {
    /// Makes the units of a mapped tree.
    pub(super) fn new(
        reader: &'a Reader,
        inputs: &'a [Input<'a>],
        streamed_branches: &'a StreamerBranches,
        schema: &'a Schema,
        units: &'a [OutputField],
    ) -> Self {
        let counters = Counters::new(reader, inputs, units);
        Self { reader, inputs, streamed_branches, schema, units, counters }
    }

    /// Returns whether a branch reads as another type than its field.
    pub(super) fn is_apart(&self, input: usize) -> bool {
        self.streamed_branches.get(input).is_some_and(StreamerBranch::is_apart)
    }

    /// Reads one unit. It must be called once for each unit and `cluster` with its `entries`, since units share
    /// counters, and the last unit that needs a counter frees it.
    ///
    /// # Errors
    /// Returns an error if the branch or its counter cannot be read.
    pub(super) fn read(
        &self,
        unit: &OutputField,
        cluster: usize,
        entries: &Range<u64>,
    ) -> Result<Data> {
        let offsets = needed(self.inputs, unit)
            .map(|counter| {
                self.counters.offsets(self.reader, self.inputs, counter, cluster, entries)
            })
            .transpose()?;
        let read = |index: usize| -> Result<ArrayRef> {
            let input = self.inputs.get(index).ok_or_else(|| Error::not_found("no such branch"))?;
            input.read(self.reader, entries.clone(), offsets.as_ref())
        };
        match (&unit.source, &offsets) {
            (Source::Branch(index), _) => read(*index).map(Data::Array),
            (Source::Items(index), _) => Ok(Data::Array(items(&read(*index)?)?)),
            (Source::Streamed(index), _) => {
                let streamed = self.streamed_branches.get(*index).zip(self.inputs.get(*index));
                let (streamed, input) =
                    streamed.ok_or_else(|| Error::not_found("no such branch"))?;
                let (objects, bytes) = streamed.objects(self.reader, &input.path, entries)?;
                Ok(Data::Streamed { objects, bytes })
            }
            (Source::Offsets(_), Some(offsets)) => Ok(Data::Offsets(offsets.clone())),
            (Source::Offsets(counter), None) => {
                Err(Error::not_found(format!("{} counts nothing", counter.branch)))
            }
        }
        .in_field(&self.schema.path(unit.field))
    }

    /// Seals the data that a unit read.
    ///
    /// # Errors
    /// `InvalidArgument` for data that the field cannot hold, `LimitExceeded` from the compressor.
    pub(super) fn seal(
        &self,
        unit: &OutputField,
        data: &Data,
        settings: &SealSettings,
        scratch: &mut Scratch,
    ) -> Result<Vec<SealedColumn>> {
        data.seal(self.schema, unit.field, settings, scratch)
            .in_field(&self.schema.path(unit.field))
    }
}

impl Data {
    /// Seals the data of a field.
    ///
    /// # Errors
    /// `InvalidArgument` for data that the field cannot hold, `LimitExceeded` from the compressor.
    pub(super) fn seal(
        &self,
        schema: &Schema,
        field: FieldId,
        settings: &SealSettings,
        scratch: &mut Scratch,
    ) -> Result<Vec<SealedColumn>> {
        match self {
            Self::Array(array) | Self::Streamed { bytes: array, .. } => {
                seal_field(schema, field, array, settings, scratch)
            }
            Self::Offsets(offsets) => {
                seal_offsets(schema, field, offsets, settings, scratch).map(|column| vec![column])
            }
        }
    }
}
