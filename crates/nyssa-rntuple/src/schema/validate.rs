//! Checks the structural rules of a schema (specification, "Field Description", "Column Description", "Mapping of C++
//! Types to Fields and Columns").

use std::collections::HashSet;

use nyssa_root::error::{Error, Result, ResultExt};

use super::column_rules::{self as rules, Rule};
use super::{Column, ColumnId, Field, FieldId, Schema, Structure, check_name};
use crate::encoding::ColumnType;

/// The maximum number of alternatives of a variant (specification, "std::variant").
pub const MAX_ALTERNATIVES: usize = 125;

impl Schema {
    /// Checks every structural rule of the specification. A top-level field with parts of a later
    /// specification (unknown structure or column type) is not checked, and neither are its projections.
    /// Readers refuse such fields by name.
    ///
    /// # Errors
    /// `OutOfSpecification` with the path of the field.
    pub fn validate(&self) -> Result<()> {
        let unknown = self.unknown_trees();
        let known = |id: FieldId| !unknown[id.0 as usize];
        self.check_links()?;
        self.check_names()?;
        for (id, field) in (0u32..).map(FieldId).zip(&self.fields) {
            let known_source = field.source.is_none_or(known);
            if known(id) && known_source {
                self.check_field(id, field).at(|place| place.field = Some(self.path(id)))?;
            }
        }
        Ok(())
    }

    /// Returns the physical columns of a field and of all fields below it.
    pub fn columns_below(&self, field: FieldId) -> Vec<ColumnId> {
        let field = self.field(field);
        let children = field.children.iter().flat_map(|&child| self.columns_below(child));
        field.columns.iter().copied().chain(children).collect()
    }

    /// Returns, for each field, whether its top-level field has unknown parts. Parents come before their
    /// subfields.
    fn unknown_trees(&self) -> Vec<bool> {
        let mut root = Vec::with_capacity(self.fields.len());
        for (index, field) in self.fields.iter().enumerate() {
            root.push(field.parent.map_or(index, |parent| root[parent.0 as usize]));
        }
        let mut unknown = vec![false; self.fields.len()];
        for (field, &root) in self.fields.iter().zip(&root) {
            let column = |id: &ColumnId| self.column(*id).column_type.is_none();
            if matches!(field.structure, Structure::Unknown(_)) || field.columns.iter().any(column)
            {
                unknown[root] = true;
            }
        }
        root.into_iter().map(|root| unknown[root]).collect()
    }

    /// Checks that physical columns belong to fields that are not projected, and alias columns to projected
    /// fields.
    fn check_links(&self) -> Result<()> {
        for (index, column) in self.columns.iter().enumerate() {
            if self.field(column.field).source.is_some() {
                return Err(wrong(format!("physical column {index} of a projected field"))
                    .at(|place| place.field = Some(self.path(column.field))));
            }
        }
        for alias in &self.aliases {
            let field = self.field(alias.field);
            let holder = self.column(alias.physical).field;
            if field.source != Some(holder) {
                return Err(wrong(format!(
                    "alias column of physical column {}, which does not belong to the source of \
                     the projection",
                    alias.physical.0
                ))
                .at(|place| place.field = Some(self.path(alias.field))));
            }
        }
        Ok(())
    }

    fn check_names(&self) -> Result<()> {
        let mut seen = HashSet::new();
        for (id, field) in (0u32..).map(FieldId).zip(&self.fields) {
            let name = check_name("a field", &field.name).map_err(|error| wrong(error.message()));
            name.at(|place| place.field = Some(format!("number {}", id.0)))?;
            if !seen.insert((field.parent, field.name.as_str())) {
                return Err(wrong("a second field of this name")
                    .at(|place| place.field = Some(self.path(id))));
            }
        }
        Ok(())
    }

    fn check_field(&self, id: FieldId, field: &Field) -> Result<()> {
        let children = field.children.len();
        let rule = match field.structure {
            Structure::Leaf => leaf_rule(field)?,
            Structure::Collection => {
                expect_children(children, 1..=1, "a collection")?;
                rules::INDEX
            }
            Structure::Record => rules::NONE,
            Structure::Variant => {
                expect_children(children, 1..=MAX_ALTERNATIVES, "a variant")?;
                rules::SWITCH
            }
            Structure::Streamer => {
                expect_children(children, 0..=0, "a streamer field")?;
                rules::STREAMER
            }
            Structure::Unknown(_) => return Ok(()),
        };
        if field.array_size.is_some() && field.structure != Structure::Leaf {
            return Err(wrong("an array that is not a leaf"));
        }
        self.check_columns(field, rule)?;
        self.check_projection(id, field)
    }

    /// Returns whether the type of a column's field allows the column type, its bits and its range.
    pub(crate) fn allows_column(&self, id: ColumnId) -> bool {
        let holder = self.column(id).field;
        self.check_field(holder, self.field(holder)).is_ok()
    }

    fn check_columns(&self, field: &Field, rule: Rule) -> Result<()> {
        let columns: Vec<&Column> = field.columns.iter().map(|id| self.column(*id)).collect();
        if rule.is_empty() {
            return match columns.len() {
                0 => Ok(()),
                count => Err(wrong(format!("{count} columns where none belongs"))),
            };
        }
        if columns.is_empty() || !columns.len().is_multiple_of(rule.len()) {
            return Err(wrong(format!(
                "{} columns where {} belong to each representation",
                columns.len(),
                rule.len()
            )));
        }
        for (representation, group) in columns.chunks(rule.len()).enumerate() {
            for (column, allowed) in group.iter().zip(rule) {
                if usize::from(column.representation) != representation {
                    return Err(wrong(format!(
                        "column of representation {} where {representation} has to come",
                        column.representation
                    )));
                }
                check_column(column, allowed)?;
            }
        }
        Ok(())
    }

    fn check_projection(&self, id: FieldId, field: &Field) -> Result<()> {
        if let (Some(parent), None) = (field.parent, field.source)
            && self.field(parent).source.is_some()
        {
            return Err(wrong("a field that is not projected inside a projected field"));
        }
        let Some(source_id) = field.source else { return Ok(()) };
        let source = self.field(source_id);
        if source.source.is_some() {
            return Err(wrong("a projection of a projection"));
        }
        if is_array(field) || is_array(source) || field.structure == Structure::Variant {
            return Err(wrong("a projection of a variant or an array"));
        }
        let cardinality = rules::is_cardinality(&field.type_name);
        let fits = match cardinality {
            true => source.structure == Structure::Collection,
            false => source.structure == field.structure,
        };
        if !fits {
            return Err(wrong(format!(
                "a projection of {:?} as {:?}",
                source.structure, field.structure
            )));
        }
        let same_type = !matches!(field.structure, Structure::Leaf | Structure::Streamer)
            || cardinality
            || source.type_name == field.type_name && source.array_size == field.array_size;
        if !same_type {
            return Err(wrong(format!(
                "a projection of type {} as {}",
                source.type_name, field.type_name
            )));
        }
        if self.counted_by(id) != self.counted_by(source_id) {
            return Err(wrong(format!(
                "a projection from {}, which lies in other collections, arrays or variants",
                self.path(source_id)
            )));
        }
        Ok(())
    }

    /// Returns the surrounding collections, arrays and variants of a field, outermost last. They determine how many
    /// values the field has. A projected collection counts as its source.
    fn counted_by(&self, id: FieldId) -> Vec<FieldId> {
        let mut above = Vec::new();
        let mut next = self.field(id).parent;
        while let Some(id) = next {
            let field = self.field(id);
            if matches!(field.structure, Structure::Collection | Structure::Variant)
                || is_array(field)
            {
                above.push(field.source.unwrap_or(id));
            }
            next = field.parent;
        }
        above
    }
}

/// Returns whether a field is a fixed-size array with a subfield. A bitset has a size, too, but no subfield.
fn is_array(field: &Field) -> bool {
    field.array_size.is_some() && !field.children.is_empty()
}

/// Returns the rule for the columns of a leaf, by its type. Arrays, atomics and enums have a subfield and no
/// columns. There is no rule for unknown types.
fn leaf_rule(field: &Field) -> Result<Rule> {
    let children = field.children.len();
    if field.type_name.starts_with("std::bitset<") {
        expect_children(children, 0..=0, "a bitset")?;
        if field.array_size.is_none() {
            return Err(wrong("a bitset without a size"));
        }
        return Ok(rules::BITS);
    }
    if field.array_size.is_some() {
        expect_children(children, 1..=1, "an array")?;
        return Ok(rules::NONE);
    }
    match rules::of_leaf(&field.type_name) {
        Some(rule) => {
            expect_children(children, 0..=0, "a fundamental type")?;
            Ok(rule)
        }
        None => {
            expect_children(children, 1..=1, "an atomic or enum")?;
            Ok(rules::NONE)
        }
    }
}

fn check_column(column: &Column, allowed: &[ColumnType]) -> Result<()> {
    let Some(column_type) = column.column_type else { return Ok(()) };
    let name = column_type.name();
    if !allowed.contains(&column_type) {
        return Err(wrong(format!("a column of type {name} does not belong here")));
    }
    let bits = rules::bits(column_type);
    if !bits.contains(&column.bits) {
        return Err(wrong(format!(
            "a column of type {name} has {} bits, but {} to {} are allowed",
            column.bits,
            bits.start(),
            bits.end()
        )));
    }
    match column.value_range {
        None if column_type == ColumnType::Real32Quant => {
            Err(wrong(format!("a {name} column without a range of values")))
        }
        Some((min, max)) if !(min.is_finite() && max.is_finite() && min <= max) => {
            Err(wrong(format!("a {name} column of the range {min} to {max}")))
        }
        _ => Ok(()),
    }
}

fn expect_children(
    count: usize,
    allowed: std::ops::RangeInclusive<usize>,
    what: &str,
) -> Result<()> {
    if allowed.contains(&count) {
        return Ok(());
    }
    Err(wrong(format!("{what} with {count} subfields")))
}

fn wrong(message: impl Into<String>) -> Error {
    Error::out_of_spec(format!("schema: {}", message.into()))
}
