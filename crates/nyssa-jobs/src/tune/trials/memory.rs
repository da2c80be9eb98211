//! Estimates the memory that `convert` and `rewrite` of a whole dataset need, from the memory of a trial and their
//! plans.
//!
//! A conversion reads and seals units, mostly one for each branch, on all threads, and writes them in order. A
//! running unit has its values and its pages in memory, and a waiting unit has its pages. Clusters of a sample are
//! smaller than clusters of the whole dataset, so the sizes of units follow from the bytes of their columns for each
//! entry.

use std::collections::BTreeMap;

use nyssa_data::dataset::Format;
use nyssa_rntuple::choose::Encodings;
use nyssa_rntuple::schema::{FieldId, Schema};

use super::candidate::Candidate;
use super::measured::{JobMemory, Measured};
use super::trial::Subject;
use crate::heuristics::{convert, job, rewrite, tune};
use crate::job::DEFAULT_MEMORY;

/// The bytes of the memory of a rewrite that a batch may take.
const BATCH_BYTES: f64 = (DEFAULT_MEMORY / rewrite::BATCH_DIVISOR) as f64;

/// A unit of work in one cluster: its bytes before and after compression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Unit {
    values: f64,
    pages: f64,
}

/// Returns the bytes that a job needs for a dataset of this number of entries and clusters, if it is stored like a
/// trial.
pub(super) fn needed(
    measured: &Measured,
    candidate: &Candidate,
    (entries, clusters): (u64, u64),
    subject: &Subject<'_>,
) -> u64 {
    let all = planned(measured, (entries, clusters), subject);
    let threads = subject.context.threads();
    let most = most_besides(candidate, subject.format, threads);
    let tables = threads as f64 * tables(candidate);
    let besides = measured.job_memory.map_or(most, |JobMemory { bytes, entries, clusters }| {
        let sample = planned(measured, (entries, clusters), subject);
        besides(bytes as f64, (sample, all), (tables, most))
    });
    (all + besides) as u64
}

/// Returns the bytes of the tables of a thread. Pages of a sample may be too small for tables of this size.
fn tables(candidate: &Candidate) -> f64 {
    if candidate.has_large_tables() { tune::TABLE_BYTES } else { 0.0 }
}

/// Returns the maximum number of bytes that a job with this number of threads takes besides its units.
fn most_besides(candidate: &Candidate, format: Format, threads: usize) -> f64 {
    let auto = if candidate.encoding == Encodings::Auto { tune::AUTO_BYTES } else { 0.0 };
    let (job, thread) = match format {
        Format::TTree => (tune::JOB_BYTES, tune::THREAD_BYTES + auto),
        _ => (tune::REWRITE_BYTES, tune::REWRITE_THREAD_BYTES),
    };
    job + threads as f64 * (thread + tables(candidate))
}

/// Returns the bytes that a job takes besides its units. The sample took `measured` bytes with units of `sample`
/// bytes. The allocator holds more if units, of `all` bytes, are larger, and compressors have larger tables, of
/// `tables` bytes. But together they are no more than `most`.
fn besides(measured: f64, (sample, all): (f64, f64), (tables, most): (f64, f64)) -> f64 {
    let of_sample = (measured - sample).max(0.0);
    let more = (all - sample).max(0.0);
    (of_sample + more + tables * more / all.max(1.0)).min(most)
}

/// Returns the maximum bytes of the units of a dataset of this number of entries and clusters.
fn planned(measured: &Measured, (entries, clusters): (u64, u64), subject: &Subject<'_>) -> f64 {
    let Some(schema) = &measured.schema else { return 0.0 };
    let share = entries as f64 / measured.total_entries().max(1) as f64 / clusters.max(1) as f64;
    let mut units: BTreeMap<FieldId, Unit> = BTreeMap::new();
    for (column, stored) in schema.columns.iter().zip(&measured.columns) {
        let unit = units.entry(owner(schema, column.field, subject.format)).or_default();
        unit.values += stored.uncompressed as f64 * share;
        unit.pages += stored.stored as f64 * share;
    }
    let units: Vec<Unit> = units.into_values().collect();
    let clusters = usize::try_from(clusters).unwrap_or(usize::MAX);
    match subject.format {
        Format::TTree => {
            let ahead = job::CLUSTERS_AHEAD.max(convert::UNITS_AHEAD / units.len().max(1));
            let threads = subject.context.threads();
            peak(&units, clusters, (threads, ahead), (convert::COPIES, DEFAULT_MEMORY as f64))
        }
        _ => {
            let most = BATCH_BYTES * rewrite::BATCHES as f64;
            // A batch is made by a thread of the pool, with the help of the other threads.
            let together = rewrite::BATCHES.min(subject.context.threads());
            peak(&batches(&units), clusters, (together, job::CLUSTERS_AHEAD), (1.0, most))
        }
    }
}

/// Returns the field that a unit reads. The branches of an untyped collection are read one by one, and classes as a
/// whole.
fn owner(schema: &Schema, field: FieldId, format: Format) -> FieldId {
    let mut id = field;
    while let Some(parent) = schema.field(id).parent {
        if format == Format::TTree && schema.field(parent).type_name.is_empty() {
            break;
        }
        id = parent;
    }
    id
}

/// Returns the batches of a rewrite: neighbouring fields that fit into a part of the memory.
fn batches(fields: &[Unit]) -> Vec<Unit> {
    let mut batches: Vec<Unit> = Vec::new();
    for field in fields {
        match batches.last_mut() {
            Some(last) if last.values + field.values <= BATCH_BYTES => {
                last.values += field.values;
                last.pages += field.pages;
            }
            _ => batches.push(*field),
        }
    }
    batches
}

/// Returns the maximum bytes that units of `clusters` equal clusters have in memory, with this number of threads and
/// of clusters planned ahead. The time of a unit is proportional to its number of values. It reserves a multiple of
/// the bytes of its values, and waits if memory exceeds `most`.
fn peak(
    units: &[Unit],
    clusters: usize,
    (threads, ahead): (usize, usize),
    (reserved, most): (f64, f64),
) -> f64 {
    // After some clusters nothing changes any more.
    let tasks = units.len() * clusters.min(ahead + 3);
    let unit = |task: usize| units.get(task % units.len().max(1)).copied().unwrap_or_default();
    let (mut now, mut bytes, mut peak) = (0.0, 0.0, 0.0_f64);
    // The running tasks, with the times of their begin and end; the finished tasks; the next tasks to begin and to
    // write.
    let mut running: Vec<(f64, f64, usize)> = Vec::new();
    let mut made = vec![false; tasks];
    let (mut next, mut turn) = (0, 0);
    while turn < tasks {
        while next < tasks
            && running.len() < threads.max(1)
            && next / units.len() < turn / units.len() + ahead
        {
            let values = unit(next).values;
            if turn != next && bytes + reserved * values > most {
                break;
            }
            bytes += values;
            running.push((now, now + values.max(1.0), next));
            next += 1;
        }
        let first = running.iter().enumerate().min_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let Some((index, &(_, end, task))) = first else { break };
        // Until then, each running task has made a part of its pages.
        let part = |&(begin, last, task): &(f64, f64, usize)| {
            unit(task).pages * (end - begin) / (last - begin)
        };
        peak = peak.max(bytes + running.iter().map(part).sum::<f64>());
        running.swap_remove(index);
        (now, made[task]) = (end, true);
        bytes += unit(task).pages - unit(task).values;
        while turn < tasks && made[turn] {
            bytes -= unit(turn).pages;
            turn += 1;
        }
    }
    peak
}

#[cfg(test)]
mod tests {
    use nyssa_root::compression::{Algorithm, Compression};
    use nyssa_root::effort::Effort;

    use super::*;

    const fn unit(values: f64, pages: f64) -> Unit {
        Unit { values, pages }
    }

    #[test]
    fn units_that_run_and_units_that_wait() {
        let units = [unit(100.0, 10.0), unit(20.0, 2.0), unit(20.0, 2.0)];
        // A single thread holds only the largest unit.
        assert_eq!(peak(&units, 1, (1, 2), (2.0, 1e9)), 110.0);
        // The small units are made while the first unit runs. The second unit ends when the first has 40 % of its
        // pages, and the pages of the other unit wait: 104 + 22 + 2.
        assert_eq!(peak(&units, 1, (2, 2), (2.0, 1e9)), 128.0);
        // The large unit of the next cluster begins, too, and has 60 % of its pages: 110 + 2 + 2 + 106.
        assert_eq!(peak(&units, 2, (2, 2), (2.0, 1e9)), 220.0);
        // Two large units are too much.
        assert_eq!(peak(&units, 2, (2, 2), (2.0, 250.0)), 128.0);
        // They fit if values are reserved once, as in a rewrite.
        assert_eq!(peak(&units, 2, (2, 2), (1.0, 250.0)), 220.0);
        // Small units at the same time, which end together.
        assert_eq!(peak(&units[1..], 1, (2, 2), (2.0, 1e9)), 44.0);
        assert_eq!(peak(&[], 1, (2, 2), (2.0, 1.0)), 0.0);
    }

    #[test]
    fn a_sample_says_what_is_taken_besides_units() {
        // If the sample is the whole dataset, the measurement is the expectation.
        assert_eq!(besides(30.0, (10.0, 10.0), (8.0, 50.0)), 20.0);
        assert_eq!(besides(30.0, (10.0, 25.0), (0.0, 50.0)), 35.0);
        assert_eq!(besides(30.0, (10.0, 1000.0), (0.0, 50.0)), 50.0);
        // Three quarters of the tables are missing in pages of a quarter.
        assert_eq!(besides(20.0, (10.0, 40.0), (8.0, 99.0)), 46.0);
        // Some entries of an RNTuple need whole pages, which the units of the sample do not have.
        assert_eq!(besides(500.0, (10.0, 1000.0), (0.0, 50.0)), 50.0);
        assert_eq!(besides(5.0, (10.0, 10.0), (0.0, 50.0)), 0.0);
    }

    #[test]
    fn high_levels_of_zstd_have_large_tables() {
        let with = |level, effort, format| {
            let compression = Compression { algorithm: Algorithm::Zstd, level };
            let candidate = Candidate { compression, effort, ..Candidate::default() };
            most_besides(&candidate, format, 2)
        };
        assert_eq!(with(9, Effort::Full, Format::TTree), 14e6 + 2.0 * 32e6);
        assert_eq!(with(1, Effort::Full, Format::TTree), 14e6 + 2.0 * 14e6);
        assert_eq!(with(9, Effort::Auto, Format::TTree), 14e6 + 2.0 * 14e6);
        assert_eq!(with(9, Effort::Full, Format::RNTuple), 10e6 + 2.0 * 23.5e6);
    }

    #[test]
    fn samples_of_a_rewrite_are_freed_before_its_batches() {
        let with = |encoding, format| {
            most_besides(&Candidate { encoding, ..Candidate::default() }, format, 1)
        };
        assert_eq!(with(Encodings::Auto, Format::TTree), 41e6);
        assert_eq!(with(Encodings::Default, Format::TTree), 28e6);
        assert_eq!(with(Encodings::Auto, Format::RNTuple), 15.5e6);
        assert_eq!(with(Encodings::Default, Format::RNTuple), 15.5e6);
    }

    #[test]
    fn batches_have_neighbours() {
        let half = unit(BATCH_BYTES / 2.0, 1.0);
        assert_eq!(batches(&[half, half, half]), [unit(BATCH_BYTES, 2.0), half]);
    }
}
