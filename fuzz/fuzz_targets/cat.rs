//! Runs `nyssa cat --json --attributes` on a file with corrected checksums. The output must be one JSON document,
//! also on failure.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_cli::Terminal;
use nyssa_fuzz::{folder, repair};

fuzz_target!(|data: &[u8]| {
    let Some((name, bytes)) = repair::repaired(data) else { return };
    let path = format!("{}:{name}", folder::file("cat.root", &bytes).display());
    let words = ["nyssa", "cat", "--json", "--attributes", "--threads", "1", "-n", "100", &path];
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let args = words.iter().map(Into::into).collect();
    let code = nyssa_cli::run_on(args, &mut out, &mut err, Terminal::default());
    let document: Result<serde_json::Value, _> = serde_json::from_slice(&out);
    let text = String::from_utf8_lossy(&out);
    assert!(document.is_ok(), "{text}");
    let document = document.unwrap_or_default();
    assert!(document["version"] == 1, "{text}");
    if code == 0 {
        assert!(document["entries"].is_array(), "{text}");
    } else {
        assert!(document["error"].is_object(), "{text}");
        assert!(!err.is_empty());
    }
});
