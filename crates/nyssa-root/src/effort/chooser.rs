//! Chooses the best form and codec for a sample.

use std::sync::Arc;

use serde::Serialize;

use super::priced_codec::{PricedCodec, for_baskets, for_size, for_time};
use super::{Effort, level};
use crate::compression::{Codec, Compression};
use crate::error::Result;
use crate::heuristics::effort;

/// The goal of a choice: time or size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// Time: CPU time is spent only if it saves enough bytes.
    Time,
    /// The size counts more than time.
    Size,
}

impl Goal {
    /// Returns the number of bytes that one second of CPU time must save.
    fn bytes_per_second(self) -> f64 {
        match self {
            Self::Time => effort::BYTES_PER_SECOND,
            Self::Size => effort::BYTES_PER_SECOND_FOR_SIZE,
        }
    }

    /// Returns the reason of a choice, for reports.
    fn reason(self) -> &'static str {
        match self {
            Self::Time => "the best of size and time on a sample",
            Self::Size => "the smallest on a sample, with a price on time",
        }
    }
}

/// The reason for reports if there is no sample.
const TOO_SMALL: &str = "too little data to choose";

/// A chooser of forms and codecs.
#[derive(Clone, Debug)]
pub struct Chooser {
    goal: Goal,
    /// The candidates, at least one. The first of them is tried first.
    candidates: Vec<PricedCodec>,
    /// ROOT's own codec.
    root: Arc<Codec>,
}

/// A form in which the elements of a sample can be stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitForm {
    /// The name: `split` or `unsplit`. It is empty for types that have no such forms.
    pub name: &'static str,
    /// Whether the elements are byte planes: the first bytes of all elements come first, then the second bytes,
    /// and so on. Compressors are faster with this form.
    pub split: bool,
}

/// The size of a sealed sample.
#[derive(Clone, Copy)]
pub struct SampleSize {
    /// The number of bytes before compression.
    pub uncompressed: f64,
    /// The number of bytes after compression.
    pub compressed: u64,
}

/// The best choice for a sample.
#[derive(Clone)]
pub struct Best<'a> {
    /// The index of the form.
    pub form: usize,
    /// The candidate.
    pub candidate: &'a PricedCodec,
    /// The size of the sample.
    pub size: SampleSize,
    /// The choice, for reports.
    pub chosen: Chosen,
}

/// A choice that was made with a sample, for reports.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The name of the effort.
    pub effort: String,
    /// The reason of the choice.
    pub reason: &'static str,
    /// The forms and efforts that were tried.
    pub tried: Vec<TriedForm>,
}

/// The size of a sample that is stored in one form with one effort.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TriedForm {
    /// The form: `split` or `unsplit`. It is empty for types that have no such forms.
    pub form: &'static str,
    /// The name of the effort.
    pub effort: String,
    /// The number of bytes after compression.
    pub bytes: u64,
}

impl Chooser {
    /// Returns the chooser for which time is worth more than size, or `None` if there is nothing to choose.
    pub fn for_time(compression: Compression, effort: Effort) -> Option<Self> {
        let codecs = for_time(compression).filter(|_| effort == Effort::Auto)?;
        Some(Self::new(compression, Goal::Time, codecs))
    }

    /// Returns the chooser for which size is worth more than time, or `None` if nothing is compressed.
    pub fn for_size(compression: Compression, effort: Effort) -> Option<Self> {
        Some(Self::new(compression, Goal::Size, for_size(compression, effort)?))
    }

    /// Returns the chooser for the baskets of trees, or `None` if there is nothing to choose.
    pub fn for_baskets(compression: Compression, effort: Effort) -> Option<Self> {
        let codecs = for_baskets(compression).filter(|_| effort == Effort::Auto)?;
        Some(Self::new(compression, Goal::Time, codecs))
    }

    fn new(compression: Compression, goal: Goal, candidates: Vec<PricedCodec>) -> Self {
        let named = level(compression.setting());
        let root = candidates.iter().find(|candidate| candidate.name == named);
        let root = root.map_or_else(|| Codec::from(compression).into(), |it| Arc::clone(&it.codec));
        Self { goal, candidates, root }
    }

    /// Returns a chooser with the same forms and only one codec.
    pub fn with_codec(&self, codec: &Arc<Codec>) -> Self {
        let candidates = vec![PricedCodec::requested(codec)];
        Self { goal: self.goal, candidates, root: Arc::clone(codec) }
    }

    /// Returns the goal of the choice.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// Returns ROOT's own codec.
    pub fn root_codec(&self) -> &Arc<Codec> {
        &self.root
    }

    /// Returns the codec of the candidate that is tried first.
    pub fn first_codec(&self) -> &Arc<Codec> {
        &self.candidates[0].codec
    }

    /// Returns the candidate with this name.
    pub fn candidate(&self, name: &str) -> Option<&PricedCodec> {
        self.candidates.iter().find(|candidate| candidate.name == name)
    }

    /// Returns whether there is more than one candidate.
    pub fn has_choice(&self) -> bool {
        self.candidates.len() > 1
    }

    /// Returns all codecs that can be chosen.
    pub fn codecs(&self) -> impl Iterator<Item = &Arc<Codec>> {
        self.candidates.iter().map(|candidate| &candidate.codec)
    }

    /// Returns the choice if there is no sample: the first form and the first candidate.
    pub fn unseen(&self) -> Best<'_> {
        self.first(SampleSize { uncompressed: 1.0, compressed: 1 }, TOO_SMALL)
    }

    fn first(&self, size: SampleSize, reason: &'static str) -> Best<'_> {
        let candidate = &self.candidates[0];
        let chosen = Chosen { effort: candidate.name.clone(), reason, tried: Vec::new() };
        Best { form: 0, candidate, size, chosen }
    }

    /// Returns the best of `forms` and of the candidates. The first form is the default. `seal` compresses the sample
    /// with a candidate, in the form with an index.
    ///
    /// # Errors
    /// Returns an error if `seal` fails.
    pub fn choose(
        &self,
        forms: &[SplitForm],
        mut seal: impl FnMut(usize, &PricedCodec) -> Result<SampleSize>,
    ) -> Result<Best<'_>> {
        let best = self.choose_form(forms, &mut seal)?;
        self.choose_codec(forms, best, seal)
    }

    /// Returns the best of `forms` with the first candidate. The first form is the default. `seal` compresses the
    /// sample with a candidate, in the form with an index.
    ///
    /// # Errors
    /// Returns an error if `seal` fails.
    pub fn choose_form(
        &self,
        forms: &[SplitForm],
        mut seal: impl FnMut(usize, &PricedCodec) -> Result<SampleSize>,
    ) -> Result<Best<'_>> {
        let first = &self.candidates[0];
        let mut best = self.first(seal(0, first)?, self.goal.reason());
        best.note(forms, 0, first, best.size);
        for other in 1..forms.len() {
            // A form that would cost too much time, even if it took no bytes, is not tried.
            let none = SampleSize { compressed: 0, ..best.size };
            let cost = self.cost(first, &best.size, split(forms, best.form));
            if self.cost(first, &none, split(forms, other)) >= cost {
                continue;
            }
            let size = seal(other, first)?;
            best.note(forms, other, first, size);
            let (now, before) = (size.compressed as f64, best.size.compressed as f64);
            let gains = self.goal == Goal::Time || now < before * (1.0 - effort::MIN_GAIN);
            if gains && self.cost(first, &size, split(forms, other)) < cost {
                (best.form, best.size) = (other, size);
            }
        }
        Ok(best)
    }

    /// Returns the best of the candidates for the form of `best`.
    ///
    /// # Errors
    /// Returns an error if `seal` fails.
    pub fn choose_codec<'a>(
        &'a self,
        forms: &[SplitForm],
        mut best: Best<'a>,
        mut seal: impl FnMut(usize, &PricedCodec) -> Result<SampleSize>,
    ) -> Result<Best<'a>> {
        let split = split(forms, best.form);
        let first = best.size.compressed;
        for other in &self.candidates[1..] {
            let cost = self.cost(best.candidate, &best.size, split);
            let none = SampleSize { compressed: 0, ..best.size };
            if best.candidate.for_noise || self.cost(other, &none, split) >= cost {
                continue;
            }
            // The hardest candidate pays only if a less hard candidate has saved something.
            let seconds = other.seconds(split) - best.candidate.seconds(split);
            let price = self.goal.bytes_per_second() * best.size.uncompressed * seconds;
            let saved = first.saturating_sub(best.size.compressed) as f64;
            if other.is_hardest() && saved < price * effort::SAVED_BEFORE {
                continue;
            }
            let size = seal(best.form, other)?;
            best.note(forms, best.form, other, size);
            if self.cost(other, &size, split) < cost {
                (best.candidate, best.size) = (other, size);
                best.chosen.effort.clone_from(&other.name);
            }
        }
        Ok(best)
    }

    /// Returns the size of a sample together with the price of the time that `candidate` takes for its elements, split
    /// or not.
    pub fn cost(&self, candidate: &PricedCodec, size: &SampleSize, split: bool) -> f64 {
        let seconds = size.uncompressed * candidate.seconds(split);
        size.compressed as f64 + self.goal.bytes_per_second() * seconds
    }
}

impl Best<'_> {
    /// Returns the number of compressed bytes for each byte of the sample.
    pub fn ratio(&self) -> f64 {
        self.size.compressed as f64 / self.size.uncompressed.max(1.0)
    }

    fn note(
        &mut self,
        forms: &[SplitForm],
        form: usize,
        candidate: &PricedCodec,
        size: SampleSize,
    ) {
        self.chosen.tried.push(TriedForm {
            form: forms.get(form).map_or("", |form| form.name),
            effort: candidate.name.clone(),
            bytes: size.compressed,
        });
    }
}

fn split(forms: &[SplitForm], form: usize) -> bool {
    forms.get(form).is_some_and(|form| form.split)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: SplitForm = SplitForm { name: "split", split: true };
    const UNSPLIT: SplitForm = SplitForm { name: "unsplit", split: false };

    /// Returns the form and the effort that are chosen when a sample of 1 GB takes so many MB in each form with
    /// each effort.
    fn choose(goal: Goal, sizes: &[(&str, &str, f64)]) -> (usize, String) {
        let chooser = match goal {
            Goal::Time => Chooser::for_time(Compression::DEFAULT, Effort::Auto),
            Goal::Size => Chooser::for_size(Compression::DEFAULT, Effort::Auto),
        };
        let chooser = chooser.unwrap();
        let forms = [SPLIT, UNSPLIT];
        let seal = |form: usize, candidate: &PricedCodec| {
            let known = |(name, effort, _): &&(&str, &str, f64)| {
                *name == forms[form].name && *effort == candidate.name
            };
            let size = sizes.iter().find(known).map_or(1e9, |(.., megabytes)| megabytes * 1e6);
            Ok(SampleSize { uncompressed: 1e9, compressed: size as u64 })
        };
        let best = chooser.choose(&forms, seal).unwrap();
        (best.form, best.candidate.name.clone())
    }

    #[test]
    fn effort_pays_by_bytes_per_second() {
        // For 1 GB, the strong codec takes 1.85 s more, which are worth 5.55 MB.
        let of =
            |strong| choose(Goal::Time, &[("split", "fast", 500.0), ("split", "strong", strong)]);
        assert_eq!(of(494.4), (0, "strong".to_owned()));
        assert_eq!(of(494.5), (0, "fast".to_owned()));
    }

    #[test]
    fn noise_is_not_searched_twice() {
        let sizes =
            [("split", "fast", 500.0), ("split", "entropy", 499.0), ("split", "strong", 1.0)];
        assert_eq!(choose(Goal::Time, &sizes), (0, "entropy".to_owned()));
    }

    #[test]
    fn another_form_has_to_be_worth_it() {
        // Unsplit elements take 1.35 s more, which are worth 4.05 MB.
        let time = |unsplit| {
            choose(Goal::Time, &[("split", "fast", 500.0), ("unsplit", "fast", unsplit)]).0
        };
        assert_eq!((time(495.9), time(496.0)), (1, 0));
        // For size, the choice has to save one percent.
        let size = |unsplit| {
            choose(Goal::Size, &[("split", "fast", 500.0), ("unsplit", "fast", unsplit)]).0
        };
        assert_eq!((size(494.9), size(495.1)), (1, 0));
    }

    #[test]
    fn the_hardest_is_tried_where_another_one_found_something() {
        // Of 1 GB, optimal parsing takes 36.9 s more than the strong codec, worth 55.35 MB.
        let of = |strong, optimal| {
            let optimal = ("split", "optimal parsing", optimal);
            let sizes = [("split", "fast", 500.0), ("split", "strong", strong), optimal];
            choose(Goal::Size, &sizes).1
        };
        assert_eq!(of(470.0, 414.0), "optimal parsing");
        assert_eq!(of(470.0, 415.0), "strong");
        assert_eq!(of(473.0, 100.0), "strong");
        assert_eq!(of(500.0, 100.0), "fast");
    }

    #[test]
    fn where_nothing_is_chosen() {
        let time = |text: &str, effort| Chooser::for_time(text.parse().unwrap(), effort).is_some();
        assert!(time("zstd", Effort::Auto));
        assert!(!time("zstd", Effort::Full));
        assert!(!time("lzma", Effort::Auto));
        let size = |text: &str, effort| Chooser::for_size(text.parse().unwrap(), effort).is_some();
        assert!(size("lzma", Effort::Full));
        assert!(!size("none", Effort::Auto));
    }
}
