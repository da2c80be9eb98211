//! Chooses the best form and codec for a sample.

use std::sync::Arc;

use serde::Serialize;

use super::candidate::{Candidate, for_size, for_time};
use super::{Effort, Encodings, SplitForm};
use crate::compression::{Codec, Compression};
use crate::error::Result;

/// The fraction of the sample that another form must save at least, for [`Objective::Size`].
const MIN_GAIN: f64 = 0.01;

/// The objective of a choice: time or size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objective {
    /// Time: CPU time is spent only if it saves enough bytes.
    Time,
    /// Size: it counts more than time. No choice is larger than ROOT's own.
    Size,
}

impl Objective {
    /// Returns the number of bytes that one second of CPU time must save.
    fn bytes_per_second(self) -> f64 {
        match self {
            Self::Time => 3.0e6,
            Self::Size => 1.0e5,
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
pub(crate) struct Chooser {
    objective: Objective,
    /// The candidate that is tried first. For [`Objective::Size`] it is ROOT's own.
    first: Candidate,
    others: Vec<Candidate>,
}

/// The size of a sealed sample.
pub(crate) struct SampleSize {
    /// The number of bytes before compression.
    pub(crate) uncompressed: f64,
    /// The number of bytes after compression.
    pub(crate) compressed: u64,
}

/// The best choice for a sample.
#[derive(Clone)]
pub(crate) struct Best<'a> {
    /// The index of the form.
    pub(crate) form: usize,
    pub(crate) candidate: &'a Candidate,
    pub(crate) chosen: Chosen,
}

/// A choice that was made with a sample, for reports.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) effort: String,
    pub(crate) reason: &'static str,
    pub(crate) tried: Vec<Trial>,
}

/// The size of a sample that is stored in one form with one effort.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trial {
    /// The form: `split` or `unsplit`. It is empty for types that have no such forms.
    pub form: &'static str,
    /// The name of the effort.
    pub effort: String,
    /// The number of bytes after compression.
    pub bytes: u64,
}

impl Chooser {
    /// Returns the chooser for the options, or `None` if they leave nothing to choose.
    pub(crate) fn of(
        compression: Compression,
        effort: Effort,
        encodings: Encodings,
    ) -> Option<Self> {
        let (objective, (first, others)) = match (encodings, effort) {
            (Encodings::Auto, _) => (Objective::Size, for_size(compression, effort)?),
            (Encodings::Default, Effort::Auto) => (Objective::Time, for_time(compression)?),
            (Encodings::Default, Effort::Full) => return None,
        };
        Some(Self { objective, first, others })
    }

    /// Returns a chooser of the same forms with one codec only.
    pub(crate) fn with_codec(&self, codec: &Arc<Codec>) -> Self {
        Self { objective: self.objective, first: Candidate::asked_for(codec), others: Vec::new() }
    }

    /// Returns the objective.
    pub(crate) fn objective(&self) -> Objective {
        self.objective
    }

    /// Returns the codec that is tried first. For [`Objective::Size`] it is ROOT's own.
    pub(crate) fn default_codec(&self) -> &Arc<Codec> {
        &self.first.codec
    }

    /// Returns all codecs that can be chosen.
    pub(crate) fn codecs(&self) -> impl Iterator<Item = &Arc<Codec>> {
        std::iter::once(&self.first).chain(&self.others).map(|candidate| &candidate.codec)
    }

    /// Returns the choice if there is no sample: the first form and the first candidate.
    pub(crate) fn unseen(&self) -> Best<'_> {
        let candidate = &self.first;
        let chosen =
            Chosen { effort: candidate.name.clone(), reason: TOO_SMALL, tried: Vec::new() };
        Best { form: 0, candidate, chosen }
    }

    /// Returns the best of `forms` and of the candidates. The first form is the default. `seal` seals the
    /// sample with a candidate, in the form with an index.
    ///
    /// # Errors
    /// The errors of `seal`.
    pub(crate) fn choose(
        &self,
        forms: &[SplitForm],
        mut seal: impl FnMut(usize, &Candidate) -> Result<SampleSize>,
    ) -> Result<Best<'_>> {
        let first = &self.first;
        let mut tried = Vec::new();
        let mut stored = |form: usize, candidate: &Candidate| -> Result<SampleSize> {
            let size = seal(form, candidate)?;
            let name = forms.get(form).map_or("", |form| form.name);
            tried.push(Trial {
                form: name,
                effort: candidate.name.clone(),
                bytes: size.compressed,
            });
            Ok(size)
        };
        let SampleSize { uncompressed, compressed: limit } = stored(0, first)?;
        let price = |form: usize, candidate: &Candidate, bytes: u64| {
            let split = forms.get(form).is_some_and(|form| form.split);
            bytes as f64
                + self.objective.bytes_per_second() * uncompressed * candidate.seconds(split)
        };
        let (mut form, mut candidate, mut bytes) = (0, first, limit);
        for other in 1..forms.len() {
            // A form that would cost too much time, even if it took no bytes, is not tried.
            if price(other, first, 0) >= price(form, first, bytes) {
                continue;
            }
            let now = stored(other, first)?.compressed;
            let better = match self.objective {
                Objective::Time => price(other, first, now) < price(form, first, bytes),
                Objective::Size => (now as f64) < bytes as f64 * (1.0 - MIN_GAIN),
            };
            if better {
                (form, bytes) = (other, now);
            }
        }
        for other in &self.others {
            if candidate.for_noise || price(form, other, 0) >= price(form, candidate, bytes) {
                continue;
            }
            let now = stored(form, other)?.compressed;
            let allowed = self.objective == Objective::Time || now <= limit;
            if allowed && price(form, other, now) < price(form, candidate, bytes) {
                (candidate, bytes) = (other, now);
            }
        }
        let (effort, reason) = (candidate.name.clone(), self.objective.reason());
        Ok(Best { form, candidate, chosen: Chosen { effort, reason, tried } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPLIT: SplitForm = SplitForm { name: "split", split: true };
    const UNSPLIT: SplitForm = SplitForm { name: "unsplit", split: false };

    /// Returns the form and the effort that are chosen when a sample of 1 GB takes so many MB in each form with
    /// each effort.
    fn choose(encodings: Encodings, sizes: &[(&str, &str, f64)]) -> (usize, String) {
        let chooser = Chooser::of(Compression::DEFAULT, Effort::Auto, encodings).unwrap();
        let forms = [SPLIT, UNSPLIT];
        let seal = |form: usize, candidate: &Candidate| {
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
        let of = |strong| {
            choose(Encodings::Default, &[("split", "fast", 500.0), ("split", "strong", strong)])
        };
        assert_eq!(of(494.4), (0, "strong".to_owned()));
        assert_eq!(of(494.5), (0, "fast".to_owned()));
    }

    #[test]
    fn noise_is_not_searched_twice() {
        let sizes =
            [("split", "fast", 500.0), ("split", "entropy", 499.0), ("split", "strong", 1.0)];
        assert_eq!(choose(Encodings::Default, &sizes), (0, "entropy".to_owned()));
    }

    #[test]
    fn another_form_has_to_be_worth_it() {
        // Unsplit elements take 1.35 s more, which are worth 4.05 MB.
        let time = |unsplit| {
            choose(Encodings::Default, &[("split", "fast", 500.0), ("unsplit", "fast", unsplit)]).0
        };
        assert_eq!((time(495.9), time(496.0)), (1, 0));
        // For size, the choice has to save one percent.
        let size = |unsplit| {
            choose(Encodings::Auto, &[("split", "level 5", 500.0), ("unsplit", "level 5", unsplit)])
                .0
        };
        assert_eq!((size(494.9), size(495.1)), (1, 0));
    }

    #[test]
    fn for_size_nothing_is_larger_than_roots_own() {
        // The fast codec takes 6.5 s less than ROOT's own, which are worth 0.65 MB.
        let of = |fast| {
            choose(Encodings::Auto, &[("split", "level 5", 500.0), ("split", "fast", fast)]).1
        };
        assert_eq!(of(500.0), "fast");
        assert_eq!(of(500.1), "level 5");
    }

    #[test]
    fn where_nothing_is_chosen() {
        let of = |text: &str, effort, encodings| {
            Chooser::of(text.parse().unwrap(), effort, encodings).map(|chooser| chooser.objective())
        };
        assert_eq!(of("zstd", Effort::Auto, Encodings::Default), Some(Objective::Time));
        assert_eq!(of("zstd", Effort::Full, Encodings::Default), None);
        assert_eq!(of("lzma", Effort::Auto, Encodings::Default), None);
        assert_eq!(of("lzma", Effort::Full, Encodings::Auto), Some(Objective::Size));
        assert_eq!(of("none", Effort::Auto, Encodings::Auto), None);
    }
}
