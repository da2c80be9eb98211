//! Tests ls, schema and inspect. Sizes are those that ROOT's RNTupleInspector and uproot tell.

use serde_json::Value;

use crate::common::{STAFF, ZMUMU, file, fine, json, nyssa};

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn ls_of_a_tree() {
    let file = file(ZMUMU);
    // The key has 1,362 bytes, the baskets have 172,789.
    let expected = "\
name      class  entries    size  title
events;1  TTree    2,304  174 kB  Z -> mumu events
";
    assert_eq!(fine(&["ls", &file]), expected);
    let listing = json(&["ls", &file]);
    let key = &listing["keys"][0];
    assert_eq!(key["path"], "events");
    assert_eq!(key["cycle"], 1);
    assert_eq!(key["class"], "TTree");
    assert_eq!(key["entries"], 2304);
    assert_eq!(key["bytes"], 1362 + 172_789);
    assert_eq!(key["object_bytes"], 10_011);
    assert_eq!(key["position"], 173_015);
    assert_eq!(listing["keys"].as_array().unwrap().len(), 1);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn ls_walks_directories_and_shows_other_objects() {
    let file = file("ttree/uproot-issue64.root");
    let listing = json(&["ls", &file]);
    let keys = listing["keys"].as_array().unwrap();
    let class = |path: &str| {
        let key = keys.iter().find(|key| key["path"] == path).unwrap_or_else(|| panic!("{path}"));
        key["class"].as_str().unwrap()
    };
    assert_eq!(class("events"), "TDirectoryFile");
    assert!(keys.iter().any(|key| key["path"].as_str().unwrap().starts_with("events/")));
    let below = json(&["ls", &format!("{file}:events")]);
    let below = below["keys"].as_array().unwrap();
    assert!(below.len() > 1 && below.len() < keys.len());
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn schema_of_an_rntuple() {
    let file = file(STAFF);
    let expected = "\
field     type         columns             remarks
Division  std::string  SplitIndex64, Char
Nation    std::string  SplitIndex64, Char
";
    assert_eq!(fine(&["schema", &file, "--filter", "*ion"]), expected);
    let schema = json(&["schema", &file]);
    assert_eq!(schema["format"], "RNTuple");
    assert_eq!(schema["entries"], 3354);
    assert_eq!(schema["fields"].as_array().unwrap().len(), 11);
    assert_eq!(schema["fields"][0]["columns"][0]["type"], "SplitInt32");
    assert_eq!(schema["fields"][0]["columns"][0]["bits"], 32);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn schema_of_a_tree_gives_reasons() {
    let zmumu = file(ZMUMU);
    let expected = "\
branch  type    counter  >baskets  remarks
pt1     double                  1
pt2     double                  1
"
    .replace(">baskets", " baskets");
    let out = fine(&["schema", &zmumu, "--filter", "pt?"]);
    let words = |text: &str| -> Vec<Vec<String>> {
        text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect()).collect()
    };
    assert_eq!(words(&out), words(&expected));
    // The baskets of its friends are in a file that is not there.
    let path = "ttree/roottest/meta__MakeProject__alice_ESDs.root";
    let friends = file(path);
    let schema = json(&["schema", &format!("{friends}:esdTree")]);
    let branches = schema["branches"].as_array().unwrap();
    assert!(branches.iter().any(|branch| branch["unreadable"].is_string()), "{schema}");
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn inspect_of_an_rntuple() {
    let file = file(STAFF);
    let inspection = json(&["inspect", &file]);
    // ROOT counts pages without their checksums, here 13 of 8 bytes.
    assert_eq!(inspection["stored_bytes"], 23_519 + 13 * 8);
    assert_eq!(inspection["uncompressed_bytes"], 188_927);
    let field = |name: &str| {
        let fields = inspection["fields"].as_array().unwrap();
        fields.iter().find(|field| field["name"] == name).unwrap().clone()
    };
    assert_eq!(field("Cost")["stored_bytes"], 6147 + 8);
    assert_eq!(field("Cost")["uncompressed_bytes"], 13_416);
    assert_eq!(field("Division")["stored_bytes"], 2653 + 2 * 8);
    assert_eq!(field("Division")["uncompressed_bytes"], 34_643);
    assert_eq!(inspection["compressions"][0]["name"], "zstd");
    assert_eq!(inspection["settings"][0]["name"], "zstd:5");
    assert_eq!(inspection["pages"]["count"], 13);
    let out = fine(&["inspect", &file, "--clusters"]);
    let expected = "\
what             count      min   median      max    total
cluster size         1  23.6 kB  23.6 kB  23.6 kB  23.6 kB
cluster entries      1    3,354    3,354    3,354    3,354

cluster  first entry  entries  pages   stored   share  uncompressed  ratio
      0            0    3,354     13  23.6 kB  100.0%        189 kB   8.00
";
    assert_eq!(out, expected);
    let out = fine(&["inspect", &file]);
    assert!(out.starts_with(
        "RNTuple Staff, 3,354 entries, 23.6 kB on storage, 189 kB uncompressed, ratio 8.00\n"
    ));
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn inspect_of_a_tree() {
    let file = file(ZMUMU);
    let inspection = json(&["inspect", &file]);
    assert_eq!(inspection["stored_bytes"], 172_789);
    assert_eq!(inspection["compressions"][0]["name"], "zlib");
    let run = &inspection["fields"][1];
    assert_eq!(run["name"], "Run");
    assert_eq!((run["pages"].as_u64(), run["stored_bytes"].as_u64()), (Some(1), Some(121)));
    assert_eq!(run["uncompressed_bytes"], 9288);
    let names = |options: &[&str]| {
        let out = fine(&[&["inspect", file.as_str()], options].concat());
        let rows = out.lines().skip_while(|line| !line.starts_with("branch ")).skip(1);
        let rows = rows.take_while(|line| !line.is_empty());
        rows.filter_map(|line| Some(line.split_whitespace().next()?.to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(names(&["--sort", "file", "--top", "3"]), ["Type", "Run", "Event"]);
    assert_eq!(names(&["--sort", "name", "--top", "2"]), ["E1", "E2"]);
    let all = names(&["--sort", "ratio"]);
    // All entries have the same run.
    assert_eq!((all.len(), all.last().map(String::as_str)), (20, Some("Run")));
    assert_eq!(names(&[]).last().map(String::as_str), Some("Run"));
}

/// Cluster groups and late fields are those that ROOT's descriptor tells.
#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn what_else_an_rntuple_has() {
    let groups = file("rntuple/test_multiple_cluster_groups_rntuple_v1-0-0-0.root");
    let inspected = json(&["inspect", &groups]);
    let count = inspected["cluster_groups"].as_u64().unwrap();
    assert_eq!(count, 3);
    assert_eq!(json(&["ls", &groups])["keys"][0]["cluster_groups"], count);
    let said = format!("{count} cluster groups");
    assert!(fine(&["ls", &groups]).ends_with(&format!(": {said}\n")));
    assert!(fine(&["inspect", &groups]).contains(&format!("\n{said}\n")));
    let late = file("rntuple/test_extension_columns_rntuple_v1-0-0-0.root");
    let inspected = json(&["inspect", &late]);
    assert_eq!(inspected["late_fields"], serde_json::json!(["float_field", "intvec_field"]));
    assert_eq!(inspected["attribute_sets"], serde_json::json!([]));
    let said = ": 1 cluster group, late fields float_field intvec_field\n";
    assert!(fine(&["ls", &late]).ends_with(said));
    let tree = file(ZMUMU);
    assert!(json(&["ls", &tree])["keys"][0].get("cluster_groups").is_none());
}

/// Tests that a bad file does not stop the work on the other files.
#[test]
fn several_files_are_looked_at() {
    let file = nyssa_testdata::testdata("ttree/events-zlib.root");
    let file = file.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::copy(file, path("a.root")).unwrap();
    std::fs::write(path("b.root"), "no ROOT file at all").unwrap();
    std::fs::copy(file, path("c.root")).unwrap();
    let alone = nyssa(&["schema", file, "--json"]).out.replace(file, &path("c.root"));
    let alone: serde_json::Value = serde_json::from_str(&alone).unwrap();
    let ran = nyssa(&["schema", &path("*.root"), "--json"]);
    assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{}", ran.err);
    let all: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    let names: Vec<_> = all["files"].as_array().unwrap().iter().map(|file| &file["data"]).collect();
    assert_eq!(names, [&path("a.root"), &path("b.root"), &path("c.root")]);
    assert_eq!(all["files"][1]["error"]["kind"], "OutOfSpecification");
    assert_eq!(all["files"][2]["result"]["fields"], alone["fields"]);
    assert_eq!(all["files"][2]["result"]["branches"], alone["branches"]);
    for command in ["ls", "schema", "verify", "inspect"] {
        let ran = nyssa(&[command, &path("a.root"), &path("c.root")]);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{command}");
        let alone = nyssa(&[command, &path("a.root")]).out;
        let expected = format!("{}:\n{alone}\n{}:\n{alone}", path("a.root"), path("c.root"));
        assert_eq!(ran.out, expected, "{command}");
    }
    assert_eq!(nyssa(&["verify", &path("a.root"), &path("none.root")]).code, 3);
    let refused = nyssa(&["inspect", &path("?.root"), "--html", &path("page.html")]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    assert!(refused.err.contains("several files are named"), "{}", refused.err);
}

#[test]
#[ignore = "needs NYSSA_TEST_DATA"]
fn inspect_writes_a_page() {
    let (file, folder) = (file(STAFF), tempfile::tempdir().unwrap());
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    fine(&["inspect", &file, "--html", page, "--fields", "*"]);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</body></html>\n"));
    let (_, data) = text.split_once("id=\"data\">").unwrap();
    let data: Value = serde_json::from_str(data.split("</script>").next().unwrap()).unwrap();
    assert_eq!(data["inspection"]["columns"], json(&["inspect", &file])["columns"]);
    let pages = data["pages"].as_array().unwrap();
    let bytes: u64 = pages.iter().skip(1).step_by(4).filter_map(Value::as_u64).sum();
    assert_eq!(data["inspection"]["stored_bytes"], bytes);
    let refused = nyssa(&["inspect", &file, "--html", page, "--fields", "nothing"]);
    assert_eq!((refused.code, refused.out.as_str()), (3, ""));
    assert!(refused.err.contains("no field matches \"nothing\""), "{}", refused.err);
    let refused = nyssa(&["inspect", &file, "--fields", "*"]);
    assert!(refused.err.contains("--html <FILE>"), "{}", refused.err);
}
