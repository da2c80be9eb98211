//! `--monitor`: the files, and what is refused. `python/tests/observe/test_monitor.py` compares their numbers with the kernel's.

use nyssa_testdata::testdata;

use crate::common::nyssa;

#[cfg(target_os = "linux")]
#[test]
fn the_table_and_the_summary_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let input = testdata("ttree/baskets.root");
    let input = input.to_str().unwrap();
    let without = nyssa(&["ls", input]);
    let ran = nyssa(&["ls", input, "--monitor", &path("use.txt"), "--monitor-interval", "0.01"]);
    assert_eq!((ran.code, ran.out, ran.err.as_str()), (0, without.out, ""));
    let table = std::fs::read_to_string(path("use.txt")).unwrap();
    let header = "Time\twtime\tstime\tutime\tpss\trss\tswap\tvmem\tnprocs\tnthreads\trchar\tread_bytes\twchar\t\
                  write_bytes\trx_bytes\trx_packets\ttx_bytes\ttx_packets";
    assert_eq!(table.lines().next(), Some(header));
    assert!(table.lines().count() >= 3, "{table}");
    let summary = std::fs::read_to_string(path("use.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert!(summary["Max"]["nprocs"].as_u64() >= Some(1), "{summary}");

    // The command failed, and the files are complete.
    let ran = nyssa(&["ls", &path("no.root"), "--monitor", &path("use.txt")]);
    assert_eq!(ran.code, 3);
    let table = std::fs::read_to_string(path("use.txt")).unwrap();
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn what_no_monitor_wrote_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data.root");
    std::fs::write(&data, "root").unwrap();
    let data = data.to_str().unwrap();
    let ran = nyssa(&["ls", data, "--monitor", data]);
    let expected = format!(
        "error: the monitor cannot write {data}: it exists already, and was not written by a monitor; \
         choose another name\n"
    );
    if cfg!(target_os = "linux") {
        assert_eq!((ran.code, ran.out.as_str(), ran.err), (2, "", expected));
    }
    assert_eq!(std::fs::read(data).unwrap(), b"root");
    let ran = nyssa(&["ls", data, "--monitor", data, "--monitor-interval", "0"]);
    let why = "the interval of the monitor is 0.01 to 86400 seconds, not 0";
    assert!(ran.code == 2 && ran.err.contains(why), "{}", ran.err);
}
