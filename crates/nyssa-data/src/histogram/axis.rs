//! Defines [`Axis`], which finds the bin of each value. boost-histogram finds equal bins, to the last bit.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_schema::DataType;
use nyssa_root::arrow::{brief, with_integer_type};
use nyssa_root::error::{Error, Result};

use super::values;

/// The number of different texts that an axis which grows may have.
pub const MAX_CATEGORIES: usize = 1 << 16;

/// The function that makes the bins of a regular axis evenly wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transform {
    /// The values as they are.
    None,
    /// The natural logarithm.
    Log,
    /// The square root.
    Sqrt,
    /// The power with this exponent.
    Power(f64),
}

impl Transform {
    fn of(self, value: f64) -> f64 {
        match self {
            Self::None => value,
            Self::Log => value.ln(),
            Self::Sqrt => value.sqrt(),
            Self::Power(exponent) => value.powf(exponent),
        }
    }
}

/// The bins of one dimension of a histogram.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// Bins of equal width from `low` to `high`.
    Regular {
        /// The number of bins.
        bins: usize,
        /// The low edge of the first bin.
        low: f64,
        /// The high edge of the last bin.
        high: f64,
        /// The scale on which the widths are equal.
        transform: Transform,
        /// Whether the last bin has its high edge, which is so for axes without overflow.
        closed: bool,
    },
    /// Bins between edges that ascend.
    Variable {
        /// The edges, one more than there are bins.
        edges: Vec<f64>,
        /// Whether the last bin has its high edge, which is so for axes without overflow.
        closed: bool,
    },
    /// A bin for each integer from `low` on.
    Integer {
        /// The integer of the first bin.
        low: i64,
        /// The number of bins.
        bins: usize,
    },
    /// A bin for each of these integers.
    Integers(Vec<i64>),
    /// A bin for each of these texts.
    Texts(Vec<String>),
    /// A bin for each text that is met, in the order in which they are met, after these.
    AllTexts(Vec<String>),
}

/// The bins of values: 0 is the underflow, 1 the first bin, and the number of bins plus 1 is the overflow.
#[derive(Debug, Default)]
pub(super) struct Places {
    pub bins: Vec<usize>,
    /// The texts of the bins, if the axis grows.
    pub texts: Vec<String>,
}

impl Axis {
    /// Checks the numbers of the axis.
    ///
    /// # Errors
    /// `InvalidArgument` if it has no bins, or if its edges do not ascend.
    pub fn check(&self) -> Result<()> {
        let fault = |message: &str| Err(Error::invalid_argument(message));
        match self {
            Self::Regular { bins: 0, .. } | Self::Integer { bins: 0, .. } => {
                fault("an axis needs at least one bin")
            }
            Self::Regular { low, high, transform, .. } => {
                let (low, high) = (transform.of(*low), transform.of(*high));
                match low < high && low.is_finite() && high.is_finite() {
                    true => Ok(()),
                    false => fault("the low edge of an axis is a number below its high edge"),
                }
            }
            Self::Variable { edges, .. } if edges.len() < 2 => {
                fault("an axis with stated edges needs at least two of them")
            }
            Self::Variable { edges, .. } if !edges.is_sorted_by(|a, b| a < b) => {
                fault("the edges of an axis ascend")
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of bins, without underflow and overflow.
    pub fn bins(&self) -> usize {
        match self {
            Self::Regular { bins, .. } | Self::Integer { bins, .. } => *bins,
            Self::Variable { edges, .. } => edges.len().saturating_sub(1),
            Self::Integers(values) => values.len(),
            Self::Texts(texts) | Self::AllTexts(texts) => texts.len(),
        }
    }

    /// Returns whether the axis gets a bin for each text that is met.
    pub(super) fn grows(&self) -> bool {
        matches!(self, Self::AllTexts(_))
    }

    /// Returns the number of bins with underflow and overflow. An axis that grows has no overflow.
    pub(super) fn extent(&self) -> usize {
        self.bins().saturating_add(if self.grows() { 1 } else { 2 })
    }

    /// Checks that values of this type can be filled.
    pub(super) fn takes(&self, leaf: &DataType) -> Result<()> {
        if let DataType::Struct(members) = leaf {
            return Err(values::record(members));
        }
        let is_text = values::is_text(leaf);
        let is_integer = leaf.is_integer() || matches!(leaf, DataType::Boolean);
        let is_number = is_integer || leaf.is_floating();
        let fault = |message: String| Err(Error::invalid_argument(message));
        if !is_text && !is_number {
            return fault(format!("values of type {} cannot fill a histogram", brief(leaf)));
        }
        match self {
            Self::Texts(_) | Self::AllTexts(_) if !is_text => {
                fault("these are numbers, and the axis is for texts".to_owned())
            }
            Self::Integer { .. } | Self::Integers(_) if !is_integer => fault(
                "an axis of integers takes integers or booleans; give these an axis with edges"
                    .to_owned(),
            ),
            Self::Regular { .. } | Self::Variable { .. } if is_text => {
                fault("these are texts, which an axis of categories takes".to_owned())
            }
            _ => Ok(()),
        }
    }

    /// Finds the bin of each value of `leaf`, which [`Axis::takes`]. The bins of missing values have no meaning.
    pub(super) fn places(&self, leaf: &ArrayRef) -> Result<Places> {
        let bins = match self {
            Self::Regular { bins, low, high, transform, closed } => {
                let (min, count) = (transform.of(*low), *bins as f64);
                let width = transform.of(*high) - min;
                let place = |value: f64| {
                    let z = (transform.of(value) - min) / width;
                    if (0.0..1.0).contains(&z) {
                        // The product may be rounded up to the number of bins.
                        (z * count) as usize + 1
                    } else if z < 0.0 {
                        0
                    } else if z == 1.0 && *closed {
                        *bins
                    } else {
                        *bins + 1
                    }
                };
                numbers(leaf).into_iter().map(place).collect()
            }
            Self::Variable { edges, closed } => {
                let last = edges.last().copied().unwrap_or_default();
                let place = |value: f64| match *closed && value == last {
                    true => edges.len() - 1,
                    // What is not a number is beyond all edges.
                    false => edges.partition_point(|&edge| edge <= value || value.is_nan()),
                };
                numbers(leaf).into_iter().map(place).collect()
            }
            Self::Integer { low, bins } => {
                let place = |value: i64| match value.checked_sub(*low) {
                    Some(at) if at < 0 => 0,
                    Some(at) => usize::try_from(at).map_or(*bins, |at| at.min(*bins)) + 1,
                    None if value < *low => 0,
                    None => *bins + 1,
                };
                integers(leaf).into_iter().map(place).collect()
            }
            Self::Integers(values) => {
                let known: HashMap<i64, usize> = values.iter().copied().zip(1..).collect();
                let beyond = values.len() + 1;
                let place = |value: i64| known.get(&value).copied().unwrap_or(beyond);
                integers(leaf).into_iter().map(place).collect()
            }
            Self::Texts(texts) => {
                let known: HashMap<&str, usize> =
                    texts.iter().map(String::as_str).zip(1..).collect();
                let place = |text: &str| known.get(text).copied().unwrap_or(texts.len() + 1);
                values::texts(leaf).iter().map(|text| place(text)).collect()
            }
            Self::AllTexts(texts) => return all_texts(texts, leaf),
        };
        Ok(Places { bins, texts: Vec::new() })
    }
}

/// Finds the bins of texts, and gives a new bin to each text that has none.
fn all_texts(first: &[String], leaf: &ArrayRef) -> Result<Places> {
    let mut texts = first.to_vec();
    let mut known: HashMap<String, usize> = first.iter().cloned().zip(1..).collect();
    let mut bins = Vec::with_capacity(leaf.len());
    for (at, text) in values::texts(leaf).into_iter().enumerate() {
        if leaf.is_null(at) {
            bins.push(0);
            continue;
        }
        if let Some(&bin) = known.get(&*text) {
            bins.push(bin);
            continue;
        }
        check_categories(texts.len())?;
        texts.push(text.to_string());
        known.insert(text.into_owned(), texts.len());
        bins.push(texts.len());
    }
    Ok(Places { bins, texts })
}

/// Refuses more texts than an axis may have.
pub(super) fn check_categories(count: usize) -> Result<()> {
    match count < MAX_CATEGORIES {
        true => Ok(()),
        false => Err(Error::limit(format!(
            "there are more than {MAX_CATEGORIES} different texts; name the categories that count"
        ))),
    }
}

/// Returns the values of an array of numbers, as the doubles that NumPy makes of them. Other arrays have none.
pub(super) fn numbers(leaf: &ArrayRef) -> Vec<f64> {
    fn integers<T: ArrowPrimitiveType<Native: AsDouble>>(leaf: &ArrayRef) -> Vec<f64> {
        leaf.as_primitive::<T>().values().iter().map(|value| value.as_double()).collect()
    }
    match leaf.data_type() {
        DataType::Boolean => leaf.as_boolean().values().iter().map(f64::from).collect(),
        DataType::Float16 => {
            leaf.as_primitive::<Float16Type>().values().iter().map(|v| v.to_f64()).collect()
        }
        DataType::Float32 => {
            leaf.as_primitive::<Float32Type>().values().iter().map(|&v| v.into()).collect()
        }
        DataType::Float64 => leaf.as_primitive::<Float64Type>().values().to_vec(),
        other => with_integer_type!(other, T => integers::<T>(leaf), _ => Vec::new()),
    }
}

/// Returns the values of an array of integers or booleans. Integers that are too large become the largest one.
fn integers(leaf: &ArrayRef) -> Vec<i64> {
    fn typed<T: ArrowPrimitiveType<Native: TryInto<i64>>>(leaf: &ArrayRef) -> Vec<i64> {
        let typed = |&value: &T::Native| value.try_into().unwrap_or(i64::MAX);
        leaf.as_primitive::<T>().values().iter().map(typed).collect()
    }
    match leaf.data_type() {
        DataType::Boolean => leaf.as_boolean().values().iter().map(i64::from).collect(),
        other => with_integer_type!(other, T => typed::<T>(leaf), _ => Vec::new()),
    }
}

/// An integer that can be rounded to a double.
trait AsDouble: Copy {
    fn as_double(self) -> f64;
}

macro_rules! as_double {
    ($($integer:ty)*) => {
        $(impl AsDouble for $integer {
            fn as_double(self) -> f64 {
                self as f64
            }
        })*
    };
}

as_double!(i8 u8 i16 u16 i32 u32 i64 u64);
