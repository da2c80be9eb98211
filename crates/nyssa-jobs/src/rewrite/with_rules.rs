//! Adds the members that read rules make to the classes in the schema of the output.

use arrow_schema::{DataType, Field as ArrowField};
use nyssa_data::dataset::Dataset;
use nyssa_data::view::ReadRule;
use nyssa_rntuple::schema::{Classes, FieldId, FieldType, Nullable, SchemaBuilder, Structure};
use nyssa_root::compression::Compression;
use nyssa_root::error::{Error, Result, ResultExt};

use super::target::OutputSchema;

impl OutputSchema {
    /// Adds the members that `ruled` has and the source does not have. `ruled` is the source read with `rules`. An
    /// existing member keeps its type, even if a rule computes its values. A class gets the version that its rule
    /// states.
    ///
    /// # Errors
    /// `Unsupported` for types that RNTuple does not have.
    pub(super) fn add_made(
        &mut self,
        ruled: &dyn Dataset,
        rules: &[ReadRule],
        compression: Compression,
    ) -> Result<()> {
        let stored = self.schema.top_level().filter(|(_, field)| field.source.is_none());
        let stored: Vec<_> = stored.map(|(id, field)| (id, field.name.clone())).collect();
        for (id, name) in stored {
            let item = ruled.columns().iter().find(|item| item.name == name);
            if let Some(Ok(field)) = item.map(|item| &item.field) {
                self.extend(id, field, rules, compression)?;
            }
        }
        Ok(())
    }

    fn extend(
        &mut self,
        id: FieldId,
        shown: &ArrowField,
        rules: &[ReadRule],
        compression: Compression,
    ) -> Result<()> {
        let field = self.schema.field(id).clone();
        match (field.structure, shown.data_type()) {
            // An optional value has the shape of the value.
            (Structure::Collection, _) if shown.is_nullable() => {
                let shown = shown.clone().with_nullable(false);
                let mut inner = field.children.iter();
                inner.try_for_each(|&child| self.extend(child, &shown, rules, compression))
            }
            (Structure::Collection, DataType::LargeList(item))
            | (Structure::Leaf, DataType::FixedSizeList(item, _)) => {
                let mut inner = field.children.iter();
                inner.try_for_each(|&child| self.extend(child, item, rules, compression))
            }
            (Structure::Variant, DataType::Union(members, _)) => {
                // The first child of the union means that there is no value.
                let mut pairs = field.children.iter().zip(members.iter().skip(1));
                pairs.try_for_each(|(&child, (_, member))| {
                    self.extend(child, member, rules, compression)
                })
            }
            (Structure::Record, DataType::Struct(members)) => {
                for (index, member) in members.iter().enumerate() {
                    let known = field.children.get(index).copied();
                    match known.filter(|&child| self.schema.field(child).name == *member.name()) {
                        Some(child) => self.extend(child, member, rules, compression)?,
                        None => self.add(id, member, compression)?,
                    }
                }
                let (class, version) = (&field.type_name, field.type_version);
                let applied = rules.iter().filter(|rule| rule.applies(class, version));
                for rule in applied {
                    let class = &mut self.schema.fields[id.0 as usize];
                    class.type_version = rule.target_version().unwrap_or(version);
                    // The checksum belongs to the class without the new members.
                    class.type_checksum = None;
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Adds a member.
    fn add(&mut self, id: FieldId, member: &ArrowField, compression: Compression) -> Result<()> {
        let of = FieldType::from_arrow_with(member, &Classes::default(), Nullable::Optional);
        let of = of.in_field(&self.schema.path(id))?;
        let mut builder = SchemaBuilder::extending(std::mem::take(&mut self.schema), compression);
        let added = builder.field(Some(id), member.name(), &of);
        self.schema = builder.finish();
        added?;
        let source = *self
            .sources
            .get(id.0 as usize)
            .ok_or_else(|| Error::invalid_argument("a rule is for a field that is not written"))?;
        self.sources.resize(self.schema.fields.len(), source);
        Ok(())
    }
}
