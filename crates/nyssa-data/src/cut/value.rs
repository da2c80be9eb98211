//! Computes the values of the parts of a cut: numbers or truth values, one for each entry or for each item of its
//! lists.

use std::borrow::Cow;
use std::ops::{Deref, Range};

use arrow_buffer::OffsetBuffer;
use nyssa_root::arrow::Number;

/// The result of an operation. The message of an error has no place in the cut.
pub(super) type Outcome<T> = std::result::Result<T, String>;

/// The place of a value that is missing.
pub(super) const NOWHERE: usize = usize::MAX;

/// The lists of one dimension.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Level {
    pub offsets: OffsetBuffer<i64>,
    /// The length of each list, if the type of the array states it.
    pub size: Option<i32>,
}

impl Level {
    /// Makes lists of any lengths.
    pub(super) fn new(offsets: OffsetBuffer<i64>) -> Self {
        Self { offsets, size: None }
    }

    /// Returns the number of lists.
    pub(super) fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns the number of items of all lists.
    pub(super) fn items(&self) -> usize {
        usize::try_from(self.offsets[self.count()]).unwrap_or(0)
    }

    /// Returns the range of items of each list.
    pub(super) fn ranges(&self) -> impl Iterator<Item = Range<usize>> + Clone + '_ {
        self.offsets.windows(2).map(|ends| ends[0] as usize..ends[1] as usize)
    }

    /// Returns the range of items of a list.
    pub(super) fn range(&self, index: usize) -> Range<usize> {
        let at = |index: usize| {
            self.offsets.get(index).and_then(|&at| usize::try_from(at).ok()).unwrap_or(0)
        };
        at(index)..at(index + 1)
    }

    /// Returns whether the lists have the lengths of other lists. Offsets begin with 0.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.offsets.ptr_eq(&other.offsets) || self.offsets == other.offsets
    }
}

impl Deref for Level {
    type Target = OffsetBuffer<i64>;

    fn deref(&self) -> &Self::Target {
        &self.offsets
    }
}

/// The values themselves.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Bool(Vec<bool>),
    Integer(Vec<i64>),
    Real(Vec<f64>),
}

/// One value for each entry, or for each innermost item.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// The lists, outermost first. It is empty if each entry has one value.
    pub levels: Vec<Level>,
    pub data: Data,
    /// The type of the values in a result. They are computed with 64 bits.
    pub number: Number,
    /// Whether each value is present. `None` if all values are present.
    pub valid: Option<Vec<bool>>,
    /// Whether there is one value for all entries. It is present.
    pub constant: bool,
}

/// The values on one side of an operation.
#[derive(Clone, Copy)]
pub(super) enum Side<'a, T> {
    /// One value for all.
    All(T),
    Each(&'a [T]),
}

impl<T: Copy> Side<'_, T> {
    /// Returns a value.
    pub(super) fn at(&self, index: usize) -> T {
        match self {
            Self::All(value) => *value,
            Self::Each(values) => values[index],
        }
    }
}

/// Applies a function to each pair of values.
pub(super) fn each_pair<A: Copy, B: Copy, C>(
    left: Side<'_, A>,
    right: Side<'_, B>,
    function: impl Fn(A, B) -> C,
) -> Vec<C> {
    match (left, right) {
        (Side::Each(a), Side::Each(b)) => a.iter().zip(b).map(|(&a, &b)| function(a, b)).collect(),
        (Side::Each(a), Side::All(b)) => a.iter().map(|&a| function(a, b)).collect(),
        (Side::All(a), Side::Each(b)) => b.iter().map(|&b| function(a, b)).collect(),
        (Side::All(a), Side::All(b)) => vec![function(a, b)],
    }
}

/// Makes other data of the values of data.
macro_rules! with_values {
    ($data:expr, $values:ident => $made:expr) => {
        match $data {
            Data::Bool($values) => Data::Bool($made),
            Data::Integer($values) => Data::Integer($made),
            Data::Real($values) => Data::Real($made),
        }
    };
}

/// Returns the values at some places. At [`NOWHERE`] it is false or zero.
fn at<T: Copy + Default>(values: &[T], places: &[usize]) -> Vec<T> {
    places.iter().map(|&place| values.get(place).copied().unwrap_or_default()).collect()
}

/// Repeats each value for the items of its list.
fn repeated<T: Copy>(values: &[T], lists: &Level) -> Vec<T> {
    let mut made = Vec::with_capacity(lists.items());
    for (&value, list) in values.iter().zip(lists.ranges()) {
        made.resize(list.end, value);
    }
    made
}

impl Data {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Real(values) => values.len(),
        }
    }

    /// Returns the type of values that are computed.
    pub(super) fn number(&self) -> Number {
        match self {
            Self::Bool(_) => Number::Bool,
            Self::Integer(_) => Number::Int64,
            Self::Real(_) => Number::Float64,
        }
    }

    /// Repeats the first value.
    fn times(&self, count: usize) -> Self {
        with_values!(self, values => vec![values.first().copied().unwrap_or_default(); count])
    }

    /// Converts to integers. True becomes 1. Returns `None` for real numbers.
    pub(super) fn integers(&self) -> Option<Cow<'_, [i64]>> {
        match self {
            Self::Bool(values) => Some(values.iter().map(|&value| i64::from(value)).collect()),
            Self::Integer(values) => Some(Cow::Borrowed(values)),
            Self::Real(_) => None,
        }
    }

    /// Rounds real numbers if `number` has single precision, as NumPy does after each operation.
    pub(super) fn rounded(self, number: Number) -> Self {
        match self {
            Self::Real(values) if number == Number::Float32 => {
                Self::Real(values.into_iter().map(|value| f64::from(value as f32)).collect())
            }
            other => other,
        }
    }

    /// Converts to real numbers. True becomes 1.
    pub(super) fn reals(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Bool(values) => values.iter().map(|&value| f64::from(value)).collect(),
            Self::Integer(values) => values.iter().map(|&value| value as f64).collect(),
            Self::Real(values) => Cow::Borrowed(values),
        }
    }

    /// Converts to real numbers, as [`Data::reals`] does.
    pub(super) fn into_reals(self) -> Vec<f64> {
        match self {
            Self::Real(values) => values,
            other => other.reals().into_owned(),
        }
    }
}

impl Value {
    /// Makes a value that is the same for all entries.
    pub(super) fn constant(data: Data) -> Self {
        let number = data.number();
        Self { levels: Vec::new(), data, number, valid: None, constant: true }
    }

    /// Makes other values in these lists. Real numbers that are made of single precision keep it.
    pub(super) fn with(self, data: Data) -> Self {
        let single = self.number == Number::Float32 && matches!(data, Data::Real(_));
        let number = if single { Number::Float32 } else { data.number() };
        Self { data: data.rounded(number), number, ..self }
    }

    /// Returns whether the result of real arithmetic with single precision has single precision, as in NumPy.
    pub(super) fn is_narrow(&self) -> bool {
        self.constant || (self.number.size() <= 2 || self.number == Number::Float32)
    }

    /// Returns whether the value is present.
    pub(super) fn has(&self, index: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(index).copied().unwrap_or(false))
    }

    /// Returns the values of this value for an operation: one for all, if this is a constant.
    pub(super) fn side<'a, T: Copy + Default>(&self, values: &'a [T]) -> Side<'a, T> {
        match self.constant {
            true => Side::All(values.first().copied().unwrap_or_default()),
            false => Side::Each(values),
        }
    }

    /// Converts to real numbers for an operation whose result is a `number`.
    pub(super) fn reals_of(&self, number: Number) -> Cow<'_, [f64]> {
        match self.constant && number == Number::Float32 {
            // Values of columns have single precision if the result has it.
            true => self.data.reals().iter().map(|&value| f64::from(value as f32)).collect(),
            false => self.data.reals(),
        }
    }

    /// Returns one value for each of `count` entries.
    pub(super) fn for_entries(self, count: usize) -> Self {
        match self.constant {
            true => Self { data: self.data.times(count), constant: false, ..self },
            false => self,
        }
    }

    /// Returns the entries at some places, with their lists. At [`NOWHERE`] the value is missing or the list is empty.
    pub(super) fn take(&self, places: &[usize]) -> Self {
        self.take_from(&self.levels, places)
    }

    /// Returns the lists of `from`, the inner levels of this value, at some places.
    pub(super) fn take_from(&self, from: &[Level], places: &[usize]) -> Self {
        let mut places = Cow::Borrowed(places);
        let mut levels = Vec::with_capacity(from.len());
        for level in from {
            let mut items = Vec::new();
            let mut lengths = Vec::with_capacity(places.len());
            for &place in places.iter() {
                let range = if place == NOWHERE { 0..0 } else { level.range(place) };
                lengths.push(range.len());
                items.extend(range);
            }
            levels.push(Level { offsets: OffsetBuffer::from_lengths(lengths), size: level.size });
            places = Cow::Owned(items);
        }
        let missing = self.valid.is_some() || places.contains(&NOWHERE);
        let valid = missing.then(|| match &self.valid {
            Some(valid) => at(valid, &places),
            None => places.iter().map(|&place| place != NOWHERE).collect(),
        });
        let data = with_values!(&self.data, values => at(values, &places));
        Self { levels, data, number: self.number, valid, constant: false }
    }

    /// Takes the items for which `mask`, which has the same lists, is true.
    pub(super) fn select(&self, mask: &Self) -> Outcome<Self> {
        let Data::Bool(bits) = &mask.data else {
            return Err("an index is one number for each entry, not a list".to_owned());
        };
        let depth = mask.levels.len();
        if depth > self.levels.len() {
            return Err("the selection has more nested lists than what it selects".to_owned());
        }
        if !self.levels.iter().zip(&mask.levels).all(|(ours, theirs)| ours.is_like(theirs)) {
            return Err("the selection has other lists than what it selects".to_owned());
        }
        let (outer, inner) = self.levels.split_at(depth);
        let mut places = Vec::new();
        let mut levels = outer.to_vec();
        if let Some(last) = levels.last_mut() {
            let lengths = last.ranges().map(|list| {
                let before = places.len();
                places.extend(list.filter(|&at| bits[at] && mask.has(at)));
                places.len() - before
            });
            let offsets = OffsetBuffer::from_lengths(lengths.collect::<Vec<_>>());
            *last = Level::new(offsets);
        }
        let items = self.take_from(inner, &places);
        levels.extend(items.levels);
        Ok(Self { levels, ..items })
    }

    /// Takes one item of the outermost list of each entry, or the items that a list of true and false selects.
    pub(super) fn item(&self, index: &Self) -> Outcome<Self> {
        let Some((outer, inner)) = self.levels.split_first() else {
            return Err("only lists have items".to_owned());
        };
        if !index.levels.is_empty() {
            return self.select(index);
        }
        let places = places_of(index, outer.ranges())?;
        let mut items = self.take_from(inner, &places);
        // The list of a missing item is empty.
        items.levels.iter_mut().for_each(|level| level.size = None);
        Ok(items.optional())
    }

    /// Says that values may be missing: the type says so, whatever the values are.
    pub(super) fn optional(mut self) -> Self {
        if self.levels.is_empty() && self.valid.is_none() {
            self.valid = Some(vec![true; self.data.len()]);
        }
        self
    }

    /// Repeats the values for each item of the additional lists in `levels`.
    pub(super) fn spread(self, levels: &[Level]) -> Outcome<Self> {
        if self.constant {
            let count = levels.last().map_or(1, Level::items);
            return Ok(Self { levels: levels.to_vec(), ..self.for_entries(count) });
        }
        for (ours, theirs) in self.levels.iter().zip(levels) {
            if !ours.is_like(theirs) {
                return Err("these lists have different lengths".to_owned());
            }
        }
        let mut value = self;
        for level in levels.iter().skip(value.levels.len()) {
            value.data = with_values!(&value.data, values => repeated(values, level));
            value.valid = value.valid.map(|valid| repeated(&valid, level));
        }
        Ok(Self { levels: levels.to_vec(), ..value })
    }
}

/// Returns the place of one item of each list. Items that a list does not have are [`NOWHERE`].
pub(super) fn places_of(
    index: &Value,
    lists: impl Iterator<Item = Range<usize>>,
) -> Outcome<Vec<usize>> {
    if matches!(index.data, Data::Bool(_)) {
        return Err("this selects entries, not items: that is what the cut is for".to_owned());
    }
    let Data::Integer(indices) = &index.data else {
        return Err("an index is an integer".to_owned());
    };
    let place = |(entry, list): (usize, Range<usize>)| {
        let at = if index.constant { 0 } else { entry };
        let wanted = *indices.get(at).filter(|_| index.has(at))?;
        let item = if wanted < 0 { wanted.checked_add(list.len() as i64)? } else { wanted };
        let item = usize::try_from(item).ok().filter(|&item| item < list.len())?;
        Some(list.start + item)
    };
    Ok(lists.enumerate().map(|list| place(list).unwrap_or(NOWHERE)).collect())
}
