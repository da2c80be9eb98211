//! Tests convert, verify and diff.

use crate::common::{NANOAOD, STAFF, ZMUMU, file, fine, json, nyssa};

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn the_demo() {
    let input = file(NANOAOD);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("rntuple.root");
    let output = output.to_str().unwrap();
    let tree = format!("{input}:Events");
    let report = json(&["convert", &tree, output, "--force", "--skip-unsupported"]);
    assert_eq!(report["entries"], 200);
    assert_eq!(report["fields"].as_array().unwrap().len(), 947);
    assert_eq!(report["skipped"], serde_json::json!([]));
    assert_eq!(report["output_bytes"], std::fs::metadata(output).unwrap().len());
    assert!(report["seconds"].as_f64().unwrap() > 0.0);
    let checked = json(&["verify", output]);
    assert_eq!(checked["sound"], true);
    assert_eq!(checked["datasets"][0]["class"], "ROOT::RNTuple");
    assert_eq!(checked["datasets"][0]["parts"], checked["datasets"][0]["checksummed"]);
    let diff = json(&["diff", &tree, output]);
    assert_eq!(diff["equal"], true, "{diff}");
    assert_eq!(diff["compared"].as_array().unwrap().len(), 947);
    assert_eq!(fine(&["diff", output, &tree]), "equal: 947 columns, 200 entries compared\n");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn the_report_for_people() {
    let input = file(ZMUMU);
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("o.root");
    let output = output.to_str().unwrap();
    let options = ["--name", "z", "--include", "p*", "--exclude", "*2", "--entries", "10:20"];
    let args = [&["convert", &input, output, "--verify"][..], &options].concat();
    let out = fine(&args);
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some(format!("{input}:events -> {output}:z").as_str()));
    assert!(out.contains(", every value verified\n"), "{out}");
    let row: Vec<_> = lines.nth(2).unwrap().split_whitespace().take(3).collect();
    assert_eq!(row, ["z", "10", "5"], "{out}");
    let names = json(&["schema", output]);
    let names = names["fields"].as_array().unwrap().iter().map(|field| field["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["px1", "py1", "pz1", "pt1", "phi1"]);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn different_data() {
    let (a, b) = (file(ZMUMU), file("ttree/uproot-Zmumu.root"));
    assert_eq!(fine(&["diff", &a, &b]), "equal: 20 columns, 2,304 entries compared\n");
    let staff = file(STAFF);
    let ran = nyssa(&["diff", &a, &staff]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""));
    let mut lines = ran.out.lines();
    assert_eq!(lines.next(), Some("entries: 2,304 in a, 3,354 in b"));
    assert!(lines.next().unwrap().starts_with("only in a: Type, Run, Event, E1"), "{}", ran.out);
    assert!(
        ran.out.ends_with("different: 0 of 0 columns, 2,304 entries compared\n"),
        "{}",
        ran.out
    );
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn values_that_differ_are_shown() {
    let input = file(ZMUMU);
    let folder = tempfile::tempdir().unwrap();
    let convert = |name: &str, entries: &str| {
        let output = folder.path().join(name).to_str().unwrap().to_owned();
        fine(&["convert", &input, &output, "--include", "[ER]*", "--entries", entries]);
        output
    };
    let (a, b) = (convert("a.root", "0:10"), convert("b.root", "1:11"));
    let ran = nyssa(&["diff", &a, &b, "--filter", "E1"]);
    let expected = "\
column  different  first  item  in a           in b
E1              7      0        82.2018663875  62.3449289481
different: 1 of 1 column, 10 entries compared
";
    assert_eq!((ran.code, ran.out.as_str()), (1, expected));
    let report = json(&["diff", &a, &b, "--filter", "E1"]);
    assert_eq!(report["equal"], false);
    assert_eq!(report["compared"][0]["different_entries"], 7);
    assert_eq!(report["compared"][0]["first"]["entry"], 0);
    let equal = "equal: 1 column, 10 entries compared\n";
    assert_eq!(fine(&["diff", &a, &b, "--filter", "Run"]), equal);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn damage_is_found_with_its_place() {
    let file = file(STAFF);
    let mut bytes = std::fs::read(&file).unwrap();
    // The first page begins after the keys at the start; this byte is in the middle of page data.
    bytes[10_000] ^= 1;
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.root");
    std::fs::write(&damaged, bytes).unwrap();
    let damaged = damaged.to_str().unwrap();
    let ran = nyssa(&["verify", damaged]);
    assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{}", ran.out);
    assert!(ran.out.contains("problem: ") && ran.out.contains("(Staff;1, "), "{}", ran.out);
    let last = format!("damaged: 1 problem in 1 key of {damaged}\n");
    assert!(ran.out.ends_with(&last), "{}", ran.out);
    let report = json(&["verify", damaged]);
    assert_eq!(report["sound"], false);
    assert_eq!(report["problems"][0]["kind"], "Checksum");
    assert_eq!(report["problems"][0]["cluster"], 0);
    let err = nyssa(&["cat", damaged, "--entries", ":"]).err;
    assert!(err.contains("hint: `nyssa verify` lists"), "{err}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn baskets_are_checked() {
    let file = file(ZMUMU);
    assert!(fine(&["verify", &file]).ends_with("sound: 1 key checked\n"));
    let mut bytes = std::fs::read(&file).unwrap();
    let length = bytes.len();
    let folder = tempfile::tempdir().unwrap();
    let damaged = folder.path().join("damaged.root");
    bytes[100_000] ^= 0xFF;
    std::fs::write(&damaged, &bytes).unwrap();
    let report = json(&["verify", damaged.to_str().unwrap()]);
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{report}");
    assert!(problems[0]["field"].is_string() && problems[0]["basket"] == 0, "{report}");
    bytes.truncate(length / 2);
    std::fs::write(&damaged, &bytes).unwrap();
    let ran = nyssa(&["verify", damaged.to_str().unwrap()]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.starts_with("problem: the file is truncated: "), "{}", ran.out);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn merging() {
    let input = file(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let output = path("merged.root");
    let report = json(&["merge", &input, &input, "-o", &output]);
    assert_eq!(report["entries"], 2 * 3354);
    assert_eq!(report["inputs"][1]["entries"], 3354);
    assert_eq!(report["output_bytes"], std::fs::metadata(&output).unwrap().len());
    assert_eq!(json(&["verify", &output])["sound"], true);
    let half = fine(&["cat", &output, "--entries", "3354:"]);
    assert_eq!(half.lines().count(), fine(&["cat", &input, "--entries", ":"]).lines().count());
    let ran = nyssa(&["merge", &input, "-o", &output]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.ends_with("hint: --force replaces it\n"), "{}", ran.err);
    let list = path("list.txt");
    std::fs::write(&list, format!("{input}\n\n{input}\n")).unwrap();
    let list = format!("@{list}");
    let out = fine(&["merge", &input, &list, "-o", &output, "--force", "--recluster", "1MB"]);
    assert!(out.starts_with(&format!("3 inputs -> {output}:")), "{out}");
    assert!(out.contains("10,062"), "{out}");
    let out = fine(&["merge", &input, "-o", &output, "--force"]);
    assert!(out.starts_with(&format!("1 input -> {output}:")), "{out}");
    let ran = nyssa(&["merge", "-o", &output]);
    assert_eq!(ran.code, 2);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn several_files_are_one() {
    let input = file(STAFF);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    for name in ["in1.root", "in2.root"] {
        std::fs::copy(&input, path(name)).unwrap();
    }
    let merged = path("merged.root");
    fine(&["merge", &path("in*.root"), "-o", &merged]);
    assert_eq!(
        fine(&["diff", &path("in?.root"), &merged]),
        "equal: 11 columns, 6,708 entries compared\n"
    );
    let ran = nyssa(&["diff", &merged, &input]);
    assert_eq!(ran.code, 1);
    assert!(ran.out.contains("entries: 6,708 in a, 3,354 in b"), "{}", ran.out);
    std::fs::write(path("list"), format!("{input}\n{merged}:Staff\n")).unwrap();
    let list = format!("@{}", path("list"));
    let second = |data: &[&str], first: u64| {
        let entries = format!("{first}:{}", first + 3);
        fine(&[&["cat"], data, &["--entries", &entries]].concat())
    };
    let expected = second(&[&input], 0);
    assert_eq!(expected.lines().count(), 3);
    assert_eq!(second(&[&input, &input], 3354), expected);
    assert_eq!(second(&[&list], 2 * 3354), expected);
    assert_eq!(second(&[&path("in[12].root:Staff")], 3354), expected);
    let all = json(&["cat", &list]);
    assert_eq!(all["entries"].as_array().unwrap().len(), 3 * 3354);
    let beyond = nyssa(&["cat", &input, &input, "--entries", "6708:6709"]);
    assert_eq!(beyond.code, 2);
    assert!(beyond.err.contains("which has 6708 entries"), "{}", beyond.err);
    let none = nyssa(&["cat", &path("on*.root")]);
    assert_eq!(none.code, 3);
    assert!(none.err.starts_with("error: no file matches"), "{}", none.err);
    let attributes = nyssa(&["cat", &input, &input, "--attributes"]);
    assert_eq!(attributes.code, 2);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn streamer_fields_are_named() {
    let input = file("ttree/uproot-HZZ-objects.root");
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("o.root");
    let output = output.to_str().unwrap();
    let args = ["convert", &input, output, "--include", "M*", "--streamer", "MET", "--verify"];
    let out = fine(&args);
    assert!(out.contains("\nstreamer field MET (TVector2): requested\n"), "{out}");
    let auto = json(&[&args[..6], &["auto", "--force"]].concat());
    let products = auto["streamer_fields"].as_array().unwrap();
    let met = products.iter().find(|product| product["branch"] == "MET").unwrap();
    let [columns, streamer] = ["columns_bytes", "streamer_bytes"].map(|key| met[key].as_u64());
    assert_eq!(met["streamer"], columns > streamer);
    let ran = nyssa(&["convert", &input, output, "--force", "--streamer", "nothing"]);
    assert!(ran.err.contains("the patterns of streamer fields match no branch"), "{}", ran.err);
}
