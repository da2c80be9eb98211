//! Compares the axes of histograms, which must be equal to add them.

use nyssa_root::error::Result;
use nyssa_root::streamer::values::View;

use super::pair::{doubles, refused};

/// The fraction of the width of an axis by which limits may differ (`TH1::CheckAxisLimits`).
const NEAR: f64 = 1e-12;
/// The mark of an axis that shows a part of its bins (`TAxis::kAxisRange`).
const HAS_RANGE: i64 = 1 << 11;
/// The mark in `TAxis::fBits2` of an axis that can be extended.
const CAN_EXTEND: i64 = 1 << 1;

/// An axis.
#[derive(Debug, PartialEq)]
pub(super) struct Axis {
    pub bins: usize,
    low: f64,
    high: f64,
    edges: Vec<f64>,
    labels: Vec<(i64, String)>,
    /// The first and the last bin that it shows, if it does not show all bins.
    pub range: Option<(usize, usize)>,
    /// Whether its bins are labels that appear while the histogram is filled, so that their places have no meaning.
    pub only_labels: bool,
}

impl Axis {
    pub(super) fn of(axis: View<'_>) -> Result<Self> {
        let mut labels = Vec::new();
        if axis.get("fLabels").is_some() {
            for label in axis.list("fLabels")?.into_iter().flatten() {
                labels.push((label.i64("fUniqueID")?, label.str("fString")?.to_owned()));
            }
        }
        labels.sort_unstable();
        let range = match axis.i64("fBits")? & HAS_RANGE {
            0 => None,
            _ => Some((axis.usize("fFirst")?, axis.usize("fLast")?)),
        };
        let can_extend =
            axis.get("fBits2").and_then(|bits| bits.as_i64()).unwrap_or(0) & CAN_EXTEND;
        let only_labels = !labels.is_empty() && can_extend != 0;
        Ok(Self {
            bins: axis.usize("fNbins")?,
            low: axis.f64("fXmin")?,
            high: axis.f64("fXmax")?,
            edges: doubles(axis, "fXbins"),
            labels,
            range,
            only_labels,
        })
    }

    /// Refuses an axis that differs from this axis. The message names it.
    ///
    /// # Errors
    /// `InvalidArgument` if they differ.
    pub(super) fn check(&self, other: &Self, name: &str) -> Result<()> {
        let near =
            |item: f64, other: f64| (item - other).abs() <= NEAR * (self.high - self.low).abs();
        let limits = |axis: &Self| format!("{} bins from {} to {}", axis.bins, axis.low, axis.high);
        if self.bins != other.bins || !near(self.low, other.low) || !near(self.high, other.high) {
            return Err(refused(&format!(
                "its {name} axis has {}, but the axis of earlier inputs has {}",
                limits(other),
                limits(self)
            )));
        }
        let same = self.edges.len() == other.edges.len()
            && self.edges.iter().zip(&other.edges).all(|(&item, &other)| near(item, other));
        if !same {
            return Err(refused(&format!(
                "its {name} axis has other edges than in the inputs before"
            )));
        }
        if self.labels != other.labels {
            return Err(refused(&format!(
                "its {name} axis has other labels than in the inputs before"
            )));
        }
        Ok(())
    }

    /// Returns the middle of a bin (`TAxis::GetBinCenter`).
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn center(&self, bin: usize) -> f64 {
        let inside = bin.checked_sub(1).and_then(|first| self.edges.get(first..first + 2));
        match inside {
            Some([low, high]) => 0.5 * (low + high),
            _ => {
                let width = (self.high - self.low) / self.bins as f64;
                self.low + (bin as f64 - 0.5) * width
            }
        }
    }
}
