//! Tests `nyssa trace`.

use crate::common::{fine, json, nyssa};

/// A recording that XRootD's client made while ROOT read a tree.
const OF_ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../nyssa-io/tests/xrdcl_of_root.csv");

#[test]
fn a_recording_of_xrdcl_is_shown() {
    let text = fine(&["trace", "show", OF_ROOT]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[..7],
        [
            "Sampled Runtime    : 0.315483 s",
            "IO Volume    (R)   : 3.08 MB [ open:0 B std:42.0 kB vec:3.04 MB ]",
            "IOPS         (R)   : 10 [ std:5 vec:5 in vec:5 ]",
            "Files        (R)   : 1 [ opened 1 times ]",
            "Datasize     (R)   : 3.06 MB [ different bytes read: 3.06 MB = 100.0% ]",
            "IO BW        (R)   : 9.77 MB/s [ busy 120 MB/s ]",
            "Synchronicity(R)   : 100.00%",
        ]
    );
    let summary = json(&["trace", "show", OF_ROOT]);
    assert_eq!(summary["bytes_readv"], 3_039_193);
    assert_eq!(summary["by_file"][0]["ranges"], 10);
}

#[test]
fn a_page_needs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    fine(&["trace", "show", OF_ROOT, "--html", page.to_str().unwrap()]);
    let text = std::fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</body></html>\n"));
    assert_eq!(text.matches("<svg").count(), 4);
    assert_eq!(text.matches("<svg").count(), text.matches("</svg>").count());
    assert!(!text.contains("<script") && !text.contains("src=") && !text.contains("href="));
    assert!(text.contains("10 of 10 ranges are drawn"));
    // A narrow window shows the drawings smaller, and nothing lies outside of them.
    assert!(text.contains("svg{display:block;max-width:100%;height:auto}"));
    let number = |tag: &str, name: &str| -> f64 {
        let (_, after) = tag.split_once(&format!(" {name}=\"")).unwrap();
        after.split('"').next().unwrap().parse().unwrap()
    };
    for svg in text.split("<svg").skip(1) {
        let (width, height) = (number(svg, "width"), number(svg, "height"));
        assert!(svg.contains(&format!("viewBox=\"0 0 {width} {height}\"")));
        for rect in svg.split("<rect").skip(1) {
            assert!(number(rect, "x") + number(rect, "width") <= width, "{rect}");
            assert!(number(rect, "y") + number(rect, "height") <= height, "{rect}");
        }
    }
    let refused = nyssa(&["trace", "show", page.to_str().unwrap()]);
    assert_eq!(refused.code, 1);
    assert_eq!(
        refused.err,
        format!(
            "error: cannot read {}: line 1 is neither a line of a trace nor a line of a recording \
             of XrdCl\n",
            page.display()
        )
    );
}

#[test]
fn an_image_needs_the_python_package() {
    let refused = nyssa(&["trace", "show", OF_ROOT, "--plot", "trace.png"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert_eq!(
        refused.err,
        "error: cannot draw trace.png: the Python package draws images\n\
         hint: pip install nyssa matplotlib, and run the `nyssa` of that package; or use --html\n"
    );
}

/// A recording of three reads: two ranges with a gap of 2000 bytes and one far from them, and one without a
/// plan.
const RECORDED: &str = r#"{"op":"trace","version":1,"nyssa":"0.1.0","time":"2026-01-01T00:00:00Z","process":1}
{"op":"open","file":1,"name":"root://host//a.root","size":10000000,"start":0.0,"end":0.1,"thread":1}
{"op":"plan","plan":2,"file":1,"units":[[[1000000,1000],[1003000,1000]],[[2000000,1000]]],"ahead":64000000,"start":0.1,"thread":1}
{"op":"wait","plan":2,"unit":0,"start":0.1,"end":0.2,"released":0.21,"thread":1}
{"op":"wait","plan":2,"unit":1,"start":0.22,"end":0.3,"released":0.31,"thread":1}
{"op":"read","file":1,"offset":5000000,"length":2000,"start":0.32,"end":0.4,"thread":1}
{"op":"close","file":1,"start":0.45,"end":0.5,"thread":1}
{"op":"end","end":0.6,"cpu":0.1}
"#;

/// Writes a recording to a file, and returns the command that replays it.
fn replay(folder: &tempfile::TempDir, text: &str) -> Vec<String> {
    let trace = folder.path().join("trace.jsonl");
    std::fs::write(&trace, text).unwrap();
    ["trace", "replay", trace.to_str().unwrap()].map(str::to_owned).to_vec()
}

#[test]
fn reads_are_replayed_over_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let command = replay(&folder, RECORDED);
    let with = |more: &str| -> Vec<String> {
        command.iter().cloned().chain(more.split(' ').map(str::to_owned)).collect()
    };
    let link = with("--link-latency 1ms --fast");
    let text = fine(&link.iter().map(String::as_str).collect::<Vec<_>>());
    // Both ends are 31,250 bytes: a quarter of what comes in 1 ms. Times are not the same in each run.
    let shown: Vec<&str> = text.lines().filter(|line| !line.contains(" s")).collect();
    assert_eq!(
        shown,
        [
            "IO Volume    (R)   : 67.5 kB",
            "IOPS         (R)   : 3",
            "Over-read    (R)   : 0 B",
            "Round trips        : 4",
        ]
    );
    assert!(text.starts_with("Sampled Runtime    : 0.600000 s\nTotal   Runtime    : 0."));
    assert!(text.contains("\nTime of requests   : 0.0") && text.contains(" s [ busy 0.0"));
    let counted = |more: &str| {
        let command = with(&format!("--link-latency 1ms --fast {more}"));
        let replay = json(&command.iter().map(String::as_str).collect::<Vec<_>>());
        let number = |name: &str| replay["io"][name].as_u64().unwrap();
        let requests = number("iops_read") + number("iops_readv");
        (requests, number("iops_readvread"), number("over_read_bytes"))
    };
    // The ends of the file; the three ranges; the read without a plan.
    assert_eq!(counted("--gap 0"), (3, 2 + 3, 0));
    assert_eq!(counted("--gap 1999"), (3, 2 + 3, 0));
    assert_eq!(counted("--gap 2kB"), (3, 2 + 2, 2_000));
    // One range is left: 1000000 to 2001000.
    assert_eq!(counted("--gap 1MB"), (3, 2, 998_000));
    // Each range is a request of HTTP, and both ends come with the opening.
    assert_eq!(counted("--gap 0 --link-protocol http"), (2 + 3 + 1, 0, 0));
    assert_eq!(counted("--gap 0 --link-protocol s3"), (2 + 3 + 1, 0, 0));
}

#[test]
fn a_replay_warns_of_what_the_recording_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let warnings = |text: &str, more: &[&str]| {
        let command = replay(&folder, text);
        let command: Vec<&str> = command.iter().map(String::as_str).collect();
        let warnings_in_json = json(&[&command, more].concat())["warnings"].clone();
        let ran = nyssa(&[&command, more].concat());
        assert_eq!(ran.code, 0);
        let listed = serde_json::from_value::<Vec<String>>(warnings_in_json).unwrap();
        let printed: String =
            listed.iter().map(|warning| format!("warning: {warning}\n")).collect();
        assert_eq!(ran.err, printed);
        listed
    };
    let link = ["--link-latency", "1ms", "--fast"];
    assert_eq!(warnings(RECORDED, &link), [""; 0]);
    let killed = RECORDED.replace("{\"op\":\"end\",\"end\":0.6,\"cpu\":0.1}\n", "");
    let no_end = "the end of the job is not recorded: its work after the last event is not known, and \
                  is in neither time";
    assert_eq!(warnings(&killed, &link), [no_end]);
    let local = "1 of 1 opened files were local in the recorded job, which read in 2 steps: a job that \
                 converts, or reads many files, takes fewer steps with remote files, and may be much \
                 faster than said here; record it with remote files, for which `nyssa serve` on this \
                 machine is enough";
    let of_local = killed.replace("root://host//a.root", "/data/a.root");
    assert_eq!(warnings(&of_local, &link), [no_end, local]);
    // A recording of XRootD's client has no end.
    let of_root = std::fs::read_to_string(OF_ROOT).unwrap();
    assert_eq!(warnings(&of_root, &link), [no_end]);
}

#[test]
fn a_wrong_replay_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let command = replay(&folder, RECORDED);
    let tip = "\n\nFor more information, try '--help'.\n";
    for (more, message) in [
        (
            vec!["--link-latency", "50"],
            "error: invalid value '50' for '--link-latency <TIME>': \"50\" is not a time: write a \
             number with a unit, such as 50ms, 0.2s or 200us",
        ),
        (
            vec!["--link-latency", "1ms", "--link-protocol", "gopher"],
            "error: invalid value 'gopher' for '--link-protocol <root|http|s3|ideal>': the protocol \
             must be root, http, s3 or ideal",
        ),
        (
            vec!["--link-latency", "1ms", "--link-bandwidth", "0"],
            "error: invalid value '0' for '--link-bandwidth <SIZE>': \"0\" is not a size between 1 byte and 9 PB",
        ),
        (
            vec!["--link-latency", "1ms", "--gap", "wide"],
            "error: invalid value 'wide' for '--gap <SIZE>': \"wide\" is not a size: write a \
             number of bytes, or a number with a unit, such as 128MB or 64MiB",
        ),
    ] {
        let refused = nyssa(&command.iter().map(String::as_str).chain(more).collect::<Vec<_>>());
        assert_eq!((refused.code, refused.out.as_str()), (2, ""));
        assert_eq!(refused.err, format!("{message}{tip}"));
    }
    for option in ["--link-bandwidth 1MB", "--connections 3", "--servers 2", "--seek 1ms"] {
        let refused =
            nyssa(&command.iter().map(String::as_str).chain(option.split(' ')).collect::<Vec<_>>());
        let expected =
            "the following required arguments were not provided:\n  --link-latency <TIME>";
        assert_eq!(refused.code, 2);
        assert!(refused.err.contains(expected), "{}", refused.err);
    }
    // A read of a file that is not open, which only an editor can write.
    let changed = RECORDED.replace("\"file\":1,\"offset\"", "\"file\":7,\"offset\"");
    let command = replay(&folder, &changed);
    let refused = nyssa(
        &command
            .iter()
            .map(String::as_str)
            .chain(["--link-latency", "1ms", "--fast"])
            .collect::<Vec<_>>(),
    );
    assert_eq!(refused.code, 1);
    assert_eq!(refused.err, "error: cannot replay the trace: it reads a file that is not open\n");
}
