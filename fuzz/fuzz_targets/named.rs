//! Decides which file another file may name. The first line is the place of the file, the rest is the name in it.
#![no_main]

use std::path::Component;

use libfuzzer_sys::fuzz_target;
use nyssa_io::{MemorySource, NamedFile, is_remote};
use url::Url;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Some((own, name)) = text.split_once('\n') else { return };
    let Ok(named) = NamedFile::of(&MemorySource::new(own, ""), name) else { return };
    let location = named.location();
    // A file on a server leads to its server, and a local one to local files.
    assert_eq!(is_remote(own), is_remote(location), "{own} names {name}");
    if !is_remote(own) {
        let is_up = |part| part == Component::ParentDir;
        assert!(location.is_absolute() && !location.components().any(is_up), "{own} names {name}");
        return;
    }
    // Another parser finds the same server.
    let parsed = |text: &str| Url::parse(text).ok();
    if let (Some(own), Some(other)) = (parsed(own), location.to_str().and_then(parsed)) {
        let server = |url: &Url| {
            let host = url.host_str().map(str::to_ascii_lowercase);
            // The parser knows no usual port of XRootD.
            let port = url.port_or_known_default().or(Some(1094));
            (url.scheme().to_owned(), host, port)
        };
        assert_eq!(server(&own), server(&other), "{own} names {name}");
    }
});
