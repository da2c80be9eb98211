//! One branch being read: where each basket's elements go, and the Arrow array made of them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{
    ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray, PrimitiveArray,
};
use arrow_buffer::{BooleanBuffer, Buffer, MutableBuffer, OffsetBuffer, ScalarBuffer};

use super::basket::Contents;
use super::{Basket, Branch, Element, Shape, decode};
use crate::error::{Error, Result};
use crate::guard;

/// The most bytes that a basket's object size can say.
const BASKET_MAX: u64 = i32::MAX as u64;

/// A branch, what is read of it, and the place for it.
pub(crate) struct Column<'r> {
    /// The branch.
    pub branch: &'r Branch,
    /// What it reads as.
    pub shape: &'r Shape,
    /// Entries read.
    pub entries: Range<u64>,
    /// Offsets of a jagged branch in elements, from its counter: one more than entries, from 0.
    pub counts: Option<OffsetBuffer<i64>>,
    /// The baskets that hold these entries.
    pub baskets: Range<usize>,
    /// Bytes of one fixed element or array of elements; 1 for strings.
    pub stride: usize,
}

/// Where decoded elements go.
pub(crate) enum Out {
    /// Every basket's place is known beforehand.
    Placed(MutableBuffer),
    /// Sizes are only known once decoded (strings, jagged branches without a counter).
    Found(Vec<Found>),
}

/// Elements of one basket whose number was not known beforehand.
#[derive(Default)]
pub(crate) struct Found {
    /// Native elements or string bytes.
    bytes: Vec<u8>,
    /// Number of elements or bytes of each entry.
    lengths: Vec<usize>,
}

/// Where one basket's elements go.
pub(crate) enum Target<'a> {
    /// Its slice of the final buffer.
    Placed(&'a mut [u8]),
    /// Its own vector.
    Found(&'a mut Found),
}

impl<'r> Column<'r> {
    /// Prepares to read `entries` of `branch`.
    ///
    /// # Errors
    /// `Unsupported` for an unreadable branch, `InvalidArgument` for counts that do not belong to the
    /// entries, `OutOfSpecification` when the baskets do not cover the entries.
    pub(crate) fn new(
        branch: &'r Branch,
        entries: Range<u64>,
        counts: Option<OffsetBuffer<i64>>,
    ) -> Result<Self> {
        let shape = branch.shape.as_ref().map_err(|reason| Error::unsupported(reason.clone()))?;
        let rows = guard::to_usize(entries.end.saturating_sub(entries.start), "an entry range")?;
        let baskets = baskets(branch, &entries)?;
        let stride = stride(shape)?;
        let counts = counts.filter(|_| shape.counter.is_some());
        if let Some(counts) = &counts
            && (counts.len() != rows + 1 || counts.first() != 0)
        {
            return Err(Error::invalid_argument(format!(
                "{} offsets were given for {rows} entries",
                counts.len()
            )));
        }
        Ok(Self { branch, shape, entries, counts, baskets, stride })
    }

    fn len(&self) -> usize {
        (self.entries.end - self.entries.start) as usize
    }

    /// Allocates the final buffer where its size is known.
    ///
    /// # Errors
    /// `OutOfSpecification` when the baskets cannot hold so much, `LimitExceeded` when memory is short.
    pub(crate) fn allocate(&self) -> Result<Out> {
        let elements = match &self.counts {
            Some(counts) => counts.last() as u64,
            None if self.shape.counter.is_some() || self.shape.element == Element::CString => {
                return Ok(Out::Found(self.baskets.clone().map(|_| Found::default()).collect()));
            }
            None => self.len() as u64,
        };
        let bytes = elements.saturating_mul(self.stride as u64);
        if bytes > (self.baskets.len() as u64).saturating_mul(BASKET_MAX) {
            return Err(Error::out_of_spec(format!(
                "{elements} elements of {} bytes cannot be in {} baskets",
                self.stride,
                self.baskets.len()
            )));
        }
        Ok(Out::Placed(zeroed(guard::to_usize(bytes, "an array")?)?))
    }

    /// Entries of basket `index` that are read.
    pub(crate) fn rows(&self, index: usize) -> Range<u64> {
        let basket = &self.branch.baskets[index];
        let end = basket.first_entry + basket.entries;
        basket.first_entry.max(self.entries.start)..end.min(self.entries.end)
    }

    /// Elements (not bytes) of an entry range, counted from the first element read.
    fn elements(&self, rows: &Range<u64>) -> Range<usize> {
        let row = |entry: u64| (entry - self.entries.start) as usize;
        let at = |row: usize| match &self.counts {
            Some(counts) => counts[row] as usize,
            None => row,
        };
        at(row(rows.start))..at(row(rows.end))
    }

    /// The target of every basket, in order.
    pub(crate) fn targets<'a>(&self, out: &'a mut Out) -> Vec<(usize, Target<'a>)> {
        let baskets = self.baskets.clone();
        match out {
            Out::Found(found) => baskets.zip(found.iter_mut().map(Target::Found)).collect(),
            Out::Placed(buffer) => {
                let mut rest = buffer.as_slice_mut();
                let mut targets = Vec::with_capacity(baskets.len());
                for index in baskets {
                    let bytes = self.elements(&self.rows(index)).len() * self.stride;
                    let (head, tail) = std::mem::take(&mut rest).split_at_mut(bytes);
                    targets.push((index, Target::Placed(head)));
                    rest = tail;
                }
                targets
            }
        }
    }

    /// The Arrow array of what was decoded.
    ///
    /// # Errors
    /// `Unsupported` for dimensions beyond Arrow's, `LimitExceeded` when memory is short.
    pub(crate) fn finish(&self, out: Out) -> Result<ArrayRef> {
        let rows = self.len();
        let (buffer, offsets) = match out {
            Out::Placed(buffer) => (Buffer::from(buffer), self.counts.clone()),
            Out::Found(found) => {
                let unit = if self.shape.element == Element::CString { 1 } else { self.stride };
                let (buffer, offsets) = concatenate(&found, rows, unit)?;
                (buffer, Some(offsets))
            }
        };
        if self.shape.element == Element::CString {
            let offsets = offsets.unwrap_or_else(OffsetBuffer::new_empty);
            let array = LargeBinaryArray::try_new(offsets, buffer, None).map_err(arrow)?;
            return Ok(Arc::new(array));
        }
        let items = match &offsets {
            Some(offsets) => offsets.last() as usize,
            None => rows,
        };
        let array = fixed(self.shape, buffer, items)?;
        let Some(offsets) = offsets else { return Ok(array) };
        let field = Arc::new(crate::arrow::field("item", array.data_type().clone()));
        Ok(Arc::new(LargeListArray::try_new(field, offsets, array, None).map_err(arrow)?))
    }

    /// Decodes what is read of basket `index`. `skip` gives the number of elements in an entry range
    /// by the counter; it is asked only where a part is read of a basket that cannot tell itself.
    ///
    /// # Errors
    /// `OutOfSpecification` when the basket does not hold the elements that branch or counter say.
    pub(crate) fn decode(
        &self,
        index: usize,
        contents: &Contents<'_>,
        target: Target<'_>,
        skip: impl FnOnce(Range<u64>) -> Result<u64>,
    ) -> Result<()> {
        let (basket, rows) = (&self.branch.baskets[index], self.rows(index));
        let first = (rows.start - basket.first_entry) as usize;
        let last = (rows.end - basket.first_entry) as usize;
        match target {
            Target::Found(found) if self.shape.element == Element::CString => {
                strings(contents, first..last, found)
            }
            Target::Found(found) => self.decode_by_offsets(contents, first..last, found),
            Target::Placed(out) => {
                let whole = rows.start == basket.first_entry
                    && rows.end == basket.first_entry + basket.entries;
                let start = if whole {
                    0
                } else if self.counts.is_none() {
                    first * self.stride
                } else if let Some(offsets) = contents.offsets()? {
                    offsets[first]
                } else {
                    let elements = skip(basket.first_entry..rows.start)?;
                    guard::to_usize(elements.saturating_mul(self.stride as u64), "an offset")?
                };
                let input = self.take(basket, contents, start, whole, out.len())?;
                decode::copy(self.shape.element, input, out);
                Ok(())
            }
        }
    }

    /// The `length` bytes at `start` of the basket's data; all of them when it is read whole.
    fn take<'a>(
        &self,
        basket: &Basket,
        contents: &Contents<'a>,
        start: usize,
        whole: bool,
        length: usize,
    ) -> Result<&'a [u8]> {
        let have = contents.data.len();
        if self.counts.is_none() && have as u64 != basket.entries.saturating_mul(self.stride as u64)
        {
            return Err(Error::out_of_spec(format!(
                "the basket holds {have} bytes, not {} entries of {} bytes",
                basket.entries, self.stride
            )));
        }
        let end = start.checked_add(length).filter(|&end| end <= have && (!whole || end == have));
        match end {
            Some(end) => Ok(&contents.data[start..end]),
            None => Err(self.disagree(start, whole, length, have)),
        }
    }

    fn disagree(&self, start: usize, whole: bool, length: usize, have: usize) -> Error {
        let counter = self.shape.counter.as_ref().map_or("", |counter| counter.leaf.as_str());
        let name = &self.branch.name;
        let elements = self.stride;
        if elements == 0 || !have.is_multiple_of(elements) {
            return Error::out_of_spec(format!(
                "branch {name} has {have} bytes in a basket, not a whole number of elements of \
                 {elements} bytes"
            ));
        }
        let said = if whole { length } else { start.saturating_add(length) };
        let least = if whole { "" } else { " or more" };
        Error::out_of_spec(format!(
            "branch {name} says {} elements in the basket, its counter {counter} says {}{least}",
            have / elements,
            said / elements
        ))
    }

    fn decode_by_offsets(
        &self,
        contents: &Contents<'_>,
        rows: Range<usize>,
        found: &mut Found,
    ) -> Result<()> {
        let counter = self.shape.counter.as_ref().map_or("", |counter| counter.leaf.as_str());
        let Some(offsets) = contents.offsets()? else {
            return Err(Error::unsupported(format!(
                "branch {} is counted by {counter}, which cannot be read, and its baskets do not store \
                 where their entries lie",
                self.branch.name
            )));
        };
        for entry in offsets[rows.start..=rows.end].windows(2) {
            let bytes = entry[1] - entry[0];
            if self.stride == 0 || !bytes.is_multiple_of(self.stride) {
                return Err(Error::out_of_spec(format!(
                    "an entry of branch {} has {bytes} bytes, not a whole number of elements of {} bytes",
                    self.branch.name, self.stride
                )));
            }
            found.lengths.push(bytes / self.stride);
        }
        let input = &contents.data[offsets[rows.start]..offsets[rows.end]];
        found.bytes = guard::try_vec(input.len(), "a basket")?;
        decode::copy(self.shape.element, input, &mut found.bytes);
        Ok(())
    }
}

/// The baskets that hold `entries`, checked to be contiguous.
fn baskets(branch: &Branch, entries: &Range<u64>) -> Result<Range<usize>> {
    if entries.end > branch.entries {
        return Err(Error::out_of_spec(format!(
            "the branch has {} entries, entry {} was asked for",
            branch.entries,
            entries.end - 1
        )));
    }
    if entries.is_empty() {
        return Ok(0..0);
    }
    let all = &branch.baskets;
    let first = all.partition_point(|basket| {
        basket.first_entry.saturating_add(basket.entries) <= entries.start
    });
    let mut next = None;
    for (index, basket) in all.iter().enumerate().skip(first) {
        let reached = next.unwrap_or(entries.start);
        let starts_right = match next {
            None => basket.first_entry <= entries.start,
            Some(next) => basket.first_entry == next,
        };
        let end = basket.first_entry.checked_add(basket.entries);
        let Some(end) = end.filter(|&end| starts_right && end >= reached) else {
            return Err(Error::out_of_spec(format!(
                "no basket holds entry {reached}: the next one starts at entry {}",
                basket.first_entry
            ))
            .at(|place| place.basket = Some(index as u64)));
        };
        if end >= entries.end {
            return Ok(first..index + 1);
        }
        next = Some(end);
    }
    let reached = next.unwrap_or(entries.start);
    Err(Error::out_of_spec(format!("no basket holds entry {reached}, the last one ends before it")))
}

/// Bytes of one item: an element times its fixed dimensions; 1 for strings.
fn stride(shape: &Shape) -> Result<usize> {
    let size = shape.element.size().unwrap_or(1) as u64;
    let bytes = shape.dimensions.iter().try_fold(size, |bytes, &size| bytes.checked_mul(size));
    match bytes.filter(|&bytes| bytes <= BASKET_MAX) {
        Some(bytes) => guard::to_usize(bytes, "an array"),
        None => Err(Error::out_of_spec(format!(
            "an array of dimensions {:?} is larger than any basket",
            shape.dimensions
        ))),
    }
}

/// A zeroed buffer aligned for every element type, or an error when memory is short.
fn zeroed(len: usize) -> Result<MutableBuffer> {
    let words = len.div_ceil(8);
    // Ask first: a zeroed vector aborts when there is no memory, but is not touched before its use.
    Vec::<u64>::new()
        .try_reserve_exact(words)
        .map_err(|_| Error::limit(format!("cannot allocate {len} bytes for an array")))?;
    let mut buffer = MutableBuffer::from(vec![0_u64; words]);
    buffer.truncate(len);
    Ok(buffer)
}

fn concatenate(found: &[Found], rows: usize, stride: usize) -> Result<(Buffer, OffsetBuffer<i64>)> {
    let total = found.iter().map(|found| found.bytes.len()).sum();
    let mut buffer = zeroed(total)?;
    let mut offsets = Vec::with_capacity(rows + 1);
    let (mut end, mut position) = (0, 0_i64);
    offsets.push(0);
    for part in found {
        buffer.as_slice_mut()[end..end + part.bytes.len()].copy_from_slice(&part.bytes);
        end += part.bytes.len();
        for &length in &part.lengths {
            position += length as i64;
            offsets.push(position);
        }
    }
    debug_assert_eq!(position as usize * stride, total);
    Ok((Buffer::from(buffer), OffsetBuffer::new(ScalarBuffer::from(offsets))))
}

fn strings(contents: &Contents<'_>, rows: Range<usize>, found: &mut Found) -> Result<()> {
    let mut keep = |string: &[u8]| {
        found.bytes.extend_from_slice(string);
        found.lengths.push(string.len());
    };
    if let Some(offsets) = contents.offsets()? {
        for entry in offsets[rows.start..=rows.end].windows(2) {
            keep(decode::c_string(&contents.data[entry[0]..entry[1]])?);
        }
        return Ok(());
    }
    let mut rest = contents.data;
    for entry in 0..rows.end {
        let (string, tail) = decode::split_c_string(rest)?;
        rest = tail;
        if entry >= rows.start {
            keep(string);
        }
    }
    Ok(())
}

/// Native elements as `items` items of fixed dimensions.
fn fixed(shape: &Shape, buffer: Buffer, items: usize) -> Result<ArrayRef> {
    fn primitive<T: ArrowPrimitiveType>(buffer: Buffer) -> ArrayRef {
        Arc::new(PrimitiveArray::<T>::new(ScalarBuffer::from(buffer), None))
    }
    let mut array: ArrayRef = match shape.element {
        Element::Bool => {
            let bytes = buffer.as_slice();
            let bits = BooleanBuffer::collect_bool(bytes.len(), |index| bytes[index] != 0);
            Arc::new(BooleanArray::new(bits, None))
        }
        Element::Int8 => primitive::<Int8Type>(buffer),
        Element::UInt8 | Element::CString => primitive::<UInt8Type>(buffer),
        Element::Int16 => primitive::<Int16Type>(buffer),
        Element::UInt16 => primitive::<UInt16Type>(buffer),
        Element::Int32 => primitive::<Int32Type>(buffer),
        Element::UInt32 => primitive::<UInt32Type>(buffer),
        Element::Int64 => primitive::<Int64Type>(buffer),
        Element::UInt64 => primitive::<UInt64Type>(buffer),
        Element::Float32 => primitive::<Float32Type>(buffer),
        Element::Float64 => primitive::<Float64Type>(buffer),
    };
    for (depth, &size) in shape.dimensions.iter().enumerate().rev() {
        let outer = shape.dimensions[..depth].iter().product::<u64>();
        let length = items.saturating_mul(guard::to_usize(outer, "an array")?);
        let size = i32::try_from(size)
            .map_err(|_| Error::unsupported(format!("an array of {size} elements")))?;
        let field = Arc::new(crate::arrow::field("item", array.data_type().clone()));
        array = Arc::new(
            FixedSizeListArray::try_new_with_length(field, size, array, None, length)
                .map_err(arrow)?,
        );
    }
    Ok(array)
}

/// Arrow refused what was built: an inconsistency that checks above should have caught.
fn arrow(error: arrow_schema::ArrowError) -> Error {
    Error::unsupported("the elements do not form an Arrow array").with_source(error)
}
