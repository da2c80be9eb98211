//! Seals samples of columns for `choose`, and sets the chosen encodings and codecs in schema and settings.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use nyssa_root::compression::Codec;
use nyssa_root::effort::{Best, Candidate, Chooser, Chosen, Objective, SampleSize, SplitForm};
use nyssa_root::error::Result;

use super::column_data::ColumnData;
use super::elements::Elements;
use super::plane_choice::{PlaneChoice, choose_planes};
use super::seal::ColumnPlan;
use super::settings::{ColumnSettings, PlaneRun, RootStorage};
use super::shred::shred;
use super::{Scratch, SealSettings};
use crate::choose::{counterpart, default_type, form_of, sample, unsplit_type};
use crate::encoding::{ColumnType, Encoding};
use crate::schema::{ColumnId, FieldId, Schema};

/// The way in which a column is stored.
#[derive(Clone, Debug)]
pub struct ColumnStorage {
    pub(crate) encoding: Encoding,
    /// Whether the encoding is narrower than the encoding of the field, so that every value has to be checked.
    pub(crate) narrower: bool,
    pub(crate) codec: Arc<Codec>,
    /// The codecs of runs of byte planes, if they differ.
    planes: Vec<PlaneRun>,
    /// The number of compressed bytes for each byte of the sample.
    ratio: f64,
    /// The type and codec that ROOT would use, if they differ and pages must be compared.
    root: Option<RootStorage>,
    /// The choice, for reports.
    pub(crate) chosen: Option<Chosen>,
}

/// An earlier choice.
pub(super) struct Remembered<'a> {
    pub(super) encoding: Encoding,
    pub(super) narrower: bool,
    /// The names of the codecs.
    pub(super) effort: &'a str,
    pub(super) ratio: f64,
}

impl ColumnStorage {
    /// Returns the column type and the codec of a column, without a comparison with ROOT's storage.
    pub(super) fn plain(storage: RootStorage) -> Self {
        let RootStorage { column_type, codec, .. } = storage;
        let encoding = column_type.into();
        let planes = Vec::new();
        Self { encoding, narrower: false, codec, planes, ratio: 1.0, root: None, chosen: None }
    }

    fn new(encoding: Encoding, best: Best<'_>) -> Self {
        let codec = Arc::clone(&best.candidate.codec);
        let (planes, ratio) = (Vec::new(), best.ratio());
        let chosen = Some(best.chosen);
        Self { encoding, narrower: false, codec, planes, ratio, root: None, chosen }
    }

    /// Returns the earlier choice of storage for a column with the encoding `current`. Returns `None` if the chooser
    /// does not have its effort.
    pub(super) fn remembered(
        chooser: &Chooser,
        current: Encoding,
        remembered: Remembered<'_>,
    ) -> Option<Self> {
        let Remembered { encoding, narrower, effort, ratio } = remembered;
        let mut best = chooser.unseen();
        let mut planes = Vec::new();
        match chooser.candidate(effort) {
            Some(candidate) => best.candidate = candidate,
            None => {
                for run in effort.split(" + ") {
                    let (count, name) = run.split_once(' ')?;
                    let count = count.parse().ok().filter(|count| (1..=8).contains(count))?;
                    planes.push(PlaneRun::new(count, chooser.candidate(name)?));
                }
            }
        }
        best.chosen.reason = "the profile";
        best.chosen.effort = effort.to_owned();
        let mut storage = Self::new(encoding, best);
        (storage.narrower, storage.planes, storage.ratio) = (narrower, planes, ratio);
        storage.compare(chooser, default_type(current.column_type));
        Some(storage)
    }

    /// Returns the effort and the ratio, if a sample decided.
    pub fn chosen_by_sample(&self) -> Option<(&str, f64)> {
        let chosen = self.chosen.as_ref().filter(|chosen| !chosen.tried.is_empty())?;
        Some((&chosen.effort, self.ratio))
    }

    /// Sets the storage with which pages are compared: ROOT's codec, and the column type that ROOT would use.
    fn compare(&mut self, chooser: &Chooser, column_type: ColumnType) {
        let codec = chooser.root_codec();
        let same = self.encoding.column_type == column_type
            && self.planes.is_empty()
            && Arc::ptr_eq(&self.codec, codec);
        let compared = chooser.objective() == Objective::Size && !same && !self.narrower;
        let root = RootStorage { column_type, codec: Arc::clone(codec), ratio: self.ratio };
        self.root = compared.then_some(root);
    }

    /// Sets the codecs of the planes, and describes them.
    fn set_planes(&mut self, planes: PlaneChoice) {
        if let Some(chosen) = &mut self.chosen {
            let runs = planes.runs.iter().map(|run| format!("{} {}", run.count, run.name));
            chosen.effort = runs.collect::<Vec<_>>().join(" + ");
        }
        self.planes = planes.runs;
    }

    /// Returns whether the schema has another type for the column.
    pub(super) fn changes_type(&self, column: ColumnId, schema: &Schema) -> bool {
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
    pub(super) fn apply_codec(&self, id: ColumnId, settings: &mut SealSettings) {
        if let Some(settings) = settings.columns.get_mut(id.0 as usize) {
            if !settings.own_codec {
                settings.codec = Arc::clone(&self.codec);
                settings.planes.clone_from(&self.planes);
            }
            settings.root.clone_from(&self.root);
        }
    }
}

/// Chooses the storage of a column with the elements `data`. It seals the elements `sample` in several ways.
///
/// # Errors
/// Returns an error if sealing fails.
pub(super) fn choose_column(
    chooser: &Chooser,
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    sample: Range<usize>,
    scratch: &mut Scratch,
) -> Result<ColumnStorage> {
    let _stage = nyssa_observe::stage!("choose");
    let (encoding, settings) = (plan.encoding(), plan.settings());
    let own = settings.own_codec.then(|| chooser.with_codec(&settings.codec));
    let chooser = own.as_ref().unwrap_or(chooser);
    let forms = match chooser.objective() {
        Objective::Size if !settings.own_type => forms(encoding, settings, data),
        _ => vec![Form { encoding, data: None }],
    };
    let names: Vec<SplitForm> = forms.iter().map(|form| form.name(encoding)).collect();
    let column_type = forms[0].encoding.column_type;
    let (best, planes) = if sample.is_empty() {
        (chooser.unseen(), None)
    } else {
        let uncompressed = encoding.packed_size(sample.len()) as f64;
        let seal = |scratch: &mut Scratch, form: usize, candidate: &Candidate| {
            let Form { encoding, data: narrow } = &forms[form];
            let data = narrow.as_ref().unwrap_or(data);
            let page = plan.seal_as(encoding, &candidate.codec, data, sample.clone(), scratch)?;
            Ok(SampleSize { uncompressed, compressed: page.bytes.len() as u64 })
        };
        let best = chooser.choose_form(&names, |form, one| seal(scratch, form, one))?;
        let Form { encoding, data: narrow } = &forms[best.form];
        let planes = match chooser.objective() == Objective::Size && chooser.has_choice() {
            true => planes(chooser, encoding, narrow.as_ref().unwrap_or(data), &sample, scratch)?,
            false => None,
        };
        // The codec for all planes is for pages whose planes are too small for separate codecs.
        let planes = planes.filter(|chosen| {
            chosen.cost < chooser.cost(best.candidate, &best.size, names[best.form].split)
        });
        let best = match planes {
            Some(_) => best,
            None => chooser.choose_codec(&names, best, |form, one| seal(scratch, form, one))?,
        };
        (best, planes)
    };
    let chosen = forms[best.form].encoding;
    let mut storage = ColumnStorage::new(chosen, best);
    storage.narrower = settings.narrower.contains(&chosen);
    if let Some(planes) = planes {
        let packed = chosen.packed_size(sample.len());
        storage.ratio = planes.compressed as f64 / packed.max(1) as f64;
        storage.set_planes(planes);
    }
    storage.compare(chooser, column_type);
    Ok(storage)
}

/// Chooses codecs for the planes of a sample, if its encoding has planes.
fn planes(
    chooser: &Chooser,
    encoding: &Encoding,
    data: &ColumnData,
    sample: &Range<usize>,
    scratch: &mut Scratch,
) -> Result<Option<PlaneChoice>> {
    if !encoding.column_type.is_split() {
        return Ok(None);
    }
    let (count, width) = (sample.len(), usize::from(encoding.bits / 8));
    let mut packed = Vec::with_capacity(encoding.packed_size(count));
    encoding.encode(data.native(sample.clone(), &mut Vec::new()), count, &mut packed)?;
    choose_planes(chooser, &packed, width, scratch)
}

/// A way to store the elements of a column.
struct Form {
    encoding: Encoding,
    /// The elements, if the encoding takes other elements than the column.
    data: Option<ColumnData>,
}

impl Form {
    /// Returns the name of the form, for reports, for a column with the encoding `column`.
    fn name(&self, column: Encoding) -> SplitForm {
        let form = form_of(self.encoding.column_type);
        let same = self.encoding.column_type.unsplit_form() == column.column_type.unsplit_form();
        SplitForm { name: if same { form.name } else { self.encoding.column_type.name() }, ..form }
    }
}

/// Returns ROOT's form of a column, its counterpart, and the narrower forms that store all values of `data` exactly.
/// Without compression a split form is not smaller, so only unsplit forms count.
fn forms(encoding: Encoding, settings: &ColumnSettings, data: &ColumnData) -> Vec<Form> {
    let (narrower, compressed) = (&settings.narrower, *settings.codec != Codec::Store);
    let first = if compressed { default_type } else { unsplit_type }(encoding.column_type);
    let mut forms: Vec<Form> = std::iter::once(first)
        .chain(counterpart(first).filter(|_| compressed))
        .map(|column_type| Form { encoding: Encoding { column_type, ..encoding }, data: None })
        .collect();
    if narrower.is_empty() {
        return forms;
    }
    let double = encoding.column_type.unsplit_form() == ColumnType::Real64;
    let reals = reals(data, double);
    for &encoding in narrower.iter().filter(|one| compressed || !one.column_type.is_split()) {
        if reals.iter().all(|&value| encoding.keeps(value, double, 0.0)) {
            forms.push(Form { encoding, data: narrowed(encoding, &reals) });
        }
    }
    forms
}

/// Returns the elements of a column of doubles, or of floats.
fn reals(data: &ColumnData, double: bool) -> Vec<f64> {
    let mut buffer = Vec::new();
    let native = data.native(0..data.len(), &mut buffer);
    match double {
        true => native.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect(),
        false => {
            native.as_chunks().0.iter().map(|&bytes| f32::from_le_bytes(bytes).into()).collect()
        }
    }
}

/// Returns the elements for a narrower encoding, if they differ from the elements of the column.
fn narrowed(encoding: Encoding, reals: &[f64]) -> Option<ColumnData> {
    if encoding.column_type == ColumnType::Real32Quant {
        return None;
    }
    let bytes = reals.iter().flat_map(|&value| (value as f32).to_le_bytes());
    let values = Buffer::from_vec(bytes.collect::<Vec<u8>>());
    Some(Elements::Bytes { values, width: size_of::<f32>() }.into())
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
    let checked = |id| settings.column(id).is_some_and(|one| one.largest_error.is_some());
    schema.columns_below(field).into_iter().any(checked)
}

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

/// Returns the sample of a column, for the first `count` elements of `data`.
pub(super) fn sample_of(
    chooser: &Chooser,
    plan: &ColumnPlan<'_>,
    data: &ColumnData,
    count: usize,
) -> Range<usize> {
    let (objective, encoding) = (chooser.objective(), plan.encoding());
    let of_column = |repeats| sample::of_column(objective, count, encoding.native_size(), repeats);
    let large = of_column(true);
    let repeats = objective == Objective::Size && repeats(encoding, data, large.clone());
    if repeats { large } else { of_column(false) }
}

/// Returns whether a column of floating-point numbers has values that repeat often in a range. Other columns with
/// repeated values are small in any form.
fn repeats(encoding: Encoding, data: &ColumnData, range: Range<usize>) -> bool {
    let is_real = matches!(
        encoding.column_type.unsplit_form(),
        ColumnType::Real16 | ColumnType::Real32 | ColumnType::Real64
    );
    let mut buffer = Vec::new();
    is_real && sample::repeats(data.native(range, &mut buffer), encoding.native_size())
}

/// Returns whether a column of `field` or its subfields has values that repeat often, so that a larger sample shows
/// more.
///
/// # Errors
/// `InvalidArgument` for values that do not fit the field.
pub fn has_repeats(
    schema: &Schema,
    field: FieldId,
    values: &ArrayRef,
    settings: &SealSettings,
) -> Result<bool> {
    for shred in shred(schema, field, values, settings)? {
        let encoding = ColumnPlan::new(schema, shred.column, settings)?.encoding();
        let data = ColumnData::from(shred.elements);
        if repeats(encoding, &data, 0..data.len()) {
            return Ok(true);
        }
    }
    Ok(false)
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
        let sample = match chooser.objective() {
            Objective::Time => 0..data.len(),
            Objective::Size => sample_of(chooser, &plan, &data, data.len()),
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
    let _stage = nyssa_observe::stage!("choose");
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

/// Returns the default form and codec for columns without a sample.
pub fn unseen(
    chooser: &Chooser,
    schema: &Schema,
    columns: &[ColumnId],
) -> Vec<(ColumnId, ColumnStorage)> {
    let known = |&id: &ColumnId| {
        let column = schema.column(id);
        let encoding = Encoding {
            column_type: column.column_type?,
            bits: column.bits,
            range: column.value_range,
        };
        Some((id, ColumnStorage::new(encoding, chooser.unseen())))
    };
    columns.iter().filter_map(known).collect()
}

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

#[cfg(test)]
mod tests {
    use arrow_array::UInt32Array;

    use super::*;
    use crate::choose::Encodings;
    use crate::page::SealedColumn;
    use crate::schema::{FieldType, Leaf, SchemaBuilder};
    use crate::write::{RNTupleWriteOptions, seal_field};
    use nyssa_root::compression::Compression;
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
        let settings = SealSettings::new(&schema, &RNTupleWriteOptions::default());
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
