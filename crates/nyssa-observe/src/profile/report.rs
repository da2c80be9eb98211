//! Sums the stages of a profile by name, by column and by thread.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde::Serialize;

use super::log::Log;
use super::memory::Sample;
use super::stages::{meaning, order};
use crate::time::{nanoseconds, seconds};

/// The result of a profile. The times of stages, columns and threads do not include the stages inside them, so that
/// each sum is the time that the threads were busy or waited.
#[derive(Debug, Serialize)]
pub struct ProfileReport {
    /// The wall-clock time in seconds.
    pub seconds: f64,
    /// The CPU time of all threads of the process in seconds, where the system reports it. It includes work outside
    /// the stages. Stages that wait, for bytes or for a core, take no CPU time.
    pub cpu_seconds: Option<f64>,
    /// The sum of the times of all stages in all threads, in seconds.
    pub busy_seconds: f64,
    /// The stages, in the order of the data.
    pub stages: Vec<StageTime>,
    /// The columns, sorted by time, the longest first. Work that belongs to no column is not included.
    pub columns: Vec<ColumnTime>,
    /// The threads, sorted by busy time, the longest first. Threads of one name count as one thread.
    pub threads: Vec<ThreadTime>,
    /// The resident memory of the process, where the system reports on it.
    pub memory: Option<MemoryUse>,
    /// The number of stages that are only in the sums and not in traces, since there were too many.
    pub spans_left_out: u64,
    /// The stages of each thread.
    #[serde(skip)]
    pub(super) logs: Vec<Log>,
}

/// The time of a stage.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StageTime {
    /// The name of the stage.
    pub stage: String,
    /// The meaning of the stage.
    pub meaning: String,
    /// The time in all threads in seconds.
    pub seconds: f64,
    /// The part of the times of all stages, from 0 to 1.
    pub share: f64,
    /// The number of times that the stage ran.
    pub calls: u64,
    /// The number of bytes that the stage got.
    pub bytes_in: u64,
    /// The number of bytes that the stage made.
    pub bytes_out: u64,
    /// The throughput: the larger of both numbers of bytes, divided by the time, if both are known.
    pub bytes_per_second: Option<f64>,
}

/// The time of the stages of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ColumnTime {
    /// The path of the field or branch.
    pub column: String,
    /// The time in all threads in seconds.
    pub seconds: f64,
    /// The part of the times of all stages, from 0 to 1.
    pub share: f64,
    /// The seconds of each stage.
    pub stages: BTreeMap<&'static str, f64>,
}

/// The time of the stages in threads of one name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ThreadTime {
    /// The name of the thread.
    pub thread: String,
    /// The number of threads of this name.
    pub threads: u64,
    /// The time of all stages in seconds.
    pub seconds: f64,
    /// The part of the wall-clock time of these threads that they were in a stage, from 0 to 1.
    pub share: f64,
    /// The seconds of each stage.
    pub stages: BTreeMap<&'static str, f64>,
}

/// The resident memory of the process.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryUse {
    /// The number of bytes at the start.
    pub begin_bytes: u64,
    /// The largest number of bytes.
    pub peak_bytes: u64,
    /// The time of the peak in seconds after the start.
    pub peak_seconds: f64,
    /// The work of the threads at that time: the stages, each with its number of threads.
    pub at_peak: BTreeMap<&'static str, u64>,
    /// Times in seconds after the start, with the bytes at these times.
    pub samples: Vec<(f64, u64)>,
}

/// The sums of the nodes of one stage, column or thread.
#[derive(Default)]
struct Sums {
    own: u64,
    calls: u64,
    bytes_in: u64,
    bytes_out: u64,
    stages: BTreeMap<&'static str, u64>,
}

impl Sums {
    fn add(&mut self, stage: &'static str, own: u64) {
        self.own += own;
        *self.stages.entry(stage).or_default() += own;
    }

    fn stages(&self) -> BTreeMap<&'static str, f64> {
        self.stages.iter().map(|(&stage, &own)| (stage, seconds(own))).collect()
    }
}

impl ProfileReport {
    /// Makes the profile of the logs of all threads.
    pub(super) fn new(passed: Duration, logs: Vec<Log>, samples: &[Sample]) -> Self {
        let logs: Vec<Log> = logs.into_iter().filter(|log| !log.nodes.is_empty()).collect();
        let mut stages: HashMap<&'static str, Sums> = HashMap::new();
        let mut columns: HashMap<&str, Sums> = HashMap::new();
        let mut threads: HashMap<&str, (u64, Sums)> = HashMap::new();
        for log in &logs {
            let (number, thread) = threads.entry(&log.thread).or_default();
            *number += 1;
            for node in &log.nodes {
                let stage = stages.entry(node.stage).or_default();
                stage.own += node.own;
                stage.calls += node.calls;
                stage.bytes_in += node.bytes_in;
                stage.bytes_out += node.bytes_out;
                thread.add(node.stage, node.own);
                if let Some(name) = log.column_of(node) {
                    columns.entry(name).or_default().add(node.stage, node.own);
                }
            }
        }
        let wall = nanoseconds(passed);
        let passed = samples.iter().take_while(|(at, _)| *at <= wall).count();
        let samples = samples.get(..passed).unwrap_or_default();
        let busy: u64 = stages.values().map(|sums| sums.own).sum();
        let share = |own: u64, of: u64| if of == 0 { 0.0 } else { own as f64 / of as f64 };
        let mut stages: Vec<_> = stages.into_iter().collect();
        stages.sort_by_key(|(stage, _)| (order(stage), *stage));
        let stages = stages.into_iter().map(|(stage, sums)| StageTime {
            stage: stage.to_owned(),
            meaning: meaning(stage).to_owned(),
            seconds: seconds(sums.own),
            share: share(sums.own, busy),
            calls: sums.calls,
            bytes_in: sums.bytes_in,
            bytes_out: sums.bytes_out,
            bytes_per_second: rate(&sums),
        });
        let mut columns: Vec<_> = columns.into_iter().collect();
        columns.sort_by(|(a, item), (b, other)| other.own.cmp(&item.own).then(a.cmp(b)));
        let columns = columns.into_iter().map(|(column, sums)| ColumnTime {
            column: column.to_owned(),
            seconds: seconds(sums.own),
            share: share(sums.own, busy),
            stages: sums.stages(),
        });
        let mut threads: Vec<_> = threads.into_iter().collect();
        threads.sort_by(|(a, (_, item)), (b, (_, other))| other.own.cmp(&item.own).then(a.cmp(b)));
        let threads = threads.into_iter().map(|(thread, (number, sums))| ThreadTime {
            thread: thread.to_owned(),
            threads: number,
            seconds: seconds(sums.own),
            share: share(sums.own, wall.saturating_mul(number)),
            stages: sums.stages(),
        });
        Self {
            seconds: seconds(wall),
            cpu_seconds: None,
            busy_seconds: seconds(busy),
            stages: stages.collect(),
            columns: columns.collect(),
            threads: threads.collect(),
            memory: memory(&logs, samples),
            spans_left_out: logs.iter().map(|log| log.left_out).sum(),
            logs,
        }
    }

    /// Returns the sums of a stage, if it ran.
    pub fn stage(&self, name: &str) -> Option<&StageTime> {
        self.stages.iter().find(|stage| stage.stage == name)
    }
}

/// Returns the bytes per second of a stage whose input and output are both counted in bytes.
fn rate(sums: &Sums) -> Option<f64> {
    let bytes = sums.bytes_in.max(sums.bytes_out);
    (bytes > 0 && sums.own > 0).then(|| bytes as f64 / seconds(sums.own))
}

fn memory(logs: &[Log], samples: &[Sample]) -> Option<MemoryUse> {
    let &(_, begin_bytes) = samples.first()?;
    let &(at, peak_bytes) = samples.iter().max_by_key(|(at, bytes)| (*bytes, u64::MAX - at))?;
    let mut at_peak = BTreeMap::new();
    for log in logs {
        // The innermost stage that runs at this time begins last.
        let running = log.runs.iter().filter(|run| run.start <= at && at < run.end);
        let innermost = running.max_by_key(|run| run.start);
        if let Some(node) = innermost.and_then(|run| log.nodes.get(run.node)) {
            *at_peak.entry(node.stage).or_default() += 1;
        }
    }
    let samples = samples.iter().map(|&(at, bytes)| (seconds(at), bytes)).collect();
    Some(MemoryUse { begin_bytes, peak_bytes, peak_seconds: seconds(at), at_peak, samples })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;

    /// Returns the log of a thread with one page, in which something was decompressed.
    fn log(thread: &str, column: &str, begin: u64) -> Log {
        let (mut log, ended) = (Log::new(thread.to_owned()), AtomicU64::new(0));
        let page = log.begin("page", Some(column), begin);
        let unzip = log.begin("unzip", None, begin + 100);
        log.end(unzip, begin + 300, 100, 400, &ended);
        log.end(page, begin + 400, 0, 0, &ended);
        log
    }

    #[test]
    fn sums_by_stage_column_and_thread_are_equal() {
        let logs = vec![log("a", "pt", 0), log("b", "eta", 200), log("b", "pt", 600)];
        let samples = [(0, 50), (250, 900), (600, 900), (900, 80)];
        let profile = ProfileReport::new(Duration::from_nanos(1000), logs, &samples);
        let stages: Vec<_> = profile.stages.iter().map(|s| (s.stage.as_str(), s.calls)).collect();
        assert_eq!(stages, [("unzip", 3), ("page", 3)]);
        let unzip = profile.stage("unzip").unwrap();
        assert_eq!((unzip.bytes_in, unzip.bytes_out, unzip.share), (300, 1200, 0.5));
        assert_eq!(unzip.bytes_per_second, Some(1200.0 / 600e-9));
        let columns: Vec<_> =
            profile.columns.iter().map(|c| (c.column.as_str(), c.seconds)).collect();
        assert_eq!(columns, [("pt", 800e-9), ("eta", 400e-9)]);
        let threads: Vec<_> =
            profile.threads.iter().map(|t| (t.thread.as_str(), t.threads, t.share)).collect();
        assert_eq!(threads, [("b", 2, 0.4), ("a", 1, 0.4)]);
        assert_eq!(profile.busy_seconds, 1200e-9);
        let memory = profile.memory.unwrap();
        assert_eq!((memory.begin_bytes, memory.peak_bytes, memory.peak_seconds), (50, 900, 250e-9));
        assert_eq!(memory.at_peak, BTreeMap::from([("page", 1), ("unzip", 1)]));
    }
}
