//! Computes the values of the parts of a cut: numbers or truth values, one for each entry or for each item of its
//! lists.

use std::ops::Deref;

use arrow_buffer::OffsetBuffer;
use nyssa_root::arrow::Number;

/// The result of an operation. The message of an error has no place in the cut.
pub(super) type Outcome<T> = std::result::Result<T, String>;

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

    /// Returns whether the lists have the lengths of other lists.
    fn is_like(&self, other: &Self) -> bool {
        let lengths = |level: &Self| level.lengths().collect::<Vec<_>>();
        self.offsets == other.offsets || lengths(self) == lengths(other)
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
    /// Whether there is one value for all entries.
    pub constant: bool,
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

    /// Returns the values at some places. For `None` in `places`, the value is false or zero.
    fn take(&self, places: &[Option<usize>]) -> Self {
        fn at<T: Copy + Default>(values: &[T], places: &[Option<usize>]) -> Vec<T> {
            let value = |place: &Option<usize>| place.and_then(|place| values.get(place)).copied();
            places.iter().map(|place| value(place).unwrap_or_default()).collect()
        }
        match self {
            Self::Bool(values) => Self::Bool(at(values, places)),
            Self::Integer(values) => Self::Integer(at(values, places)),
            Self::Real(values) => Self::Real(at(values, places)),
        }
    }

    /// Converts to integers. True becomes 1. Returns `None` for real numbers.
    pub(super) fn integers(&self) -> Option<Vec<i64>> {
        match self {
            Self::Bool(values) => Some(values.iter().map(|&value| i64::from(value)).collect()),
            Self::Integer(values) => Some(values.clone()),
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

    /// Converts to real numbers for an operation whose result is a `number`.
    pub(super) fn reals_of(self, number: Number) -> Vec<f64> {
        Self::Real(self.reals()).rounded(number).reals()
    }

    /// Converts to real numbers. True becomes 1.
    pub(super) fn reals(self) -> Vec<f64> {
        match self {
            Self::Bool(values) => values.into_iter().map(f64::from).collect(),
            Self::Integer(values) => values.into_iter().map(|value| value as f64).collect(),
            Self::Real(values) => values,
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

    /// Returns the entries at some places, with their lists. For `None` in `places`, the value is missing or
    /// the list is empty.
    pub(super) fn take(&self, places: &[Option<usize>]) -> Self {
        let mut places = places.to_vec();
        let mut levels = Vec::with_capacity(self.levels.len());
        for level in &self.levels {
            let mut items = Vec::new();
            let mut lengths = Vec::with_capacity(places.len());
            for place in &places {
                let range = place.map_or(0..0, |place| range(level, place));
                lengths.push(range.len());
                items.extend(range.map(Some));
            }
            levels.push(Level { offsets: OffsetBuffer::from_lengths(lengths), size: level.size });
            places = items;
        }
        let missing = places.iter().any(Option::is_none) || self.valid.is_some();
        let there = |place: &Option<usize>| place.is_some_and(|place| self.has(place));
        let valid = missing.then(|| places.iter().map(there).collect());
        let (data, number) = (self.data.take(&places), self.number);
        Self { levels, data, number, valid, constant: false }
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
        let is_set = |at: &usize| bits[*at] && mask.has(*at);
        let places: Vec<_> = (0..bits.len()).filter(is_set).map(Some).collect();
        let items = Self { levels: inner.to_vec(), ..self.clone() }.take(&places);
        let mut levels = outer.to_vec();
        if let Some(last) = levels.last_mut() {
            let lists = (0..last.len() - 1).map(|index| range(last, index));
            let lengths = lists.map(|list| list.filter(is_set).count());
            *last = Level::new(OffsetBuffer::from_lengths(lengths.collect::<Vec<_>>()));
        }
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
        if matches!(index.data, Data::Bool(_)) {
            return Err("this selects entries, not items: that is what the cut is for".to_owned());
        }
        let Data::Integer(indices) = &index.data else {
            return Err("an index is an integer".to_owned());
        };
        let entries = outer.len() - 1;
        let place = |entry: usize| {
            let at = if index.constant { 0 } else { entry };
            let wanted = *indices.get(at).filter(|_| index.has(at))?;
            let range = range(outer, entry);
            let item = if wanted < 0 { wanted.checked_add(range.len() as i64)? } else { wanted };
            let item = usize::try_from(item).ok().filter(|&item| item < range.len())?;
            Some(range.start + item)
        };
        let places = (0..entries).map(place).collect::<Vec<_>>();
        let items = Self {
            levels: inner.to_vec(),
            data: self.data.clone(),
            number: self.number,
            valid: self.valid.clone(),
            constant: false,
        };
        let mut items = items.take(&places);
        // The list of a missing item is empty.
        items.levels.iter_mut().for_each(|level| level.size = None);
        // The type says whether values may be missing, whatever the values are.
        if items.levels.is_empty() && items.valid.is_none() {
            items.valid = Some(vec![true; items.data.len()]);
        }
        Ok(items)
    }

    /// Repeats the values for each item of the additional lists in `levels`.
    pub(super) fn spread(self, levels: &[Level]) -> Outcome<Self> {
        if self.constant {
            let length = levels.last().map_or(1, |level| level.last());
            let places = vec![Some(0); usize::try_from(length).unwrap_or(0)];
            let spread = self.take(&places);
            return Ok(Self { levels: levels.to_vec(), ..spread });
        }
        for (ours, theirs) in self.levels.iter().zip(levels) {
            if !ours.is_like(theirs) {
                return Err("these lists have different lengths".to_owned());
            }
        }
        let mut value = self;
        for level in levels.iter().skip(value.levels.len()) {
            let repeated =
                level.lengths().enumerate().flat_map(|(at, n)| std::iter::repeat_n(Some(at), n));
            let flat = Self { levels: Vec::new(), ..value };
            let spread = flat.take(&repeated.collect::<Vec<_>>());
            value = Self { levels: levels.to_vec(), ..spread };
        }
        Ok(value)
    }
}

/// Returns the range of items of a list.
pub(super) fn range(level: &Level, index: usize) -> std::ops::Range<usize> {
    let at = |index: usize| level.get(index).and_then(|&at| usize::try_from(at).ok()).unwrap_or(0);
    at(index)..at(index + 1)
}
