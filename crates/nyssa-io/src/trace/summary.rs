//! Summarizes a trace: totals, rates over time, sizes of requests, and which bytes were read.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use nyssa_observe::{Event, Request};
use serde::Serialize;

use super::recorded::Trace;

/// The number of bins of the profile.
const BINS: usize = 60;

/// The totals of a trace. Sizes are in bytes, and times in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The time from the begin of the recording to its end, see [`Trace::seconds`].
    pub runtime: f64,
    /// The CPU time of the process; `None` where the recording does not have it.
    pub cpu_seconds: Option<f64>,
    /// The number of times that a file was opened.
    pub opens: u64,
    /// The number of different files.
    pub files: u64,
    /// The sum of the sizes of the different files.
    pub datasize: u64,
    /// The number of requests for one range.
    pub iops_read: u64,
    /// The number of requests for several ranges.
    pub iops_readv: u64,
    /// The number of ranges in the requests for several ranges.
    pub iops_readvread: u64,
    /// The number of bytes of requests for one range.
    pub bytes_read: u64,
    /// The number of bytes of requests for several ranges.
    pub bytes_readv: u64,
    /// The number of bytes that came with the requests that opened files.
    pub bytes_open: u64,
    /// The number of different bytes among all that were read.
    pub distinct_bytes: u64,
    /// The number of bytes of requests for plans that the plans do not have. It is `None` for a trace without
    /// plans.
    pub over_read_bytes: Option<u64>,
    /// The part of the bytes between the first and the last byte of each file that was not read, from 0 to 1.
    pub sparseness: f64,
    /// The part in percent of the requests of a file that began when no other request of it was under way. This
    /// is the mean of all files.
    pub synchronicity: f64,
    /// The number of requests that failed.
    pub errors: u64,
    /// The largest number of requests that were under way at the same time.
    pub in_flight: u64,
    /// The sum of the times of all opens.
    pub open_seconds: f64,
    /// The sum of the times of all requests.
    pub request_seconds: f64,
    /// The time in which at least one open or request was under way.
    pub busy_seconds: f64,
    /// The number of opens and requests that began when no other one was under way.
    pub busy_periods: u64,
    /// The sum of the times in which threads waited for the units of plans.
    pub wait_seconds: f64,
    /// The rates over time.
    pub profile: Profile,
    /// The number of requests, and of their ranges, by size.
    pub sizes: Vec<SizeBin>,
    /// The summaries of the different files. The file with the most bytes comes first.
    pub by_file: Vec<FileSummary>,
}

/// Rates over time, in bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Profile {
    /// The width of a bin in seconds.
    pub seconds: f64,
    /// The bytes per second. The bytes of a request count evenly from its begin to its end.
    pub bytes_per_second: Vec<f64>,
    /// The number of requests that began, per second.
    pub iops: Vec<f64>,
}

/// The requests whose size is at least `bytes`, and less than twice as large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SizeBin {
    /// The lower end of the size: a power of two, or 0.
    pub bytes: u64,
    /// The number of requests of this size.
    pub requests: u64,
    /// The number of ranges of this size.
    pub ranges: u64,
}

/// The summary of one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileSummary {
    /// The path or URL.
    pub name: String,
    /// The size of the file.
    pub size: u64,
    /// The number of times that it was opened.
    pub opens: u64,
    /// The number of requests.
    pub requests: u64,
    /// The number of ranges.
    pub ranges: u64,
    /// The number of bytes that were read.
    pub bytes: u64,
    /// The number of different bytes among them.
    pub distinct_bytes: u64,
    /// The number of bytes from the first to the last byte that was read.
    pub span: u64,
    /// The synchronicity of this file in percent, see [`Summary::synchronicity`].
    pub synchronicity: f64,
}

/// The begins and ends of requests.
type Times = Vec<(f64, f64)>;

impl Trace {
    /// Returns the summary of the trace.
    pub fn summary(&self) -> Summary {
        let mut all = Summary::default();
        let mut names: HashMap<u64, &str> = HashMap::new();
        let mut files: BTreeMap<&str, FileSummary> = BTreeMap::new();
        let mut wanted: HashMap<u64, Vec<Range<u64>>> = HashMap::new();
        let (mut requests, mut busy) = (Vec::new(), Vec::new());
        for event in &self.events {
            match event {
                Event::Open { file, name, size, known, start, end, .. } => {
                    all.opens += 1;
                    all.open_seconds += end - start;
                    all.bytes_open += known.iter().map(|pair| pair.1).sum::<u64>();
                    names.insert(*file, name);
                    let file_summary = files.entry(name).or_default();
                    // An old trace may have secrets of URLs.
                    file_summary.name = crate::for_people::shown(name);
                    file_summary.size = file_summary.size.max(*size);
                    file_summary.opens += 1;
                    busy.push((*start, *end));
                }
                Event::Plan { plan, units, .. } => {
                    let ranges = units.iter().flatten().map(|pair| pair.range());
                    wanted.insert(*plan, union(ranges.collect()));
                }
                Event::Wait { start, end, .. } => all.wait_seconds += end - start,
                Event::End { cpu, .. } => all.cpu_seconds = *cpu,
                _ => {
                    let Some(request) = event.request() else { continue };
                    busy.push((request.start, request.end));
                    requests.push(request);
                }
            }
        }
        all.runtime = self.seconds();
        (all.busy_seconds, all.busy_periods) = union_seconds(&mut busy);
        all.count(&requests);
        all.over_read_bytes = (!wanted.is_empty()).then(|| over_read(&requests, &wanted));
        all.in_flight = in_flight(&requests);
        all.profile = profile(&requests, all.runtime);
        all.sizes = sizes(&requests);
        all.add_files(files, &names, &requests, &self.known());
        all
    }

    /// Returns the ranges that came with the requests that opened files.
    fn known(&self) -> Vec<(u64, Range<u64>)> {
        let known = self.events.iter().filter_map(|event| match event {
            Event::Open { file, known, .. } => Some((*file, known)),
            _ => None,
        });
        known.flat_map(|(file, known)| known.iter().map(move |pair| (file, pair.range()))).collect()
    }
}

impl Summary {
    /// Returns all bytes that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes_open + self.bytes_read + self.bytes_readv
    }

    fn count(&mut self, requests: &[Request]) {
        for request in requests {
            self.request_seconds += request.end - request.start;
            self.errors += u64::from(request.has_failed);
            if request.is_vector {
                self.iops_readv += 1;
                self.iops_readvread += request.ranges.len() as u64;
                self.bytes_readv += request.bytes();
            } else {
                self.iops_read += 1;
                self.bytes_read += request.bytes();
            }
        }
    }

    fn add_files<'a>(
        &mut self,
        mut files: BTreeMap<&'a str, FileSummary>,
        names: &HashMap<u64, &'a str>,
        requests: &[Request],
        known: &[(u64, Range<u64>)],
    ) {
        let mut read: HashMap<&str, Vec<Range<u64>>> = HashMap::new();
        let mut times: HashMap<&str, BTreeMap<u64, Times>> = HashMap::new();
        for (file, range) in known {
            let Some(name) = names.get(file) else { continue };
            read.entry(name).or_default().push(range.clone());
        }
        for request in requests {
            let Some(name) = names.get(&request.file) else { continue };
            let of_name = times.entry(name).or_default();
            of_name.entry(request.file).or_default().push((request.start, request.end));
            read.entry(name).or_default().extend(request.ranges.iter().map(|pair| pair.range()));
            if let Some(file) = files.get_mut(name) {
                file.requests += 1;
                file.ranges += request.ranges.len() as u64;
            }
        }
        for (name, ranges) in read {
            let Some(file) = files.get_mut(name) else { continue };
            file.bytes = ranges.iter().map(|range| range.end - range.start).sum();
            let ranges = union(ranges);
            file.distinct_bytes = ranges.iter().map(|range| range.end - range.start).sum();
            let (first, last) = (ranges.first(), ranges.last());
            file.span = first.zip(last).map_or(0, |(first, last)| last.end - first.start);
            let of_opens = times.remove(name).unwrap_or_default();
            file.synchronicity = mean(of_opens.into_values().map(synchronicity));
        }
        let mut files: Vec<FileSummary> = files.into_values().collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.bytes));
        self.files = files.len() as u64;
        self.datasize = files.iter().map(|file| file.size).sum();
        self.distinct_bytes = files.iter().map(|file| file.distinct_bytes).sum();
        let span: u64 = files.iter().map(|file| file.span).sum();
        self.sparseness =
            if span > 0 { 1.0 - self.distinct_bytes as f64 / span as f64 } else { 0.0 };
        let read = files.iter().filter(|file| file.requests > 0);
        self.synchronicity = mean(read.map(|file| file.synchronicity));
        self.by_file = files;
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    if count > 0 { sum / f64::from(count) } else { 0.0 }
}

/// Returns the percentage of requests that began when no other one was under way.
fn synchronicity(mut times: Times) -> f64 {
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut end = f64::NEG_INFINITY;
    let mut alone = 0_u32;
    for (start, stop) in &times {
        alone += u32::from(*start >= end);
        end = end.max(*stop);
    }
    100.0 * f64::from(alone) / times.len().max(1) as f64
}

/// Merges ranges that overlap or touch, sorted by start.
fn union(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the time that is in at least one of some times, and the number of periods that it has.
fn union_seconds(times: &mut [(f64, f64)]) -> (f64, u64) {
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut end, mut sum, mut periods) = (f64::NEG_INFINITY, 0.0, 0);
    for (start, stop) in times.iter() {
        periods += u64::from(*start >= end);
        sum += (stop - start.max(end)).max(0.0);
        end = end.max(*stop);
    }
    (sum, periods)
}

/// Returns the bytes of requests for plans that the plans do not have.
fn over_read(requests: &[Request], wanted: &HashMap<u64, Vec<Range<u64>>>) -> u64 {
    let mut bytes = 0;
    for request in requests {
        let Some(wanted) = request.plan.and_then(|plan| wanted.get(&plan)) else { continue };
        for range in request.ranges.iter().map(|pair| pair.range()) {
            let first = wanted.partition_point(|item| item.end <= range.start);
            let inside = wanted[first..].iter().take_while(|item| item.start < range.end);
            let inside = inside.map(|item| item.end.min(range.end) - item.start.max(range.start));
            bytes += (range.end - range.start) - inside.sum::<u64>();
        }
    }
    bytes
}

fn in_flight(requests: &[Request]) -> u64 {
    let ends = requests.iter().map(|request| (request.end, -1_i64));
    let mut changes: Vec<(f64, i64)> =
        requests.iter().map(|request| (request.start, 1)).chain(ends).collect();
    changes.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    u64::try_from(most).unwrap_or_default()
}

fn profile(requests: &[Request], runtime: f64) -> Profile {
    if requests.is_empty() || runtime <= 0.0 {
        return Profile::default();
    }
    let seconds = runtime / BINS as f64;
    let (mut bytes, mut iops) = (vec![0.0; BINS], vec![0.0; BINS]);
    for request in requests {
        let (start, end) = (request.start, request.end);
        // Both numbers are at most the number of bins.
        let bin = |time: f64| ((time / seconds) as usize).min(BINS - 1);
        iops[bin(start)] += 1.0 / seconds;
        let (first, last) = (bin(start), bin(end));
        for (number, bytes) in bytes.iter_mut().enumerate().take(last + 1).skip(first) {
            let from = start.max(number as f64 * seconds);
            let to = end.min((number + 1) as f64 * seconds);
            let part = match end > start {
                true => (to - from).max(0.0) / (end - start),
                false => 1.0,
            };
            *bytes += part * request.bytes() as f64 / seconds;
        }
    }
    Profile { seconds, bytes_per_second: bytes, iops }
}

fn sizes(requests: &[Request]) -> Vec<SizeBin> {
    let bin = |bytes: u64| bytes.checked_ilog2().map_or(0, |power| 1_u64 << power);
    let mut bins: BTreeMap<u64, SizeBin> = BTreeMap::new();
    let mut at = |bytes: u64, requests: u64, ranges: u64| {
        let bytes = bin(bytes);
        let size_bin = bins.entry(bytes).or_insert(SizeBin { bytes, ..SizeBin::default() });
        size_bin.requests += requests;
        size_bin.ranges += ranges;
    };
    for request in requests {
        at(request.bytes(), 1, 0);
        request.ranges.iter().for_each(|pair| at(pair.1, 0, 1));
    }
    bins.into_values().collect()
}
