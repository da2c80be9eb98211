//! Compresses a basket again. Its entries stay where they are, so that a basket of any kind can be compressed.

use std::borrow::Cow;

use nyssa_root::compression::{Compression, decompress_to_vec};
use nyssa_root::error::Result;

use super::packer::PackingMemory;
use crate::model::Basket;
use crate::read::{Expected, MovedBasket};

/// Returns a basket with another compression. `raw` are its bytes in the file. A basket that is streamed inside its tree
/// needs none, and gets a key of its own.
///
/// # Errors
/// `OutOfSpecification` if key, branch and payload disagree; `Unsupported` for a basket that exists only in memory.
pub fn reseal(
    raw: &[u8],
    basket: &Basket,
    compression: Compression,
    memory: &PackingMemory,
) -> Result<MovedBasket> {
    let expected = Expected::of(basket);
    let (head, payload, objlen) = match &basket.embedded {
        Some(streamed) => {
            let MovedBasket { head, payload, objlen } = MovedBasket::embedded(streamed, &expected)?;
            (head, Cow::Owned(payload), objlen)
        }
        None => {
            let (head, payload, objlen) = MovedBasket::stored(raw, &expected)?;
            (head.to_vec(), Cow::Borrowed(payload), objlen)
        }
    };
    let size = usize::try_from(objlen).unwrap_or(usize::MAX);
    let plain = match payload.len() == size {
        true => payload,
        false => Cow::Owned(decompress_to_vec(&payload, size, "the basket")?),
    };
    let compressed = memory.0.compress_bytes(&plain, compression)?;
    Ok(MovedBasket { head, payload: compressed.unwrap_or_else(|| plain.into_owned()), objlen })
}
