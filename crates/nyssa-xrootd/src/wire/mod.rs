//! Reads and writes requests and answers of the XRootD protocol 5.2 in bytes. It does no I/O.
//!
//! All numbers are big-endian. A request is a header of 24 bytes and data. An answer is a header of 8 bytes and
//! a body. Both begin with the stream id, which the client chooses, because answers come in any order.
//!
//! ```text
//! request: | stream id 2 | request id 2 | parameters 16 | length of data 4 | data |
//! answer:  | stream id 2 | status 2     | length of body 4 | body |
//! ```
//!
//! Section numbers in comments refer to "XRootD Protocol Version 5.2.0".

mod answer;
mod bodies;
mod codes;
mod list;
mod pages;
mod request;
mod vector;

pub use answer::{Header, Malformed, PageHeader, Redirect, Status};
pub use bodies::{LoginBody, OpenBody, ProtocolBody, ServerError, Stat, Wait};
pub use codes::{error_kind, error_name, flags};
pub use list::{ListEntry, Located, parse_list, parse_located};
pub use pages::{check_page_header, join_pages, pages_length};
pub use request::{HANDSHAKE, Handle, OpenMode, Request};
pub use vector::{split_vector, vector_length};

/// The default port of a server.
pub const DEFAULT_PORT: u16 = 1094;
/// The version of the protocol that this client implements.
pub const PROTOCOL_VERSION: u32 = 0x520;

/// Returns the `N` bytes at `at`.
fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    array(bytes, at).map(u16::from_be_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    array(bytes, at).map(u32::from_be_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_be_bytes)
}

/// Returns the text up to the first zero byte.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().to_owned()
}

/// Parses bytes as every kind of answer, for tests that look for a panic.
pub fn check_all(bytes: &[u8]) {
    let _ = Header::parse(bytes);
    let _ = Header::in_attention(bytes);
    let _ = PageHeader::parse(bytes).map(|header| check_page_header(&header, bytes));
    let _ = ProtocolBody::parse(bytes);
    let _ = LoginBody::parse(bytes);
    let _ = OpenBody::parse(bytes);
    let _ = Stat::parse(bytes);
    let _ = ServerError::parse(bytes);
    let _ = Wait::parse(bytes);
    let _ = Redirect::parse(bytes);
    let _ = parse_list(bytes);
    let _ = parse_located(bytes);
}
