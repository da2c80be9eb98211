//! Writes and reads the attribute set of a kept tree.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeBinaryArray, LargeStringArray, StructArray, UInt64Array};
use arrow_schema::{DataType, Schema as ArrowSchema};
use nyssa_data::dataset::Dataset;
use nyssa_rntuple::read::{ATTRIBUTE_FIELDS, Reader};
use nyssa_rntuple::write::{AttributeSetWriter, FinishedSet, Writer};
use nyssa_root::Context;
use nyssa_root::arrow::field;
use nyssa_root::arrow::lists::byte_lists;
use nyssa_root::error::{Error, Kind, Result, ResultExt};

use super::KeptTree;
use super::rows::Row;

/// The name of the attribute set.
pub(crate) const NAME: &str = "nyssa_ttree";

/// The attributes of a row.
const KIND: &str = "kind";
const TREE_NAME: &str = "name";
const VALUE: &str = "value";
const DATA: &str = "data";

impl KeptTree {
    /// Writes the attribute set and links it to the RNTuple of `writer`.
    ///
    /// # Errors
    /// `Cancelled`; an error if the sink cannot be written.
    pub(crate) fn write(&self, writer: &mut Writer, context: &Context) -> Result<()> {
        let set = self.write_set(writer, context).in_object(NAME)?;
        writer.link(set)
    }

    fn write_set(&self, writer: &Writer, context: &Context) -> Result<FinishedSet> {
        let texts = [KIND, TREE_NAME, VALUE].map(|name| field(name, DataType::LargeUtf8));
        let fields: Vec<_> =
            texts.into_iter().chain([field(DATA, DataType::LargeBinary)]).collect();
        let (schema, options) = (ArrowSchema::new(fields), writer.options().clone());
        let mut set = AttributeSetWriter::create(writer, NAME, &schema, options, &context.quiet())?;
        let rows = self.rows()?;
        let text = |of: fn(&Row) -> &str| {
            Arc::new(LargeStringArray::from_iter_values(rows.iter().map(of))) as ArrayRef
        };
        let data = LargeBinaryArray::from_iter_values(rows.iter().map(|row| &row.data));
        let arrays =
            [text(|row| &row.kind), text(|row| &row.name), text(|row| &row.value), Arc::new(data)];
        let starts = UInt64Array::from(vec![0; rows.len()]);
        let lengths = UInt64Array::from(vec![self.entries; rows.len()]);
        set.extend(starts, lengths, &arrays)?;
        set.finish()
    }

    /// Reads what an RNTuple keeps of its TTree. Returns `None` if it keeps nothing.
    ///
    /// # Errors
    /// `Unsupported` for another version of the attribute set; `OutOfSpecification` for a set that nyssa does not
    /// write; an error if the set is damaged or cannot be read.
    pub fn of(reader: &Reader) -> Result<Option<Self>> {
        if !reader.attribute_links().iter().any(|link| link.name == NAME) {
            return Ok(None);
        }
        let kept = Context::new(Some(1)).and_then(|context| read(reader, &context));
        kept.in_file(reader.file()).in_object(&format!("{}, attribute set {NAME}", reader.name()))
    }

    /// Reads what an RNTuple keeps of its TTree. Returns `None`, with a note, for another version of the attribute set.
    ///
    /// # Errors
    /// `OutOfSpecification` for a set that nyssa does not write; an error if the set is damaged or cannot be read.
    pub(crate) fn of_known(reader: &Reader) -> Result<(Option<Self>, Option<String>)> {
        match Self::of(reader) {
            Err(error) if error.kind() == Kind::Unsupported => {
                let message = error.message();
                Ok((None, Some(format!("the attribute set {NAME} is not used: {message}"))))
            }
            kept => kept.map(|kept| (kept, None)),
        }
    }
}

fn read(reader: &Reader, context: &Context) -> Result<Option<KeptTree>> {
    let set = reader.open_attribute_set(NAME)?;
    let entries = reader.num_entries();
    let whole: Vec<bool> = {
        let ranges = set.attribute_ranges(context)?;
        ranges.into_iter().map(|range| range == (0..entries)).collect()
    };
    let [.., values] = ATTRIBUTE_FIELDS;
    let values = set.read(&[values], 0..set.num_entries(), context)?;
    let values = values.first().and_then(|array| array.as_struct_opt());
    let values = values.ok_or_else(|| wrong("its attributes are no records"))?;
    let [kinds, names, texts] = [KIND, TREE_NAME, VALUE].map(|name| column(values, name));
    let (kinds, names, texts, data) = (kinds?, names?, texts?, column(values, DATA)?);
    let mut rows = Vec::with_capacity(whole.len());
    // A tool that joins RNTuples without knowing the rows gives them parts of the entries. They say nothing about all.
    for (at, _) in whole.iter().enumerate().filter(|(_, whole)| **whole) {
        let text = |column: &[Vec<u8>]| {
            let bytes = column.get(at).cloned().unwrap_or_default();
            String::from_utf8(bytes).map_err(|_| wrong("a text is not UTF-8"))
        };
        rows.push(Row {
            kind: text(&kinds)?,
            name: text(&names)?,
            value: text(&texts)?,
            data: data.get(at).cloned().unwrap_or_default(),
        });
    }
    if rows.is_empty() {
        return Ok(None);
    }
    KeptTree::of_rows(rows, entries).map(Some)
}

/// Returns the bytes of each row of a column.
fn column(values: &StructArray, name: &str) -> Result<Vec<Vec<u8>>> {
    let array = values.column_by_name(name);
    let array = array.ok_or_else(|| wrong(&format!("it has no attribute {name}")))?;
    if array.null_count() != 0 {
        return Err(wrong(&format!("its attribute {name} has missing values")));
    }
    let lists = byte_lists(array).transpose()?;
    let (offsets, bytes) =
        lists.ok_or_else(|| wrong(&format!("its attribute {name} is no text and no bytes")))?;
    let range = |at: usize| {
        let place = |at| usize::try_from(offsets.get(at)).unwrap_or(usize::MAX);
        bytes.as_slice().get(place(at)..place(at + 1)).map(<[u8]>::to_vec)
    };
    let all = (0..array.len()).map(range).collect::<Option<Vec<_>>>();
    all.ok_or_else(|| wrong(&format!("its attribute {name} has wrong offsets")))
}

fn wrong(what: &str) -> Error {
    Error::out_of_spec(format!("it is no description of a TTree: {what}"))
}
