//! Seals samples of columns for `rntuple::choose`, and sets the chosen encodings and codecs in schema and
//! settings.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;

use super::column_data::ColumnData;
use super::seal::ColumnPlan;
use super::settings::RootStorage;
use super::shred::shred;
use super::{Scratch, SealSettings};
use crate::compression::Codec;
use crate::error::Result;
use crate::rntuple::choose::{
    Best, Chooser, Chosen, Objective, SampleSize, SplitForm, counterpart, default_type, sample,
    unsplit_type,
};
use crate::rntuple::encoding::{ColumnType, Encoding};
use crate::rntuple::schema::{ColumnId, FieldId, Schema};

/// The way in which a column is stored.
#[derive(Clone, Debug)]
pub(crate) struct ColumnStorage {
    pub(crate) column_type: ColumnType,
    pub(crate) codec: Arc<Codec>,
    /// The type and codec that ROOT would use, if they differ and pages are to be compared.
    root: Option<RootStorage>,
    /// The choice, for reports.
    pub(crate) chosen: Option<Chosen>,
}

impl ColumnStorage {
    /// Returns the column type and the codec of a column, without a comparison with ROOT's.
    pub(super) fn plain(storage: RootStorage) -> Self {
        let RootStorage { column_type, codec } = storage;
        Self { column_type, codec, root: None, chosen: None }
    }

    fn new(column_type: ColumnType, best: Best<'_>) -> Self {
        let codec = Arc::clone(&best.candidate.codec);
        Self { column_type, codec, root: None, chosen: Some(best.chosen) }
    }

    /// Returns whether the schema has another type for the column.
    pub(super) fn changes_type(&self, column: ColumnId, schema: &Schema) -> bool {
        schema.column(column).column_type != Some(self.column_type)
    }

    /// Sets the type in a schema that is not written yet, and the codec in its settings. Properties that the
    /// options set for the column stay.
    pub(crate) fn apply(&self, id: ColumnId, schema: &mut Schema, settings: &mut SealSettings) {
        let own_type = settings.column(id).is_none_or(|settings| settings.own_type);
        if let Some(column) = schema.columns.get_mut(id.0 as usize)
            && !own_type
            && column.column_type != Some(self.column_type)
        {
            column.set_type(self.column_type);
        }
        self.apply_codec(id, settings);
    }

    /// Sets the codec. The type of the column stays.
    pub(super) fn apply_codec(&self, id: ColumnId, settings: &mut SealSettings) {
        if let Some(settings) = settings.columns.get_mut(id.0 as usize) {
            if !settings.own_codec {
                settings.codec = Arc::clone(&self.codec);
            }
            settings.root.clone_from(&self.root);
        }
    }
}

/// Chooses the storage of a column with the elements `data`. It seals the elements `sample` in several ways.
///
/// # Errors
/// The errors of sealing.
pub(super) fn choose_column(
    chooser: &Chooser,
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    sample: Range<usize>,
    scratch: &mut Scratch,
) -> Result<ColumnStorage> {
    let (encoding, settings) = (plan.encoding(), plan.settings());
    let own = settings.own_codec.then(|| chooser.with_codec(&settings.codec));
    let chooser = own.as_ref().unwrap_or(chooser);
    let mut types = vec![encoding.column_type];
    if chooser.objective() == Objective::Size && !settings.own_type {
        let default = default_type(encoding.column_type);
        types = std::iter::once(default).chain(counterpart(default)).collect();
    }
    let forms: Vec<SplitForm> =
        types.iter().map(|&column_type| SplitForm::of(column_type)).collect();
    let best = if sample.is_empty() {
        chooser.unseen()
    } else {
        let uncompressed = encoding.packed_size(sample.len()) as f64;
        chooser.choose(&forms, |form, candidate| {
            let encoding = Encoding { column_type: types[form], ..encoding };
            let page = plan.seal_as(&encoding, &candidate.codec, data, sample.clone(), scratch)?;
            Ok(SampleSize { uncompressed, compressed: page.bytes.len() as u64 })
        })?
    };
    let default = RootStorage { column_type: types[0], codec: Arc::clone(chooser.default_codec()) };
    let mut storage = ColumnStorage::new(types[best.form], best);
    let same =
        storage.column_type == default.column_type && Arc::ptr_eq(&storage.codec, &default.codec);
    storage.root = (chooser.objective() == Objective::Size && !same).then_some(default);
    Ok(storage)
}

/// Chooses the storage of each column of `field` and its subfields. `values` are some values of the field. It
/// is for writers that seal with [`super::seal_field`], before the schema is written.
///
/// # Errors
/// The same as [`super::seal_field`].
pub(crate) fn choose_field(
    chooser: &Chooser,
    schema: &Schema,
    field: FieldId,
    values: &ArrayRef,
    settings: &SealSettings,
    scratch: &mut Scratch,
) -> Result<Vec<(ColumnId, ColumnStorage)>> {
    let shreds = shred(schema, field, values, settings)?;
    let columns = shreds.into_iter().map(|shred| {
        let plan = ColumnPlan::new(schema, shred.column, settings)?;
        let data = ColumnData::from(shred.elements);
        let sample = match chooser.objective() {
            Objective::Time => 0..data.len(),
            Objective::Size => {
                sample::of_column(Objective::Size, data.len(), plan.encoding().native_size())
            }
        };
        Ok((shred.column, choose_column(chooser, &plan, &data, sample, scratch)?))
    });
    columns.collect()
}

/// Chooses one form and one codec for all columns of `field` and its subfields. It seals all of `values`,
/// page by page.
///
/// # Errors
/// The same as [`super::seal_field`].
pub(crate) fn choose_field_at_once(
    chooser: &Chooser,
    schema: &Schema,
    field: FieldId,
    values: &ArrayRef,
    settings: &SealSettings,
    scratch: &mut Scratch,
) -> Result<Vec<(ColumnId, ColumnStorage)>> {
    let shreds = shred(schema, field, values, settings)?;
    let columns = shreds.into_iter().map(|shred| {
        let plan = ColumnPlan::new(schema, shred.column, settings)?;
        Ok((shred.column, plan, ColumnData::from(shred.elements)))
    });
    let columns = columns.collect::<Result<Vec<_>>>()?;
    let column_type = |plan: &ColumnPlan<'_>, form: usize| match form {
        0 => plan.encoding().column_type,
        _ => unsplit_type(plan.encoding().column_type),
    };
    let form = |number: usize| {
        let last = columns.last().map(|(_, plan, _)| SplitForm::of(column_type(plan, number)));
        SplitForm { name: last.map_or("", |form| form.name), split: number == 0 }
    };
    let differ = columns.iter().any(|(_, plan, _)| column_type(plan, 0) != column_type(plan, 1));
    let forms: Vec<SplitForm> = (0..if differ { 2 } else { 1 }).map(form).collect();
    let best = chooser.choose(&forms, |form, candidate| {
        let mut size = SampleSize { uncompressed: 0.0, compressed: 0 };
        for (_, plan, data) in &columns {
            let column_type = column_type(plan, form);
            let encoding = Encoding { column_type, ..plan.encoding() };
            for range in plan.pages(data.len()) {
                let page = plan.seal_as(&encoding, &candidate.codec, data, range, scratch)?;
                size.uncompressed += page.uncompressed as f64;
                size.compressed += page.bytes.len() as u64;
            }
        }
        Ok(size)
    })?;
    let storage = |(id, plan, _): &(ColumnId, ColumnPlan<'_>, ColumnData)| {
        (*id, ColumnStorage::new(column_type(plan, best.form), best.clone()))
    };
    Ok(columns.iter().map(storage).collect())
}

/// Returns the default form and codec for columns without a sample.
pub(crate) fn unseen(
    chooser: &Chooser,
    schema: &Schema,
    columns: &[ColumnId],
) -> Vec<(ColumnId, ColumnStorage)> {
    let known = |&id: &ColumnId| {
        Some((id, ColumnStorage::new(schema.column(id).column_type?, chooser.unseen())))
    };
    columns.iter().filter_map(known).collect()
}

/// Sets the choices in schema and settings. Returns their descriptions by [`ColumnId`], for reports.
pub(crate) fn apply(
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

#[cfg(test)]
mod tests {
    use arrow_array::UInt32Array;

    use super::*;
    use crate::compression::Compression;
    use crate::rntuple::choose::testing::noise;
    use crate::rntuple::choose::{Effort, Encodings};
    use crate::rntuple::page::SealedColumn;
    use crate::rntuple::schema::{FieldType, Leaf, SchemaBuilder};
    use crate::rntuple::write::{RNTupleWriteOptions, seal_field};

    /// Returns a schema with a field of numbers, and the storage that is chosen for it from `words`.
    fn choose(
        column_type: ColumnType,
        words: &[u32],
        chooser: &Chooser,
        at_once: bool,
    ) -> ColumnStorage {
        let (schema, field, settings) = field(column_type);
        let values: ArrayRef = Arc::new(UInt32Array::from(words.to_vec()));
        let choose = if at_once { choose_field_at_once } else { choose_field };
        let mut scratch = Scratch::new();
        let chosen = choose(chooser, &schema, field, &values, &settings, &mut scratch).unwrap();
        let [(ColumnId(0), storage)] = &chosen[..] else { panic!("one column") };
        storage.clone()
    }

    fn field(column_type: ColumnType) -> (Schema, FieldId, SealSettings) {
        let mut builder = SchemaBuilder::new(Compression::DEFAULT);
        let field = builder.field(None, "x", &FieldType::Leaf(Leaf::UInt32)).unwrap();
        let mut schema = builder.finish();
        schema.columns[0].set_type(column_type);
        let settings = SealSettings::new(&schema, &RNTupleWriteOptions::default());
        (schema, field, settings)
    }

    fn for_size(effort: Effort) -> Chooser {
        Chooser::of(Compression::DEFAULT, effort, Encodings::Auto).unwrap()
    }

    fn for_time() -> Chooser {
        Chooser::of(Compression::DEFAULT, Effort::Auto, Encodings::Default).unwrap()
    }

    /// Returns the number of bytes of words as they are stored by choice, and as ROOT stores them.
    fn sizes(words: &[u32], storage: &ColumnStorage) -> (usize, usize) {
        let values: ArrayRef = Arc::new(UInt32Array::from(words.to_vec()));
        let (mut schema, field, mut settings) = field(ColumnType::SplitUInt32);
        let stored = |schema: &Schema, settings: &SealSettings| {
            let sealed = seal_field(schema, field, &values, settings, &mut Scratch::new());
            let bytes = |column: &SealedColumn| {
                column.pages.iter().map(|page| page.bytes.len()).sum::<usize>()
            };
            sealed.unwrap().iter().map(bytes).sum()
        };
        let root = stored(&schema, &settings);
        storage.apply(ColumnId(0), &mut schema, &mut settings);
        settings.columns[0].root = None;
        (stored(&schema, &settings), root)
    }

    /// Returns whole values that are repeated in a random order. They match as a whole, but not as separate
    /// bytes.
    fn repeated() -> Vec<u32> {
        let table: Vec<u32> = noise().take(64).map(|bits| bits as u32).collect();
        let order = noise().skip(64).take(4000).map(|bits| (bits % 64) as usize);
        order.flat_map(|start| (0..8).map(move |i| (start + i) % 64)).map(|i| table[i]).collect()
    }

    #[test]
    fn each_column_gets_the_type_that_suits_it() {
        for effort in [Effort::Auto, Effort::Full] {
            let chooser = for_size(effort);
            let storage = choose(ColumnType::SplitUInt32, &repeated(), &chooser, false);
            assert_eq!(storage.column_type, ColumnType::UInt32);
            let (chosen, root) = sizes(&repeated(), &storage);
            assert!(chosen < root / 2);
            // The values are small numbers of noise: only one plane is not empty.
            let small: Vec<u32> = noise().take(20_000).map(|bits| (bits % 300) as u32).collect();
            for before in [ColumnType::UInt32, ColumnType::SplitUInt32] {
                let storage = choose(before, &small, &chooser, false);
                assert_eq!(storage.column_type, ColumnType::SplitUInt32);
                let (chosen, root) = sizes(&small, &storage);
                assert!(chosen <= root);
            }
        }
    }

    #[test]
    fn full_effort_keeps_the_level() {
        let chooser = for_size(Effort::Full);
        let storage = choose(ColumnType::SplitUInt32, &repeated(), &chooser, false);
        let Codec::Zstd { level: 10, parameters } = &*storage.codec else { panic!("level 5") };
        assert!(parameters.is_empty());
    }

    /// Tests that no choice is larger on the sample, because ROOT's own way is the first candidate.
    #[test]
    fn never_larger_than_the_default() {
        for modulus in [1, 3, 256, 1000, 1 << 20, u64::MAX] {
            let words: Vec<u32> = noise().take(5000).map(|bits| (bits % modulus) as u32).collect();
            let chooser = for_size(Effort::Auto);
            let (chosen, root) =
                sizes(&words, &choose(ColumnType::SplitUInt32, &words, &chooser, false));
            assert!(chosen <= root, "{modulus}");
        }
    }

    #[test]
    fn nothing_to_choose() {
        assert_eq!(counterpart(ColumnType::SplitIndex64), None);
        assert_eq!(counterpart(ColumnType::Bit), None);
        let storage = choose(ColumnType::SplitUInt32, &[], &for_size(Effort::Auto), false);
        assert_eq!(storage.column_type, ColumnType::SplitUInt32);
    }

    #[test]
    fn noise_is_not_worth_effort() {
        let noise: Vec<u32> = noise().take(30_000).map(|bits| bits as u32).collect();
        for at_once in [false, true] {
            let storage = choose(ColumnType::SplitUInt32, &noise, &for_time(), at_once);
            let effort = storage.chosen.map(|chosen| chosen.effort);
            assert_eq!(
                (storage.column_type, effort.as_deref()),
                (ColumnType::SplitUInt32, Some("entropy"))
            );
        }
    }

    /// Tests that repeated whole values are found only if all columns of a field are examined together.
    #[test]
    fn for_time_whole_values_that_come_again_are_stored_unsplit() {
        let of = |at_once| choose(ColumnType::SplitUInt32, &repeated(), &for_time(), at_once);
        assert_eq!(of(true).column_type, ColumnType::UInt32);
        assert_eq!(of(false).column_type, ColumnType::SplitUInt32);
    }

    #[test]
    fn what_is_asked_for_stays() {
        let (mut schema, _, mut settings) = field(ColumnType::SplitUInt32);
        (settings.columns[0].own_codec, settings.columns[0].own_type) = (true, true);
        let before = Arc::clone(&settings.columns[0].codec);
        let storage = choose(ColumnType::SplitUInt32, &repeated(), &for_time(), true);
        storage.apply(ColumnId(0), &mut schema, &mut settings);
        assert_eq!(schema.columns[0].column_type, Some(ColumnType::SplitUInt32));
        assert!(Arc::ptr_eq(&settings.columns[0].codec, &before));
    }
}
