//! Reads the resources that a process and all its children use at one moment, from `/proc`.

use std::fs;
use std::time::Duration;

use super::columns::{Behaviour, COLUMNS, COUNT, place};
use crate::error::{Error, Result};

/// The largest number of processes that one row counts.
const MAX_PROCESSES: usize = 10_000;

/// One row: the values of all columns. The values of a parent include its children that have ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Usage([f64; COUNT]);

impl Usage {
    /// Returns the current usage. Times and counters start with the processes and with the machine.
    ///
    /// # Errors
    /// `Unsupported` if the kernel does not report on this process.
    pub(super) fn now() -> Result<Self> {
        let mut usage = Self::default();
        let mut open = vec!["self".to_owned()];
        let mut seen = 0;
        while let Some(process) = open.pop() {
            let counted = usage.add_process(&process);
            if process == "self" && counted.is_none() {
                let why =
                    "the monitor reads what the kernel counts in /proc, which cannot be read here";
                return Err(Error::Unsupported(why.to_owned()));
            }
            seen += 1;
            if seen < MAX_PROCESSES {
                children(&process, &mut open);
            }
        }
        usage.add_network();
        Ok(usage)
    }

    /// Returns the values in the order of the columns.
    pub(super) fn values(&self) -> &[f64; COUNT] {
        &self.0
    }

    /// Returns the values in the order of the columns, to be changed.
    pub(super) fn values_mut(&mut self) -> &mut [f64; COUNT] {
        &mut self.0
    }

    /// Subtracts the usage at the `first` moment, and sets the time that has passed since then.
    pub(super) fn count_from(&mut self, first: &Self, passed: Duration) {
        for ((value, first), column) in self.0.iter_mut().zip(first.0).zip(&COLUMNS) {
            if column.behaviour != Behaviour::Level {
                *value = (*value - first).max(0.0);
            }
        }
        self.add("wtime", passed.as_secs_f64());
    }

    fn add(&mut self, name: &str, value: f64) {
        if let Some(place) = place(name) {
            self.0[place] += value;
        }
    }

    /// Adds a process. Returns `None` if it is gone.
    fn add_process(&mut self, process: &str) -> Option<()> {
        let stat = Stat::read(process)?;
        self.add("utime", seconds(stat.user));
        self.add("stime", seconds(stat.system));
        self.add("nprocs", 1.0);
        self.add("nthreads", stat.threads as f64);
        self.add("vmem", stat.virtual_bytes as f64 / 1024.0);
        self.add_memory(process);
        // Only the owner may read this file.
        let io = fs::read_to_string(format!("/proc/{process}/io")).unwrap_or_default();
        for (name, value) in io.lines().filter_map(|line| line.split_once(':')) {
            if let Ok(value) = value.trim().parse::<u64>() {
                self.add(name, value as f64);
            }
        }
        Some(())
    }

    /// Adds the memory of a process: the sums that newer kernels make, or the parts.
    fn add_memory(&mut self, process: &str) {
        let read = |file| fs::read_to_string(format!("/proc/{process}/{file}"));
        let parts = read("smaps_rollup").or_else(|_| read("smaps")).unwrap_or_default();
        for (name, rest) in parts.lines().filter_map(|line| line.split_once(':')) {
            let column = match name {
                "Pss" => "pss",
                "Rss" => "rss",
                "Swap" => "swap",
                _ => continue,
            };
            let number = rest.split_whitespace().next();
            self.add(column, number.and_then(|kib| kib.parse().ok()).unwrap_or(0.0));
        }
    }

    /// Adds the packets of all devices of the network. The kernel does not count them by process.
    fn add_network(&mut self) {
        let devices = fs::read_to_string("/proc/self/net/dev").unwrap_or_default();
        for (_, counts) in devices.lines().filter_map(|line| line.split_once(':')) {
            let counts: Vec<f64> =
                counts.split_whitespace().map(|count| count.parse().unwrap_or(0.0)).collect();
            // Eight numbers for received data are followed by eight for sent data.
            let names = [(0, "rx_bytes"), (1, "rx_packets"), (8, "tx_bytes"), (9, "tx_packets")];
            for (at, name) in names {
                self.add(name, counts.get(at).copied().unwrap_or(0.0));
            }
        }
    }
}

/// Adds the children of a process to a list.
fn children(process: &str, list: &mut Vec<String>) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return };
    for task in tasks.flatten() {
        let children = fs::read_to_string(task.path().join("children")).unwrap_or_default();
        list.extend(children.split_whitespace().map(str::to_owned));
    }
}

/// Returns the resident memory of this process alone in bytes. It takes microseconds, which a whole row does not. `None`
/// on systems without `/proc`.
pub fn resident_bytes() -> Option<u64> {
    let pages = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = pages.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * page_bytes())
}

/// Returns the largest resident set of this process in bytes. `None` where the kernel does not report it.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
}

#[cfg(target_os = "linux")]
fn page_bytes() -> u64 {
    rustix::param::page_size() as u64
}

#[cfg(not(target_os = "linux"))]
fn page_bytes() -> u64 {
    4096
}

/// Returns the processors and the memory of the machine, from the kernel.
pub(super) fn machine() -> [String; 2] {
    ["/proc/cpuinfo", "/proc/meminfo"].map(|file| fs::read_to_string(file).unwrap_or_default())
}

/// The numbers of `/proc/<process>/stat`, including children that have ended.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    user: u64,
    system: u64,
    threads: u64,
    virtual_bytes: u64,
}

impl Stat {
    fn read(process: &str) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
    }

    /// Parses the line. The second field is the name of the program in parentheses, and may have any characters.
    fn parse(line: &str) -> Option<Self> {
        let (_, rest) = line.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_whitespace().collect();
        // The manual proc(5) counts from 1, and the first of these fields is its third.
        let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
        // The time of children is a signed number.
        Some(Self {
            user: field(14)? + field(16).unwrap_or(0),
            system: field(15)? + field(17).unwrap_or(0),
            threads: field(20)?,
            virtual_bytes: field(23)?,
        })
    }
}

#[cfg(target_os = "linux")]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / rustix::param::clock_ticks_per_second() as f64
}

#[cfg(not(target_os = "linux"))]
fn seconds(ticks: u64) -> f64 {
    ticks as f64 / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_programs_have_any_characters() {
        let line =
            "42 (a) b) S 1 42 42 0 -1 4194304 100 0 0 0 70 30 5 7 20 0 3 0 1234 8192000 500 1 2 3";
        let expected = Stat { user: 75, system: 37, threads: 3, virtual_bytes: 8_192_000 };
        assert_eq!(Stat::parse(line), Some(expected));
        for broken in ["", "42 (a", "42 (a) S 1", "42 (a) S 1 42 42 0 -1 4194304 100 0 0 0 x 30"] {
            assert_eq!(Stat::parse(broken), None, "{broken}");
        }
    }

    #[test]
    fn what_was_used_before_does_not_count() {
        let at = |name| place(name).unwrap();
        let usage = |time, memory, bytes| {
            let mut usage = Usage::default();
            usage.0[at("utime")] = time;
            usage.0[at("rss")] = memory;
            usage.0[at("rchar")] = bytes;
            usage
        };
        let mut now = usage(5.5, 300.0, 1_000.0);
        now.count_from(&usage(2.0, 700.0, 1_200.0), Duration::from_millis(2_500));
        let mut expected = usage(3.5, 300.0, 0.0);
        expected.0[at("wtime")] = 2.5;
        assert_eq!(now, expected);
    }
}
