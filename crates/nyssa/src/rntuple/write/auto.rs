//! Encodings chosen by looking (docs/decisions/0006).
//!
//! A sample of a column is sealed as ROOT would do it, and in the other ways that every reader reads:
//! split or unsplit, with more or less compression effort. The smallest is taken, with a price on time.
//! What is not smaller than ROOT's own way on the sample is never taken, and every page that is stored
//! in another way is sealed in ROOT's too, so that the smaller one is kept whatever comes after the
//! sample. Times are nominal, so the choice depends on the data alone.

use std::str::FromStr;
use std::sync::Arc;

use arrow_array::ArrayRef;
use zstd::zstd_safe::Strategy;

use super::chosen::{BY_SIZE, Chosen, Trial, level};
use super::column_data::ColumnData;
use super::effort::{cheap, entropy};
use super::seal::{ColumnPlan, choose_each};
use super::settings::Guard;
use super::{Effort, Scratch, SealSettings};
use crate::compression::{Algorithm, Codec, Compression, ZstdParameter};
use crate::error::{Error, Result};
use crate::rntuple::encoding::{ColumnType, Encoding};
use crate::rntuple::page;
use crate::rntuple::schema::{ColumnId, FieldId, Schema};

/// How the column types of a writer are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encodings {
    /// Those of the schema, by default ROOT's: split when compressed, unsplit when not.
    #[default]
    Default,
    /// For each column what is smallest on a sample of its data, split or unsplit; with
    /// [`Effort::Auto`] the compression effort is chosen with it, for size more than for time.
    Auto,
}

impl FromStr for Encodings {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        match text {
            "default" => Ok(Self::Default),
            "auto" => Ok(Self::Auto),
            _ => Err(Error::invalid_argument(format!(
                "encoding {text:?} is not known: use default or auto"
            ))),
        }
    }
}

/// Bytes that have to be saved for a second of CPU time.
const WORTH: f64 = 1.0e5;
/// Bytes of a column, in memory, that are looked at.
const SAMPLE_BYTES: usize = 256 << 10;
/// A type other than ROOT's has to save at least this share of the sample.
const LEAST_GAIN: f64 = 0.01;

/// A codec and its nominal seconds per byte of one core.
#[derive(Clone, Debug)]
struct Candidate {
    codec: Arc<Codec>,
    /// For reports.
    name: String,
    cost: f64,
}

/// Chooses how columns are encoded and compressed.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    /// What ROOT would do comes first.
    candidates: Vec<Candidate>,
}

/// Which types a column may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Types {
    /// All that hold the same values.
    Any,
    /// Its own.
    Own,
}

/// How a column is to be stored.
#[derive(Clone, Debug)]
pub(crate) struct Choice {
    pub(crate) column_type: ColumnType,
    pub(crate) codec: Arc<Codec>,
    /// ROOT's own way, if it is another.
    root: Option<Guard>,
    /// For reports.
    pub(crate) chosen: Chosen,
}

impl Chooser {
    /// Chooses for pages of a compression setting; `None` when there is nothing to choose because
    /// nothing is compressed.
    pub(crate) fn of(compression: Compression, effort: Effort) -> Option<Self> {
        if compression.setting() == 0 {
            return None;
        }
        let named = level(compression.setting());
        let long = format!("{named}, long matches");
        let candidate = |codec, name: &str, cost| Candidate {
            codec: Arc::new(codec),
            name: name.to_owned(),
            cost,
        };
        let mut candidates = vec![candidate(Codec::from(compression), &named, 8.0e-9)];
        if compression.algorithm == Algorithm::Zstd && effort == Effort::Auto {
            let Codec::Zstd { level, .. } = Codec::from(compression) else { return None };
            candidates.push(candidate(entropy(), "entropy", 0.8e-9));
            candidates.push(candidate(cheap(), "fast", 1.5e-9));
            candidates.push(candidate(without_short_matches(level), &long, 7.0e-9));
            candidates.push(candidate(optimal(), "optimal parsing", 40.0e-9));
        }
        Some(Self { candidates })
    }

    /// Chooses for pages of one codec.
    fn only(codec: &Arc<Codec>) -> Self {
        let name = "asked for".to_owned();
        Self { candidates: vec![Candidate { codec: Arc::clone(codec), name, cost: 8.0e-9 }] }
    }

    /// All codecs that may be chosen.
    pub(super) fn codecs(&self) -> impl Iterator<Item = &Arc<Codec>> {
        self.candidates.iter().map(|candidate| &candidate.codec)
    }

    /// The best way to store `count` elements like those of `native`, which are in the layout of
    /// [`Encoding::decode`], in a type with the same values as that of `encoding`.
    ///
    /// # Errors
    /// As [`page::seal`].
    pub(crate) fn choose(
        &self,
        encoding: &Encoding,
        types: Types,
        native: &[u8],
        count: usize,
        scratch: &mut Scratch,
    ) -> Result<Choice> {
        let Some((root, others)) = self.candidates.split_first() else {
            return Err(Error::invalid_argument("there is no codec to choose from"));
        };
        let mut size = |encoding: &Encoding, candidate: &Candidate| -> Result<usize> {
            let (compressor, _, packed) = scratch.parts(&candidate.codec)?;
            Ok(page::seal(native, count, encoding, compressor, packed)?.bytes.len())
        };
        let column_type = match types {
            Types::Any => default_type(encoding.column_type),
            Types::Own => encoding.column_type,
        };
        let encoding = Encoding { column_type, ..*encoding };
        let mut tried = Vec::new();
        let mut note = |column_type: ColumnType, candidate: &Candidate, bytes: usize| {
            let (form, effort) = (form(column_type), candidate.name.clone());
            tried.push(Trial { form, effort, bytes: bytes as u64 });
        };
        let limit = size(&encoding, root)?;
        note(column_type, root, limit);
        let mut best = (column_type, root, limit);
        if let Some(other) = counterpart(column_type).filter(|_| types == Types::Any) {
            let other = Encoding::of(other, other.bits(), None)?;
            let stored = size(&other, root)?;
            note(other.column_type, root, stored);
            if (stored as f64) < limit as f64 * (1.0 - LEAST_GAIN) {
                best = (other.column_type, root, stored);
            }
        }
        let raw = encoding.packed_size(count) as f64;
        let price = |candidate: &Candidate, size: usize| size as f64 + WORTH * raw * candidate.cost;
        let chosen = Encoding::of(best.0, encoding.bits, encoding.range)?;
        for candidate in others {
            if price(candidate, 0) >= price(best.1, best.2) {
                continue;
            }
            let stored = size(&chosen, candidate)?;
            note(chosen.column_type, candidate, stored);
            if stored <= limit && price(candidate, stored) < price(best.1, best.2) {
                best.1 = candidate;
                best.2 = stored;
            }
        }
        let codec = Arc::clone(&best.1.codec);
        let same = best.0 == column_type && Arc::ptr_eq(&codec, &root.codec);
        let root = (!same).then(|| Guard { column_type, codec: Arc::clone(&root.codec) });
        let chosen = Chosen { effort: best.1.name.clone(), reason: BY_SIZE, tried };
        Ok(Choice { column_type: best.0, codec, root, chosen })
    }

    /// Chooses for a column that holds `data`, from the middle of its first `elements`.
    ///
    /// # Errors
    /// As [`Chooser::choose`].
    pub(super) fn choose_column(
        &self,
        plan: &ColumnPlan<'_>,
        data: &ColumnData,
        elements: usize,
        scratch: &mut Scratch,
    ) -> Result<Choice> {
        let (encoding, settings) = (plan.encoding(), plan.settings());
        let own = settings.own_codec.then(|| Self::only(&settings.codec));
        let count = elements.min(SAMPLE_BYTES / encoding.native_size().max(1));
        let start = (elements - count) / 2;
        let mut buffer = Vec::new();
        let native = data.native(start..start + count, &mut buffer);
        let types = if settings.own_type { Types::Own } else { Types::Any };
        own.as_ref().unwrap_or(self).choose(&encoding, types, native, count, scratch)
    }

    /// Chooses type and codec of the columns of `field`, and all below it, from `sample`: some of its
    /// values. For writers that seal with [`super::seal_field`]; before the schema is written.
    ///
    /// # Errors
    /// As [`super::seal_field`].
    pub(crate) fn choose_field(
        &self,
        schema: &Schema,
        field: FieldId,
        sample: &ArrayRef,
        settings: &SealSettings,
        scratch: &mut Scratch,
    ) -> Result<Vec<(ColumnId, Choice)>> {
        choose_each(schema, field, sample, settings, |plan, data| {
            self.choose_column(plan, data, data.len(), scratch)
        })
    }
}

impl Choice {
    /// ROOT's own way, if this one may be compared with it.
    pub(super) fn root(guard: Guard) -> Self {
        let Guard { column_type, codec } = guard;
        let chosen = Chosen { effort: String::new(), reason: BY_SIZE, tried: Vec::new() };
        Self { column_type, codec, root: None, chosen }
    }

    /// Makes it so, in a schema that is not written yet.
    pub(crate) fn apply(&self, column: ColumnId, schema: &mut Schema, settings: &mut SealSettings) {
        if let Some(column) = schema.columns.get_mut(column.0 as usize)
            && column.column_type != Some(self.column_type)
        {
            column.set_type(self.column_type);
        }
        if let Some(settings) = settings.columns.get_mut(column.0 as usize) {
            settings.codec = Arc::clone(&self.codec);
            settings.guard.clone_from(&self.root);
        }
    }
}

/// The type with the same values, split if this one is not and the other way round (specification,
/// "Fundamental Types"). Offsets stay split: their differences are always smaller.
fn counterpart(column_type: ColumnType) -> Option<ColumnType> {
    PAIRS.iter().find_map(|&(split, plain)| match column_type {
        known if known == split => Some(plain),
        known if known == plain => Some(split),
        _ => None,
    })
}

/// Whether a type is split or unsplit, where it has both forms.
pub(crate) fn form(column_type: ColumnType) -> &'static str {
    match (counterpart(column_type).is_some(), column_type.is_split()) {
        (false, _) => "",
        (_, true) => "split",
        (_, false) => "unsplit",
    }
}

/// ROOT's type where pages are compressed, of those with the same values.
pub(super) fn default_type(column_type: ColumnType) -> ColumnType {
    let pair = PAIRS.iter().find(|(_, plain)| *plain == column_type);
    pair.map_or(column_type, |(split, _)| *split)
}

/// Split types and others with the same values.
const PAIRS: [(ColumnType, ColumnType); 8] = {
    use ColumnType as T;
    [
        (T::SplitInt16, T::Int16),
        (T::SplitUInt16, T::UInt16),
        (T::SplitInt32, T::Int32),
        (T::SplitUInt32, T::UInt32),
        (T::SplitInt64, T::Int64),
        (T::SplitUInt64, T::UInt64),
        (T::SplitReal32, T::Real32),
        (T::SplitReal64, T::Real64),
    ]
};

/// A level that does not spend literals on short matches, which are chance in planes of noise.
fn without_short_matches(level: i32) -> Codec {
    Codec::Zstd { level, parameters: vec![ZstdParameter::MinMatch(6)] }
}

/// The cheapest of all ways to write a block, among few candidates at each place.
fn optimal() -> Codec {
    Codec::Zstd {
        level: 16,
        parameters: vec![
            ZstdParameter::Strategy(Strategy::ZSTD_btopt),
            ZstdParameter::HashLog(17),
            ZstdParameter::ChainLog(17),
            ZstdParameter::SearchLog(2),
            ZstdParameter::MinMatch(6),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rntuple::write::testing::noise;

    fn choose(column_type: ColumnType, words: &[u32], effort: Effort) -> Choice {
        let chooser = Chooser::of(Compression::DEFAULT, effort).unwrap();
        let native: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let encoding = Encoding::of(column_type, column_type.bits(), None).unwrap();
        chooser.choose(&encoding, Types::Any, &native, words.len(), &mut Scratch::new()).unwrap()
    }

    /// Bytes of words stored in a type with a codec.
    fn stored(words: &[u32], column_type: ColumnType, codec: &Arc<Codec>) -> usize {
        let native: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let encoding = Encoding::of(column_type, column_type.bits(), None).unwrap();
        let mut scratch = Scratch::new();
        let (compressor, _, packed) = scratch.parts(codec).unwrap();
        page::seal(&native, words.len(), &encoding, compressor, packed).unwrap().bytes.len()
    }

    /// Bytes of words stored as chosen, and in ROOT's own way.
    fn sizes(words: &[u32], choice: &Choice, root: ColumnType) -> (usize, usize) {
        let codec = Arc::new(Codec::from(Compression::DEFAULT));
        (stored(words, choice.column_type, &choice.codec), stored(words, root, &codec))
    }

    /// Whole values that come again in a random order match as they are, not as bytes apart.
    fn repeated() -> Vec<u32> {
        let table: Vec<u32> = noise().take(64).map(|bits| bits as u32).collect();
        let order = noise().skip(64).take(4000).map(|bits| (bits % 64) as usize);
        order.flat_map(|start| (0..8).map(move |i| (start + i) % 64)).map(|i| table[i]).collect()
    }

    #[test]
    fn each_column_gets_the_type_that_suits_it() {
        for effort in [Effort::Auto, Effort::Full] {
            let choice = choose(ColumnType::SplitUInt32, &repeated(), effort);
            assert_eq!(choice.column_type, ColumnType::UInt32);
            let (chosen, root) = sizes(&repeated(), &choice, ColumnType::SplitUInt32);
            assert!(chosen < root / 2);
            // Small numbers of noise: only one plane has anything in it.
            let small: Vec<u32> = noise().take(20_000).map(|bits| (bits % 300) as u32).collect();
            let choice = choose(ColumnType::UInt32, &small, effort);
            assert_eq!(choice.column_type, ColumnType::SplitUInt32);
            let choice = choose(ColumnType::SplitUInt32, &small, effort);
            assert_eq!(choice.column_type, ColumnType::SplitUInt32);
            let (chosen, root) = sizes(&small, &choice, ColumnType::SplitUInt32);
            assert!(chosen <= root);
        }
    }

    #[test]
    fn full_effort_keeps_the_level() {
        let choice = choose(ColumnType::SplitUInt32, &repeated(), Effort::Full);
        let Codec::Zstd { level: 10, parameters } = &*choice.codec else { panic!("level 5") };
        assert!(parameters.is_empty());
    }

    /// ROOT's own way is the first candidate, so nothing chosen is larger on the sample.
    #[test]
    fn never_larger_than_the_default() {
        let chooser = Chooser::of(Compression::DEFAULT, Effort::Auto).unwrap();
        for modulus in [1, 3, 256, 1000, 1 << 20, u64::MAX] {
            let words: Vec<u32> = noise().take(5000).map(|bits| (bits % modulus) as u32).collect();
            let native: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let split = Encoding::of(ColumnType::SplitReal32, 32, None).unwrap();
            let choice = chooser.choose(&split, Types::Any, &native, 5000, &mut Scratch::new());
            let choice = choice.unwrap();
            let (chosen, root) = sizes(&words, &choice, ColumnType::SplitReal32);
            assert!(chosen <= root, "{modulus}");
        }
    }

    #[test]
    fn nothing_to_choose() {
        assert!(Chooser::of("none".parse().unwrap(), Effort::Auto).is_none());
        assert_eq!(counterpart(ColumnType::SplitIndex64), None);
        assert_eq!(counterpart(ColumnType::Bit), None);
        let choice = choose(ColumnType::SplitUInt32, &[], Effort::Auto);
        assert_eq!(choice.column_type, ColumnType::SplitUInt32);
    }
}
