//! Computes the values of the parts of a cut: numbers or truth values, one for each entry or for each item of its
//! lists.

use arrow_buffer::OffsetBuffer;

/// The result of an operation. The message of an error has no place in the cut.
pub(super) type Outcome<T> = std::result::Result<T, String>;

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
    /// The offsets of lists, outermost first. It is empty for one value per entry.
    pub levels: Vec<OffsetBuffer<i64>>,
    pub data: Data,
    /// Whether each value is present. `None` if all are.
    pub valid: Option<Vec<bool>>,
    /// Whether it is one value for all entries.
    pub constant: bool,
}

impl Data {
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Real(values) => values.len(),
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
    pub fn integers(&self) -> Option<Vec<i64>> {
        match self {
            Self::Bool(values) => Some(values.iter().map(|&value| i64::from(value)).collect()),
            Self::Integer(values) => Some(values.clone()),
            Self::Real(_) => None,
        }
    }

    /// Converts to real numbers. True becomes 1.
    pub fn reals(self) -> Vec<f64> {
        match self {
            Self::Bool(values) => values.into_iter().map(f64::from).collect(),
            Self::Integer(values) => values.into_iter().map(|value| value as f64).collect(),
            Self::Real(values) => values,
        }
    }
}

impl Value {
    /// Makes a value that is the same for all entries.
    pub fn constant(data: Data) -> Self {
        Self { levels: Vec::new(), data, valid: None, constant: true }
    }

    /// Makes other values in the same lists.
    pub fn with(self, data: Data) -> Self {
        Self { data, ..self }
    }

    /// Returns whether the value is present.
    pub fn has(&self, index: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid.get(index).copied().unwrap_or(false))
    }

    /// Returns the entries at some places, with their lists. For `None` in `places`, the value is missing or
    /// the list is empty.
    pub fn take(&self, places: &[Option<usize>]) -> Self {
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
            levels.push(OffsetBuffer::from_lengths(lengths));
            places = items;
        }
        let missing = places.iter().any(Option::is_none) || self.valid.is_some();
        let there = |place: &Option<usize>| place.is_some_and(|place| self.has(place));
        let valid = missing.then(|| places.iter().map(there).collect());
        Self { levels, data: self.data.take(&places), valid, constant: false }
    }

    /// Takes one item of the outermost list of each entry.
    pub fn item(&self, index: &Self) -> Outcome<Self> {
        let Some((outer, inner)) = self.levels.split_first() else {
            return Err("only lists have items".to_owned());
        };
        if !index.levels.is_empty() {
            return Err("an index is one number for each entry, not a list".to_owned());
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
            valid: self.valid.clone(),
            constant: false,
        };
        Ok(items.take(&places))
    }

    /// Repeats the values for each item of the additional lists in `levels`.
    pub fn spread(self, levels: &[OffsetBuffer<i64>]) -> Outcome<Self> {
        if self.constant {
            let length = levels.last().map_or(1, |level| level.last());
            let places = vec![Some(0); usize::try_from(length).unwrap_or(0)];
            let spread = self.take(&places);
            return Ok(Self { levels: levels.to_vec(), ..spread });
        }
        for (ours, theirs) in self.levels.iter().zip(levels) {
            let lengths = |level: &OffsetBuffer<i64>| level.lengths().collect::<Vec<_>>();
            if ours != theirs && lengths(ours) != lengths(theirs) {
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
pub(super) fn range(level: &OffsetBuffer<i64>, index: usize) -> std::ops::Range<usize> {
    let at = |index: usize| level.get(index).and_then(|&at| usize::try_from(at).ok()).unwrap_or(0);
    at(index)..at(index + 1)
}
