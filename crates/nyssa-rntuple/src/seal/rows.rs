//! Holds the elements of some rows, and cuts ranges of rows out of them.

use std::ops::Range;

use super::elements::Elements;
use super::shred::Shred;
use crate::schema::{FieldId, Schema, Structure};

/// The memory of a buffer beside its bytes.
const HEADER: usize = 128;

/// The elements of all columns for some rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    count: usize,
    /// The columns in the order of [`super::shred()`].
    shreds: Vec<Shred>,
}

impl Rows {
    /// Makes rows of the elements of all top-level fields, in order.
    pub(crate) fn new(count: usize, shreds: Vec<Shred>) -> Self {
        Self { count, shreds }
    }

    /// Returns the number of rows.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the elements of all rows.
    pub(crate) fn shreds(&self) -> &[Shred] {
        &self.shreds
    }

    /// Returns the number of bytes that the elements take when they are copied.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |item: &Shred| {
            (item.elements.len() * item.elements.native_width() + size_of::<Shred>() + HEADER)
                as u64
        };
        self.shreds.iter().map(bytes).sum()
    }

    /// Copies the elements that borrow arrays, so that the arrays may change.
    pub(crate) fn own(&mut self) {
        self.shreds.iter_mut().for_each(|shred| shred.elements.own());
    }

    /// Returns the elements of a range of rows, without copying. They are equal to the elements of slices of the arrays.
    pub(crate) fn cut(
        &self,
        schema: &Schema,
        fields: &[FieldId],
        rows: Range<usize>,
    ) -> Vec<Shred> {
        let mut cutter = Cutter { schema, rest: &self.shreds, out: Vec::new() };
        fields.iter().for_each(|&field| cutter.field(field, rows.clone()));
        cutter.out
    }
}

/// Walks through the fields as [`super::shred()`] does.
struct Cutter<'a> {
    schema: &'a Schema,
    /// The columns of the fields to come.
    rest: &'a [Shred],
    out: Vec<Shred>,
}

impl Cutter<'_> {
    /// Cuts the columns of a field and its subfields, for a range of its values.
    fn field(&mut self, id: FieldId, values: Range<usize>) {
        let field = self.schema.field(id);
        if field.source.is_some() {
            return;
        }
        let is_own = |element: &&Shred| self.schema.column(element.column).field == id;
        let (own, rest) = self.rest.split_at(self.rest.iter().take_while(is_own).count());
        self.rest = rest;
        let size = field.array_size.filter(|_| field.structure == Structure::Leaf).unwrap_or(1);
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let values = values.start.saturating_mul(size)..values.end.saturating_mul(size);
        let mut items = values.clone();
        if let Some(first) = own.first() {
            self.push(first, values.clone());
            match &first.elements {
                Elements::Offsets(offsets) => {
                    let item = |at| usize::try_from(offsets.get(at) - offsets.get(0)).unwrap_or(0);
                    items = item(values.start)..item(values.end);
                }
                Elements::Tags(tags) => {
                    for (tag, &child) in (1u8..).zip(&field.children) {
                        let count =
                            |tags: &[u8]| tags.iter().filter(|&&other| other == tag).count();
                        let start = count(&tags[..values.start.min(tags.len())]);
                        let end = count(&tags[..values.end.min(tags.len())]);
                        self.field(child, start..end);
                    }
                    return;
                }
                Elements::Bytes { .. } | Elements::Bits(_) => {}
            }
        }
        // The characters of a string are a column of its field.
        for other in own.iter().skip(1) {
            self.push(other, items.clone());
        }
        field.children.iter().for_each(|&child| self.field(child, items.clone()));
    }

    fn push(&mut self, shred: &Shred, range: Range<usize>) {
        let elements = shred.elements.cut(range);
        self.out.push(Shred { column: shred.column, elements });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::builder::{Int32Builder, ListBuilder, StringBuilder};
    use arrow_array::{
        ArrayRef, BooleanArray, FixedSizeListArray, Float32Array, Int32Array, StructArray,
    };
    use arrow_schema::{DataType, Field};
    use nyssa_root::compression::Compression;

    use super::super::settings::SealSettings;
    use super::super::shred::shred;
    use super::*;
    use crate::schema::{FieldType, Leaf, SchemaBuilder};

    fn texts(rows: usize) -> ArrayRef {
        let mut lists = ListBuilder::new(StringBuilder::new());
        for row in 0..rows {
            (0..row % 3).for_each(|item| lists.values().append_value("x".repeat(row + item)));
            lists.append(true);
        }
        Arc::new(lists.finish())
    }

    fn optional(rows: usize) -> ArrayRef {
        let mut numbers = Int32Builder::new();
        (0..rows as i32).for_each(|row| numbers.append_option((row % 2 == 0).then_some(row)));
        Arc::new(numbers.finish())
    }

    /// Cuts are the elements of slices of the arrays, by definition of the two.
    #[test]
    fn a_cut_is_the_elements_of_a_slice() {
        const ROWS: usize = 23;
        let int = FieldType::Leaf(Leaf::Int32);
        let record = FieldType::Record(vec![
            ("flag".to_owned(), FieldType::Leaf(Leaf::Bool)),
            ("texts".to_owned(), FieldType::vector(FieldType::String)),
        ]);
        let variant = FieldType::Variant(vec![FieldType::String, int.clone()]);
        let flags: ArrayRef =
            Arc::new(BooleanArray::from_iter((0..ROWS).map(|i| Some(i % 3 == 1))));
        let members = [("flag", flags), ("texts", texts(ROWS))];
        let members = members.map(|(name, array)| {
            (Arc::new(Field::new(name, array.data_type().clone(), true)), array)
        });
        let item = Arc::new(Field::new("item", DataType::Float32, false));
        let floats = Float32Array::from_iter_values((0..3 * ROWS).map(|i| i as f32));
        let numbers = Int32Array::from_iter_values(0..ROWS as i32);
        let columns: Vec<(FieldType, ArrayRef)> = vec![
            (int.clone(), Arc::new(numbers)),
            (record, Arc::new(StructArray::from(members.to_vec()))),
            (
                FieldType::array(FieldType::Leaf(Leaf::Float), 3),
                Arc::new(FixedSizeListArray::new(item, 3, Arc::new(floats), None)),
            ),
            (FieldType::Optional(Box::new(int)), optional(ROWS)),
            (variant, optional(ROWS)),
        ];
        let mut builder = SchemaBuilder::new(Compression::DEFAULT);
        for (at, (field_type, _)) in columns.iter().enumerate() {
            builder.field(None, &format!("c{at}"), field_type).unwrap();
        }
        let schema = builder.finish();
        let settings = SealSettings::new(&schema, Compression::DEFAULT, 1 << 16);
        let fields: Vec<FieldId> = schema.top_level().map(|(id, _)| id).collect();
        let shreds = |rows: Range<usize>| -> Vec<Shred> {
            let arrays = fields.iter().zip(&columns);
            let sliced =
                arrays.map(|(&field, (_, array))| (field, array.slice(rows.start, rows.len())));
            let shreds =
                sliced.map(|(field, array)| shred(&schema, field, &array, &settings).unwrap());
            shreds.flatten().collect()
        };
        let native = |shreds: Vec<Shred>| -> Vec<_> {
            let bytes = shreds.into_iter().map(|Shred { column, elements }| {
                let elements = elements.placed(&mut Vec::new());
                let mut bytes = Vec::new();
                elements.append_native(0..elements.len(), 0, &mut bytes);
                (column, elements.last_offset(), bytes)
            });
            bytes.collect()
        };
        let mut all = Rows::new(ROWS, shreds(0..ROWS));
        for owned in [false, true] {
            if owned {
                all.own();
            }
            for rows in [0..ROWS, 0..0, 0..1, 5..6, 7..19, 22..ROWS, ROWS..ROWS] {
                let cut = all.cut(&schema, &fields, rows.clone());
                assert_eq!(native(cut), native(shreds(rows.clone())), "{rows:?}");
            }
        }
    }
}
