//! `nyssa trace replay`: repeats recorded reads elsewhere, and measures their time.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use nyssa_io::trace::{self, Event, Link, LinkProtocol, ReplayOptions, Trace};
use nyssa_root::Error;

use crate::app::App;
use crate::exit_code::FINE;
use crate::failure::Result;
use crate::units::{parse_size, parse_time, size};

/// Repeat the reads of a recording, on another server or over a simulated link, and measure how long they take
///
/// Threads wait before, between and after reads as long as they computed in the recorded job, so that the
/// time is the time of the whole job.
#[derive(Args, Debug)]
pub(super) struct Replay {
    /// The recording
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Read this file in place of the recorded ones
    #[arg(long, value_name = "URL", conflicts_with = "link_latency")]
    url: Option<String>,
    /// Simulate a link with this round trip, such as 50ms; nothing is read then
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    link_latency: Option<Duration>,
    /// Bandwidth of the link in bytes per second, such as 125MB for 1 Gbit/s
    #[arg(long, value_name = "SIZE", default_value = "125MB", value_parser = parse_size, requires = "link_latency")]
    link_bandwidth: u64,
    /// Protocol of the servers behind the link; s3 is also for servers of HTTP that answer no request for
    /// several ranges; ideal has no connections and no slow start of TCP [default: http or s3 if a file of the
    /// recording was read by it, else root]
    #[arg(long, value_name = "root|http|s3|ideal", value_parser = parse_protocol, requires = "link_latency")]
    link_protocol: Option<LinkProtocol>,
    /// Largest number of bytes that TCP has under way on a connection
    #[arg(long, value_name = "SIZE", default_value = "4MB", value_parser = parse_size, requires = "link_latency")]
    link_window: u64,
    /// Largest number of connections to each server [default: 4 for root, 32 for http and s3]
    #[arg(long, value_name = "N", requires = "link_latency")]
    connections: Option<usize>,
    /// Time that a server needs for each range, such as the 8ms of a disk
    #[arg(long, value_name = "TIME", default_value = "0ms", value_parser = parse_time, requires = "link_latency")]
    seek: Duration,
    /// Number of servers over which the files are spread
    #[arg(long, value_name = "N", default_value_t = 1, requires = "link_latency")]
    servers: usize,
    /// Bytes that are fetched ahead, in place of the recorded number
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    ahead: Option<u64>,
    /// Read over gaps of up to this many bytes between wanted ranges, instead of what the cost of requests
    /// gives
    #[arg(long, value_name = "SIZE", value_parser = parse_gap)]
    gap: Option<u64>,
    /// Leave out the time in which threads computed
    #[arg(long)]
    fast: bool,
}

pub(super) fn run(args: &Replay, app: &mut App<'_>) -> Result<u8> {
    let recorded = trace::read(&args.trace).map_err(Error::from)?;
    let mut options = ReplayOptions::default();
    options.url.clone_from(&args.url);
    options.link = args.link_latency.map(|latency| Link {
        latency,
        bandwidth: args.link_bandwidth,
        protocol: args.link_protocol.unwrap_or_else(|| protocol_of(&recorded)),
        window: args.link_window,
        connections: args.connections,
        seek: args.seek,
        servers: args.servers,
    });
    options.ahead = args.ahead;
    options.gap = args.gap;
    options.fast = args.fast;
    let replayed = trace::replay(&recorded, &options).map_err(Error::from)?;
    for warning in &replayed.warnings {
        app.complain(&format!("warning: {warning}"));
    }
    if app.json {
        app.print_json(&replayed)?;
        return Ok(FINE);
    }
    let io = &replayed.io;
    let requests = io.iops_read + io.iops_readv;
    let lines = [
        ("Sampled Runtime", format!("{:.6} s", replayed.recorded_seconds)),
        ("Total   Runtime", format!("{:.6} s", replayed.seconds)),
        ("IO Volume    (R)", size(io.bytes())),
        ("IOPS         (R)", requests.to_string()),
        ("Over-read    (R)", size(io.over_read_bytes)),
        ("Round trips", io.round_trips.to_string()),
        (
            "Time of requests",
            format!("{:.3} s [ busy {:.3} s ]", io.request_seconds, io.busy_seconds),
        ),
    ];
    for (label, value) in lines {
        writeln!(app.out, "{label:<18} : {value}")?;
    }
    Ok(FINE)
}

/// Returns the protocol by which the files of a recording were read.
fn protocol_of(recorded: &Trace) -> LinkProtocol {
    let has = |schemes: &[&str]| {
        let mut names = recorded.events.iter().filter_map(Event::opened);
        names.any(|name| schemes.iter().any(|scheme| name.starts_with(scheme)))
    };
    if has(&["http://", "https://", "dav://", "davs://"]) {
        LinkProtocol::Http
    } else if has(&["s3://"]) {
        LinkProtocol::S3
    } else {
        LinkProtocol::Root
    }
}

/// Parses a size that may be zero.
fn parse_gap(text: &str) -> std::result::Result<u64, String> {
    if text.trim() == "0" { Ok(0) } else { parse_size(text) }
}

fn parse_protocol(text: &str) -> std::result::Result<LinkProtocol, String> {
    match text {
        "root" => Ok(LinkProtocol::Root),
        "http" => Ok(LinkProtocol::Http),
        "s3" => Ok(LinkProtocol::S3),
        "ideal" => Ok(LinkProtocol::Ideal),
        _ => Err("the protocol must be root, http, s3 or ideal".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_protocol_is_the_one_of_the_recorded_files() {
        let of = |name: &str| {
            let name = name.to_owned();
            let (known, start, end) = (Vec::new(), 0.0, 0.0);
            let open = Event::Open { file: 1, name, size: 9, known, start, end, thread: 1 };
            protocol_of(&Trace { events: vec![open] })
        };
        assert_eq!(of("davs://host/a.root"), LinkProtocol::Http);
        assert_eq!(of("s3://bucket/a.root"), LinkProtocol::S3);
        assert_eq!(of("root://host//a.root"), LinkProtocol::Root);
        assert_eq!(of("http-files/s3/a.root"), LinkProtocol::Root);
    }
}
