//! Decodes classes that ROOT streams by their own code.

use super::Decoder;
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::column::{ColumnBuilder, mismatch};
use crate::streamer::node::Symmetric;
use crate::streamer::number;
use crate::streamer::wire::{HAS_UUID, IS_REFERENCED};

impl Decoder<'_> {
    /// Reads a `TObject` and returns its bits.
    pub(super) fn t_object(&mut self, column: &mut ColumnBuilder) -> Result<u32> {
        self.cursor.version_header()?;
        let identifier = self.cursor.be_u32()?;
        let bits = self.cursor.be_u32()?;
        if bits & IS_REFERENCED != 0 {
            self.process_here();
            self.cursor.skip(2)?;
        }
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let [first, second] = members.as_mut_slice() else { return Err(mismatch()) };
        number::push_u32(first, identifier)?;
        number::push_u32(second, bits)?;
        *len += 1;
        Ok(bits)
    }

    /// Reads a `TRef`.
    pub(super) fn t_ref(&mut self, column: &mut ColumnBuilder) -> Result<()> {
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let [object, process] = members.as_mut_slice() else { return Err(mismatch()) };
        if self.t_object(object)? & HAS_UUID != 0 {
            return Err(Error::unsupported("a TRef with a UUID"));
        }
        self.process_here();
        number::read(Basic::Plain(Number::UInt16), &mut self.cursor, 1, process)?;
        *len += 1;
        Ok(())
    }

    /// Reads a `TRefArray`.
    pub(super) fn t_ref_array(&mut self, column: &mut ColumnBuilder) -> Result<()> {
        let start = self.cursor.clone();
        let header = self.cursor.version_header()?;
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let [object, name, lower, process, references] = members.as_mut_slice() else {
            return Err(mismatch());
        };
        self.t_object(object)?;
        self.text(name)?;
        let count = self.cursor.number_of(4)?;
        number::read(Basic::Plain(Number::Int32), &mut self.cursor, 1, lower)?;
        self.process_here();
        number::read(Basic::Plain(Number::UInt16), &mut self.cursor, 1, process)?;
        self.push_list(references, |decoder, items| {
            number::read(Basic::Plain(Number::UInt32), &mut decoder.cursor, count, items)
        })?;
        *len += 1;
        self.finish("TRefArray", &header, &start)
    }

    /// Reads a `TMatrixTSym`: its base class, then the elements on and right of the diagonal row by row.
    pub(super) fn symmetric(
        &mut self,
        matrix: &Symmetric,
        column: &mut ColumnBuilder,
    ) -> Result<()> {
        let ColumnBuilder::Record { len, members } = column else { return Err(mismatch()) };
        let [base, elements] = members.as_mut_slice() else { return Err(mismatch()) };
        let row = base.len();
        self.object(&matrix.base, base)?;
        let rows = base.count(&matrix.rows, row).and_then(|rows| usize::try_from(rows).ok());
        let rows = rows.ok_or_else(|| self.cursor.error("a matrix of a negative size"))?;
        // At least half of the elements are stored.
        let left = self.cursor.remaining().len();
        if rows.checked_mul(rows).is_none_or(|count| count / 2 > left) {
            return Err(self.cursor.error(format!("{rows} rows of a matrix in {left} bytes")));
        }
        let at = self.cursor.position();
        let size = matrix.basic.size();
        self.push_list(elements, |decoder, items| {
            for row in 0..rows {
                for column in 0..rows {
                    let (low, high) = (row.min(column), row.max(column));
                    // Earlier rows have `rows`, `rows - 1`, ... elements.
                    let index = low * rows - low * (low + 1) / 2 + high;
                    decoder.cursor.seek(at + index * size)?;
                    number::read(matrix.basic, &mut decoder.cursor, 1, items)?;
                }
            }
            decoder.cursor.seek(at + rows * (rows + 1) / 2 * size)
        })?;
        *len += 1;
        Ok(())
    }
}
