//! No bytes of a server make the decoder panic, and what it reads is what was sent.

#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use nyssa_xrootd::wire::{
    Header, ListEntry, LoginBody, OpenBody, PageHeader, ProtocolBody, Redirect, Request,
    ServerError, Stat, Status, Wait, check_page_header, error_name, join_pages, parse_list,
    split_vector,
};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #[test]
    fn nothing_panics(bytes in vec(any::<u8>(), 0..200), start in 0_u64..10_000, length in 0_u64..300) {
        nyssa_xrootd::wire::check_all(&bytes);
        let range = start..start + length;
        let body = Bytes::from(bytes.clone());
        let _ = split_vector(&body, &[range.clone(), range.clone()]);
        let _ = join_pages(&body, &[(start, 0), (start + 7, bytes.len() / 2)], &range);
    }

    #[test]
    fn headers_go_there_and_back(bytes in any::<[u8; 24]>(), stream: u16, length in 0_u32..1 << 31) {
        let (stream_of_request, request, _) = Request::parse(&bytes);
        prop_assert_eq!(&request.header(stream_of_request)[..20], &bytes[..20]);
        for status in [Status::Ok, Status::OkSoFar, Status::Attention, Status::AuthMore, Status::Error,
            Status::Redirect, Status::Wait, Status::WaitAnswer, Status::Checked] {
            let header = Header { stream, status, length };
            prop_assert_eq!(Header::parse(&header.encode()), Ok(header));
        }
    }
}

/// Tests bytes as servers send them; the values come from the specification, and from a server 5.5.3.
#[test]
fn answers_are_read() {
    let protocol = ProtocolBody::parse(&[0, 0, 5, 0x11, 0, 0x30, 0, 1]).unwrap();
    assert_eq!((protocol.version, protocol.flags), (0x511, 0x30_0001));
    let login = LoginBody::parse(b"0123456789abcdef&P=ztn,0:4096:&P=unix\0").unwrap();
    assert_eq!(&login.session, b"0123456789abcdef");
    let methods = [("ztn".to_owned(), "0:4096:".to_owned()), ("unix".to_owned(), String::new())];
    assert_eq!(login.methods, methods);
    let stat = b"43031943058619904 4096 51 1795376402 1795376402 1795376402 0777 root root\0";
    let stat = Stat::parse(stat).unwrap();
    let folder = Stat { size: 4096, modified: 1_795_376_402, is_folder: true, is_other: false };
    assert_eq!(stat, folder);
    let open = OpenBody::parse(b"\0\0\0\x05\0\0\0\0\0\0\0\0" as &[u8]).unwrap();
    assert_eq!((open.handle, open.stat), ([0, 0, 0, 5], None));
    let error = ServerError::parse(b"\0\0\x0b\xc3no such file\0").unwrap();
    assert_eq!(
        (error_name(error.code).as_str(), error.message.as_str()),
        ("kXR_NotFound", "no such file")
    );
    assert_eq!(error_name(1), "error 1");
    let wait = Wait::parse(b"\0\0\0\x07tape\0").unwrap();
    assert_eq!((wait.seconds, wait.reason.as_str()), (7, "tape"));
}

#[test]
fn redirects_name_hosts_or_urls() {
    let read = |port: i32, text: &str| {
        Redirect::parse(&[&port.to_be_bytes()[..], text.as_bytes()].concat())
            .map(|redirect| (redirect.location, redirect.opaque))
            .map_err(|malformed| malformed.0)
    };
    let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
    assert_eq!(read(1095, "host"), pair("host:1095", ""));
    assert_eq!(read(1095, "[::1]?&a=1?token"), pair("[::1]:1095", "a=1"));
    assert_eq!(read(-1, "root://host:1095//b?x=1"), pair("root://host:1095//b", "x=1"));
    assert_eq!(read(70_000, "host"), Err("a redirect to the port 70000".to_owned()));
    assert_eq!(read(1095, "?a=1"), Err("a redirect to nowhere".to_owned()));
}

#[test]
fn lists_are_read_with_and_without_stats() {
    let names = |entries: Vec<ListEntry>| -> Vec<(String, Option<u64>)> {
        entries.into_iter().map(|entry| (entry.name, entry.stat.map(|stat| stat.size))).collect()
    };
    let plain = names(parse_list(b"a.root\nsub\n\0").unwrap());
    assert_eq!(plain, [("a.root".to_owned(), None), ("sub".to_owned(), None)]);
    let stats = b".\n0 0 0 0\na b.root\n1 77 16 5\n..\n1 1 2 5\nsub\n2 4096 51 6\0";
    let with = names(parse_list(stats).unwrap());
    assert_eq!(with, [("a b.root".to_owned(), Some(77)), ("sub".to_owned(), Some(4096))]);
    let error = parse_list(b".\n0 0 0 0\na.root\n").unwrap_err();
    assert_eq!(error.0, "a list that ends at \"a.root\"");
}

#[test]
fn headers_with_checksums_are_checked() {
    let mut body = [0; PageHeader::LENGTH];
    body[7] = 1;
    body[15] = 9;
    body[23] = 5;
    // CRC32C of the 20 bytes behind it.
    let header = PageHeader::parse(&body).unwrap();
    assert_eq!((header.partial, header.length, header.offset), (true, 9, 5));
    assert_eq!(check_page_header(&header, &body).unwrap_err().0, "a header with a wrong checksum");
}
