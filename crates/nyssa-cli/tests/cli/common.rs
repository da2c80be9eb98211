//! Runs commands inside the test process.

use std::ffi::OsString;

use nyssa_testdata::data;
use serde_json::Value;

/// The result of a command.
pub struct Ran {
    pub code: u8,
    pub out: String,
    pub err: String,
}

/// Runs `nyssa` with these arguments; no terminal anywhere.
pub fn nyssa(args: &[&str]) -> Ran {
    let args = std::iter::once("nyssa").chain(args.iter().copied()).map(OsString::from).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = nyssa_cli::run_on(args, &mut out, &mut err, nyssa_cli::Terminal::default());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code, out: text(out), err: text(err) }
}

/// Runs a command that must succeed; its data.
pub fn fine(args: &[&str]) -> String {
    let ran = nyssa(args);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{args:?}");
    ran.out
}

/// Returns the JSON document of a command.
pub fn json(args: &[&str]) -> Value {
    let ran = nyssa(&[args, &["--json"]].concat());
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {}", ran.out))
}

/// Returns the path of a file of `NYSSA_TEST_DATA`.
pub fn file(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

pub const STAFF: &str = "rntuple/ntpl001_staff_rntuple_v1-0-1-0.root";
pub const ZMUMU: &str = "ttree/uproot-Zmumu-zlib.root";
pub const NANOAOD: &str = "ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root";
