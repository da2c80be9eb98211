//! Prints the totals and the curves of a trace as text.

use nyssa_io::trace::{Profile, Summary};

use crate::units::size;

/// Returns the totals. Those that `xrdreplay` prints have its labels.
pub(super) fn lines(all: &Summary) -> Vec<(&'static str, String)> {
    let over_read = all.over_read_bytes;
    let over_read = over_read.map_or_else(|| "-".to_owned(), |bytes| part(bytes, all.bytes()));
    let rate = |seconds: f64| match seconds > 0.0 {
        true => format!("{}/s", size((all.bytes() as f64 / seconds) as u64)),
        false => "-".to_owned(),
    };
    let mean = if all.busy_seconds > 0.0 { all.request_seconds / all.busy_seconds } else { 0.0 };
    let (open, std, vec) = (size(all.bytes_open), size(all.bytes_read), size(all.bytes_readv));
    let read = part(all.distinct_bytes, all.datasize);
    vec![
        ("Sampled Runtime", format!("{:.6} s", all.runtime)),
        ("IO Volume    (R)", format!("{} [ open:{open} std:{std} vec:{vec} ]", size(all.bytes()))),
        ("IOPS         (R)", {
            let Summary { iops_read, iops_readv, iops_readvread, .. } = all;
            let sum = iops_read + iops_readv;
            format!("{sum} [ std:{iops_read} vec:{iops_readv} in vec:{iops_readvread} ]")
        }),
        ("Files        (R)", format!("{} [ opened {} times ]", all.files, all.opens)),
        ("Datasize     (R)", format!("{} [ different bytes read: {read} ]", size(all.datasize))),
        ("IO BW        (R)", format!("{} [ busy {} ]", rate(all.runtime), rate(all.busy_seconds))),
        ("Synchronicity(R)", format!("{:.2}%", all.synchronicity)),
        ("In flight    (R)", format!("{mean:.1} [ at most {} ]", all.in_flight)),
        ("Over-read    (R)", over_read),
        ("Sparseness   (R)", format!("{:.2}%", 100.0 * all.sparseness)),
        ("Time opening", format!("{:.3} s", all.open_seconds)),
        (
            "Time of requests",
            format!(
                "{:.3} s [ busy {:.3} s in {} periods ]",
                all.request_seconds, all.busy_seconds, all.busy_periods
            ),
        ),
        ("CPU time", all.cpu_seconds.map_or_else(|| "-".to_owned(), |cpu| format!("{cpu:.3} s"))),
        ("Time waited", format!("{:.3} s, summed over threads", all.wait_seconds)),
        ("Response Errors", all.errors.to_string()),
    ]
}

/// Returns the percentage that a part is of a total.
pub(super) fn percent(part: u64, total: u64) -> String {
    match total {
        0 => "-".to_owned(),
        _ => format!("{:.1}%", 100.0 * part as f64 / total as f64),
    }
}

fn part(bytes: u64, total: u64) -> String {
    format!("{} = {}", size(bytes), percent(bytes, total))
}

/// A curve over time: its name, its values, and how a value is printed.
pub(super) type Curve<'a> = (&'static str, &'a [f64], fn(f64) -> String);

/// Returns the curves of a profile.
pub(super) fn curves(profile: &Profile) -> [Curve<'_>; 2] {
    [
        ("Read rate", &profile.bytes_per_second, |rate| format!("{}/s", size(rate as u64))),
        ("IOPS", &profile.iops, |iops| format!("{iops:.1}/s")),
    ]
}
