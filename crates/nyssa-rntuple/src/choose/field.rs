//! Chooses how the columns of a field are stored, from some of its values. It is for jobs, before they write the schema.

use arrow_array::ArrayRef;
use nyssa_root::effort::{Chooser, Goal, SampleSize, SplitForm};
use nyssa_root::error::Result;

use super::candidates::{form_of, unsplit_type};
use super::column::choose_column;
use super::sample;
use super::storage::{ColumnStorage, apply};
use crate::encoding::Encoding;
use crate::schema::{ColumnId, FieldId, Schema};
use crate::seal::{ColumnData, ColumnPlan, Scratch, SealSettings, shred};

/// Chooses the storage of each column of `field` and its subfields. A narrower encoding must also store all values of
/// `others` exactly, which come from other places of the data.
///
/// # Errors
/// `InvalidArgument` for values that do not fit the field; an error if sealing fails.
pub fn choose_exact_field(
    chooser: &Chooser,
    schema: &Schema,
    field: FieldId,
    values: &ArrayRef,
    mut others: impl Iterator<Item = ArrayRef>,
    settings: &SealSettings,
    scratch: &mut Scratch,
) -> Result<Vec<(ColumnId, ColumnStorage)>> {
    let chosen = choose_field(chooser, schema, field, values, settings, scratch)?;
    if !chosen.iter().any(|(_, storage)| storage.narrower) {
        return Ok(chosen);
    }
    let (mut narrow_schema, mut narrow) = (schema.clone(), settings.clone());
    apply(chosen.iter().cloned(), &mut narrow_schema, &mut narrow);
    if others.all(|values| shred(&narrow_schema, field, &values, &narrow).is_ok()) {
        return Ok(chosen);
    }
    let mut wide = settings.clone();
    wide.columns.iter_mut().for_each(|settings| settings.narrower.clear());
    choose_field(chooser, schema, field, values, &wide, scratch)
}

/// Chooses the storage of each column of `field` and its subfields. `values` are some values of the field. It
/// is for writers that seal with [`super::seal_field`], before the schema is written.
///
/// # Errors
/// `InvalidArgument` for values that do not fit the field; an error if sealing fails.
pub fn choose_field(
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
        let sample = match chooser.goal() {
            Goal::Time => 0..data.len(),
            Goal::Size => sample::of_column(chooser, &plan, &data, data.len()),
        };
        Ok((shred.column, choose_column(chooser, &plan, &data, sample, scratch)?))
    });
    columns.collect()
}

/// Chooses one form and one codec for all columns of `field` and its subfields. It seals all of `values`,
/// page by page.
///
/// # Errors
/// `InvalidArgument` for values that do not fit the field; an error if sealing fails.
pub fn choose_field_at_once(
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
        let last = columns.last().map(|(_, plan, _)| form_of(column_type(plan, number)));
        SplitForm { name: last.map_or("", |form| form.name), split: number == 0 }
    };
    let differ = columns.iter().any(|(_, plan, _)| column_type(plan, 0) != column_type(plan, 1));
    let forms: Vec<SplitForm> = (0..if differ { 2 } else { 1 }).map(form).collect();
    let _span = tracing::trace_span!("choose").entered();
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
        let column_type = column_type(plan, best.form);
        let encoding = Encoding { column_type, ..plan.encoding() };
        (*id, ColumnStorage::new(encoding, best.clone()))
    };
    Ok(columns.iter().map(storage).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::UInt32Array;

    use super::*;
    use crate::choose::Encodings;
    use crate::choose::candidates::counterpart;
    use crate::encoding::ColumnType;
    use crate::page::SealedColumn;
    use crate::schema::{FieldType, Leaf, SchemaBuilder};
    use crate::seal::seal_field;
    use crate::write::RNTupleWriteOptions;
    use nyssa_root::compression::{Codec, Compression};
    use nyssa_root::effort::Effort;
    use nyssa_testdata::noise;

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
        let settings = RNTupleWriteOptions::default().seal_settings(&schema);
        (schema, field, settings)
    }

    fn for_size(effort: Effort) -> Chooser {
        Encodings::Auto.chooser(Compression::DEFAULT, effort).unwrap()
    }

    fn for_time() -> Chooser {
        Encodings::Default.chooser(Compression::DEFAULT, Effort::Auto).unwrap()
    }

    /// Returns the number of bytes of words in the chosen storage, and in ROOT's storage.
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

    /// Returns whole values that are repeated in a random order. They match as a whole, but not as separate bytes.
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
            assert_eq!(storage.encoding.column_type, ColumnType::UInt32);
            let (chosen, root) = sizes(&repeated(), &storage);
            assert!(chosen < root / 2);
            // The values are small numbers of noise: only one plane is not empty.
            let small: Vec<u32> = noise().take(20_000).map(|bits| (bits % 300) as u32).collect();
            for before in [ColumnType::UInt32, ColumnType::SplitUInt32] {
                let storage = choose(before, &small, &chooser, false);
                assert_eq!(storage.encoding.column_type, ColumnType::SplitUInt32);
                let (chosen, root) = sizes(&small, &storage);
                assert!(chosen <= root + root / 20);
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

    /// Time has a price, so that the result may be a little larger than with ROOT's own codec.
    #[test]
    fn hardly_larger_than_the_default() {
        for modulus in [1, 3, 256, 1000, 1 << 20, u64::MAX] {
            let words: Vec<u32> = noise().take(5000).map(|bits| (bits % modulus) as u32).collect();
            let chooser = for_size(Effort::Auto);
            let (chosen, root) =
                sizes(&words, &choose(ColumnType::SplitUInt32, &words, &chooser, false));
            assert!(chosen <= root + root / 20 + 16, "{modulus}: {chosen} {root}");
        }
    }

    #[test]
    fn nothing_to_choose() {
        assert_eq!(counterpart(ColumnType::SplitIndex64), None);
        assert_eq!(counterpart(ColumnType::Bit), None);
        let storage = choose(ColumnType::SplitUInt32, &[], &for_size(Effort::Auto), false);
        assert_eq!(storage.encoding.column_type, ColumnType::SplitUInt32);
    }

    #[test]
    fn noise_is_not_worth_effort() {
        let noise: Vec<u32> = noise().take(30_000).map(|bits| bits as u32).collect();
        for at_once in [false, true] {
            let storage = choose(ColumnType::SplitUInt32, &noise, &for_time(), at_once);
            let effort = storage.chosen.map(|chosen| chosen.effort);
            assert_eq!(
                (storage.encoding.column_type, effort.as_deref()),
                (ColumnType::SplitUInt32, Some("entropy"))
            );
        }
    }

    /// Tests that repeated whole values are detected only if all columns of a field are examined together.
    #[test]
    fn for_time_whole_values_that_come_again_are_stored_unsplit() {
        let of = |at_once| choose(ColumnType::SplitUInt32, &repeated(), &for_time(), at_once);
        assert_eq!(of(true).encoding.column_type, ColumnType::UInt32);
        assert_eq!(of(false).encoding.column_type, ColumnType::SplitUInt32);
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
