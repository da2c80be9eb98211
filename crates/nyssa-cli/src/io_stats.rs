//! Prints what a command has opened and read.

use std::io::Write;

use nyssa_io::{IoCounts, IoStats};
use nyssa_root::Error;

use crate::app::TABLE;
use crate::failure::Result;
use crate::units::size;

/// Prints the counters of this process as a table on `err`, or writes them as JSON to a file.
pub(crate) fn report(place: &str, err: &mut dyn Write) -> Result<()> {
    let counts = IoStats::of_process().counts();
    if place != TABLE {
        let text = serde_json::to_string_pretty(&counts)?;
        nyssa_io::write(place, (text + "\n").as_bytes()).map_err(Error::from)?;
        return Ok(());
    }
    for line in lines(&counts) {
        let _ = writeln!(err, "{line}");
    }
    Ok(())
}

/// Returns the lines of the table. Those that JCache prints have its labels.
pub fn lines(counts: &IoCounts) -> Vec<String> {
    let IoCounts { bytes_read, bytes_readv, hit_bytes_read, hit_bytes_readv, .. } = *counts;
    let read = bytes_read + hit_bytes_read;
    let readv = bytes_readv + hit_bytes_readv;
    let rows = [
        ("cache combined hit rate", percent(counts.hit_bytes(), read + readv)),
        ("cache read     hit rate", percent(hit_bytes_read, read)),
        ("cache readv    hit rate", percent(hit_bytes_readv, readv)),
        ("total bytes    read", read.to_string()),
        ("total bytes    readv", readv.to_string()),
        ("bytes from     cache", counts.hit_bytes().to_string()),
        ("bytes from     origin", counts.bytes().to_string()),
        ("bytes over-read", counts.over_read_bytes.to_string()),
        ("total iops     read", counts.iops_read.to_string()),
        ("total iops     readv", counts.iops_readv.to_string()),
        ("total iops     readvread", counts.iops_readvread.to_string()),
        ("round trips", counts.round_trips.to_string()),
        ("open files     read", counts.open_files.to_string()),
        ("open unique f. read", counts.open_unique_files.to_string()),
        ("total unique files bytes", counts.unique_files_bytes.to_string()),
        ("total unique files size", size(counts.unique_files_bytes)),
        ("percentage dataset read", percent(read + readv, counts.unique_files_bytes)),
        ("time of requests", format!("{:.2} s", counts.busy_seconds)),
        ("app real time", format!("{:.2} s", counts.seconds)),
        ("app readrate", {
            let rate = |bytes: f64| format!("{}/s", size(bytes as u64));
            let (mean, peak) = (counts.bytes_per_second, counts.peak_bytes_per_second);
            format!("{} [ peak (1s) {} ]", rate(mean), rate(peak))
        }),
    ];
    rows.map(|(label, value)| format!("{label:<24} : {value}")).to_vec()
}

fn percent(part: u64, total: u64) -> String {
    match total {
        0 => "-".to_owned(),
        _ => format!("{:.2} %", 100.0 * part as f64 / total as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_see_the_labels_of_jcache() {
        let mut counts = IoCounts::default();
        counts.bytes_read = 100;
        counts.hit_bytes_readv = 300;
        counts.iops_readvread = 7;
        counts.unique_files_bytes = 1600;
        let lines = lines(&counts);
        let expected = [
            "cache combined hit rate  : 75.00 %",
            "cache read     hit rate  : 0.00 %",
            "cache readv    hit rate  : 100.00 %",
            "total bytes    read      : 100",
            "total bytes    readv     : 300",
        ];
        assert_eq!(lines[..5], expected);
        for line in [
            "total iops     readvread : 7",
            "total unique files size  : 1.60 kB",
            "percentage dataset read  : 25.00 %",
            "app readrate             : 0 B/s [ peak (1s) 0 B/s ]",
        ] {
            assert!(lines.iter().any(|printed| printed == line), "{line}");
        }
    }
}
