//! Finds narrower columns for real numbers: floats for doubles, and the integers of `Float16_t` and `Double32_t` that
//! have a range. Every value is checked when it is stored. If a value cannot be stored exactly, the conversion starts
//! again.

use nyssa_rntuple::choose;
use nyssa_rntuple::encoding::{ColumnType, Encoding};
use nyssa_rntuple::schema::{ColumnId, FieldId, Schema};
use nyssa_rntuple::seal::SealSettings;
use nyssa_root::streamer::Quantization;

use super::failures::Failures;
use super::model::{Input, OutputField};

/// The numbers that are narrowed.
pub(super) struct Narrowing<'a> {
    pub inputs: &'a [Input<'a>],
    pub failures: &'a Failures,
    /// Whether numbers with a range are always stored as integers. Then they may differ by rounding.
    pub quantize: bool,
}

impl Narrowing<'_> {
    /// Sets the narrower encodings that may be chosen for the columns of a unit, and the requested encodings.
    pub(super) fn apply(
        &self,
        unit: &OutputField,
        schema: &mut Schema,
        settings: &mut SealSettings,
    ) {
        let Some(index) = unit.input() else { return };
        let Some(input) = self.inputs.get(index) else { return };
        let failed = self.failures.too_narrow(index);
        if failed > 1 {
            return;
        }
        choose::narrow(schema, unit.field, settings);
        // The highest value of a range needs one bit more than the tree states. Then the conversion starts again.
        let quantizations = input.branch.quantizations();
        for (id, encoding) in encodings(schema, unit.field, &quantizations, failed) {
            let double = is_double(schema, id);
            let Some(settings) = settings.columns.get_mut(id.0 as usize) else { continue };
            if settings.own_type {
                continue;
            }
            if self.quantize {
                settings.own_type = true;
                settings.largest_error = Some(encoding.rounding(double));
                if let Some(column) = schema.columns.get_mut(id.0 as usize) {
                    column.set_encoding(encoding);
                }
            } else {
                settings.narrower.push(encoding);
            }
        }
    }
}

/// Returns the encodings of the columns of a field whose numbers are integers in the tree.
fn encodings(
    schema: &Schema,
    field: FieldId,
    quantizations: &[Option<Quantization>],
    more_bits: u16,
) -> Vec<(ColumnId, Encoding)> {
    let mut leaves = Vec::new();
    add_leaves(schema, field, &mut leaves);
    if leaves.len() != quantizations.len() {
        return Vec::new();
    }
    let pairs = leaves.into_iter().zip(quantizations);
    let narrowed = |(field, quantization): (FieldId, &Option<Quantization>)| {
        let encoding = encoding((*quantization)?, more_bits)?;
        match schema.field(field).columns[..] {
            [column] => Some((column, encoding)),
            _ => None,
        }
    };
    pairs.filter_map(narrowed).collect()
}

/// Appends the fields of numbers and strings, in the order of the Arrow type.
fn add_leaves(schema: &Schema, id: FieldId, leaves: &mut Vec<FieldId>) {
    let field = schema.field(id);
    match field.children[..] {
        [] if field.columns.is_empty() => {}
        [] => leaves.push(id),
        _ => field.children.iter().for_each(|&child| add_leaves(schema, child, leaves)),
    }
}

/// Returns the encoding with the integers of the tree. `value = min + integer * (max - min) / (2^bits - 1)`.
fn encoding(quantization: Quantization, more_bits: u16) -> Option<Encoding> {
    let Quantization { min, factor, bits } = quantization;
    let bits = match u16::try_from(bits).ok()? {
        // These can also store the highest value.
        32 => 32,
        less => less.checked_add(more_bits)?,
    };
    let largest = (1_u64.checked_shl(bits.into())? - 1) as f64;
    let range = (min, largest / factor + min);
    Encoding::of(ColumnType::Real32Quant, bits, Some(range)).ok()
}

fn is_double(schema: &Schema, id: ColumnId) -> bool {
    schema.column(id).column_type.map(ColumnType::unsplit_form) == Some(ColumnType::Real64)
}
