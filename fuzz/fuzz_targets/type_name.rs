//! Normalises C++ type names: doing it twice changes nothing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nyssa_fuzz as _;
use nyssa_root::type_name::{TypeName, normalize};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if TypeName::parse(text).is_ok() {
        let once = normalize(text);
        assert_eq!(normalize(&once), once, "{text:?}");
    }
});
