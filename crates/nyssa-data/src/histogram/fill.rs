//! Fills the histograms of a few entries, from the arrays of their columns.

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_select::filter::filter;
use nyssa_root::error::{Error, Result};

use super::axis::{Axis, Places, numbers};
use super::contents::Histogram;
use super::prepared::{Group, Prepared, PreparedPlan, of};
use super::statistics::Statistics;
use super::values::Values;
use crate::cut::Known;

/// The bin of values that are missing.
const MISSING: usize = usize::MAX;

/// Returns the histograms of `length` entries, whose columns are `arrays`, in the order of the plans.
pub(super) fn fill(
    prepared: &Prepared,
    arrays: &[ArrayRef],
    length: usize,
) -> Result<Vec<Histogram>> {
    let mut filled: Vec<Histogram> = prepared.plans.iter().map(|plan| plan.empty.clone()).collect();
    for group in &prepared.groups {
        let (arrays, length) = selected(group, arrays, length)?;
        if length == 0 {
            continue;
        }
        let mut values: Vec<Option<Values>> = Vec::new();
        values.resize_with(prepared.expressions.len(), || None);
        let known = Known::default();
        for &number in &group.plans {
            let plan = &prepared.plans[number];
            for &at in plan.axes.iter().chain(&plan.weight) {
                if values[at].is_none() {
                    let (text, expression) = &prepared.expressions[at];
                    let array = expression.compute(&arrays, length, &known)?;
                    values[at] = Some(Values::of(&array).map_err(|error| of(text, error))?);
                }
            }
            fill_plan(plan, &values, &mut filled[number]).map_err(|message| {
                let texts = plan.axes.iter().chain(&plan.weight);
                let texts: Vec<_> = texts.map(|&at| prepared.expressions[at].0.as_str()).collect();
                of(&texts.join(", "), message)
            })?;
        }
    }
    Ok(filled)
}

/// Returns the columns for the entries that pass the cut of a group, and the number of these entries.
fn selected(group: &Group, arrays: &[ArrayRef], length: usize) -> Result<(Vec<ArrayRef>, usize)> {
    let Some((cut, columns)) = &group.cut else { return Ok((arrays.to_vec(), length)) };
    let own: Vec<_> = columns.iter().map(|&at| ArrayRef::clone(&arrays[at])).collect();
    let mask = BooleanArray::new(cut.mask(&own, length)?, None);
    let mut selected = arrays.to_vec();
    for &at in &group.columns {
        selected[at] = filter(&arrays[at], &mask).map_err(|error| {
            Error::limit("the selected entries do not fit one array").with_source(error)
        })?;
    }
    Ok((selected, mask.true_count()))
}

/// Fills the values into an empty histogram.
fn fill_plan(
    plan: &PreparedPlan,
    values: &[Option<Values>],
    histogram: &mut Histogram,
) -> Result<()> {
    let known = |at: &usize| values[*at].as_ref();
    let own: Vec<&Values> = plan.axes.iter().filter_map(known).collect();
    let weight = plan.weight.as_ref().and_then(known);
    let all = || own.iter().copied().chain(weight);
    let Some(deepest) = all().max_by_key(|values| values.depth()) else { return Ok(()) };
    if !all().all(|values| values.fits(deepest)) {
        return Err(Error::invalid_argument("these lists have different lengths"));
    }
    let weights = weight.map(|values| {
        let weights = values.spread(numbers(&values.leaf), deepest);
        (weights, valid(values, deepest))
    });
    // The bin of each value, counted over all axes.
    let mut bins = Vec::new();
    let mut is_inside =
        vec![true; if plan.empty.statistics.is_empty() { 0 } else { deepest.leaf.len() }];
    for (number, (values, axis)) in own.iter().zip(&plan.empty.axes).enumerate() {
        let Places { bins: mut places, texts } = axis.places(&values.leaf)?;
        if axis.grows() {
            histogram.grow(texts);
        }
        let (count, extent) = match &histogram.axes[number] {
            Axis::AllTexts(texts) => (texts.len(), texts.len() + 1),
            axis => (axis.bins(), axis.extent()),
        };
        if let Some(nulls) = values.valid() {
            let missing = places.iter_mut().zip(nulls).filter(|(_, is_there)| !is_there);
            missing.for_each(|(place, _)| *place = MISSING);
        }
        let places = values.spread(places, deepest);
        for (is_inside, place) in is_inside.iter_mut().zip(&places) {
            *is_inside &= (1..=count).contains(place);
        }
        if number == 0 {
            bins = places;
            continue;
        }
        for (bin, place) in bins.iter_mut().zip(places) {
            let is_there = *bin != MISSING && place != MISSING;
            *bin = if is_there { *bin * extent + place } else { MISSING };
        }
    }
    if let Some((_, Some(valid))) = &weights {
        let missing = bins.iter_mut().zip(valid).filter(|(_, is_there)| !**is_there);
        missing.for_each(|(bin, _)| *bin = MISSING);
    }
    let weights = weights.map(|(weights, _)| weights);
    pour(histogram, &bins, weights.as_deref());
    for (statistics, values) in histogram.statistics.iter_mut().zip(&own) {
        let numbers = values.spread(numbers(&values.leaf), deepest);
        let each = numbers.iter().zip(&bins).zip(&is_inside).enumerate();
        let each = each.filter(|(_, ((_, bin), _))| **bin != MISSING);
        *statistics = Statistics::of(each.map(|(at, ((&value, _), &is_inside))| {
            (value, weights.as_ref().map_or(1.0, |weights| weights[at]), is_inside)
        }));
    }
    Ok(())
}

/// Returns which values there are, for the items of the lists of `deepest`. `None` means all.
fn valid(values: &Values, deepest: &Values) -> Option<Vec<bool>> {
    let valid = values.valid()?.iter().collect();
    Some(values.spread(valid, deepest))
}

/// Adds values, each with its bin and its weight.
fn pour(histogram: &mut Histogram, bins: &[usize], weights: Option<&[f64]>) {
    let sums = &mut histogram.sums;
    match weights {
        None => bins.iter().for_each(|&bin| {
            if let Some(sum) = sums.get_mut(bin) {
                *sum += 1.0;
            }
        }),
        Some(weights) => bins.iter().zip(weights).for_each(|(&bin, weight)| {
            if let Some(sum) = sums.get_mut(bin) {
                *sum += weight;
            }
        }),
    }
    if let Some(squares) = &mut histogram.squares {
        for (at, &bin) in bins.iter().enumerate() {
            if let Some(sum) = squares.get_mut(bin) {
                *sum += weights.map_or(1.0, |weights| weights[at] * weights[at]);
            }
        }
    }
    let missing = bins.iter().filter(|&&bin| bin == MISSING).count();
    histogram.missing = missing as u64;
    histogram.entries = (bins.len() - missing) as u64;
}
