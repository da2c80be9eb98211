//! Sums up values: their number, range, mean and standard deviation.

/// The values of an axis, without missing ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// The smallest finite value; infinite if there is none.
    pub min: f64,
    /// The largest finite value; minus infinite if there is none.
    pub max: f64,
    /// The number of values that are not finite.
    pub not_finite: u64,
    /// The sum of the weights of the values in the bins.
    pub weight: f64,
    /// The mean of the values in the bins.
    pub mean: f64,
    /// The sum of the weighted squares of their distances from the mean.
    pub squares: f64,
}

impl Default for Statistics {
    fn default() -> Self {
        let (min, max) = (f64::INFINITY, f64::NEG_INFINITY);
        Self { min, max, not_finite: 0, weight: 0.0, mean: 0.0, squares: 0.0 }
    }
}

impl Statistics {
    /// Returns the standard deviation of the values in the bins, with their number as the divisor, as ROOT has it.
    pub fn deviation(&self) -> f64 {
        (self.squares / self.weight).sqrt()
    }

    /// Sums up values, each with its weight, and whether it is in the bins.
    pub(super) fn of(values: impl Iterator<Item = (f64, f64, bool)> + Clone) -> Self {
        let mut all = Self::default();
        let mut sum = 0.0;
        for (value, weight, is_inside) in values.clone() {
            if !value.is_finite() {
                all.not_finite += 1;
                continue;
            }
            all.min = all.min.min(value);
            all.max = all.max.max(value);
            if is_inside {
                all.weight += weight;
                sum += weight * value;
            }
        }
        if all.weight != 0.0 {
            all.mean = sum / all.weight;
        }
        let inside = values.filter(|(value, _, is_inside)| *is_inside && value.is_finite());
        all.squares =
            inside.map(|(value, weight, _)| weight * (value - all.mean).powi(2)).sum::<f64>();
        all
    }

    /// Adds other values.
    pub(super) fn add(&mut self, other: &Self) {
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
        self.not_finite += other.not_finite;
        let weight = self.weight + other.weight;
        if weight != 0.0 {
            let distance = other.mean - self.mean;
            self.squares +=
                other.squares + distance * distance * self.weight * other.weight / weight;
            self.mean += distance * other.weight / weight;
        } else {
            self.squares += other.squares;
        }
        self.weight = weight;
    }
}
