//! Parses headers of answers, and answers that lead to another server or a later time.

use super::{array, text, u16_at, u32_at, u64_at};

/// The error of an answer that is not of the protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Malformed(pub String);

impl Malformed {
    pub(super) fn short(what: &str, length: usize) -> Self {
        Self(format!("{what} of {length} bytes"))
    }
}

/// The kind of an answer, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The answer, or its last part.
    Ok = 0,
    /// A part of the answer.
    OkSoFar = 4000,
    /// A message of the server, which is not an answer.
    Attention,
    /// The server wants more credentials.
    AuthMore,
    /// The request failed.
    Error,
    /// The client must ask another server.
    Redirect,
    /// The request must be sent again later.
    Wait,
    /// The answer comes later.
    WaitAnswer,
    /// An answer with checksums.
    Checked,
}

impl Status {
    const ALL: [Self; 9] = [
        Self::Ok,
        Self::OkSoFar,
        Self::Attention,
        Self::AuthMore,
        Self::Error,
        Self::Redirect,
        Self::Wait,
        Self::WaitAnswer,
        Self::Checked,
    ];
}

/// The header of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The stream id of the request.
    pub stream: u16,
    /// The kind of the answer.
    pub status: Status,
    /// The length of the body.
    pub length: u32,
}

impl Header {
    /// The length of a header.
    pub const LENGTH: usize = 8;

    /// Parses a header.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let short = || Malformed::short("a header", bytes.len());
        let stream = u16_at(bytes, 0).ok_or_else(short)?;
        let length = u32_at(bytes, 4).ok_or_else(short)?;
        let status = u16_at(bytes, 2).ok_or_else(short)?;
        let known = Status::ALL.into_iter().find(|&known| known as u16 == status);
        let unknown = || Malformed(format!("an answer of the unknown status {status}"));
        let status = known.ok_or_else(unknown)?;
        if i32::try_from(length).is_err() {
            return Err(Malformed(format!("an answer of {length} bytes")));
        }
        Ok(Self { stream, status, length })
    }

    /// Returns the header of the answer inside an [`Status::Attention`], if it is an answer that comes later.
    /// Its body begins at byte 16.
    pub fn in_attention(body: &[u8]) -> Option<Self> {
        const ANSWER: u32 = 5008;
        (u32_at(body, 0)? == ANSWER).then(|| Self::parse(body.get(8..)?).ok())?
    }

    /// Returns the header in bytes, for servers in tests.
    pub fn encode(&self) -> [u8; Self::LENGTH] {
        let mut bytes = [0; Self::LENGTH];
        bytes[..2].copy_from_slice(&self.stream.to_be_bytes());
        bytes[2..4].copy_from_slice(&(self.status as u16).to_be_bytes());
        bytes[4..].copy_from_slice(&self.length.to_be_bytes());
        bytes
    }
}

/// The second header of an answer with checksums: the number of bytes that follow, and their offset in the
/// file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageHeader {
    /// The CRC32C of the bytes from [`PageHeader::CHECKED_FROM`] on.
    pub checksum: u32,
    /// Whether more parts follow.
    pub partial: bool,
    /// The number of bytes that follow: pages, each after its checksum.
    pub length: u32,
    /// The offset in the file of the first of them.
    pub offset: u64,
}

impl PageHeader {
    /// The length of the header, which is the body of the answer.
    pub const LENGTH: usize = 24;
    /// The offset of the first byte that the checksum covers.
    pub const CHECKED_FROM: usize = 4;

    /// Parses the body of an answer to `pgread`.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let short = || Malformed::short("an answer with checksums", body.len());
        let checksum = u32_at(body, 0).ok_or_else(short)?;
        let [kind] = array(body, 7).ok_or_else(short)?;
        let length = u32_at(body, 12).ok_or_else(short)?;
        let offset = u64_at(body, 16).ok_or_else(short)?;
        if i32::try_from(length).is_err() || body.len() != Self::LENGTH {
            return Err(short());
        }
        Ok(Self { checksum, partial: kind == 1, length, offset })
    }
}

/// The server to which the client is redirected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// The host and port, as in a URL; or a whole URL.
    pub location: String,
    /// The text that must be added to the path.
    pub opaque: String,
}

impl Redirect {
    /// Parses `host[?opaque[?token]]` after a port. A negative port means that the host is a URL.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let port = u32_at(body, 0).ok_or_else(|| Malformed::short("a redirect", body.len()))?;
        let whole = text(&body[4..]);
        let mut parts = whole.splitn(3, '?');
        let host = parts.next().unwrap_or_default();
        let opaque = parts.next().unwrap_or_default().trim_start_matches('&').to_owned();
        if host.is_empty() {
            return Err(Malformed("a redirect to nowhere".to_owned()));
        }
        let location = match i32::try_from(port) {
            Err(_) => host.to_owned(),
            Ok(0) => host.to_owned(),
            Ok(port) => {
                let port = u16::try_from(port)
                    .map_err(|_| Malformed(format!("a redirect to the port {port}")))?;
                // An IPv6 address has brackets already.
                format!("{host}:{port}")
            }
        };
        Ok(Self { location, opaque })
    }
}
