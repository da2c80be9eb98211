//! Encrypts by Blowfish in CFB-64 mode.

use blowfish::Blowfish;
use blowfish::cipher::{Block, BlockCipherEncrypt, KeyInit};

/// Encrypts bytes in place. The initial vector is zero, because the data begin with random bytes.
///
/// # Errors
/// The reason, for a key that is shorter than 4 bytes or longer than 56.
pub(super) fn encrypt(key: &[u8], data: &mut [u8]) -> Result<(), String> {
    let cipher: Blowfish = Blowfish::new_from_slice(key).map_err(|_| {
        format!("the key has {} bytes, but nyssa supports keys of 4 to 56 bytes", key.len())
    })?;
    let mut block = Block::<Blowfish>::default();
    for part in data.chunks_mut(block.len()) {
        cipher.encrypt_block(&mut block);
        for (byte, mask) in part.iter_mut().zip(&mut block) {
            *byte ^= *mask;
            // The encrypted bytes go into the next block.
            *mask = *byte;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests against OpenSSL, which gave the expected bytes: `openssl enc -bf-cfb`.
    #[test]
    fn bytes_are_those_of_openssl() {
        let key: Vec<u8> = (0..16u8).map(|i| i * 17).collect();
        let mut data = *b"7654321 Now is the time for ";
        encrypt(&key, &mut data).unwrap();
        assert_eq!(hex(&data), EXPECTED);
        assert_eq!(
            encrypt(b"abc", &mut data).unwrap_err(),
            "the key has 3 bytes, but nyssa supports keys of 4 to 56 bytes"
        );
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const EXPECTED: &str = "01e2d76418320710e73064d6b32b028a7a5c43728a2f7e8c93ca410e";
}
