//! Lists the forms in which the elements of a column can be stored: split or not, or narrower. A sample decides between
//! them.

use arrow_buffer::Buffer;
use nyssa_root::compression::Codec;
use nyssa_root::effort::SplitForm;

use crate::encoding::{ColumnType, Encoding};
use crate::seal::{ColumnData, ColumnSettings, Elements};

/// A way to store the elements of a column.
pub(super) struct Form {
    pub(super) encoding: Encoding,
    /// The elements, if the encoding takes other elements than the column.
    pub(super) data: Option<ColumnData>,
}

impl Form {
    /// Returns the name of the form, for reports, for a column with the encoding `column`.
    pub(super) fn name(&self, column: Encoding) -> SplitForm {
        let form = form_of(self.encoding.column_type);
        let same = self.encoding.column_type.unsplit_form() == column.column_type.unsplit_form();
        SplitForm { name: if same { form.name } else { self.encoding.column_type.name() }, ..form }
    }
}

/// Returns ROOT's form of a column, its counterpart, and the narrower forms that store all values of `data` exactly.
/// Without compression a split form is not smaller, so only unsplit forms count.
pub(super) fn forms(encoding: Encoding, settings: &ColumnSettings, data: &ColumnData) -> Vec<Form> {
    let (narrower, compressed) = (&settings.narrower, *settings.codec != Codec::Store);
    let first = if compressed { default_type } else { unsplit_type }(encoding.column_type);
    let mut forms: Vec<Form> = std::iter::once(first)
        .chain(counterpart(first).filter(|_| compressed))
        .map(|column_type| Form { encoding: Encoding { column_type, ..encoding }, data: None })
        .collect();
    if narrower.is_empty() {
        return forms;
    }
    let double = encoding.column_type.unsplit_form() == ColumnType::Real64;
    let reals = reals(data, double);
    for &encoding in narrower.iter().filter(|item| compressed || !item.column_type.is_split()) {
        if reals.iter().all(|&value| encoding.keeps(value, double, 0.0)) {
            forms.push(Form { encoding, data: narrowed(encoding, &reals) });
        }
    }
    forms
}

/// Returns the elements of a column of doubles, or of floats.
fn reals(data: &ColumnData, double: bool) -> Vec<f64> {
    let mut buffer = Vec::new();
    let native = data.native(0..data.len(), &mut buffer);
    match double {
        true => native.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
        false => {
            native.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect()
        }
    }
}

/// Returns the elements for a narrower encoding, if they differ from the elements of the column.
fn narrowed(encoding: Encoding, reals: &[f64]) -> Option<ColumnData> {
    if encoding.column_type == ColumnType::Real32Quant {
        return None;
    }
    let bytes = reals.iter().flat_map(|&value| (value as f32).to_le_bytes());
    let values = Buffer::from_vec(bytes.collect::<Vec<u8>>());
    Some(Elements::Bytes { values, width: size_of::<f32>() }.into())
}

/// Returns the form of a column type.
pub(super) fn form_of(column_type: ColumnType) -> SplitForm {
    let split = column_type.is_split();
    let name = match (counterpart(column_type).is_some(), split) {
        (false, _) => "",
        (_, true) => "split",
        (_, false) => "unsplit",
    };
    SplitForm { name, split }
}

/// Returns whether a sample decides between split and unsplit. Offsets always stay split, since their
/// differences are always smaller.
fn is_chosen(column_type: ColumnType) -> bool {
    use ColumnType as T;
    let numbers = !matches!(column_type.unsplit_form(), T::Index32 | T::Index64 | T::Real16);
    numbers && column_type.split_form() != column_type.unsplit_form()
}

/// Returns the counterpart of a type: the split type of an unsplit type, or the reverse.
pub(super) fn counterpart(column_type: ColumnType) -> Option<ColumnType> {
    let (split, unsplit) = (column_type.split_form(), column_type.unsplit_form());
    is_chosen(column_type).then_some(if column_type == split { unsplit } else { split })
}

/// Returns the type that ROOT uses for compressed pages with these values.
pub(crate) fn default_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.split_form() } else { column_type }
}

/// Returns the unsplit type for these values. Offsets keep their type.
pub(super) fn unsplit_type(column_type: ColumnType) -> ColumnType {
    if is_chosen(column_type) { column_type.unsplit_form() } else { column_type }
}
