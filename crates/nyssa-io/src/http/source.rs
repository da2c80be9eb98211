//! Reads a file on a server that speaks HTTP.

use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use nyssa_net::Meter;

use super::failure::{Again, Failure};
use super::multipart;
use super::opening::{self, Opened};
use super::options::HttpOptions;
use super::part::{Times, complete};
use super::resource::{Address, Resource};
use super::retry::Patience;
use super::version::Version;
use crate::heuristics::http;
use crate::known::{Known, read_unknown};
use crate::limits::NETWORK_OVER_READ;
use crate::source::{check_range, closed};
use crate::{Cost, Limits, OpenOptions, Result, Source, Stop};

/// A file on a server that speaks HTTP.
pub(crate) struct HttpSource(Arc<WebFile>);

/// A file, of the version that it had when it was opened.
struct WebFile {
    resource: Resource,
    size: u64,
    version: Version,
    known: Known,
    meter: Meter,
    closed: AtomicBool,
}

impl HttpSource {
    /// Opens what is at an address, by `http` and what else is in `options`.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied`; `Unsupported` for a large file that the server only sends whole; the
    /// errors of connections.
    pub(crate) fn open(
        address: Box<dyn Address>,
        http: HttpOptions,
        options: &OpenOptions,
    ) -> Result<Self> {
        let ends = options.ends.wanted(address.name());
        let resource = Resource::new(address, http);
        let opened = opening::open(&resource, ends, &options.stop().unwrap_or_default())
            .map_err(|error| resource.error("open", error))?;
        let Opened { size, version, known, latency } = opened;
        let meter = Meter::default();
        // The first answer took two round trips: one for the connection, and one for the request.
        meter.waited(latency / 2);
        let (known, closed) = (Known::new(known), AtomicBool::new(false));
        Ok(Self(Arc::new(WebFile { resource, size, version, known, meter, closed })))
    }

    /// Asks the server for a proof that it answers requests for several ranges, if a plan would take much longer
    /// without them. It waits for the answer, but not for long.
    fn prove_for(&self, units: &[Vec<Range<u64>>]) {
        let file = &self.0;
        let Some(several) = &file.resource.several else { return };
        let is_known = |range: &Range<u64>| file.known.find(range).is_some();
        if !several.begins_for(units, file.resource.options.connections, is_known) {
            return;
        }
        let wait = http::PROOF_LATENCIES * file.meter.cost().latency + http::PROOF_TIME;
        let (sender, receiver) = channel();
        let file = Arc::clone(file);
        let job = move || {
            file.prove(file.size.saturating_sub(http::PROOF_BYTES)..file.size, None);
            // The receiver is gone if the answer came too late.
            let _ = sender.send(());
        };
        if thread::Builder::new().name("nyssa-proof".to_owned()).spawn(job).is_err() {
            return several.starts_anew();
        }
        let _ = receiver.recv_timeout(wait);
    }
}

impl WebFile {
    fn name(&self) -> &str {
        self.resource.address.name()
    }

    fn read(&self, range: &Range<u64>, stop: &Stop) -> Result<Bytes> {
        check_range(self.name(), self.size, range)?;
        if let Some(bytes) = self.known.find(range).or_else(|| self.resource.of_whole(range)) {
            return Ok(bytes);
        }
        if range.is_empty() {
            return Ok(Bytes::new());
        }
        let action = || format!("read bytes {} to {} of", range.start, range.end);
        self.fetch(range, stop).map_err(|error| self.resource.error(action(), error))
    }

    fn fetch(&self, range: &Range<u64>, stop: &Stop) -> io::Result<Bytes> {
        let len = usize::try_from(range.end - range.start)
            .map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut buffer = Vec::with_capacity(len.min(http::MAX_RANGE_BYTES as usize));
        let mut patience = Patience::new(self.resource.options.deadline, true).until(stop);
        let mut before = 0;
        loop {
            patience.check()?;
            let Err(failure) = self.fill(range, &mut buffer, stop) else {
                let bytes = Bytes::from(buffer);
                if !stop.is_set() {
                    self.ask_for_proof(range, &bytes);
                }
                return Ok(bytes);
            };
            if buffer.len() - before >= http::PROGRESS_BYTES {
                patience.progress();
                before = buffer.len();
            }
            patience.wait(failure)?;
        }
    }

    /// Requests the missing bytes of a range.
    fn fill(
        &self,
        range: &Range<u64>,
        buffer: &mut Vec<u8>,
        stop: &Stop,
    ) -> std::result::Result<(), Failure> {
        let before = buffer.len();
        let known = (&self.version, Some(self.size));
        let Times { latency, begin } = complete(&self.resource, known, range, buffer, stop)?;
        self.meter.waited(latency);
        self.meter.received(buffer.len() - before, begin, Instant::now());
        Ok(())
    }
}

/// Makes requests for several ranges. A failure of these requests is not an error, because the ranges are then
/// read one by one.
impl WebFile {
    /// Reads the ranges whose bytes are not known with one request. Returns `None` if that is not possible.
    fn read_together(&self, ranges: &[Range<u64>], stop: &Stop) -> Option<Vec<Bytes>> {
        let several = self.resource.several.as_ref().filter(|several| several.is_proven())?;
        let is_inside = |range: &Range<u64>| range.start <= range.end && range.end <= self.size;
        if !ranges.iter().all(is_inside) {
            return None;
        }
        let find = |range: &Range<u64>| match range.is_empty() {
            true => Some(Bytes::new()),
            false => self.known.find(range),
        };
        if ranges.iter().filter(|range| find(range).is_none()).count() < 2 {
            return None;
        }
        let read = |unknown: &[Range<u64>]| {
            self.ask_together(unknown, stop).inspect_err(|failure| {
                // A connection that breaks says nothing about the answers of the server.
                if !matches!(failure.again, Again::Always) && failure.kind != ErrorKind::Interrupted
                {
                    several.refuse();
                }
            })
        };
        read_unknown(ranges, find, read).ok()
    }

    /// Requests several ranges at once.
    fn ask_together(
        &self,
        ranges: &[Range<u64>],
        stop: &Stop,
    ) -> std::result::Result<Vec<Bytes>, Failure> {
        let reply = self.resource.get(&multipart::header(ranges), stop)?;
        self.version.check(&Version::of(&reply))?;
        let boundary = reply.header("content-type").and_then(multipart::boundary);
        let Some(boundary) = boundary.filter(|_| reply.status == 206).map(str::to_owned) else {
            return Err(Failure::answer("the server does not answer with several ranges"));
        };
        let most = multipart::max_bytes(ranges);
        if reply.content_length().is_some_and(|stated| stated > most) {
            return Err(Failure::answer("the server answers with more than was requested"));
        }
        let (latency, begin) = (reply.latency, Instant::now());
        let body = Bytes::from(reply.read_all(most)?);
        self.meter.waited(latency);
        self.meter.received(body.len(), begin, Instant::now());
        multipart::parts(&body, &boundary, ranges, self.size).map_err(Failure::answer)
    }

    /// Asks the server for several ranges whose bytes are known, if a proof is due.
    fn ask_for_proof(&self, range: &Range<u64>, bytes: &Bytes) {
        let Some(several) = &self.resource.several else { return };
        if !several.counts(bytes.len() as u64) {
            return;
        }
        let length = http::PROOF_BYTES.min(range.end - range.start);
        // These bytes are in memory, so their length fits.
        let bytes = bytes.slice(..length as usize);
        self.prove(range.start..range.start + length, Some(bytes));
    }

    /// Asks the server for three ranges whose bytes are known. The last one is `third` with `bytes`, which `None`
    /// takes from the bytes that came when the file was opened.
    fn prove(&self, third: Range<u64>, bytes: Option<Bytes>) {
        let Some(several) = &self.resource.several else { return };
        // The first bytes arrived when the file was opened.
        let (first, second) =
            (0..http::PROOF_BYTES, http::PROOF_BYTES * 100..http::PROOF_BYTES * 101);
        let bytes = bytes.or_else(|| self.known.find(&third));
        let known = [self.known.find(&first), self.known.find(&second), bytes];
        let known: Option<Vec<Bytes>> = known.into_iter().collect();
        let Some(known) = known.filter(|_| second.end < third.start) else {
            return several.starts_anew();
        };
        let parts = self.ask_together(&[first, second, third], &Stop::default());
        match parts {
            // A server that is busy, or a connection that breaks, proves nothing.
            Err(failure) if failure.again == Again::Always => several.starts_anew(),
            parts => several.proves(parts.is_ok_and(|parts| parts == known)),
        }
    }
}

impl Source for HttpSource {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn size(&self) -> u64 {
        self.0.size
    }

    fn version(&self) -> Option<String> {
        self.0.version.text()
    }

    fn limits(&self) -> Limits {
        let several = self.0.resource.several.as_ref();
        let (max_ranges, range) = match several.is_some_and(|several| several.is_proven()) {
            true => (http::MAX_RANGES, http::RANGE_TIME),
            false => (1, Duration::ZERO),
        };
        Limits {
            max_ranges,
            max_range_bytes: http::MAX_RANGE_BYTES,
            concurrency: self.0.resource.options.connections,
            short_concurrency: self.0.resource.options.short_connections,
            cost: Cost { range, ..self.0.meter.cost() },
            gap: None,
            over_read: NETWORK_OVER_READ,
        }
    }

    fn limits_of(&self, units: &[Vec<Range<u64>>]) -> Limits {
        self.prove_for(units);
        self.limits()
    }

    fn opened_with(&self) -> Vec<Range<u64>> {
        self.0.known.ranges().cloned().collect()
    }

    fn read_ranges(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.read_ranges_until(ranges, &Stop::default())
    }

    fn read_ranges_until(&self, ranges: &[Range<u64>], stop: &Stop) -> Result<Vec<Bytes>> {
        self.check_open()?;
        if let Some(all) = self.0.read_together(ranges, stop) {
            return Ok(all);
        }
        ranges.iter().map(|range| self.0.read(range, stop)).collect()
    }

    fn close(&self) {
        self.0.closed.store(true, Ordering::Relaxed);
    }

    fn check_open(&self) -> Result<()> {
        if !self.0.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        Err(closed(self.name()))
    }
}
