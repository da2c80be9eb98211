//! Parses bodies of answers.

use super::{Handle, Malformed, array, text, u32_at};

/// The answer to `protocol`: the properties of the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProtocolBody {
    /// The version of the protocol, such as 0x511.
    pub version: u32,
    /// The role and the abilities of the server: see [`super::flags`].
    pub flags: u32,
    /// Whether the server refuses requests that are not signed, from the level at which files are read.
    pub wants_signatures: bool,
}

impl ProtocolBody {
    /// Parses the answer to `protocol`.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let short = || Malformed::short("an answer to protocol", body.len());
        let version = u32_at(body, 0).ok_or_else(short)?;
        let flags = u32_at(body, 4).ok_or_else(short)?;
        // These are the security requirements (section 4.14): 'S', 0, version, options, level, number of
        // exceptions. Other items may come before them. Without the option `force`, methods that have no key
        // need not sign.
        const FORCE: u8 = 2;
        const STANDARD: u8 = 2;
        let rest = body.get(8..).unwrap_or_default();
        let wants_signatures = match rest.iter().position(|&tag| tag == b'S').map(|at| &rest[at..])
        {
            Some([_, _, _, options, level, ..]) => options & FORCE != 0 && *level >= STANDARD,
            _ => false,
        };
        Ok(Self { version, flags, wants_signatures })
    }

    /// Returns whether the server has this flag.
    pub fn has(self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// The answer to `login`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginBody {
    /// The id of the session. It is zero from old servers.
    pub session: [u8; 16],
    /// The methods of authentication, with name and parameters. One of them must succeed. If there are none, no
    /// authentication is needed.
    pub methods: Vec<(String, String)>,
}

impl LoginBody {
    /// Parses the answer to `login`.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        if body.is_empty() {
            return Ok(Self { session: [0; 16], methods: Vec::new() });
        }
        let session =
            array(body, 0).ok_or_else(|| Malformed::short("an answer to login", body.len()))?;
        let all = text(&body[16..]);
        let methods = all.split("&P=").filter(|item| !item.trim().is_empty()).map(|item| {
            let (name, parameters) = item.split_once(',').unwrap_or((item, ""));
            (name.trim().to_owned(), parameters.to_owned())
        });
        Ok(Self { session, methods: methods.collect() })
    }
}

/// The answer to `open`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenBody {
    /// The name by which the server calls the file.
    pub handle: Handle,
    /// The size, time and kind, if the server sends them.
    pub stat: Option<Stat>,
}

impl OpenBody {
    /// Parses the answer to `open`.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let handle =
            array(body, 0).ok_or_else(|| Malformed::short("an answer to open", body.len()))?;
        let stat = match body.get(12..) {
            None | Some([]) => None,
            Some(stat) => Some(Stat::parse(stat)?),
        };
        Ok(Self { handle, stat })
    }
}

/// The answer to `stat`, which is a text of numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The size in bytes.
    pub size: u64,
    /// The time of the last change, in seconds since 1970.
    pub modified: i64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// Whether it is neither a file nor a folder.
    pub is_other: bool,
}

impl Stat {
    /// Parses the answer to `stat`.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        const FOLDER: u32 = 2;
        const OTHER: u32 = 4;
        let all = text(body);
        let bad = || Malformed(format!("the stat {all:?}"));
        let mut words = all.split_ascii_whitespace();
        let mut next = || words.next().ok_or_else(bad);
        let _id = next()?;
        let size = next()?.parse().map_err(|_| bad())?;
        let flags: u32 = next()?.parse().map_err(|_| bad())?;
        let modified = next()?.parse().map_err(|_| bad())?;
        let (is_folder, is_other) = (flags & FOLDER != 0, flags & OTHER != 0);
        Ok(Self { size, modified, is_folder, is_other })
    }
}

/// An error of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerError {
    /// The number of the error: see [`super::error_name`].
    pub code: u32,
    /// The message of the server.
    pub message: String,
}

impl ServerError {
    /// Parses an error.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let code = u32_at(body, 0).ok_or_else(|| Malformed::short("an error", body.len()))?;
        Ok(Self { code, message: text(&body[4..]) })
    }
}

/// The time that the server asks the client to wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The time to wait, in seconds.
    pub seconds: u32,
    /// The reason, if the server gives one.
    pub reason: String,
}

impl Wait {
    /// Parses the answer that asks the client to wait.
    pub fn parse(body: &[u8]) -> Result<Self, Malformed> {
        let seconds = u32_at(body, 0)
            .filter(|&seconds| i32::try_from(seconds).is_ok())
            .ok_or_else(|| Malformed::short("a wait", body.len()))?;
        Ok(Self { seconds, reason: text(&body[4..]) })
    }
}
