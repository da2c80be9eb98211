//! Sets the column types that the options request in a schema.

use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result};

use super::field_options::FieldOptions;
use super::requested_type::RequestedType;
use crate::schema::{ColumnId, Schema};

/// The maximum number of columns that an error lists.
const NAMED: usize = 4;

/// Changes the column types of fields by the options. An option applies to the fields that its glob matches and their
/// subfields, if their type allows it. The last match wins. Columns of fields that only have a compression are split
/// if they are compressed, and unsplit if not. Columns before `first` are already written and stay unchanged.
///
/// # Errors
/// `InvalidArgument` for a glob that matches no field, with suggestions, and for a choice that none of its
/// fields can have. There is no error when `first` is not the first column.
pub fn set_requested_types(
    schema: &mut Schema,
    fields: &[FieldOptions],
    compression: Compression,
    first: usize,
) -> Result<()> {
    let mut matched = Vec::with_capacity(fields.len());
    for options in fields {
        options.validate()?;
        if first == 0 {
            options.require_match(schema)?;
        }
        let columns = (0u32..).map(ColumnId).zip(options.columns(schema)).skip(first);
        let ids = columns.filter(|(_, matched)| *matched).map(|(id, _)| id);
        matched.push(ids.collect::<Vec<_>>());
    }
    let compressed = |compression: Compression| compression.setting() != 0;
    let mut own = fields.iter().filter_map(|options| options.compression);
    let differ = own.any(|own| compressed(own) != compressed(compression));
    for (options, matched) in fields.iter().zip(&matched) {
        let Some(own) = options.compression.filter(|_| differ) else { continue };
        let split = if own.setting() == 0 { RequestedType::Unsplit } else { RequestedType::Split };
        for &id in matched {
            apply(schema, id, split);
        }
    }
    for (options, matched) in fields.iter().zip(&matched) {
        let Some(choice) = options.column else { continue };
        let mut chosen = 0;
        for &id in matched {
            chosen += usize::from(apply(schema, id, choice));
        }
        if chosen == 0 && first == 0 {
            return Err(Error::invalid_argument(format!(
                "none of the fields that {:?} matches can be stored as {choice}: {}",
                options.glob(),
                stored_as(schema, matched)
            )));
        }
    }
    Ok(())
}

/// Returns text for a message: the names and types of the first few columns.
fn stored_as(schema: &Schema, columns: &[ColumnId]) -> String {
    if columns.is_empty() {
        return "they have no data of their own".to_owned();
    }
    let names = schema.shown_names();
    let text_of = |&id: &ColumnId| {
        let column = schema.column(id);
        let name = names.get(&column.field).cloned();
        let name = name.unwrap_or_else(|| schema.path(column.field));
        let type_name = &schema.field(column.field).type_name;
        let stored = column.column_type.map_or("an unknown type", |stored| stored.name());
        format!("{name} ({}, stored as {stored})", or_untyped(type_name))
    };
    let mut all = columns.iter().take(NAMED).map(text_of).collect::<Vec<_>>().join(", ");
    if columns.len() > NAMED {
        all += &format!(" and {} more", columns.len() - NAMED);
    }
    all
}

fn or_untyped(type_name: &str) -> &str {
    if type_name.is_empty() { "an untyped collection" } else { type_name }
}

/// Changes one column if the specification allows it. Returns whether the column then has the chosen type.
fn apply(schema: &mut Schema, id: ColumnId, choice: RequestedType) -> bool {
    let index = id.0 as usize;
    let Some(current) = schema.columns[index].column_type else { return false };
    let encoding = match choice {
        RequestedType::Encoding(encoding) => encoding,
        RequestedType::Split | RequestedType::Unsplit => {
            let split = choice == RequestedType::Split;
            let wanted = if split { current.split_form() } else { current.unsplit_form() };
            if wanted == current {
                return true;
            }
            wanted.into()
        }
    };
    let column = &mut schema.columns[index];
    let before = column.clone();
    column.set_encoding(encoding);
    let allowed = schema.allows_column(id);
    if !allowed {
        schema.columns[index] = before;
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::{Classes, FieldType, Leaf, SchemaBuilder};

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
        set_requested_types(&mut schema, &choices, Compression::DEFAULT, 0)?;
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

    /// Returns two members of one collection, and their projections.
    fn imported() -> Schema {
        let members = [("Jet_pt", Leaf::Float), ("Jet_id", Leaf::Int32)];
        let record = members.map(|(name, leaf)| (name.to_owned(), FieldType::Leaf(leaf))).to_vec();
        let mut builder = SchemaBuilder::new(Compression::DEFAULT);
        let list = FieldType::vector(FieldType::Record(record));
        let collection = builder.field(None, "_collection0", &list).unwrap();
        let record = builder.schema().field(collection).children[0];
        let fields = builder.schema().field(record).children.clone();
        for ((name, leaf), field) in members.into_iter().zip(fields) {
            let shown = FieldType::rvec(FieldType::Leaf(leaf));
            builder.project(name, &shown, &[collection, field]).unwrap();
        }
        builder.project("nJet", &FieldType::Cardinality32, &[collection]).unwrap();
        builder.finish()
    }

    #[test]
    fn projected_fields_mean_the_data_that_they_show() {
        let types = |glob: &str, text: &str| {
            let mut schema = imported();
            let options = [FieldOptions::new(glob).unwrap().with("column", text).unwrap()];
            set_requested_types(&mut schema, &options, Compression::DEFAULT, 0)?;
            let columns = schema.columns.iter();
            Ok::<_, Error>(columns.map(|c| c.column_type.unwrap().name()).collect::<Vec<_>>())
        };
        // All members share the offsets.
        let unsplit = ["SplitIndex64", "Real32", "SplitInt32"];
        assert_eq!(types("Jet_pt", "unsplit").unwrap(), unsplit);
        assert_eq!(types("Jet_pt._0", "unsplit").unwrap(), unsplit);
        assert_eq!(types("nJet", "Index32").unwrap(), ["Index32", "SplitReal32", "SplitInt32"]);
        let both = ["SplitIndex64", "Real32Trunc", "SplitInt32"];
        assert_eq!(types("Jet_*", "Real32Trunc:16").unwrap(), both);
        assert_eq!(types("_collection0", "unsplit").unwrap(), ["Index64", "Real32", "Int32"]);
        assert_eq!(
            types("{Jet_id,nJet}", "Real32Quant:8:0:1.5").unwrap_err().message(),
            "none of the fields that \"{Jet_id,nJet}\" matches can be stored as \
             Real32Quant:8:0:1.5: nJet (an untyped collection, stored as SplitIndex64), Jet_id \
             (std::int32_t, stored as SplitInt32)"
        );
    }

    /// Tests that columns are split if they are compressed, as in ROOT.
    #[test]
    fn compression_alone_splits_or_not() {
        let mut schema = schema();
        let options =
            |glob, name| FieldOptions::new(glob).unwrap().with("compression", name).unwrap();
        let fields = [options("Jet_*", "none"), options("Jet_n", "lz4")];
        set_requested_types(&mut schema, &fields, Compression::DEFAULT, 0).unwrap();
        let types = schema.columns.iter().map(|column| column.column_type.unwrap().name());
        let expected = ["Index64", "Real32", "SplitInt32", "SplitReal64"];
        assert_eq!(types.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_cannot_be_chosen() {
        for (glob, text, message) in [
            ("Jet_nn", "split", "no field matches \"Jet_nn\"; did you mean \"Jet_n\"?"),
            (
                "Jet_n",
                "Real16",
                "none of the fields that \"Jet_n\" matches can be stored as Real16: Jet_n \
                 (std::int32_t, stored as SplitInt32)",
            ),
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
