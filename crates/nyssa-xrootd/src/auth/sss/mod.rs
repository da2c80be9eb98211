//! Implements `sss`, simple shared secrets: server and client have the same key in a file, a keytab.
//!
//! The client proves that it has the key: it encrypts the time and its address with it. The server takes the
//! user and the group that its own keytab gives for the key.
//!
//! ```text
//! credentials: | "sss\0" | 0 0 | 0 | cipher '0' | key id 8 | encrypted |
//! encrypted:   | random 32 | seconds since 2008-09-24 4 | 0 0 0 | 0 | elements | CRC-32 4 |
//! element:     | kind 1 | length with the zero byte 2 | text | 0 |
//! ```
//!
//! Numbers are big-endian. The cipher is Blowfish in CFB-64 mode with an initial vector of zeros.

mod cipher;
mod keytab;

use std::net::{IpAddr, SocketAddr};
use std::time::{SystemTime, UNIX_EPOCH};

use super::Client;
use keytab::Key;

/// The time at which the clock of `sss` starts, in seconds since 1970.
const BASE_TIME: u64 = 1_222_183_880;
/// The kinds of elements.
mod kind {
    pub(super) const NAME: u8 = 1;
    pub(super) const GROUP: u8 = 4;
    pub(super) const RANDOM: u8 = 7;
    pub(super) const HOST: u8 = 0x20;
}
/// The minimum number of bytes before the checksum that servers accept.
const LEAST: usize = 128;

/// Makes credentials with the key of this user. The server sends `cipher.lifetime:keytab`.
pub(super) fn credentials(parameters: &str, client: &Client<'_>) -> Result<Vec<u8>, String> {
    let offered = parameters.split_once(':').map_or("", |(_, path)| path);
    if !parameters.starts_with("0.") {
        return Err(format!("nyssa does not know the cipher of the server ({parameters:?})"));
    }
    let key = keytab::find(offered.trim())?;
    let mut random = [0; 32 + LEAST];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut random)
        .map_err(|_| "the system gave no random numbers".to_owned())?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    // The clock of the protocol has 32 bits.
    let time = (now.saturating_sub(BASE_TIME) & u64::from(u32::MAX)) as u32;
    pack(&key, time, client.address, random)
}

/// Makes credentials from random bytes: the first 32 bytes are the start, and the others fill the data.
fn pack(
    key: &Key,
    time: u32,
    address: SocketAddr,
    random: [u8; 32 + LEAST],
) -> Result<Vec<u8>, String> {
    let mut data = random[..32].to_vec();
    data.extend_from_slice(&time.to_be_bytes());
    data.extend_from_slice(&[0; 4]);
    // The server uses this name only for keys that any user may have.
    element(&mut data, kind::NAME, b"nobody");
    element(&mut data, kind::GROUP, b"nogroup");
    element(&mut data, kind::HOST, shown(address).as_bytes());
    if data.len() < LEAST {
        let missing = LEAST - data.len();
        // A text must not have zero bytes.
        let filler: Vec<u8> = random[32..32 + missing].iter().map(|byte| byte | 1).collect();
        element(&mut data, kind::RANDOM, &filler);
    }
    data.extend_from_slice(&crc32(&data).to_be_bytes());
    cipher::encrypt(&key.value, &mut data)?;
    let mut bytes = b"sss\0\0\0\x000".to_vec();
    bytes.extend_from_slice(&key.id.to_be_bytes());
    bytes.extend_from_slice(&data);
    Ok(bytes)
}

fn element(data: &mut Vec<u8>, kind: u8, text: &[u8]) {
    data.push(kind);
    // All texts are short, so this does not overflow.
    data.extend_from_slice(&(text.len() as u16 + 1).to_be_bytes());
    data.extend_from_slice(text);
    data.push(0);
}

/// Returns an address as servers compare it.
fn shown(address: SocketAddr) -> String {
    let port = address.port();
    match address.ip().to_canonical() {
        IpAddr::V4(address) => format!("[::{address}]:{port}"),
        IpAddr::V6(address) => format!("[{address}]:{port}"),
    }
}

/// Computes the same CRC-32 as zlib. Credentials are short, so a table is not needed.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn addresses_are_written_as_servers_compare_them() {
        for (address, expected) in [
            ("10.0.0.1:5", "[::10.0.0.1]:5"),
            ("[::ffff:10.0.0.1]:5", "[::10.0.0.1]:5"),
            ("[2001:db8::1]:5", "[2001:db8::1]:5"),
        ] {
            assert_eq!(shown(address.parse().unwrap()), expected);
        }
    }
}
