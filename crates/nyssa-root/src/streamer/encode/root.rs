//! Encodes classes that ROOT streams by their own code.

use super::source::{Numbers, Source};
use super::{Encoder, misfit, number, span, text};
use crate::arrow::Number;
use crate::error::{Error, Result};
use crate::streamer::basic::Basic;
use crate::streamer::node::Symmetric;
use crate::streamer::wire::IS_REFERENCED;

/// The class version of `TObject`.
const T_OBJECT: u16 = 1;
/// The class version of `TRefArray`.
const REF_ARRAY: u16 = 1;
/// The number of the first process of a file.
const FIRST_PROCESS: u16 = 0;

impl<'n> Encoder<'n> {
    /// Writes a `TObject` and returns its bits.
    pub(super) fn t_object(&mut self, source: &Source<'_>, row: usize) -> Result<u32> {
        let Source::Record(members) = source else { return Err(misfit()) };
        let [Source::Number(Numbers::UInt32(identifier)), Source::Number(Numbers::UInt32(bits))] =
            members.as_slice()
        else {
            return Err(misfit());
        };
        let (identifier, bits) = identifier.get(row).zip(bits.get(row)).ok_or_else(misfit)?;
        self.u16(T_OBJECT);
        self.out.extend_from_slice(&identifier.to_be_bytes());
        self.bits(*bits);
        Ok(*bits)
    }

    /// Writes the bits of a `TObject`, and the number of a process if the bits say that the object is referenced. Arrays
    /// do not hold this number.
    pub(super) fn bits(&mut self, bits: u32) {
        self.out.extend_from_slice(&bits.to_be_bytes());
        if bits & IS_REFERENCED != 0 {
            self.u16(self.process.unwrap_or(FIRST_PROCESS));
        }
    }

    /// Writes a `TObject` without an identifier.
    pub(super) fn new_t_object(&mut self, bits: u32) {
        self.u16(T_OBJECT);
        self.out.extend_from_slice(&[0; 4]);
        self.out.extend_from_slice(&bits.to_be_bytes());
    }

    /// Writes a `TRef`.
    pub(super) fn t_ref(&mut self, source: &Source<'_>, row: usize) -> Result<()> {
        let Source::Record(members) = source else { return Err(misfit()) };
        let [object, Source::Number(process)] = members.as_slice() else { return Err(misfit()) };
        self.t_object(object, row)?;
        number::write(Basic::Plain(Number::UInt16), process, row..row + 1, &mut self.out)
    }

    /// Writes a `TRefArray`.
    pub(super) fn t_ref_array(&mut self, source: &Source<'_>, row: usize) -> Result<()> {
        let Source::Record(members) = source else { return Err(misfit()) };
        let [
            object,
            name,
            Source::Number(lower),
            Source::Number(process),
            Source::List { offsets, item },
        ] = members.as_slice()
        else {
            return Err(misfit());
        };
        let Source::Number(references) = &**item else { return Err(misfit()) };
        let rows = span(offsets, row)?;
        let start = self.begin();
        self.u16(REF_ARRAY);
        self.t_object(object, row)?;
        self.text(text(name, row)?)?;
        self.count(rows.len())?;
        number::write(Basic::Plain(Number::Int32), lower, row..row + 1, &mut self.out)?;
        number::write(Basic::Plain(Number::UInt16), process, row..row + 1, &mut self.out)?;
        number::write(Basic::Plain(Number::UInt32), references, rows, &mut self.out)?;
        self.end(start)
    }

    /// Writes a `TMatrixTSym`: its base class, then the elements on and right of the diagonal row by row.
    pub(super) fn symmetric(
        &mut self,
        matrix: &'n Symmetric,
        source: &Source<'_>,
        row: usize,
    ) -> Result<()> {
        let Source::Record(members) = source else { return Err(misfit()) };
        let [base, Source::List { offsets, item }] = members.as_slice() else {
            return Err(misfit());
        };
        let Source::Number(elements) = &**item else { return Err(misfit()) };
        let rows = base.count(&matrix.rows, row).ok_or_else(misfit)?;
        let all = span(offsets, row)?;
        if rows.checked_mul(rows) != Some(all.len()) {
            return Err(Error::invalid_argument(format!(
                "a symmetric matrix of {rows} rows with {} elements",
                all.len()
            )));
        }
        self.object(&matrix.base, base, row)?;
        for line in 0..rows {
            let start = all.start + line * rows;
            number::write(matrix.basic, elements, start + line..start + rows, &mut self.out)?;
        }
        Ok(())
    }
}
