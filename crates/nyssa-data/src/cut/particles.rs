//! Computes masses and distances of particles, in double precision.

use std::borrow::Cow;
use std::f64::consts::{PI, TAU};
use std::ops::Range;

use arrow_buffer::OffsetBuffer;
use nyssa_root::arrow::Number;

use super::lists::{Combinations, advance, combined, number_of, paired};
use super::operators::both;
use super::value::{Data, Level, Outcome, Value};

/// Returns the difference of two angles, from -π to π.
pub(super) fn delta_phi(a: f64, b: f64) -> f64 {
    (a - b + PI).rem_euclid(TAU) - PI
}

/// Returns the invariant mass of each combination of `count` items of each innermost list. The parts are transverse
/// momentum, pseudorapidity, azimuthal angle and mass of the items.
pub(super) fn combined_mass(parts: [Value; 4], count: &Value) -> Outcome<Value> {
    let count = combined(count).ok_or("combined_mass takes numbers n from 1 to 8")?;
    let [pt, others @ ..] = parts;
    let levels = pt.levels.clone();
    let Some((level, outer)) = levels.split_last() else {
        return Err("combined_mass takes lists, this is one value for each entry".to_owned());
    };
    let [eta, phi, mass] = others.map(|other| like(other, &levels));
    let (eta, phi, mass) = (eta?, phi?, mass?);
    let valid = both(
        both(pt.valid.as_deref(), eta.valid.as_deref()).as_deref(),
        both(phi.valid.as_deref(), mass.valid.as_deref()).as_deref(),
    );
    let momenta =
        Momenta::new(level, count, [&pt, &eta, &phi, &mass].map(|part| part.data.reals()));
    let mut masses = Vec::new();
    let mut there = valid.as_ref().map(|_| Vec::new());
    let mut lengths = Vec::with_capacity(level.count());
    let mut total = Combinations::default();
    for list in level.ranges() {
        let number = number_of(list.len(), count);
        total.add(number)?;
        lengths.push(number);
        if number == 0 {
            continue;
        }
        // The last item of a combination is each of the items after the others.
        let mut others: Vec<usize> = (list.start..list.start + count - 1).collect();
        loop {
            let first = others.last().map_or(list.start, |last| last + 1);
            momenta.masses(&others, first..list.end, &mut masses);
            if let (Some(valid), Some(there)) = (&valid, &mut there) {
                let all = others.iter().all(|&at| valid[at]);
                there.extend(valid[first..list.end].iter().map(|&valid| valid && all));
            }
            if !advance(&mut others, list.end - 1) {
                break;
            }
        }
    }
    let mut levels = outer.to_vec();
    levels.push(Level::new(OffsetBuffer::from_lengths(lengths)));
    let (data, number) = (Data::Real(masses), Number::Float64);
    Ok(Value { levels, data, number, valid: there, constant: false })
}

/// Returns a value for each item of lists.
fn like(value: Value, levels: &[Level]) -> Outcome<Value> {
    match value.levels.len() > levels.len() {
        true => Err("these lists have different lengths".to_owned()),
        false => value.spread(levels),
    }
}

/// The momenta and energies of items.
struct Momenta {
    px: Vec<f64>,
    py: Vec<f64>,
    pz: Vec<f64>,
    energy: Vec<f64>,
}

impl Momenta {
    /// Computes the momenta of the items of lists that have at least `count` items.
    fn new(level: &Level, count: usize, parts: [Cow<'_, [f64]>; 4]) -> Self {
        let [pt, eta, phi, mass] = parts;
        let zeros = || vec![0.0; pt.len()];
        let mut made = Self { px: zeros(), py: zeros(), pz: zeros(), energy: zeros() };
        for at in level.ranges().filter(|list| list.len() >= count).flatten() {
            let (pt, mass) = (pt[at], mass[at]);
            let (px, py, pz) = (pt * phi[at].cos(), pt * phi[at].sin(), pt * eta[at].sinh());
            made.px[at] = px;
            made.py[at] = py;
            made.pz[at] = pz;
            made.energy[at] = (px * px + py * py + pz * pz + mass * mass).sqrt();
        }
        made
    }

    /// Adds the masses of the sums of some items and each of the `last` items.
    fn masses(&self, others: &[usize], last: Range<usize>, masses: &mut Vec<f64>) {
        let sum = |values: &[f64]| others.iter().map(|&at| values[at]).sum::<f64>();
        let (x, y, z, e) = (sum(&self.px), sum(&self.py), sum(&self.pz), sum(&self.energy));
        let momenta = self.px[last.clone()].iter().zip(&self.py[last.clone()]);
        let energies = self.pz[last.clone()].iter().zip(&self.energy[last]);
        masses.extend(momenta.zip(energies).map(|((px, py), (pz, energy))| {
            let (x, y, z, e) = (x + px, y + py, z + pz, e + energy);
            let squared = e * e - x * x - y * y - z * z;
            // What is not a number stays so.
            if squared < 0.0 { 0.0 } else { squared.sqrt() }
        }));
    }
}

/// Returns the distance of each item to the nearest item of the other lists, by their pseudorapidities and azimuthal
/// angles. It is missing where the other list is empty.
pub(super) fn min_delta_r(items: [Value; 2], others: [Value; 2]) -> Outcome<Value> {
    let ([eta, phi], [other_eta, other_phi]) = (items, others);
    let (levels, other_levels) = (eta.levels.clone(), other_eta.levels.clone());
    let (_, level, other_level) = paired(&levels, &other_levels)
        .ok_or("min_deltaR takes lists, this is one value for each entry")??;
    let (phi, other_phi) = (like(phi, &levels)?, like(other_phi, &other_levels)?);
    let (valid, other_valid) = (
        both(eta.valid.as_deref(), phi.valid.as_deref()),
        both(other_eta.valid.as_deref(), other_phi.valid.as_deref()),
    );
    let there = |valid: &Option<Vec<bool>>, at: usize| valid.as_ref().is_none_or(|valid| valid[at]);
    let (etas, phis) = (eta.data.reals(), phi.data.reals());
    let (other_etas, other_phis) = (other_eta.data.reals(), other_phi.data.reals());
    let mut distances = Vec::with_capacity(etas.len());
    let mut known = Vec::with_capacity(etas.len());
    for (list, others) in level.ranges().zip(other_level.ranges()) {
        let has_others = others.clone().any(|at| there(&other_valid, at));
        for at in list {
            let squared = |other: usize| {
                let (eta, phi) = (etas[at] - other_etas[other], angle(phis[at], other_phis[other]));
                eta * eta + phi * phi
            };
            let others = others.clone().filter(|&other| there(&other_valid, other)).map(squared);
            // The minimum of NaN and a number is the number.
            distances.push(others.fold(f64::NAN, f64::min).sqrt());
            known.push(has_others && there(&valid, at));
        }
    }
    let (data, number) = (Data::Real(distances), Number::Float64);
    Ok(Value { levels, data, number, valid: Some(known), constant: false })
}

/// Returns the difference of two angles, from -π to π.
fn angle(a: f64, b: f64) -> f64 {
    let difference = a - b;
    let size = difference.abs();
    if size <= PI {
        difference
    } else if size <= 3.0 * PI {
        difference - TAU.copysign(difference)
    } else {
        delta_phi(a, b)
    }
}
