//! Column types that the user asks for, by field.
//!
//! | text | columns |
//! |---|---|
//! | `split`, `unsplit` | of the same numbers, as byte planes or not |
//! | `Int16`, `Real32`, `SplitIndex32`, … | of this type |
//! | `Real16` | half precision: relative error at most 2^-11 for values from 2^-14 to 65504 |
//! | `Real32Trunc:BITS` | 10 to 31 bits: relative error below 2^-(BITS - 9), towards zero |
//! | `Real32Quant:BITS:MIN:MAX` | 1 to 32 bits: absolute error at most (MAX - MIN) / (2^BITS - 1) / 2; values outside are refused |

use std::str::FromStr;

use super::FieldOptions;
use crate::compression::Compression;
use crate::encoding::{ColumnType, Encoding};
use crate::error::{Error, Result};
use crate::guard::did_you_mean;
use crate::schema::{ColumnId, Schema};

/// A choice for columns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnChoice {
    /// The split form of what they are.
    Split,
    /// The unsplit form of what they are.
    Unsplit,
    /// A type with its bits and range of values.
    Encoding(Encoding),
}

impl FromStr for ColumnChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "split" => return Ok(Self::Split),
            "unsplit" => return Ok(Self::Unsplit),
            _ => {}
        }
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let names = || ColumnType::ALL.iter().map(|known| known.name());
        let known = ColumnType::ALL.iter().find(|known| known.name() == name);
        let column_type = *known.ok_or_else(|| {
            let near = did_you_mean(name, names().chain(["split", "unsplit"]));
            Error::invalid_argument(format!("{text:?} is not a column type{near}"))
        })?;
        let wrong = || {
            Error::invalid_argument(format!(
                "{text:?}: Real32Trunc takes bits, as in \"Real32Trunc:16\", Real32Quant bits and \
                 a range, as in \"Real32Quant:12:0:1\", others nothing"
            ))
        };
        let numbers = parts.map(|part| part.parse::<f64>().map_err(|_| wrong()));
        let numbers = numbers.collect::<Result<Vec<_>>>()?;
        let bits = |bits: f64| match bits {
            bits if bits.fract() == 0.0 && (1.0..=32.0).contains(&bits) => Ok(bits as u16),
            _ => Err(wrong()),
        };
        let (bits, range) = match (column_type, &numbers[..]) {
            (ColumnType::Real32Trunc, &[count]) => (bits(count)?, None),
            (ColumnType::Real32Quant, &[count, min, max]) => (bits(count)?, Some((min, max))),
            (ColumnType::Real32Trunc | ColumnType::Real32Quant, _) => return Err(wrong()),
            (_, []) => (column_type.bits(), None),
            _ => return Err(wrong()),
        };
        let encoding = Encoding::of(column_type, bits, range);
        encoding.map(Self::Encoding).map_err(|error| Error::invalid_argument(error.message()))
    }
}

/// Changes the column types of fields as their options say: each choice holds for the fields that its
/// glob matches and what is below them, as far as their type allows it, and the last that matches
/// wins. Without a choice, the columns of fields with a compression of their own are split when
/// compressed and unsplit when not. Columns before `first` have been written and stay.
///
/// # Errors
/// `InvalidArgument` for a glob that matches no field, with the nearest paths, and for a choice that
/// none of the fields it matches can have; not when only later columns are looked at.
pub(crate) fn choose_columns(
    schema: &mut Schema,
    fields: &[FieldOptions],
    compression: Compression,
    first: usize,
) -> Result<()> {
    let mut matched = Vec::with_capacity(fields.len());
    for options in fields {
        options.validate()?;
        matched.push(match first {
            0 => options.matches_some(schema)?,
            _ => options.matches(schema),
        });
    }
    let ids = |matched: &[bool], schema: &Schema| -> Vec<ColumnId> {
        let columns = (0u32..).map(ColumnId).zip(&schema.columns).skip(first);
        let ids = columns.filter(|(_, column)| matched.get(column.field.0 as usize) == Some(&true));
        ids.map(|(id, _)| id).collect()
    };
    let compressed = |compression: Compression| compression.setting() != 0;
    let mut own = fields.iter().filter_map(|options| options.compression);
    let differ = own.any(|own| compressed(own) != compressed(compression));
    for (options, matched) in fields.iter().zip(&matched) {
        let Some(own) = options.compression.filter(|_| differ) else { continue };
        let split = if own.setting() == 0 { ColumnChoice::Unsplit } else { ColumnChoice::Split };
        for id in ids(matched, schema) {
            apply(schema, id, split);
        }
    }
    for (options, matched) in fields.iter().zip(&matched) {
        let Some(choice) = options.column else { continue };
        let mut chosen = 0;
        for id in ids(matched, schema) {
            chosen += usize::from(apply(schema, id, choice));
        }
        if chosen == 0 && first == 0 {
            return Err(Error::invalid_argument(format!(
                "none of the fields that {:?} matches can have such columns",
                options.glob()
            )));
        }
    }
    Ok(())
}

/// Changes one column where the specification allows it; whether it is as chosen.
fn apply(schema: &mut Schema, id: ColumnId, choice: ColumnChoice) -> bool {
    let index = id.0 as usize;
    let Some(current) = schema.columns[index].column_type else { return false };
    let encoding = match choice {
        ColumnChoice::Encoding(encoding) => encoding,
        ColumnChoice::Split | ColumnChoice::Unsplit => {
            let wanted = split(current, choice == ColumnChoice::Split);
            if wanted == current {
                return true;
            }
            wanted.into()
        }
    };
    let column = &mut schema.columns[index];
    let before = column.clone();
    column.set_type(encoding.column_type);
    column.bits = encoding.bits;
    column.value_range = encoding.range;
    let allowed = schema.allows_column(id);
    if !allowed {
        schema.columns[index] = before;
    }
    allowed
}

/// The split or unsplit type of the same numbers.
fn split(column_type: ColumnType, split: bool) -> ColumnType {
    use ColumnType as C;
    const PAIRS: [(ColumnType, ColumnType); 11] = [
        (C::Int16, C::SplitInt16),
        (C::UInt16, C::SplitUInt16),
        (C::Int32, C::SplitInt32),
        (C::UInt32, C::SplitUInt32),
        (C::Int64, C::SplitInt64),
        (C::UInt64, C::SplitUInt64),
        (C::Real16, C::SplitReal16),
        (C::Real32, C::SplitReal32),
        (C::Real64, C::SplitReal64),
        (C::Index32, C::SplitIndex32),
        (C::Index64, C::SplitIndex64),
    ];
    let pair = PAIRS.iter().find(|(plain, planes)| [*plain, *planes].contains(&column_type));
    match (pair, split) {
        (Some((_, planes)), true) => *planes,
        (Some((plain, _)), false) => *plain,
        (None, _) => column_type,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Classes, FieldType, SchemaBuilder};

    fn schema() -> Schema {
        let mut builder = SchemaBuilder::new(Compression::DEFAULT);
        for (name, of) in [("Jet_pt", "std::vector<float>"), ("Jet_n", "int"), ("run", "double")] {
            let of = FieldType::parse(of, &Classes::default()).unwrap();
            builder.field(None, name, &of).unwrap();
        }
        builder.finish()
    }

    fn types(choices: &[(&str, &str)]) -> Result<Vec<(&'static str, u16)>> {
        let mut schema = schema();
        let choices =
            choices.iter().map(|(glob, text)| FieldOptions::new(glob)?.with("column", text));
        let choices = choices.collect::<Result<Vec<_>>>()?;
        choose_columns(&mut schema, &choices, Compression::DEFAULT, 0)?;
        schema.validate()?;
        let columns = schema.columns.iter();
        Ok(columns.map(|column| (column.column_type.unwrap().name(), column.bits)).collect())
    }

    #[test]
    fn choices_by_glob() {
        assert_eq!(
            types(&[("Jet_*", "unsplit"), ("Jet_pt", "Real32Trunc:16")]).unwrap(),
            [("Index64", 64), ("Real32Trunc", 16), ("Int32", 32), ("SplitReal64", 64)]
        );
        assert_eq!(
            types(&[("*", "Index32"), ("r*", "Real32Quant:12:-1:1"), ("Jet_n", "Int16")]).unwrap(),
            [("Index32", 32), ("SplitReal32", 32), ("Int16", 16), ("Real32Quant", 12)]
        );
    }

    /// As ROOT does for the whole: split where it is compressed.
    #[test]
    fn compression_alone_splits_or_not() {
        let mut schema = schema();
        let options =
            |glob, name| FieldOptions::new(glob).unwrap().with("compression", name).unwrap();
        let fields = [options("Jet_*", "none"), options("Jet_n", "lz4")];
        choose_columns(&mut schema, &fields, Compression::DEFAULT, 0).unwrap();
        let types = schema.columns.iter().map(|column| column.column_type.unwrap().name());
        let expected = ["Index64", "Real32", "SplitInt32", "SplitReal64"];
        assert_eq!(types.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_cannot_be_chosen() {
        for (glob, text, message) in [
            ("Jet_nn", "split", "no field matches \"Jet_nn\"; did you mean \"Jet_n\"?"),
            ("Jet_n", "Real16", "none of the fields that \"Jet_n\" matches can have such columns"),
            ("run", "Real33", "\"Real33\" is not a column type; did you mean"),
            ("run", "Real32Trunc", "\"Real32Trunc\": Real32Trunc takes bits"),
            ("run", "Real32Trunc:9", "Real32Trunc column has 9 bits on storage"),
            ("run", "Real32Quant:8:1:0", "Real32Quant column has 1 to 0 as its range"),
        ] {
            let error = types(&[(glob, text)]).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
    }
}
