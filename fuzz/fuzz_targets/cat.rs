//! Runs `nyssa cat --json --attributes` on a file with corrected checksums. The output must be JSON.
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
    if nyssa_cli::run_on(args, &mut out, &mut err, Terminal::default()) == 0 {
        let entries: Result<Vec<serde_json::Value>, _> = serde_json::from_slice(&out);
        assert!(entries.is_ok(), "{}", String::from_utf8_lossy(&out));
    } else {
        assert!(!err.is_empty());
    }
});
