//! Makes requests.

use std::ops::Range;

use bytes::Bytes;

use super::PROTOCOL_VERSION;

/// The first bytes that a client sends. They tell the server that the client uses XRootD.
pub const HANDSHAKE: [u8; 20] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0x07, 0xdc];

/// The name by which the server calls an open file.
pub type Handle = [u8; 4];

/// The ids of requests.
mod id {
    pub(super) const AUTH: u16 = 3000;
    pub(super) const QUERY: u16 = 3001;
    pub(super) const CLOSE: u16 = 3003;
    pub(super) const DIRLIST: u16 = 3004;
    pub(super) const PROTOCOL: u16 = 3006;
    pub(super) const LOGIN: u16 = 3007;
    pub(super) const MV: u16 = 3009;
    pub(super) const OPEN: u16 = 3010;
    pub(super) const READ: u16 = 3013;
    pub(super) const RM: u16 = 3014;
    pub(super) const SYNC: u16 = 3016;
    pub(super) const STAT: u16 = 3017;
    pub(super) const WRITE: u16 = 3019;
    pub(super) const READV: u16 = 3025;
    pub(super) const LOCATE: u16 = 3027;
    pub(super) const TRUNCATE: u16 = 3028;
    pub(super) const PGREAD: u16 = 3030;
}

/// The mode in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To read the file.
    Read,
    /// To write a new file. An existing file is replaced, and missing folders are made. The server removes the
    /// file if the connection ends before it is closed.
    New,
    /// To continue the file of [`OpenMode::New`], because its connection was lost.
    Update,
}

/// One request without its stream id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    id: u16,
    parameters: [u8; 16],
    data: Bytes,
}

impl Request {
    fn new(id: u16, data: impl Into<Bytes>) -> Self {
        Self { id, parameters: [0; 16], data: data.into() }
    }

    fn with(mut self, at: usize, bytes: &[u8]) -> Self {
        self.parameters[at..at + bytes.len()].copy_from_slice(bytes);
        self
    }

    /// Requests the properties of the server. `flags` are the abilities and wishes of the client.
    pub fn protocol(flags: u8) -> Self {
        /// The value that says that a login comes next.
        const EXPECT_LOGIN: u8 = 3;
        let request = Self::new(id::PROTOCOL, Bytes::new());
        request.with(0, &PROTOCOL_VERSION.to_be_bytes()).with(4, &[flags, EXPECT_LOGIN])
    }

    /// Begins a session for a user of at most 8 bytes. `cgi` has more information about the client.
    pub fn login(process: u32, user: &str, cgi: &str) -> Self {
        /// The abilities of this client: redirects may have a URL, and answers may come after a request to wait
        /// for them.
        const ABILITIES: u8 = 1 | 8;
        const ASYNCHRONOUS_VERSION_5: u8 = 128 | 5;
        let user = &user.as_bytes()[..user.len().min(8)];
        let request = Self::new(id::LOGIN, cgi.as_bytes().to_vec());
        let request = request.with(0, &process.to_be_bytes()).with(4, user);
        request.with(13, &[ABILITIES, ASYNCHRONOUS_VERSION_5])
    }

    /// Sends credentials of an authentication method of at most 4 bytes.
    pub fn auth(method: &str, credentials: Vec<u8>) -> Self {
        let method = &method.as_bytes()[..method.len().min(4)];
        Self::new(id::AUTH, credentials).with(12, method)
    }

    /// Requests values of the configuration.
    pub fn query_config(names: &str) -> Self {
        const CONFIG: u16 = 7;
        Self::new(id::QUERY, names.as_bytes().to_vec()).with(0, &CONFIG.to_be_bytes())
    }

    /// Opens a path. The answer has a `stat`.
    pub fn open(path: &str, mode: OpenMode) -> Self {
        const READ: u16 = 0x0010;
        const DELETE: u16 = 0x0002;
        const UPDATE: u16 = 0x0020;
        const MAKE_PATH: u16 = 0x0100;
        const STAT: u16 = 0x0400;
        const PERSIST_ON_CLOSE: u16 = 0x1000;
        /// The permissions: the owner may read and write, and others may read.
        const PERMISSIONS: u16 = 0x100 | 0x080 | 0x020 | 0x004;
        let (permissions, options) = match mode {
            OpenMode::Read => (0, READ | STAT),
            OpenMode::New => (PERMISSIONS, DELETE | UPDATE | MAKE_PATH | STAT | PERSIST_ON_CLOSE),
            OpenMode::Update => (PERMISSIONS, UPDATE | STAT | PERSIST_ON_CLOSE),
        };
        let request = Self::new(id::OPEN, path.as_bytes().to_vec());
        request.with(0, &permissions.to_be_bytes()).with(2, &options.to_be_bytes())
    }

    /// Closes a file.
    pub fn close(handle: Handle) -> Self {
        Self::new(id::CLOSE, Bytes::new()).with(0, &handle)
    }

    /// Reads one range.
    pub fn read(handle: Handle, offset: u64, length: u32) -> Self {
        let request = Self::new(id::READ, Bytes::new()).with(0, &handle);
        request.with(4, &offset.to_be_bytes()).with(12, &length.to_be_bytes())
    }

    /// Reads one range in pages of 4 KiB, each with a CRC32C.
    pub fn pgread(handle: Handle, offset: u64, length: u32) -> Self {
        Self { id: id::PGREAD, ..Self::read(handle, offset, length) }
    }

    /// Reads many ranges, none of which has more than `u32::MAX` bytes.
    pub fn readv(handle: Handle, ranges: &[Range<u64>]) -> Self {
        let mut list = Vec::with_capacity(ranges.len() * 16);
        for range in ranges {
            let length = range.end.saturating_sub(range.start) as u32;
            list.extend_from_slice(&handle);
            list.extend_from_slice(&length.to_be_bytes());
            list.extend_from_slice(&range.start.to_be_bytes());
        }
        Self::new(id::READV, list)
    }

    /// Requests the size, time and kind of a path.
    pub fn stat(path: &str) -> Self {
        Self::new(id::STAT, path.as_bytes().to_vec())
    }

    /// Requests the size and time of an open file.
    pub fn stat_of(handle: Handle) -> Self {
        Self::new(id::STAT, Bytes::new()).with(12, &handle)
    }

    /// Asks a manager which servers have a path. A path that begins with a star asks for all its servers.
    pub fn locate(path: &str) -> Self {
        /// The option to get names instead of addresses, because certificates have no addresses.
        const NAMES: u16 = 0x0100;
        Self::new(id::LOCATE, path.as_bytes().to_vec()).with(0, &NAMES.to_be_bytes())
    }

    /// Lists a folder, with a `stat` of each name.
    pub fn dirlist(path: &str) -> Self {
        const WITH_STAT: u8 = 2;
        Self::new(id::DIRLIST, path.as_bytes().to_vec()).with(15, &[WITH_STAT])
    }

    /// Writes bytes.
    pub fn write(handle: Handle, offset: u64, data: Bytes) -> Self {
        Self::new(id::WRITE, data).with(0, &handle).with(4, &offset.to_be_bytes())
    }

    /// Makes what was written durable.
    pub fn sync(handle: Handle) -> Self {
        Self::new(id::SYNC, Bytes::new()).with(0, &handle)
    }

    /// Sets the size of an open file.
    pub fn truncate(handle: Handle, size: u64) -> Self {
        let request = Self::new(id::TRUNCATE, Bytes::new()).with(0, &handle);
        request.with(4, &size.to_be_bytes())
    }

    /// Gives a file another name.
    pub fn mv(from: &str, to: &str) -> Self {
        let length = u16::try_from(from.len()).unwrap_or_default();
        let request = Self::new(id::MV, format!("{from} {to}").into_bytes());
        request.with(14, &length.to_be_bytes())
    }

    /// Removes a file.
    pub fn rm(path: &str) -> Self {
        Self::new(id::RM, path.as_bytes().to_vec())
    }

    /// Returns the header with the stream id. The data follow.
    pub fn header(&self, stream: u16) -> [u8; 24] {
        let mut header = [0; 24];
        header[..2].copy_from_slice(&stream.to_be_bytes());
        header[2..4].copy_from_slice(&self.id.to_be_bytes());
        header[4..20].copy_from_slice(&self.parameters);
        header[20..].copy_from_slice(&(self.data.len() as u32).to_be_bytes());
        header
    }

    /// Returns the data after the header.
    pub fn data(&self) -> &Bytes {
        &self.data
    }

    /// Appends the request.
    pub fn encode(&self, stream: u16, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.header(stream));
        out.extend_from_slice(&self.data);
    }

    /// Parses the header of a request. Returns its stream id, the request without its data, and the length of
    /// the data. It is for servers in tests.
    pub fn parse(header: &[u8; 24]) -> (u16, Self, u32) {
        let [a, b, c, d, rest @ ..] = *header;
        let [w, x, y, z] = [rest[16], rest[17], rest[18], rest[19]];
        let mut parameters = [0; 16];
        parameters.copy_from_slice(&rest[..16]);
        let request = Self { id: u16::from_be_bytes([c, d]), parameters, data: Bytes::new() };
        (u16::from_be_bytes([a, b]), request, u32::from_be_bytes([w, x, y, z]))
    }

    /// Returns the request id.
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Returns the parameters. Their meaning depends on the id.
    pub fn parameters(&self) -> &[u8; 16] {
        &self.parameters
    }
}
