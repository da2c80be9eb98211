//! Makes the summary: the largest value and the average of each column.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use serde_json::{Number, Value, json};

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
    /// The machine, in the form of prmon.
    machine: Value,
}

impl Summary {
    pub(super) fn new() -> Self {
        Self { machine: machine(), ..Self::default() }
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
        let average = |place, column: &Column| {
            column.average_unit.map(|_| rounded(self.average(place, column), 3))
        };
        let sections = json!({
            "Avg": section(average),
            "HW": self.machine,
            "Max": section(|place, column| Some(value(column, self.largest[place]))),
            "Units": {
                "Avg": section(|_, column| column.average_unit),
                "Max": section(|_, column| Some(column.unit)),
            },
            "nyssa": { "Version": env!("CARGO_PKG_VERSION") },
        });
        sections.serialize(serializer)
    }
}

/// Returns the values of the columns that have one, by name.
fn section<T>(value: impl Fn(usize, &Column) -> Option<T>) -> BTreeMap<&'static str, T> {
    let columns = COLUMNS.iter().enumerate();
    columns.filter_map(|(place, column)| Some((column.name, value(place, column)?))).collect()
}

/// Returns a value as it is printed: times in milliseconds, others as whole numbers.
pub(super) fn value(column: &Column, value: f64) -> Number {
    match column.behaviour {
        Behaviour::Time => rounded(value, 3),
        _ => Number::from(value.round() as u64),
    }
}

fn rounded(value: f64, digits: i32) -> Number {
    let factor = 10_f64.powi(digits);
    let rounded = (value * factor).round() / factor;
    Number::from_f64(rounded).unwrap_or_else(|| 0.into())
}

/// Returns the processors, and the memory in kB, of this machine.
fn machine() -> Value {
    let [processors, memory] = super::usage::machine();
    let models = processors.lines().filter_map(|line| line.split_once(':'));
    let mut models = models.filter(|(name, _)| name.trim() == "model name");
    let model = models.next().map_or("", |(_, model)| model.trim());
    let number = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let total = memory.lines().find_map(|line| line.strip_prefix("MemTotal:"));
    let total = total.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    json!({
        "cpu": { "CPUs": number, "ModelName": model },
        "mem": { "MemTotal": total.unwrap_or(0) },
    })
}
