//! `nyssa trace`.

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
    let found = json(&["trace", "show", OF_ROOT]);
    assert_eq!(found["bytes_readv"], 3_039_193);
    assert_eq!(found["by_file"][0]["ranges"], 10);
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
    assert_eq!(refused.code, 2);
    assert_eq!(
        refused.err,
        format!(
            "error: cannot read {}: line 1 is neither of a trace nor of a recording of XrdCl\n",
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
