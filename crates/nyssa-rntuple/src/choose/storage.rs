//! Defines how a column is stored, and sets it in the schema and the settings of an output.

use std::sync::Arc;

use nyssa_root::compression::Codec;
use nyssa_root::effort::{Best, Chooser, Chosen, Goal};

use super::planes::PlaneChoice;
use crate::encoding::{ColumnType, Encoding};
use crate::schema::{ColumnId, FieldId, Schema};
use crate::seal::{PlaneRun, RootStorage, SealSettings};

/// The way in which a column is stored.
#[derive(Clone, Debug)]
pub struct ColumnStorage {
    pub(crate) encoding: Encoding,
    /// Whether the encoding is narrower than the encoding of the field, so that every value has to be checked.
    pub(crate) narrower: bool,
    pub(crate) codec: Arc<Codec>,
    /// The codecs of runs of byte planes, if they differ.
    pub(super) planes: Vec<PlaneRun>,
    /// The number of compressed bytes for each byte of the sample.
    pub(super) ratio: f64,
    /// The type and codec that ROOT would use, if they differ and pages must be compared.
    pub(super) root: Option<RootStorage>,
    /// The choice, for reports.
    pub(crate) chosen: Option<Chosen>,
}

impl ColumnStorage {
    /// Returns the column type and the codec of a column, without a comparison with ROOT's storage.
    pub(crate) fn plain(RootStorage { column_type, codec, .. }: RootStorage) -> Self {
        let (encoding, planes) = (column_type.into(), Vec::new());
        Self { encoding, narrower: false, codec, planes, ratio: 1.0, root: None, chosen: None }
    }

    pub(super) fn new(encoding: Encoding, best: Best<'_>) -> Self {
        let (codec, planes, ratio) = (Arc::clone(&best.candidate.codec), Vec::new(), best.ratio());
        let chosen = Some(best.chosen);
        Self { encoding, narrower: false, codec, planes, ratio, root: None, chosen }
    }

    /// Returns the effort and the ratio, if a sample decided.
    pub fn chosen_by_sample(&self) -> Option<(&str, f64)> {
        let chosen = self.chosen.as_ref().filter(|chosen| !chosen.tried.is_empty())?;
        Some((&chosen.effort, self.ratio))
    }

    /// Compares pages with ROOT's storage: its codec, and the type `column_type` that it would use.
    pub(super) fn compared(mut self, chooser: &Chooser, column_type: ColumnType) -> Self {
        let codec = chooser.root_codec();
        let same = self.encoding.column_type == column_type
            && self.planes.is_empty()
            && Arc::ptr_eq(&self.codec, codec);
        let compared = chooser.goal() == Goal::Size && !same && !self.narrower;
        let root = RootStorage { column_type, codec: Arc::clone(codec), ratio: self.ratio };
        self.root = compared.then_some(root);
        self
    }

    /// Sets the codecs of the planes of a sample that had `packed` bytes, and describes them.
    pub(super) fn set_planes(&mut self, planes: PlaneChoice, packed: usize) {
        if let Some(chosen) = &mut self.chosen {
            let runs = planes.runs.iter().map(|run| format!("{} {}", run.count, run.name));
            chosen.effort = runs.collect::<Vec<_>>().join(" + ");
        }
        self.ratio = planes.compressed as f64 / packed.max(1) as f64;
        self.planes = planes.runs;
    }

    /// Returns whether the schema has another type for the column.
    pub(crate) fn changes_type(&self, column: ColumnId, schema: &Schema) -> bool {
        schema.column(column).column_type != Some(self.encoding.column_type)
    }

    /// Sets the type in a schema that is not written yet, and the codec in its settings. Properties that the options
    /// set for the column stay unchanged.
    pub(crate) fn apply(&self, id: ColumnId, schema: &mut Schema, settings: &mut SealSettings) {
        let own_type = settings.column(id).is_none_or(|settings| settings.own_type);
        if let Some(column) = schema.columns.get_mut(id.0 as usize)
            && !own_type
            && column.column_type != Some(self.encoding.column_type)
        {
            column.set_encoding(self.encoding);
        }
        self.apply_codec(id, settings);
        if let Some(settings) = settings.columns.get_mut(id.0 as usize)
            && self.narrower
        {
            settings.largest_error = Some(0.0);
        }
    }

    /// Sets the codec. The type of the column stays unchanged.
    pub(crate) fn apply_codec(&self, id: ColumnId, settings: &mut SealSettings) {
        if let Some(settings) = settings.columns.get_mut(id.0 as usize) {
            if !settings.own_codec {
                settings.codec = Arc::clone(&self.codec);
                settings.planes.clone_from(&self.planes);
            }
            settings.root.clone_from(&self.root);
        }
    }
}

/// The storage of some columns.
pub type Choices = Vec<(ColumnId, ColumnStorage)>;

/// Sets the choices in schema and settings. Returns their descriptions by [`ColumnId`], for reports.
pub fn apply(
    choices: impl IntoIterator<Item = (ColumnId, ColumnStorage)>,
    schema: &mut Schema,
    settings: &mut SealSettings,
) -> Vec<Option<Chosen>> {
    let mut chosen = vec![None; schema.columns.len()];
    for (column, storage) in choices {
        storage.apply(column, schema, settings);
        if let Some(chosen) = chosen.get_mut(column.0 as usize) {
            *chosen = storage.chosen;
        }
    }
    chosen
}

/// Allows columns of floats for the doubles of a field and its subfields. A value that the chosen encoding cannot
/// store exactly is refused. So this is for jobs that then start again.
pub fn narrow(schema: &Schema, field: FieldId, settings: &mut SealSettings) {
    for id in schema.columns_below(field) {
        let double = schema.column(id).column_type.map(ColumnType::unsplit_form);
        if double == Some(ColumnType::Real64)
            && let Some(settings) = settings.columns.get_mut(id.0 as usize)
        {
            settings.narrower = vec![ColumnType::SplitReal32.into(), ColumnType::Real32.into()];
        }
    }
}

/// Returns whether a field or a subfield has a column that is narrower than its numbers.
pub fn is_narrowed(schema: &Schema, field: FieldId, settings: &SealSettings) -> bool {
    let checked = |id| settings.column(id).is_some_and(|item| item.largest_error.is_some());
    schema.columns_below(field).into_iter().any(checked)
}
