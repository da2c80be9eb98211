//! Defines [`Histogram`], the contents of the bins.

use std::collections::HashMap;

use nyssa_root::error::{Error, Result};

use super::axis::{Axis, check_categories};
use super::statistics::Statistics;

/// The number of bins that a histogram may have.
const MAX_BINS: usize = 1 << 30;

/// A histogram: its axes and the contents of its bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    /// The axes. Those that grow have the texts that were met.
    pub axes: Vec<Axis>,
    /// The sums of the weights in all bins, the bins of the last axis one after the other. The first bin of an axis is
    /// its underflow, and the last one its overflow, which an axis that grows does not have.
    pub sums: Vec<f64>,
    /// The sums of the squares of the weights, if they are requested.
    pub squares: Option<Vec<f64>>,
    /// The number of values that were filled, also beyond the bins.
    pub entries: u64,
    /// The number of values that are missing, and are in no bin.
    pub missing: u64,
    /// The statistics of each axis, if they are requested.
    pub statistics: Vec<Statistics>,
}

impl Histogram {
    /// Makes a histogram without entries.
    ///
    /// # Errors
    /// `InvalidArgument` for wrong axes, `LimitExceeded` for too many bins.
    pub(super) fn new(axes: &[Axis], squares: bool, statistics: bool) -> Result<Self> {
        axes.iter().try_for_each(Axis::check)?;
        if axes.iter().skip(1).any(Axis::grows) {
            let message = "only the first axis can get new categories; name those of the others";
            return Err(Error::invalid_argument(message));
        }
        let bins = axes.iter().map(Axis::extent).try_fold(1usize, usize::checked_mul);
        let bins = bins.filter(|&bins| bins <= MAX_BINS).ok_or_else(|| {
            Error::limit(format!("a histogram has at most {MAX_BINS} bins; give it fewer"))
        })?;
        Ok(Self {
            axes: axes.to_vec(),
            sums: vec![0.0; bins],
            squares: squares.then(|| vec![0.0; bins]),
            entries: 0,
            missing: 0,
            statistics: vec![Statistics::default(); if statistics { axes.len() } else { 0 }],
        })
    }

    /// Returns the number of bins for each bin of the first axis.
    fn row(&self) -> usize {
        self.axes.iter().skip(1).map(Axis::extent).product()
    }

    /// Gives the first axis, which grows, these texts.
    pub(super) fn grow(&mut self, texts: Vec<String>) {
        let bins = (texts.len() + 1) * self.row();
        self.sums.resize(bins, 0.0);
        if let Some(squares) = &mut self.squares {
            squares.resize(bins, 0.0);
        }
        if let Some(axis) = self.axes.first_mut() {
            *axis = Axis::AllTexts(texts);
        }
    }

    /// Adds the contents of a histogram of the same axes.
    pub(super) fn add(&mut self, other: &Self) -> Result<()> {
        let rows = match (self.axes.first(), other.axes.first()) {
            (Some(Axis::AllTexts(ours)), Some(Axis::AllTexts(theirs))) => {
                let (all, rows) = together(ours, theirs)?;
                self.grow(all);
                rows
            }
            (first, _) => (0..first.map_or(1, Axis::extent)).collect(),
        };
        let row = self.row();
        let pour = |into: &mut [f64], from: &[f64]| {
            for (from, &to) in from.chunks(row).zip(&rows) {
                let into = into.iter_mut().skip(to * row);
                into.zip(from).for_each(|(into, from)| *into += from);
            }
        };
        pour(&mut self.sums, &other.sums);
        if let (Some(into), Some(from)) = (&mut self.squares, &other.squares) {
            pour(into, from);
        }
        self.entries += other.entries;
        self.missing += other.missing;
        for (ours, theirs) in self.statistics.iter_mut().zip(&other.statistics) {
            ours.add(theirs);
        }
        Ok(())
    }
}

/// Returns the texts of two axes, and the bin of each text of the second one. The underflow stays the first bin.
fn together(ours: &[String], theirs: &[String]) -> Result<(Vec<String>, Vec<usize>)> {
    let mut all = ours.to_vec();
    let mut known: HashMap<&str, usize> = ours.iter().map(String::as_str).zip(1..).collect();
    let mut rows = vec![0];
    for text in theirs {
        let next = all.len() + 1;
        let bin = *known.entry(text).or_insert(next);
        if bin == next {
            check_categories(all.len())?;
            all.push(text.clone());
        }
        rows.push(bin);
    }
    Ok((all, rows))
}
