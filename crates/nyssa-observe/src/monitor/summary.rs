//! Makes the summary: the largest value and the average of each column.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use super::columns::{Behaviour, COLUMNS, COUNT, Column};
use super::usage::Usage;

/// The largest values and the averages of the rows so far. Its JSON form has prmon's sections `Max`, `Avg`,
/// `Units` and `HW`.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    rows: u64,
    largest: [f64; COUNT],
    sums: [f64; COUNT],
    seconds: f64,
    machine: Machine,
}

impl Summary {
    pub(super) fn new() -> Self {
        Self { machine: Machine::this(), ..Self::default() }
    }

    /// Adds a row. A value that only grows must not shrink when a child ends and no process waits for it.
    pub(super) fn add(&mut self, usage: &mut Usage) {
        self.rows += 1;
        let columns = self.largest.iter_mut().zip(&mut self.sums).zip(&COLUMNS);
        for (value, ((largest, sum), column)) in usage.values_mut().iter_mut().zip(columns) {
            *largest = largest.max(*value);
            *sum += *value;
            if column.behaviour != Behaviour::Level {
                *value = *largest;
            }
            if column.name == "wtime" {
                self.seconds = *value;
            }
        }
    }

    /// Returns the largest value of a column, by prmon's name and in prmon's unit.
    pub fn largest(&self, name: &str) -> Option<f64> {
        super::columns::place(name).map(|place| self.largest[place])
    }

    /// Returns the average of a column: the mean of the rows or, for a column that only grows, the growth per
    /// second.
    fn average(&self, place: usize, column: &Column) -> f64 {
        match column.behaviour {
            Behaviour::Level => self.sums[place] / self.rows.max(1) as f64,
            _ if self.seconds > 0.0 => self.largest[place] / self.seconds,
            _ => 0.0,
        }
    }
}

impl Serialize for Summary {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let units = Sections {
            averages: Section(|_, column: &Column| column.average_unit),
            largest: Section(|_, column: &Column| Some(column.unit)),
        };
        let mut sections = serializer.serialize_map(None)?;
        let average = |place, column: &Column| {
            column.average_unit.map(|_| rounded(self.average(place, column), 3))
        };
        sections.serialize_entry("Avg", &Section(average))?;
        sections.serialize_entry("HW", &self.machine)?;
        let largest = |place: usize, column: &Column| Some(value(column, self.largest[place]));
        sections.serialize_entry("Max", &Section(largest))?;
        sections.serialize_entry("Units", &units)?;
        sections.serialize_entry("nyssa", &Version { version: env!("CARGO_PKG_VERSION") })?;
        sections.end()
    }
}

/// Returns a value as it is printed: times in milliseconds, others as whole numbers.
pub(super) fn value(column: &Column, value: f64) -> serde_json::Number {
    match column.behaviour {
        Behaviour::Time => rounded(value, 3),
        _ => serde_json::Number::from(value.round() as u64),
    }
}

fn rounded(value: f64, digits: i32) -> serde_json::Number {
    let factor = 10_f64.powi(digits);
    let rounded = (value * factor).round() / factor;
    serde_json::Number::from_f64(rounded).unwrap_or_else(|| 0.into())
}

/// A JSON object with an entry for each column that has a value.
struct Section<F>(F);

impl<T: Serialize, F: Fn(usize, &Column) -> Option<T>> Serialize for Section<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = COLUMNS.iter().enumerate();
        serializer.collect_map(
            entries.filter_map(|(place, column)| Some((column.name, (self.0)(place, column)?))),
        )
    }
}

#[derive(Serialize)]
struct Sections<A, L> {
    #[serde(rename = "Avg")]
    averages: A,
    #[serde(rename = "Max")]
    largest: L,
}

#[derive(Serialize)]
struct Version {
    #[serde(rename = "Version")]
    version: &'static str,
}

/// The machine, in the form of prmon.
#[derive(Clone, Debug, Default, Serialize)]
struct Machine {
    cpu: Processors,
    mem: Memory,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Processors {
    #[serde(rename = "CPUs")]
    number: usize,
    #[serde(rename = "ModelName")]
    model: String,
}

/// The memory of the machine in kB.
#[derive(Clone, Debug, Default, Serialize)]
struct Memory {
    #[serde(rename = "MemTotal")]
    total: u64,
}

impl Machine {
    fn this() -> Self {
        let [processors, memory] = super::usage::machine();
        let models = processors.lines().filter_map(|line| line.split_once(':'));
        let mut models = models.filter(|(name, _)| name.trim() == "model name");
        let model = models.next().map(|(_, model)| model.trim().to_owned()).unwrap_or_default();
        let number = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let total = total.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        Self { cpu: Processors { number, model }, mem: Memory { total: total.unwrap_or(0) } }
    }
}
