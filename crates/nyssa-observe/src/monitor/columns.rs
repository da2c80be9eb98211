//! Defines the columns of the table, by prmon's names and in prmon's units.

/// The behaviour of a column over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Behaviour {
    /// A time in seconds that only grows.
    Time,
    /// A number that only grows, such as the bytes that were read.
    Counter,
    /// A number that goes up and down, such as the memory in use.
    Level,
}

/// A column of the table.
pub(super) struct Column {
    pub name: &'static str,
    pub behaviour: Behaviour,
    /// The unit of its values.
    pub unit: &'static str,
    /// The unit of its average. A time has none.
    pub average_unit: Option<&'static str>,
}

const fn time(name: &'static str) -> Column {
    Column { name, behaviour: Behaviour::Time, unit: "s", average_unit: None }
}

const fn level(name: &'static str, unit: &'static str) -> Column {
    Column { name, behaviour: Behaviour::Level, unit, average_unit: Some(unit) }
}

const fn counter(name: &'static str, unit: &'static str, rate: &'static str) -> Column {
    Column { name, behaviour: Behaviour::Counter, unit, average_unit: Some(rate) }
}

/// The number of columns.
pub(super) const COUNT: usize = 17;

/// All columns, in the order of the table.
pub(super) const COLUMNS: [Column; COUNT] = [
    time("wtime"),
    time("stime"),
    time("utime"),
    level("pss", "kB"),
    level("rss", "kB"),
    level("swap", "kB"),
    level("vmem", "kB"),
    level("nprocs", "1"),
    level("nthreads", "1"),
    counter("rchar", "B", "B/s"),
    counter("read_bytes", "B", "B/s"),
    counter("wchar", "B", "B/s"),
    counter("write_bytes", "B", "B/s"),
    counter("rx_bytes", "B", "B/s"),
    counter("rx_packets", "1", "1/s"),
    counter("tx_bytes", "B", "B/s"),
    counter("tx_packets", "1", "1/s"),
];

/// Returns the place of a column.
pub(super) fn place(name: &str) -> Option<usize> {
    COLUMNS.iter().position(|column| column.name == name)
}
