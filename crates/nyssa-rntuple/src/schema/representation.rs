//! Adds alternative column representations of a field (specification, "Column Description"). In each cluster one
//! representation is active, and the columns of the other representations are suppressed.

use nyssa_root::error::{Error, Result, ResultExt};

use super::{AliasColumn, Column, ColumnId, FieldId, Schema};

impl Schema {
    /// Returns the columns of each representation of a field, in order of the representation number. A
    /// projected field has the columns of its source.
    pub fn representations(&self, field: FieldId) -> impl Iterator<Item = &[ColumnId]> {
        let number = |id: &ColumnId| self.column(*id).representation;
        self.field(field).columns.chunk_by(move |a, b| number(a) == number(b))
    }

    /// Adds a representation of `field`: the same number of columns as in the other representations, of types that
    /// [`Schema::validate`] allows. `field` and `representation` of the given columns are set here. Projections of
    /// the field get alias columns. Returns the ids of the columns.
    ///
    /// # Errors
    /// `InvalidArgument` for a projected field or a field without columns, and for another number of columns.
    pub fn add_representation(
        &mut self,
        field: FieldId,
        columns: impl IntoIterator<Item = Column>,
    ) -> Result<Vec<ColumnId>> {
        let columns: Vec<Column> = columns.into_iter().collect();
        let wrong = |message: String| Error::invalid_argument(message);
        let Some(target) = self.fields.get(field.0 as usize) else {
            return Err(wrong(format!("there is no field {} in the schema", field.0)));
        };
        let needed = self.representations(field).next().map_or(0, <[ColumnId]>::len);
        if target.source.is_some() || needed == 0 || needed != columns.len() {
            return Err(wrong(format!(
                "a representation of {} columns for a field with {needed} of its own",
                columns.len()
            )))
            .in_field(&self.path(field));
        }
        let last = target.columns.last().map_or(0, |&id| self.column(id).representation);
        let representation = last
            .checked_add(1)
            .ok_or_else(|| Error::limit("a field can have 65536 representations at most"))?;
        let ids: Vec<ColumnId> = columns
            .into_iter()
            .map(|column| self.add_column(Column { field, representation, ..column }))
            .collect();
        let projections = (0u32..).map(FieldId).zip(&self.fields);
        let projections: Vec<FieldId> = projections
            .filter(|(_, projection)| projection.source == Some(field))
            .map(|(id, _)| id)
            .collect();
        for projection in projections {
            // A cardinality shows only the offsets, which are the only column of a collection.
            for &physical in &ids {
                self.add_alias(AliasColumn { physical, field: projection });
            }
        }
        Ok(ids)
    }
}
