//! Adds histograms, profiles and parameters. The first object is read with the places of its members. The sums are
//! written at these places, so that all else stays as it is.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::rootfile::{KeyEntry, RootFile};
use crate::streamer::values::{Numbers, Object, Value, View};

/// What helps if an object cannot be merged with those of the other inputs.
pub(super) const WITHOUT: &str = "--no-carry (carry=False) merges without such objects";

/// The mark of a histogram that is an average (`TH1::kIsAverage`).
const IS_AVERAGE: i64 = 1 << 18;
/// The part of the width of an axis by which limits may differ (`TH1::CheckAxisLimits`).
const NEAR: f64 = 1e-12;

/// The classes of parameters that are added up.
const PARAMETERS: [&str; 6] = [
    "TParameter<bool>",
    "TParameter<int>",
    "TParameter<long>",
    "TParameter<Long64_t>",
    "TParameter<float>",
    "TParameter<double>",
];

/// Returns whether objects of a class are added up.
pub(super) fn adds(class: &str) -> bool {
    let histogram = class.strip_prefix("TH").is_some_and(|rest| {
        matches!(rest.as_bytes(), [b'1'..=b'3', b'C' | b'S' | b'I' | b'L' | b'F' | b'D'])
    });
    histogram
        || matches!(class, "TProfile" | "TProfile2D" | "TProfile3D")
        || PARAMETERS.contains(&class)
}

/// The sum of objects of one name.
pub(super) struct Sum {
    /// The bytes of the object that becomes the sum.
    payload: Vec<u8>,
    /// The members that are added up.
    members: Vec<Member>,
    axes: Vec<Axis>,
    /// The sums of the squares of the weights of each bin.
    squares: Vec<f64>,
    /// How parameters are added.
    mode: Mode,
    /// Why the object cannot be added to others.
    problem: Option<&'static str>,
}

/// What [`Sum::add`] did.
pub(super) struct Added {
    /// Whether the object that was added is now the one that becomes the sum.
    pub is_new_template: bool,
}

struct Member {
    name: String,
    place: Range<usize>,
    total: Value,
}

/// How a `TParameter` is merged (`TParameter::SetMergeMode`).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Add,
    Multiply,
    Max,
    Min,
    First,
    Last,
}

/// What must be equal in two axes.
#[derive(Debug, PartialEq)]
struct Axis {
    bins: i64,
    low: f64,
    high: f64,
    edges: Vec<f64>,
    labels: Vec<(i64, String)>,
}

impl Sum {
    /// Begins a sum with the object of a key.
    ///
    /// # Errors
    /// `Unsupported` if the object cannot be read; the errors of reading it.
    pub fn of(file: &RootFile, key: &KeyEntry) -> Result<Self> {
        let payload = file.payload(key)?;
        let object = file.streamer_infos()?.placed_object(&key.class, &payload, key.keylen)?;
        let view = object.root();
        let mode = mode(view);
        let (axes, members) = (axes(view)?, members(&object));
        let (squares, problem) = (Vec::new(), problem(view));
        let mut sum = Self { payload, members, axes, squares, mode, problem };
        sum.squares = sum.own_squares(&key.class);
        Ok(sum)
    }

    /// Adds the object of another key, which is of the same class.
    ///
    /// # Errors
    /// `InvalidArgument` for other axes and for histograms that cannot be added; the errors of [`Sum::of`].
    pub fn add(&mut self, file: &RootFile, key: &KeyEntry) -> Result<Added> {
        let mut other = Self::of(file, key)?;
        if let Some(problem) = self.problem.or(other.problem) {
            return Err(refused(problem));
        }
        for (letter, (own, new)) in "xyz".chars().zip(self.axes.iter().zip(&other.axes)) {
            own.check(new, letter)?;
        }
        let (squares, _) = optional(&key.class);
        for (total, square) in self.squares.iter_mut().zip(&other.squares) {
            *total += square;
        }
        let has_squares = |sum: &Self| sum.len_of(squares) > 0;
        // The result has the sums of squares if one of the objects has them, so it takes the place of that one.
        let is_new_template = !has_squares(self) && has_squares(&other);
        for member in &mut self.members {
            let Some(with) = other.members.iter_mut().find(|one| one.name == member.name) else {
                continue;
            };
            if member.name != squares {
                let total = combine(self.mode, &member.total, &with.total);
                let total = total.ok_or_else(|| {
                    Error::invalid_argument(format!("{} differs in size or type", member.name))
                })?;
                with.total = total.clone();
                member.total = total;
            }
        }
        if is_new_template {
            other.squares = std::mem::take(&mut self.squares);
            *self = other;
        }
        if let Some(member) = self.members.iter_mut().find(|member| member.name == squares)
            && !matches!(&member.total, Value::Numbers(numbers) if numbers.is_empty())
        {
            member.total = Value::Numbers(Numbers::Float64(self.squares.clone().into()));
        }
        Ok(Added { is_new_template })
    }

    /// Returns the bytes of the sum.
    pub fn finish(mut self) -> Vec<u8> {
        for member in &self.members {
            if let Some(bytes) = self.payload.get_mut(member.place.clone()) {
                put(&member.total, bytes);
            }
        }
        self.payload
    }

    fn len_of(&self, name: &str) -> usize {
        match self.members.iter().find(|member| member.name == name).map(|member| &member.total) {
            Some(Value::Numbers(numbers)) => numbers.len(),
            _ => 0,
        }
    }

    /// Returns the sums of squares of the weights. Without them, each entry has the weight 1.
    fn own_squares(&self, class: &str) -> Vec<f64> {
        let (squares, counts) = optional(class);
        let name = if self.len_of(squares) > 0 { squares } else { counts };
        match self.members.iter().find(|member| member.name == name).map(|member| &member.total) {
            Some(Value::Numbers(numbers)) => floats(numbers).iter().map(|one| one.abs()).collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the member that a class may have or lack, with the sums of squares of weights, and the one that stands for
/// it where all weights are 1.
fn optional(class: &str) -> (&'static str, &'static str) {
    match class.starts_with("TProfile") {
        true => ("fBinSumw2", "fBinEntries"),
        false => ("fSumw2", "fArray"),
    }
}

/// Returns the members that are added up.
fn members(object: &Object) -> Vec<Member> {
    let is_sum = |name: &str| {
        name.starts_with("fTsumw")
            || ["fEntries", "fArray", "fSumw2", "fBinEntries", "fBinSumw2", "fVal"].contains(&name)
    };
    let placed = object.placed().into_iter().filter(|member| is_sum(member.name));
    let member = placed.map(|member| Member {
        name: member.name.to_owned(),
        place: member.place,
        total: member.value.clone(),
    });
    member.collect()
}

fn mode(view: View<'_>) -> Mode {
    let bits = view.get("fBits").and_then(Value::as_i64).unwrap_or(0);
    if !view.class().starts_with("TParameter<") {
        return Mode::Add;
    }
    let modes = [Mode::Multiply, Mode::Max, Mode::Min, Mode::First, Mode::Last];
    let found = modes.iter().zip(16..).find(|(_, bit)| bits & (1 << bit) != 0);
    found.map_or(Mode::Add, |(mode, _)| *mode)
}

/// Returns why a histogram cannot be added to others.
fn problem(view: View<'_>) -> Option<&'static str> {
    if !view.class().starts_with("TParameter<")
        && view.get("fBits").and_then(Value::as_i64).unwrap_or(0) & IS_AVERAGE != 0
    {
        return Some("it is an average");
    }
    match view.get("fBuffer") {
        Some(Value::Numbers(buffer)) if floats(buffer).first().is_some_and(|&one| one != 0.0) => {
            Some("it, or that of an input before, has entries in its buffer")
        }
        _ => None,
    }
}

fn refused(why: &str) -> Error {
    Error::invalid_argument(format!("this histogram cannot be added to others: {why}; {WITHOUT}"))
}

fn axes(view: View<'_>) -> Result<Vec<Axis>> {
    let mut axes = Vec::new();
    for name in ["fXaxis", "fYaxis", "fZaxis"] {
        if view.get(name).is_some()
            && let Some(axis) = view.view(name)?
        {
            axes.push(Axis::of(axis)?);
        }
    }
    Ok(axes)
}

impl Axis {
    fn of(axis: View<'_>) -> Result<Self> {
        let edges = match axis.get("fXbins") {
            Some(Value::Numbers(edges)) => floats(edges),
            _ => Vec::new(),
        };
        let mut labels = Vec::new();
        if axis.get("fLabels").is_some() {
            for label in axis.list("fLabels")?.into_iter().flatten() {
                labels.push((label.i64("fUniqueID")?, label.str("fString")?.to_owned()));
            }
        }
        labels.sort_unstable();
        let (low, high) = (axis.f64("fXmin")?, axis.f64("fXmax")?);
        Ok(Self { bins: axis.i64("fNbins")?, low, high, edges, labels })
    }

    fn check(&self, other: &Self, letter: char) -> Result<()> {
        let near =
            |one: f64, other: f64| (one - other).abs() <= NEAR * (self.high - self.low).abs();
        let limits = |axis: &Self| format!("{} bins from {} to {}", axis.bins, axis.low, axis.high);
        if self.bins != other.bins || !near(self.low, other.low) || !near(self.high, other.high) {
            return Err(refused(&format!(
                "its {letter} axis has {}, that of the inputs before {}",
                limits(other),
                limits(self)
            )));
        }
        let same = self.edges.len() == other.edges.len()
            && self.edges.iter().zip(&other.edges).all(|(&one, &other)| near(one, other));
        if !same {
            return Err(refused(&format!(
                "its {letter} axis has other edges than in the inputs before"
            )));
        }
        if self.labels != other.labels {
            return Err(refused(&format!(
                "its {letter} axis has other labels than in the inputs before"
            )));
        }
        Ok(())
    }
}

/// Returns numbers as doubles.
#[allow(clippy::cast_precision_loss)]
fn floats(numbers: &Numbers) -> Vec<f64> {
    match numbers {
        Numbers::Float64(values) => values.to_vec(),
        Numbers::Float32(values) => values.iter().map(|&value| value.into()).collect(),
        integers => {
            integers.to_i64().unwrap_or_default().into_iter().map(|one| one as f64).collect()
        }
    }
}

/// Combines two values of one type. Returns `None` if they differ in type or size.
fn combine(mode: Mode, one: &Value, other: &Value) -> Option<Value> {
    Some(match (mode, one, other) {
        (Mode::First, one, _) => one.clone(),
        (Mode::Last, _, other) => other.clone(),
        (_, Value::Numbers(one), Value::Numbers(other)) => Value::Numbers(add(one, other)?),
        (_, &Value::Float(one), &Value::Float(other)) => Value::Float(match mode {
            Mode::Multiply => one * other,
            Mode::Max => one.max(other),
            Mode::Min => one.min(other),
            _ => one + other,
        }),
        (_, &Value::Int(one), &Value::Int(other)) => Value::Int(match mode {
            Mode::Multiply => one.wrapping_mul(other),
            Mode::Max => one.max(other),
            Mode::Min => one.min(other),
            _ => one.wrapping_add(other),
        }),
        (_, &Value::Bool(one), &Value::Bool(other)) => Value::Bool(match mode {
            Mode::Multiply | Mode::Min => one && other,
            _ => one || other,
        }),
        _ => return None,
    })
}

/// Adds arrays of one type. Integers stay at the largest number, which is also the smallest without its sign, as in
/// `TH1I::AddBinContent`.
#[allow(clippy::cast_possible_truncation)]
fn add(one: &Numbers, other: &Numbers) -> Option<Numbers> {
    macro_rules! sums {
        ($one:ident, $other:ident, $sum:expr) => {
            ($one.len() == $other.len()).then(|| {
                $one.iter().zip($other.iter()).map(|(&one, &other)| $sum(one, other)).collect()
            })
        };
    }
    let within = |sum: i64, limit: i64| sum.clamp(-limit, limit);
    Some(match (one, other) {
        (Numbers::Float64(a), Numbers::Float64(b)) => {
            Numbers::Float64(sums!(a, b, |a: f64, b: f64| a + b)?)
        }
        (Numbers::Float32(a), Numbers::Float32(b)) => {
            Numbers::Float32(sums!(a, b, |a: f32, b: f32| a + b)?)
        }
        (Numbers::Int8(a), Numbers::Int8(b)) => Numbers::Int8(sums!(a, b, |a: i8, b: i8| within(
            i64::from(a) + i64::from(b),
            i8::MAX.into()
        )
            as i8)?),
        (Numbers::Int16(a), Numbers::Int16(b)) => Numbers::Int16(sums!(
            a,
            b,
            |a: i16, b: i16| within(i64::from(a) + i64::from(b), i16::MAX.into()) as i16
        )?),
        (Numbers::Int32(a), Numbers::Int32(b)) => Numbers::Int32(sums!(
            a,
            b,
            |a: i32, b: i32| within(i64::from(a) + i64::from(b), i32::MAX.into()) as i32
        )?),
        (Numbers::Int64(a), Numbers::Int64(b)) => {
            Numbers::Int64(sums!(a, b, |a: i64, b: i64| a.saturating_add(b).max(-i64::MAX))?)
        }
        _ => return None,
    })
}

/// Writes a value at the end of `bytes`, big-endian. It has the type that it was read with.
#[allow(clippy::cast_possible_truncation)]
fn put(value: &Value, bytes: &mut [u8]) {
    macro_rules! all {
        ($values:ident) => {
            $values.iter().flat_map(|value| value.to_be_bytes()).collect()
        };
    }
    let new: Vec<u8> = match value {
        Value::Float(value) if bytes.len() == 4 => (*value as f32).to_be_bytes().to_vec(),
        Value::Float(value) => value.to_be_bytes().to_vec(),
        Value::Int(value) => {
            value.to_be_bytes().iter().skip(8usize.saturating_sub(bytes.len())).copied().collect()
        }
        Value::Bool(value) => vec![u8::from(*value)],
        Value::Numbers(Numbers::Float64(values)) => all!(values),
        Value::Numbers(Numbers::Float32(values)) => all!(values),
        Value::Numbers(Numbers::Int8(values)) => all!(values),
        Value::Numbers(Numbers::Int16(values)) => all!(values),
        Value::Numbers(Numbers::Int32(values)) => all!(values),
        Value::Numbers(Numbers::Int64(values)) => all!(values),
        _ => Vec::new(),
    };
    if let Some(start) = bytes.len().checked_sub(new.len())
        && let Some(room) = bytes.get_mut(start..)
    {
        room.copy_from_slice(&new);
    }
}
