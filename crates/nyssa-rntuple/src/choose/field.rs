//! Chooses how the columns of a field are stored, from some of its values. It is for jobs, before they write the schema.

use arrow_array::ArrayRef;
use nyssa_root::effort::{Chooser, Goal, SampleSize, SplitForm};
use nyssa_root::error::Result;

use super::candidates::{form_of, unsplit_type};
use super::column::choose_column;
use super::sample;
use super::storage::{Choices, ColumnStorage, apply};
use crate::encoding::Encoding;
use crate::schema::{ColumnId, FieldId, Schema};
use crate::seal::{ColumnData, ColumnPlan, Scratch, SealSettings, columns, shred};

/// A chooser of the storage of the columns of fields.
#[derive(Clone, Copy)]
pub struct FieldChooser<'a> {
    /// The chooser of forms and codecs.
    pub chooser: &'a Chooser,
    /// The schema of the output.
    pub schema: &'a Schema,
    /// The settings with which samples are sealed.
    pub settings: &'a SealSettings,
}

impl FieldChooser<'_> {
    /// Chooses the storage of the columns of `field` and its subfields. If time counts, they have one form and one
    /// codec, since one choice takes less time. If size counts, each column has its own. A narrower encoding must also
    /// store all values of `others` exactly, which come from other places of the data.
    ///
    /// # Errors
    /// `InvalidArgument` for values that do not fit the field; an error if sealing fails.
    pub fn choose_branch(
        &self,
        field: FieldId,
        values: &ArrayRef,
        mut others: impl Iterator<Item = ArrayRef>,
        scratch: &mut Scratch,
    ) -> Result<Choices> {
        if self.chooser.goal() == Goal::Time {
            return self.choose_at_once(field, values, scratch);
        }
        let chosen = self.choose_columns(field, values, scratch)?;
        if !chosen.iter().any(|(_, storage)| storage.narrower) {
            return Ok(chosen);
        }
        let (mut narrow_schema, mut narrow) = (self.schema.clone(), self.settings.clone());
        apply(chosen.iter().cloned(), &mut narrow_schema, &mut narrow);
        if others.all(|values| shred(&narrow_schema, field, &values, &narrow).is_ok()) {
            return Ok(chosen);
        }
        let mut wide = self.settings.clone();
        wide.columns.iter_mut().for_each(|settings| settings.narrower.clear());
        FieldChooser { settings: &wide, ..*self }.choose_columns(field, values, scratch)
    }

    /// Chooses the storage of each column of `field` and its subfields. `values` are some values of the field.
    ///
    /// # Errors
    /// `InvalidArgument` for values that do not fit the field; an error if sealing fails.
    pub fn choose_columns(
        &self,
        field: FieldId,
        values: &ArrayRef,
        scratch: &mut Scratch,
    ) -> Result<Choices> {
        let columns = columns(self.schema, field, values, self.settings)?;
        let choices = columns.iter().map(|(plan, data)| {
            let sample = match self.chooser.goal() {
                Goal::Time => 0..data.len(),
                Goal::Size => sample::of_column(self.chooser, plan, data, data.len()),
            };
            Ok((plan.column(), choose_column(self.chooser, plan, data, sample, scratch)?))
        });
        choices.collect()
    }

    /// Chooses one form and one codec for all columns of `field` and its subfields. It seals all of `values`,
    /// page by page.
    fn choose_at_once(
        &self,
        field: FieldId,
        values: &ArrayRef,
        scratch: &mut Scratch,
    ) -> Result<Choices> {
        let columns = columns(self.schema, field, values, self.settings)?;
        let encoding = |plan: &ColumnPlan<'_>, form: usize| match (form, plan.encoding()) {
            (0, encoding) => encoding,
            (_, of) => Encoding { column_type: unsplit_type(of.column_type), ..of },
        };
        let form = |number: usize| {
            let last = columns.last().map(|(plan, _)| form_of(encoding(plan, number).column_type));
            SplitForm { name: last.map_or("", |form| form.name), split: number == 0 }
        };
        let differ = columns.iter().any(|(plan, _)| encoding(plan, 0) != encoding(plan, 1));
        let forms: Vec<SplitForm> = (0..if differ { 2 } else { 1 }).map(form).collect();
        let _stage = nyssa_observe::stage!("choose");
        let best = self.chooser.choose(&forms, |form, candidate| {
            let mut size = SampleSize { uncompressed: 0.0, compressed: 0 };
            for (plan, data) in &columns {
                for range in plan.pages(data.len()) {
                    let encoding = encoding(plan, form);
                    let page = plan.seal_as(&encoding, &candidate.codec, data, range, scratch)?;
                    size.uncompressed += page.uncompressed as f64;
                    size.compressed += page.bytes.len() as u64;
                }
            }
            Ok(size)
        })?;
        let storage = columns.iter().map(|(plan, _)| {
            let storage = ColumnStorage::new(encoding(plan, best.form), best.clone());
            (plan.column(), storage)
        });
        Ok(storage.collect())
    }

    /// Returns the storage of columns that have no sample. If size counts, they have ROOT's types and codec.
    pub fn without_sample(&self, columns: &[ColumnId]) -> Choices {
        let known = |&id: &ColumnId| {
            let encoding = self.schema.column(id).encoding()?;
            Some((id, ColumnStorage::new(encoding, self.chooser.unseen())))
        };
        match self.chooser.goal() {
            Goal::Time => columns.iter().filter_map(known).collect(),
            Goal::Size => Vec::new(),
        }
    }

    /// Returns whether a larger sample of `field` shows more: if size counts, and a column of the field or its subfields
    /// has values that repeat often.
    ///
    /// # Errors
    /// `InvalidArgument` for values that do not fit the field.
    pub fn wants_more(&self, field: FieldId, values: &ArrayRef) -> Result<bool> {
        let columns = match self.chooser.goal() {
            Goal::Time => Vec::new(),
            Goal::Size => columns(self.schema, field, values, self.settings)?,
        };
        let repeats = |(plan, data): &(ColumnPlan<'_>, ColumnData)| {
            sample::column_repeats(plan, data, 0..data.len())
        };
        Ok(columns.iter().any(repeats))
    }
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
        let fields = FieldChooser { chooser, schema: &schema, settings: &settings };
        let mut scratch = Scratch::new();
        let chosen = match at_once {
            true => fields.choose_at_once(field, &values, &mut scratch),
            false => fields.choose_columns(field, &values, &mut scratch),
        };
        let chosen = chosen.unwrap();
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
